//! Types in signatures: from what the user writes to what it is while a kernel is described.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, Generics, Ident, Type, TypeParamBound};

/// The attributes without `#[comptime]`, and whether it was there.
pub(crate) fn take_comptime(attributes: &[Attribute]) -> (Vec<Attribute>, bool) {
    let rest: Vec<_> = attributes.iter().filter(|a| !a.path().is_ident("comptime")).cloned().collect();
    let found = rest.len() != attributes.len();
    (rest, found)
}

/// Names of the element types that need no look-up.
const SCALARS: [&str; 15] = [
    "bool", "i8", "i16", "i32", "i64", "isize", "u8", "u16", "u32", "u64", "usize", "f16", "bf16", "f32",
    "f64",
];

/// Traits that make a type parameter an element type.
const ELEMENT_TRAITS: [&str; 7] = ["Element", "Num", "Int", "Signed", "Float", "Bits", "Atomic"];

/// The type parameters of a function that stand for element types.
pub(crate) fn element_parameters(generics: &Generics) -> Vec<Ident> {
    let is_element = |bounds: &syn::punctuated::Punctuated<TypeParamBound, syn::Token![+]>| {
        bounds.iter().any(|b| match b {
            TypeParamBound::Trait(t) => {
                t.path.segments.last().is_some_and(|s| ELEMENT_TRAITS.iter().any(|name| s.ident == name))
            }
            _ => false,
        })
    };
    let mut found: Vec<Ident> =
        generics.type_params().filter(|p| is_element(&p.bounds)).map(|p| p.ident.clone()).collect();
    for predicate in generics.where_clause.iter().flat_map(|w| &w.predicates) {
        if let syn::WherePredicate::Type(t) = predicate
            && is_element(&t.bounds)
            && let Type::Path(path) = &t.bounded_ty
            && let Some(ident) = path.path.get_ident()
        {
            found.push(ident.clone());
        }
    }
    found
}

/// What a parameter's type is, as far as its tokens tell.
pub(crate) enum Kind<'a> {
    /// `&TileTensor<..>`
    Tensor(&'a Type),
    /// `&mut TileTensor<..>`
    TensorMut(&'a Type),
    /// `&mut T` of anything else.
    RefMut(&'a Type),
    /// `&T` of anything else.
    Ref,
    /// `impl Trait`, or a type parameter bound by something else than an element trait: a plain value.
    Plain,
    /// Anything else by value.
    Value,
}

pub(crate) fn kind<'a>(ty: &'a Type, generics: &Generics) -> Kind<'a> {
    match ty {
        Type::Reference(r) => match (is_tensor(&r.elem), r.mutability) {
            (true, None) => Kind::Tensor(&r.elem),
            (true, Some(_)) => Kind::TensorMut(&r.elem),
            (false, Some(_)) if !matches!(*r.elem, Type::ImplTrait(_)) => Kind::RefMut(&r.elem),
            _ => Kind::Ref,
        },
        Type::ImplTrait(_) => Kind::Plain,
        Type::Path(path) => match path.path.get_ident() {
            Some(ident)
                if generics.type_params().any(|p| p.ident == *ident)
                    && !element_parameters(generics).contains(ident) =>
            {
                Kind::Plain
            }
            _ => Kind::Value,
        },
        Type::Paren(p) => kind(&p.elem, generics),
        Type::Group(g) => kind(&g.elem, generics),
        _ => Kind::Value,
    }
}

/// Whether a type is a tensor by its name.
pub(crate) fn is_tensor(ty: &Type) -> bool {
    match ty {
        Type::Path(path) => {
            path.path.segments.last().is_some_and(|s| s.ident == "TileTensor" || s.ident == "LayoutTensor")
        }
        Type::Paren(p) => is_tensor(&p.elem),
        Type::Group(g) => is_tensor(&g.elem),
        _ => false,
    }
}

/// Whether a type is made of element types alone.
pub(crate) fn is_scalar(ty: &Type, elements: &[Ident]) -> bool {
    match ty {
        Type::Path(path) => match path.path.get_ident() {
            Some(ident) => SCALARS.iter().any(|s| ident == s) || elements.contains(ident),
            None => path
                .path
                .segments
                .last()
                .is_some_and(|s| (s.ident == "f16" || s.ident == "bf16") && s.arguments.is_none()),
        },
        Type::Tuple(t) => t.elems.iter().all(|e| is_scalar(e, elements)),
        Type::Array(a) => is_scalar(&a.elem, elements),
        Type::Paren(p) => is_scalar(&p.elem, elements),
        Type::Group(g) => is_scalar(&g.elem, elements),
        _ => false,
    }
}

