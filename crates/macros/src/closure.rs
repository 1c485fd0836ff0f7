//! `kernel!`: a kernel as a closure over tensors of the host.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Expr, ExprClosure, Ident, Pat, Token, bracketed};

use crate::body::{Binding, Leave, Rewriter, allowed_lints, prelude};
use crate::signature::{hidden, index_list_error};

struct Closure {
    captures: Punctuated<Capture, Token![,]>,
    closure: ExprClosure,
}

struct Capture {
    mutable: bool,
    name: Ident,
}

impl Parse for Capture {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mutable = input.parse::<Option<Token![mut]>>()?.is_some();
        Ok(Capture { mutable, name: input.parse()? })
    }
}

impl Parse for Closure {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if !input.peek(syn::token::Bracket) {
            return Err(input.error(
                "`kernel!` starts with the list of what the kernel works on: `kernel!([mut output, a, b] |[i]| ...)`",
            ));
        }
        let list;
        bracketed!(list in input);
        let captures = Punctuated::parse_terminated(&list)?;
        let closure = input.parse::<ExprClosure>()?;
        if !input.is_empty() {
            return Err(input.error("nothing follows the closure of `kernel!`"));
        }
        Ok(Closure { captures, closure })
    }
}

pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let parsed =
        syn::parse2::<Closure>(input.clone()).map_err(|error| index_list_error(input).unwrap_or(error));
    parsed.and_then(|c| closure(&c)).unwrap_or_else(|error| error.to_compile_error())
}

fn closure(c: &Closure) -> syn::Result<TokenStream> {
    let form = || {
        syn::Error::new(
            c.closure.or1_token.span(),
            "the closure of `kernel!` has the form `|[i, j]| ...` or `|width, [i, j]| ...`",
        )
    };
    let inputs: Vec<_> = c.closure.inputs.iter().collect();
    let (width, index) = match inputs[..] {
        [Pat::Slice(index)] => (None, index),
        [Pat::Ident(width), Pat::Slice(index)] => (Some(Pat::Ident(width.clone())), index),
        [Pat::Wild(width), Pat::Slice(index)] => (Some(Pat::Wild(width.clone())), index),
        _ => return Err(form()),
    };
    let mut names = Vec::new();
    for element in &index.elems {
        match element {
            Pat::Ident(name)
                if name.subpat.is_none() && name.by_ref.is_none() && name.mutability.is_none() =>
            {
                names.push(quote!(#name));
            }
            Pat::Wild(w) => names.push(quote!(#w)),
            other => return Err(syn::Error::new(other.span(), "an index of `kernel!` is a name or `_`")),
        }
    }
    let rank = names.len();
    if rank == 0 {
        return Err(syn::Error::new(index.span(), "a kernel has at least one index: `|[i]|`"));
    }
    let builder = hidden("builder");
    let mut rewriter = Rewriter::new(Leave::Thread, Vec::new());
    let (mut captures, mut bindings) = (TokenStream::new(), TokenStream::new());
    for Capture { mutable, name } in &c.captures {
        rewriter.declare(name, Binding::Plain);
        let (text, span, param) = (name.to_string(), name.span(), hidden(&name.to_string()));
        captures.extend(match mutable {
            true => quote_spanned!(span=> let #param = #name.capture_mut_into(&mut #builder, #text);),
            false => quote_spanned!(span=> let #param = #name.capture_into(&mut #builder, #text);),
        });
        bindings.extend(quote_spanned!(span=> let #name = __tw::Bind::bind(&#param);));
    }
    for element in &index.elems {
        if let Pat::Ident(name) = element {
            rewriter.declare(&name.ident, Binding::Plain);
        }
    }
    if let Some(Pat::Ident(width)) = &width {
        rewriter.declare(&width.ident, Binding::Plain);
    }
    let body = match &*c.closure.body {
        Expr::Block(block) if block.label.is_none() => {
            rewriter.body(&block.block, crate::body::Want::Nothing)
        }
        other => rewriter.body(&syn::parse_quote!({ #other; }), crate::body::Want::Nothing),
    };
    rewriter.finish()?;
    let (lanes, at) = (hidden("width"), hidden("index"));
    let spread = match width {
        Some(width) => quote!(let #width = #lanes;),
        // The short form: the last index stands for all lanes.
        None => quote!(
            let mut #at = #at;
            #at[#rank - 1] = __tw::lanes_from(#at[#rank - 1], #lanes);
        ),
    };
    let (prelude, lints) = (prelude(), allowed_lints());
    let span = c.closure.or1_token.span();
    Ok(quote_spanned! {span=>
        {
            #prelude
            #[allow(unused_imports)]
            use __tw::{Capture as _, CaptureMut as _};
            let mut #builder = __tw::LaunchBuilder::new("kernel!");
            #captures
            #lints
            let __body = #builder.describe_index(move |#lanes: usize, #at: [__tw::Val<usize>; #rank]| {
                #bindings
                #spread
                let [#(#names),*] = #at;
                #body
            });
            __body
        }
    })
}
