//! `#[device]`: functions, methods, traits, structs and enums of kernels.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{
    Attribute, Block, Fields, FnArg, Generics, ImplItem, Item, ItemEnum, ItemStruct, Pat, ReturnType,
    Signature, TraitItem, Type, parse_quote,
};

use crate::body::{Binding, Leave, Rewriter, Want, allowed_lints, has_return, prelude};
use crate::signature::{
    Kind, element_parameters, hidden, index_list_error, is_scalar, is_tensor, kind, staged, staged_bounds,
    staged_generics, take_comptime, with_error,
};

pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> TokenStream {
    if !attribute.is_empty() {
        return syn::Error::new(attribute.span(), "`#[device]` takes no arguments").to_compile_error();
    }
    let parsed: Item = match syn::parse2(item.clone()) {
        Ok(parsed) => parsed,
        Err(error) => return index_list_error(item).unwrap_or(error).to_compile_error(),
    };
    let result = match parsed {
        Item::Fn(mut f) => function(&mut f.sig, Some(&f.block), &Generics::default()).map(|body| {
            let (attrs, vis, sig) = (&f.attrs, &f.vis, &f.sig);
            let lints = allowed_lints();
            quote!(#(#attrs)* #lints #vis #sig { #body })
        }),
        Item::Impl(mut i) => {
            let outer = i.generics.clone();
            let mut error: Option<syn::Error> = None;
            for item in &mut i.items {
                if let ImplItem::Fn(f) = item {
                    match function(&mut f.sig, Some(&f.block), &outer) {
                        Ok(body) => {
                            f.block = Block {
                                brace_token: f.block.brace_token,
                                stmts: vec![syn::Stmt::Expr(syn::Expr::Verbatim(body), None)],
                            };
                            f.attrs.push(lints_attribute());
                        }
                        Err(e) => combine(&mut error, e),
                    }
                }
            }
            error.map_or(Ok(quote!(#i)), Err)
        }
        Item::Trait(mut t) => {
            let outer = t.generics.clone();
            let mut error: Option<syn::Error> = None;
            for item in &mut t.items {
                if let TraitItem::Fn(f) = item {
                    let block = f.default.clone();
                    match function(&mut f.sig, block.as_ref(), &outer) {
                        Ok(body) => {
                            if let Some(default) = &mut f.default {
                                default.stmts = vec![syn::Stmt::Expr(syn::Expr::Verbatim(body), None)];
                                f.attrs.push(lints_attribute());
                            }
                        }
                        Err(e) => combine(&mut error, e),
                    }
                }
            }
            error.map_or(Ok(quote!(#t)), Err)
        }
        Item::Struct(s) => structure(s),
        Item::Enum(e) => enumeration(&e),
        other => Err(syn::Error::new(
            other.span(),
            "`#[device]` is for functions, impls, traits, structs and fieldless enums",
        )),
    };
    result.unwrap_or_else(|error| with_error(&error, TokenStream::new()))
}

fn combine(all: &mut Option<syn::Error>, error: syn::Error) {
    match all {
        Some(all) => all.combine(error),
        None => *all = Some(error),
    }
}

fn lints_attribute() -> Attribute {
    parse_quote!(#[allow(
        unused_parens, unused_braces, unused_mut, unused_assignments, unreachable_code, path_statements, clippy::all,
        clippy::pedantic
    )])
}

/// Rewrites a signature in place, and gives the body's statements.
fn function(sig: &mut Signature, block: Option<&Block>, outer: &Generics) -> syn::Result<TokenStream> {
    let mut elements = element_parameters(&sig.generics);
    elements.extend(element_parameters(outer));
    // Type parameters of the impl count too when a parameter's type is looked at.
    let mut all = sig.generics.clone();
    all.params.extend(outer.params.iter().cloned());
    if let Some(outer) = &outer.where_clause {
        all.make_where_clause().predicates.extend(outer.predicates.iter().cloned());
    }
    let result = match &sig.output {
        ReturnType::Default => None,
        ReturnType::Type(_, ty) if matches!(&**ty, Type::Tuple(t) if t.elems.is_empty()) => None,
        ReturnType::Type(_, ty) => Some((**ty).clone()),
    };
    // A closure or reference that is returned is the host's.
    let plain_result = matches!(&result, Some(Type::ImplTrait(_) | Type::Reference(_)));
    let returns = block.is_some_and(has_return);
    let leave = if returns && !plain_result { Leave::Function } else { Leave::Refused };
    let mut rewriter = Rewriter::new(leave, elements.clone());
    let (result_name, function_name, self_name) = (hidden("result"), hidden("function"), hidden("self"));
    let mut bindings = TokenStream::new();
    let mut write_back = TokenStream::new();
    for (n, input) in sig.inputs.iter_mut().enumerate() {
        let typed = match input {
            FnArg::Receiver(receiver) => {
                if receiver.reference.is_some() && receiver.mutability.is_some() {
                    rewriter.declare(&format_ident!("self"), Binding::Variable);
                    bindings.extend(
                        quote!(let #self_name = __tw::Var::new("self", ::core::clone::Clone::clone(&*self));),
                    );
                    write_back = quote!(*self = #self_name.get(););
                }
                continue;
            }
            FnArg::Typed(typed) => typed,
        };
        let (attrs, comptime) = take_comptime(&typed.attrs);
        typed.attrs = attrs;
        let span = typed.span();
        if block.is_none() {
            // A method without a body: only its types change.
            *typed.ty = parameter_type(&typed.ty, comptime, &all, &elements);
            continue;
        }
        let pattern = (*typed.pat).clone();
        let kind = if comptime { Kind::Plain } else { kind(&typed.ty, &all) };
        let source = match &pattern {
            Pat::Ident(p) if p.subpat.is_none() => p.ident.clone(),
            _ => format_ident!("__argument_{n}"),
        };
        let (renamed, variables) = match &pattern {
            Pat::Ident(p) => (None, p.mutability.is_some()),
            other => (Some(other.clone()), false),
        };
        let text = source.to_string();
        let value = match kind {
            Kind::Tensor(tensor) => quote_spanned!(span=> __tw::TensorRef::<#tensor>::tensor_ref(#source)),
            Kind::TensorMut(tensor) => quote_spanned!(span=> __tw::TensorMut::<#tensor>::tensor_mut(#source)),
            Kind::Value => quote_spanned!(span=> __tw::StageAs::stage_as(#source)),
            Kind::RefMut(_) | Kind::Ref | Kind::Plain => quote!(#source),
        };
        let is_reference = matches!(kind, Kind::RefMut(_));
        *typed.ty = parameter_type(&typed.ty, comptime, &all, &elements);
        *typed.pat = parse_quote!(#source);
        match renamed {
            Some(pattern) => {
                rewriter.declare_pattern_of(&pattern);
                bindings.extend(crate::body::bind_pattern(&pattern, value));
            }
            None if variables => {
                rewriter.declare(&source, Binding::Variable);
                bindings.extend(quote_spanned!(span=> let #source = __tw::Var::new(#text, #value);));
            }
            None => {
                rewriter.declare(&source, if is_reference { Binding::Reference } else { Binding::Plain });
                bindings.extend(quote_spanned!(span=> let #source = #value;));
            }
        }
    }
    let staged_result = match &result {
        Some(ty) if !plain_result => Some(staged(ty, &elements)),
        _ => None,
    };
    if let Some(staged) = &staged_result {
        sig.output = parse_quote!(-> #staged);
    }
    if plain_result && let ReturnType::Type(_, ty) = &mut sig.output {
        staged_bounds(ty, &elements);
    }
    staged_generics(&mut sig.generics);
    let Some(block) = block else { return Ok(TokenStream::new()) };
    let name = sig.ident.to_string();
    let prelude = prelude();
    let enter = quote_spanned!(sig.ident.span()=> let __call = __tw::Call::enter(#name););
    let want = if result.is_some() { Want::Value } else { Want::Nothing };
    let body = rewriter.body(block, want);
    rewriter.finish()?;
    let tail = block.stmts.last().is_some_and(|s| match s {
        syn::Stmt::Expr(e, None) => !crate::body::leaves(e),
        syn::Stmt::Macro(m) => m.semi_token.is_none(),
        _ => false,
    }) && result.is_some();
    let code = match (&staged_result, returns) {
        (Some(staged), true) => {
            let body = if tail { quote!(#result_name.set({ #body });) } else { body };
            quote! {
                let #result_name: __tw::Var<#staged> = __tw::Var::named("result");
                let mut #function_name = __tw::Loop::once();
                { #body }
                #function_name.end();
                #write_back
                #result_name.get()
            }
        }
        (Some(staged), false) if tail => {
            quote! {
                let __value: #staged = __tw::StageAs::stage_as({ #body });
                #write_back
                __value
            }
        }
        (_, true) if !plain_result => {
            quote! {
                let mut #function_name = __tw::Loop::once();
                { #body }
                #function_name.end();
                #write_back
            }
        }
        _ => {
            let body = if want == Want::Nothing { quote!({ #body } #write_back) } else { body };
            quote!(#body)
        }
    };
    Ok(quote!(#prelude #enter #bindings #code))
}

/// What a parameter's type becomes.
fn parameter_type(ty: &Type, comptime: bool, generics: &Generics, elements: &[syn::Ident]) -> Type {
    let span = ty.span();
    let kind = if comptime { Kind::Plain } else { kind(ty, generics) };
    match kind {
        Kind::Tensor(tensor) => {
            let tensor_ref = quote_spanned!(span=> impl ::tilewise::__private::TensorRef<#tensor, Immut = <#tensor as ::tilewise::__private::TensorType>::Immut>);
            Type::Verbatim(tensor_ref)
        }
        Kind::TensorMut(tensor) => {
            Type::Verbatim(quote_spanned!(span=> impl ::tilewise::__private::TensorMut<#tensor>))
        }
        Kind::RefMut(inner) => {
            let inner = staged(inner, elements);
            Type::Verbatim(quote_spanned!(span=> ::tilewise::__private::Var<#inner>))
        }
        Kind::Value => {
            let inner = staged(ty, elements);
            Type::Verbatim(quote_spanned!(span=> impl ::tilewise::__private::StageAs<#inner>))
        }
        Kind::Ref | Kind::Plain => {
            let mut ty = ty.clone();
            staged_bounds(&mut ty, elements);
            if let Type::Reference(r) = &mut ty
                && is_scalar(&r.elem, elements)
                && !comptime
            {
                *r.elem = Type::Verbatim(staged(&r.elem, elements));
            }
            ty
        }
    }
}

fn structure(mut s: ItemStruct) -> syn::Result<TokenStream> {
    let elements = element_parameters(&s.generics);
    let mut leaves = Vec::new();
    let mut variable = true;
    for (n, field) in s.fields.iter_mut().enumerate() {
        let (attrs, comptime) = take_comptime(&field.attrs);
        field.attrs = attrs;
        let member = match &field.ident {
            Some(name) => syn::Member::Named(name.clone()),
            None => syn::Member::Unnamed(n.into()),
        };
        if comptime || is_tensor(&field.ty) {
            variable = false;
        } else {
            field.ty = Type::Verbatim(staged(&field.ty, &elements));
        }
        leaves.push((member, field.ty.clone()));
    }
    let name = &s.ident;
    let (impl_generics, type_generics, where_clause) = s.generics.split_for_impl();
    let derives = missing_derives(&s.attrs, &["Clone", "Copy"]);
    let device = quote! {
        impl #impl_generics ::tilewise::__private::DeviceType for #name #type_generics #where_clause {
            type Staged = Self;
        }

        impl #impl_generics ::tilewise::__private::StageAs<Self> for #name #type_generics #where_clause {
            fn stage_as(self) -> Self {
                self
            }
        }
    };
    let staged_value = variable.then(|| {
        let members: Vec<_> = leaves.iter().map(|(m, _)| m).collect();
        let types: Vec<_> = leaves.iter().map(|(_, t)| t).collect();
        let tw = quote!(::tilewise::__private);
        let location = quote!(&'static ::core::panic::Location<'static>);
        quote! {
            impl #impl_generics #tw::StagedValue for #name #type_generics #where_clause {
                fn leaf_lens(outer: u64, lens: &mut ::std::vec::Vec<u64>) {
                    #(<#types as #tw::StagedValue>::leaf_lens(outer, lens);)*
                }

                fn leaves(&self, out: &mut ::std::vec::Vec<#tw::Leaf>) {
                    #(#tw::StagedValue::leaves(&self.#members, out);)*
                }

                fn store(&self, place: &mut #tw::Place, location: #location) {
                    #(#tw::StagedValue::store(&self.#members, place, location);)*
                }

                fn load(place: &mut #tw::Place, location: #location) -> Self {
                    Self { #(#members: #tw::StagedValue::load(place, location),)* }
                }

                fn undefined(location: #location) -> Self {
                    Self { #(#members: #tw::StagedValue::undefined(location),)* }
                }
            }

            impl #impl_generics #tw::Stage for #name #type_generics #where_clause {
                type Staged = Self;

                fn stage(self) -> Self {
                    self
                }
            }
        }
    });
    Ok(quote!(#derives #s #device #staged_value))
}

fn enumeration(e: &ItemEnum) -> syn::Result<TokenStream> {
    if e.variants.is_empty() {
        return Err(syn::Error::new(e.span(), "an enum without variants has no values"));
    }
    if let Some(variant) = e.variants.iter().find(|v| !matches!(v.fields, Fields::Unit)) {
        return Err(syn::Error::new(
            variant.span(),
            "an enum of a kernel has no fields: keep them in a #[device] struct beside it",
        ));
    }
    if !e.generics.params.is_empty() {
        return Err(syn::Error::new(e.generics.span(), "an enum of a kernel has no parameters"));
    }
    let name = &e.ident;
    let variants: Vec<_> = e.variants.iter().map(|v| &v.ident).collect();
    let first = variants[0];
    let derives = missing_derives(&e.attrs, &["Clone", "Copy", "PartialEq"]);
    Ok(quote! {
        #derives
        #e

        impl ::tilewise::__private::DeviceType for #name {
            type Staged = ::tilewise::__private::Val<#name>;
        }

        impl ::tilewise::__private::Element for #name {
            const SCALAR: ::tilewise::__private::Scalar = ::tilewise::__private::Scalar::I64;

            fn to_const(self) -> ::tilewise::__private::Const {
                ::tilewise::__private::Const::from_bits(Self::SCALAR, self as i64 as u64)
            }

            fn from_bits(bits: u64) -> Self {
                [#(#name::#variants),*]
                    .into_iter()
                    .find(|v| *v as i64 as u64 == bits)
                    .unwrap_or(#name::#first)
            }
        }
    })
}

/// `#[derive(..)]` of those of `wanted` that the user has not derived.
fn missing_derives(attributes: &[Attribute], wanted: &[&str]) -> TokenStream {
    let mut have = Vec::new();
    for attribute in attributes {
        if attribute.path().is_ident("derive") {
            let _ = attribute.parse_nested_meta(|meta| {
                if let Some(last) = meta.path.segments.last() {
                    have.push(last.ident.to_string());
                }
                Ok(())
            });
        }
    }
    let missing: Vec<_> = wanted.iter().filter(|w| !have.iter().any(|h| h == *w)).collect();
    let missing = missing.iter().map(|w| format_ident!("{w}"));
    quote!(#[derive(#(#missing),*)])
}
