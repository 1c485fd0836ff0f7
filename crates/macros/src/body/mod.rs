//! The body of a kernel, expression by expression.

mod branch;
mod expression;
mod format;
mod loops;
mod place;
mod statement;

pub(crate) use branch::leaves;

use std::collections::HashMap;

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::visit::Visit;
use syn::{Block, Ident, Pat};

/// What a name in scope stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binding {
    /// A variable of the kernel: `let mut`, a `mut` parameter.
    Variable,
    /// A `&mut` parameter: a variable of the caller, which is passed on as it is.
    Reference,
    /// `#[comptime] let mut`: a variable of the host, at the given depth of recorded loops.
    Comptime(usize),
    /// Anything else.
    Plain,
}

/// Whether an expression's value is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Want {
    Value,
    Nothing,
}

/// What `return` does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leave {
    /// The thread ends.
    Thread,
    /// The function's block is left, its result is in `__result`.
    Function,
    /// Refused: in a closure.
    Refused,
}

struct LoopContext {
    label: Option<String>,
    handle: Ident,
    /// The variable for the loop's value, if a `break` has one.
    result: Option<Ident>,
    /// A labelled block: unlabelled `break` and `continue` do not mean it.
    block: bool,
}

/// Rewrites a body. Errors are collected, so that all are shown at once.
pub(crate) struct Rewriter {
    scopes: Vec<HashMap<String, Binding>>,
    loops: Vec<LoopContext>,
    /// How many loops of the device enclose what is being rewritten.
    recorded_depth: usize,
    leave: Leave,
    elements: Vec<Ident>,
    next: usize,
    errors: Option<syn::Error>,
}

impl Rewriter {
    pub(crate) fn new(leave: Leave, elements: Vec<Ident>) -> Rewriter {
        Rewriter {
            scopes: vec![HashMap::new()],
            loops: Vec::new(),
            recorded_depth: 0,
            leave,
            elements,
            next: 0,
            errors: None,
        }
    }

    /// Declares a name of the outermost scope: a parameter.
    pub(crate) fn declare(&mut self, name: &Ident, binding: Binding) {
        let scope = self.scopes.last_mut().expect("there is a scope");
        scope.insert(name.to_string(), binding);
    }

    /// Declares the names of a parameter's pattern.
    pub(crate) fn declare_pattern_of(&mut self, pattern: &Pat) {
        self.declare_pattern(pattern, Binding::Plain);
    }

    /// The rewritten statements of a function's body, without braces.
    pub(crate) fn body(&mut self, block: &Block, want: Want) -> TokenStream {
        self.statements(&block.stmts, want)
    }

    /// The errors found, all in one.
    pub(crate) fn finish(self) -> syn::Result<()> {
        self.errors.map_or(Ok(()), Err)
    }

    fn error(&mut self, span: Span, message: impl std::fmt::Display) -> TokenStream {
        let error = syn::Error::new(span, message);
        match &mut self.errors {
            Some(errors) => errors.combine(error),
            None => self.errors = Some(error),
        }
        quote!(::core::unreachable!())
    }

    fn binding(&self, name: &Ident) -> Binding {
        let name = name.to_string();
        self.scopes.iter().rev().find_map(|s| s.get(&name)).copied().unwrap_or(Binding::Plain)
    }

    fn scoped<R>(&mut self, f: impl FnOnce(&mut Self) -> R) -> R {
        self.scopes.push(HashMap::new());
        let result = f(self);
        self.scopes.pop();
        result
    }

    fn fresh(&mut self, name: &str) -> Ident {
        self.next += 1;
        format_ident!("__{name}_{}", self.next, span = Span::mixed_site())
    }
}

/// The words that a rewritten body needs in scope.
pub(crate) fn prelude() -> TokenStream {
    quote! {
        #[allow(unused_imports)]
        use ::tilewise::__private::{
            self as __tw, CompareHost as _, CompareLeft as _, CompareRight as _, ScrutineeHost as _,
            ScrutineeStaged as _, ShowConstant as _, ShowHost as _, ShowStaged as _,
        };
    }
}

/// Lints that a rewritten body would set off through no fault of the user's.
pub(crate) fn allowed_lints() -> TokenStream {
    quote! {
        #[allow(
            unused_parens, unused_braces, unused_mut, unused_assignments, unreachable_code, path_statements,
            clippy::all, clippy::pedantic
        )]
    }
}

/// Whether a body has a `return` of its own (not one of a closure or an item in it).
pub(crate) fn has_return(block: &Block) -> bool {
    struct Find(bool);
    impl<'a> Visit<'a> for Find {
        fn visit_expr_return(&mut self, _: &'a syn::ExprReturn) {
            self.0 = true;
        }
        fn visit_expr_closure(&mut self, _: &'a syn::ExprClosure) {}
        fn visit_item(&mut self, _: &'a syn::Item) {}
    }
    let mut find = Find(false);
    find.visit_block(block);
    find.0
}

/// `let pattern = value;`, with a variable for each `mut` name.
pub(crate) fn bind_pattern(pattern: &Pat, value: TokenStream) -> TokenStream {
    let (renamed, variables) = statement::split_variables(pattern);
    let variables = variables.iter().map(|(name, hidden)| {
        let text = name.to_string();
        quote_spanned!(name.span()=> let #name = __tw::Var::new(#text, #hidden);)
    });
    quote!(let #renamed = #value; #(#variables)*)
}
