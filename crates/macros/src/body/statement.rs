//! Statements: `let`, expressions with and without a semicolon, items.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::visit_mut::VisitMut;
use syn::{Block, Expr, Ident, Local, Pat, Stmt};

use super::{Binding, Rewriter, Want};
use crate::signature::{is_scalar, staged, take_comptime};

impl Rewriter {
    /// A block with its braces and its own scope.
    pub(super) fn block(&mut self, block: &Block, want: Want) -> TokenStream {
        let inner = self.scoped(|r| r.statements(&block.stmts, want));
        quote_spanned!(block.span()=> { #inner })
    }

    /// Statements one after the other; the value of the last is kept if it is wanted.
    pub(super) fn statements(&mut self, statements: &[Stmt], want: Want) -> TokenStream {
        let mut out = TokenStream::new();
        for (i, statement) in statements.iter().enumerate() {
            let last = i + 1 == statements.len();
            out.extend(match statement {
                Stmt::Local(local) => self.local(local),
                Stmt::Item(item) => quote!(#item),
                Stmt::Expr(expr, None) if last && want == Want::Value && !super::branch::leaves(expr) => {
                    self.expr(expr)
                }
                Stmt::Expr(expr, _) => {
                    let expr = self.expr_wanted(expr, Want::Nothing);
                    quote!(#expr;)
                }
                Stmt::Macro(m) => {
                    let tail = last && m.semi_token.is_none() && want == Want::Value;
                    let expr = self.macro_call(&m.mac);
                    if tail { expr } else { quote!(#expr;) }
                }
            });
        }
        out
    }

    fn local(&mut self, local: &Local) -> TokenStream {
        let span = local.span();
        let (attributes, comptime) = take_comptime(&local.attrs);
        if let Some(init) = &local.init
            && let Some((token, _)) = &init.diverge
        {
            return self.error(
                token.span(),
                "`let ... else` in a kernel: leaving a kernel is recorded, not done while it is described; use `if let` or `match`",
            );
        }
        let (pattern, ty) = match &local.pat {
            Pat::Type(typed) => ((*typed.pat).clone(), Some((*typed.ty).clone())),
            other => (other.clone(), None),
        };
        if comptime {
            let init = local.init.as_ref().map(|i| {
                let expr = self.expr(&i.expr);
                quote!(= #expr)
            });
            let depth = self.recorded_depth;
            self.declare_pattern(&pattern, Binding::Comptime(depth));
            let ty = ty.map(|t| quote!(: #t));
            return quote_spanned!(span=> #(#attributes)* let #pattern #ty #init;);
        }
        let Some(init) = &local.init else {
            // `let x;`: a variable without a value yet.
            let Pat::Ident(name) = &pattern else {
                return self
                    .error(span, "a pattern without a value: give it one, or declare the names one by one");
            };
            self.declare(&name.ident, Binding::Variable);
            let (name, text) = (&name.ident, name.ident.to_string());
            let ty = ty.map(|t| {
                let staged = staged(&t, &self.elements);
                quote!(: __tw::Var<#staged>)
            });
            return quote_spanned!(span=> #(#attributes)* let #name #ty = __tw::Var::named(#text););
        };
        if let Pat::Ident(name) = &pattern
            && name.mutability.is_some()
            && name.subpat.is_none()
        {
            let value = self.expr(&init.expr);
            self.declare(&name.ident, Binding::Variable);
            let (name, text) = (&name.ident, name.ident.to_string());
            return match ty {
                Some(ty) => {
                    let staged = staged(&ty, &self.elements);
                    quote_spanned!(span=> #(#attributes)* let #name: __tw::Var<#staged> = __tw::Var::with_value(#text, #value);)
                }
                None => {
                    let at = init.expr.span();
                    let new = quote_spanned!(at=> __tw::Var::new(#text, #value));
                    quote_spanned!(span=> #(#attributes)* let #name = #new;)
                }
            };
        }
        let value = self.named_value(&pattern, &init.expr);
        let (renamed, variables) = split_variables(&pattern);
        self.declare_pattern(&pattern, Binding::Plain);
        let value = match &ty {
            Some(ty) if is_scalar(ty, &self.elements) => {
                quote_spanned!(init.expr.span()=> __tw::annotated::<#ty, _>(#value))
            }
            _ => value,
        };
        let ty = ty.filter(|ty| !is_scalar(ty, &self.elements)).map(|t| quote!(: #t));
        let variables = variables.into_iter().map(|(name, hidden)| {
            self.declare(&name, Binding::Variable);
            let text = name.to_string();
            quote_spanned!(name.span()=> let #name = __tw::Var::new(#text, #hidden);)
        });
        let variables: TokenStream = variables.collect();
        quote_spanned!(span=> #(#attributes)* let #renamed #ty = #value; #variables)
    }

    /// The value of `let name = ...`; an allocation takes the name.
    fn named_value(&mut self, pattern: &Pat, value: &Expr) -> TokenStream {
        let rewritten = self.expr(value);
        if let (Pat::Ident(name), Expr::Call(call)) = (pattern, value)
            && let Expr::Path(path) = &*call.func
            && path.path.segments.last().is_some_and(|s| s.ident == "stack_allocation")
        {
            let text = name.ident.to_string();
            return quote_spanned!(value.span()=> { __tw::let_name(#text); #rewritten });
        }
        rewritten
    }

    /// Declares the names of a pattern: those with `mut` as variables, unless they are the host's.
    pub(super) fn declare_pattern(&mut self, pattern: &Pat, binding: Binding) {
        for (name, mutable) in pattern_names(pattern) {
            let binding = match binding {
                Binding::Plain if mutable => Binding::Variable,
                other => other,
            };
            self.declare(&name, binding);
        }
    }
}

/// The names that a pattern binds, and whether with `mut`.
pub(super) fn pattern_names(pattern: &Pat) -> Vec<(Ident, bool)> {
    struct Names(Vec<(Ident, bool)>);
    impl<'a> syn::visit::Visit<'a> for Names {
        fn visit_pat_ident(&mut self, p: &'a syn::PatIdent) {
            self.0.push((p.ident.clone(), p.mutability.is_some() && p.by_ref.is_none()));
            syn::visit::visit_pat_ident(self, p);
        }
    }
    let mut names = Names(Vec::new());
    syn::visit::Visit::visit_pat(&mut names, pattern);
    names.0
}

/// The pattern with each `mut name` replaced by a hidden name, and the pairs of them.
pub(super) fn split_variables(pattern: &Pat) -> (Pat, Vec<(Ident, Ident)>) {
    struct Split(Vec<(Ident, Ident)>);
    impl VisitMut for Split {
        fn visit_pat_ident_mut(&mut self, p: &mut syn::PatIdent) {
            if p.mutability.is_some() && p.by_ref.is_none() {
                let hidden = format_ident!("__value_{}", p.ident);
                self.0.push((p.ident.clone(), hidden.clone()));
                p.mutability = None;
                p.ident = hidden;
            }
            syn::visit_mut::visit_pat_ident_mut(self, p);
        }
    }
    let mut pattern = pattern.clone();
    let mut split = Split(Vec::new());
    split.visit_pat_mut(&mut pattern);
    (pattern, split.0)
}
