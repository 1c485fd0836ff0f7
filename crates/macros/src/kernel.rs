//! `#[kernel]`: a function becomes one that gives a launch of the kernel that its body describes.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{FnArg, ItemFn, Pat, ReturnType, parse_quote};

use crate::body::{Binding, Leave, Rewriter, Want, allowed_lints, prelude};
use crate::signature::{
    Kind, element_parameters, hidden, index_list_error, kind, staged_bounds, staged_generics, take_comptime,
    with_error,
};

pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> TokenStream {
    if !attribute.is_empty() {
        return syn::Error::new(attribute.span(), "`#[kernel]` takes no arguments").to_compile_error();
    }
    let function: ItemFn = match syn::parse2(item.clone()) {
        Ok(function) => function,
        Err(error) => {
            let error = index_list_error(item).unwrap_or_else(|| {
                syn::Error::new(error.span(), format!("`#[kernel]` is for functions: {error}"))
            });
            return error.to_compile_error();
        }
    };
    match kernel(&function) {
        Ok(code) => code,
        Err(error) => {
            // The user's signature stays, so that only what is wrong is reported.
            let (vis, name) = (&function.vis, &function.sig.ident);
            let inputs = function.sig.inputs.iter().map(|_| quote!(_: impl ::core::marker::Sized));
            with_error(
                &error,
                quote!(#[allow(dead_code)] #vis fn #name<'__k>(#(#inputs),*) -> ::tilewise::Launch<'__k> { ::core::unreachable!() }),
            )
        }
    }
}

fn kernel(function: &ItemFn) -> syn::Result<TokenStream> {
    let ItemFn { attrs, vis, sig, block } = function;
    if let ReturnType::Type(_, ty) = &sig.output
        && !matches!(&**ty, syn::Type::Tuple(t) if t.elems.is_empty())
    {
        return Err(syn::Error::new(
            ty.span(),
            "a kernel returns nothing: write the result to a `&mut TileTensor`",
        ));
    }
    if let Some(token) = &sig.asyncness {
        return Err(syn::Error::new(
            token.span,
            "a kernel is not `async`: launches are asynchronous by themselves",
        ));
    }
    if let Some(token) = &sig.constness {
        return Err(syn::Error::new(
            token.span,
            "a kernel is not `const`: it is described when it is launched",
        ));
    }
    let builder = hidden("builder");
    let elements = element_parameters(&sig.generics);
    let mut rewriter = Rewriter::new(Leave::Thread, elements.clone());
    let (mut inputs, mut arguments, mut bindings) = (Vec::new(), TokenStream::new(), TokenStream::new());
    for input in &sig.inputs {
        let FnArg::Typed(typed) = input else {
            return Err(syn::Error::new(
                input.span(),
                "a kernel has no `self`: pass its parts as parameters, or make a #[device] method of it",
            ));
        };
        let (_, comptime) = take_comptime(&typed.attrs);
        let Pat::Ident(pattern) = &*typed.pat else {
            return Err(syn::Error::new(typed.pat.span(), "a parameter of a kernel is a name"));
        };
        let (name, text, span) = (&pattern.ident, pattern.ident.to_string(), typed.span());
        let mutable = pattern.mutability.is_some();
        let mut ty = (*typed.ty).clone();
        rewriter.declare(
            name,
            match (mutable, comptime) {
                (true, true) => Binding::Comptime(0),
                (true, false) => Binding::Variable,
                (false, _) => Binding::Plain,
            },
        );
        let kind = if comptime { Kind::Plain } else { kind(&typed.ty, &sig.generics) };
        match kind {
            Kind::Tensor(tensor) => {
                inputs.push(quote_spanned!(span=> #name: impl ::tilewise::TensorArg<'__k, #tensor>));
                arguments
                    .extend(quote_spanned!(span=> let #name = #builder.tensor::<#tensor, _>(#text, #name);));
                bindings.extend(quote_spanned!(span=>
                    let #name = __tw::TensorRef::<#tensor>::tensor_ref(<#tensor as __tw::TensorType>::from_param(&#name));
                ));
            }
            Kind::TensorMut(tensor) => {
                inputs.push(quote_spanned!(span=> #name: impl ::tilewise::TensorArgMut<'__k, #tensor>));
                arguments.extend(
                    quote_spanned!(span=> let #name = #builder.tensor_mut::<#tensor, _>(#text, #name);),
                );
                bindings.extend(
                    quote_spanned!(span=> let #name = <#tensor as __tw::TensorType>::from_param(&#name);),
                );
            }
            Kind::Value => {
                inputs.push(quote_spanned!(span=> #name: #ty));
                arguments.extend(quote_spanned!(span=> let #name = #builder.scalar::<#ty>(#text, #name);));
                bindings.extend(match mutable {
                    true => quote_spanned!(span=> let #name = __tw::Var::new(#text, #name.bind());),
                    false => quote_spanned!(span=> let #name = #name.bind();),
                });
            }
            Kind::Plain => {
                staged_bounds(&mut ty, &elements);
                if let syn::Type::ImplTrait(i) = &mut ty {
                    i.bounds.push(parse_quote!('__k));
                }
                inputs.push(quote_spanned!(span=> #name: #ty));
                if mutable && comptime {
                    bindings.extend(quote_spanned!(span=> let mut #name = #name;));
                } else if mutable {
                    bindings.extend(quote_spanned!(span=> let #name = __tw::Var::new(#text, #name);));
                }
            }
            Kind::Ref | Kind::RefMut(_) => {
                return Err(syn::Error::new(
                    typed.ty.span(),
                    "a parameter of a kernel is a tensor (`&TileTensor<T, RANK>`, `&mut TileTensor<T, RANK>`), a number, \
                     or a plain value of the host with `#[comptime]` before it",
                ));
            }
        }
    }
    let body = rewriter.body(block, Want::Nothing);
    rewriter.finish()?;

    let mut generics = sig.generics.clone();
    staged_generics(&mut generics);
    let names: Vec<_> = generics.type_params().map(|p| p.ident.clone()).collect();
    generics.params.insert(0, parse_quote!('__k));
    for lifetime in sig.generics.lifetimes() {
        let lifetime = &lifetime.lifetime;
        generics.make_where_clause().predicates.push(parse_quote!(#lifetime: '__k));
    }
    for name in names {
        generics.make_where_clause().predicates.push(parse_quote!(#name: '__k));
    }
    let (parameters, where_clause) = (&generics.params, &generics.where_clause);
    let (name, text, unsafety) = (&sig.ident, sig.ident.to_string(), &sig.unsafety);
    let (prelude, lints) = (prelude(), allowed_lints());
    Ok(quote_spanned! {sig.span()=>
        #(#attrs)*
        #lints
        #vis #unsafety fn #name<#parameters>(#(#inputs),*) -> ::tilewise::Launch<'__k> #where_clause {
            #prelude
            let mut #builder = __tw::LaunchBuilder::new(#text);
            #arguments
            #builder.describe(move || {
                #bindings
                #body
            })
        }
    })
}