/// What a type is while a kernel is described.
pub(crate) fn staged(ty: &Type, elements: &[Ident]) -> TokenStream {
    let span = ty.span();
    match ty {
        Type::Tuple(t) => {
            let items: Vec<_> = t.elems.iter().map(|e| staged(e, elements)).collect();
            quote_spanned!(span=> (#(#items,)*))
        }
        Type::Array(a) => {
            let (item, len) = (staged(&a.elem, elements), &a.len);
            quote_spanned!(span=> [#item; #len])
        }
        // Spelled out, so that type parameters are inferred through it.
        _ if is_scalar(ty, elements) => quote_spanned!(span=> ::tilewise::__private::Val<#ty>),
        _ => quote_spanned!(span=> <#ty as ::tilewise::__private::DeviceType>::Staged),
    }
}

/// `impl Fn(f32) -> f32` as the closure is while a kernel is described: its element types are replaced.
pub(crate) fn staged_bounds(ty: &mut Type, elements: &[Ident]) {
    if let Type::ImplTrait(i) = ty {
        for bound in &mut i.bounds {
            staged_bound(bound, elements);
        }
    }
    if let Type::Reference(r) = ty {
        staged_bounds(&mut r.elem, elements);
    }
}

/// The bounds `F: Fn(f32) -> f32` of a function's type parameters, likewise.
pub(crate) fn staged_generics(generics: &mut Generics) {
    let elements = element_parameters(generics);
    for parameter in generics.type_params_mut() {
        for bound in &mut parameter.bounds {
            staged_bound(bound, &elements);
        }
    }
    for predicate in generics.where_clause.iter_mut().flat_map(|w| &mut w.predicates) {
        if let syn::WherePredicate::Type(t) = predicate {
            for bound in &mut t.bounds {
                staged_bound(bound, &elements);
            }
        }
    }
}

fn staged_bound(bound: &mut TypeParamBound, elements: &[Ident]) {
    let TypeParamBound::Trait(t) = bound else { return };
    for segment in &mut t.path.segments {
        if let syn::PathArguments::Parenthesized(arguments) = &mut segment.arguments {
            for input in &mut arguments.inputs {
                if is_scalar(input, elements) {
                    *input = Type::Verbatim(staged(input, elements));
                }
            }
            if let syn::ReturnType::Type(_, output) = &mut arguments.output
                && is_scalar(output, elements)
            {
                **output = Type::Verbatim(staged(output, elements));
            }
        }
    }
}

/// The error with the item's signature beside it, so that other code still finds the function.
pub(crate) fn with_error(error: &syn::Error, item: TokenStream) -> TokenStream {
    let error = error.to_compile_error();
    quote!(#error #item)
}

/// A name that the user cannot have written.
pub(crate) fn hidden(name: &str) -> Ident {
    Ident::new(&format!("__{name}"), Span::mixed_site())
}

/// What `a[i, j]` should have been, if that is why an item does not parse.
pub(crate) fn index_list_error(tokens: TokenStream) -> Option<syn::Error> {
    use proc_macro2::{Delimiter, TokenTree};
    let mut after_value = false;
    for token in tokens {
        let mut value = false;
        match token {
            TokenTree::Group(group) => {
                if after_value && group.delimiter() == Delimiter::Bracket {
                    let comma = group.stream().into_iter().find_map(|t| match t {
                        TokenTree::Punct(p) if p.as_char() == ',' => Some(p.span()),
                        _ => None,
                    });
                    if let Some(comma) = comma {
                        let inside = group.span().source_text().unwrap_or_else(|| group.to_string());
                        return Some(syn::Error::new(
                            comma,
                            format!(
                                "an index of several dimensions is a list of its own: write `[{inside}]`"
                            ),
                        ));
                    }
                }
                if let Some(error) = index_list_error(group.stream()) {
                    return Some(error);
                }
                value = group.delimiter() != Delimiter::Brace;
            }
            TokenTree::Ident(name) => {
                let keywords = [
                    "in", "return", "break", "match", "if", "while", "else", "let", "mut", "as", "move",
                    "ref",
                ];
                value = !keywords.iter().any(|k| name == k);
            }
            _ => {}
        }
        after_value = value;
    }
    None
}
