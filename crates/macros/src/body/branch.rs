//! `if`, `match`, `&&` and `||`.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Arm, BinOp, Block, Expr, ExprIf, ExprMatch, Pat, Stmt};

use super::{Binding, Rewriter, Want};
use crate::signature::hidden;

/// A rewritten branch.
struct Branch {
    /// An expression: a block in braces.
    code: TokenStream,
    /// Whether its end cannot be reached.
    leaves: bool,
}

impl Rewriter {
    pub(super) fn if_expr(&mut self, i: &ExprIf, want: Want) -> TokenStream {
        let span = i.if_token.span;
        if has_let(&i.cond) {
            return self.scoped(|r| {
                let condition = r.plain_condition(&i.cond);
                let then = r.block(&i.then_branch, want);
                let otherwise = i.else_branch.as_ref().map(|(_, e)| {
                    let e = r.expr_wanted(e, want);
                    quote!(else { #e })
                });
                quote_spanned!(span=> if #condition #then #otherwise)
            });
        }
        let condition = self.expr(&i.cond);
        let condition = quote_spanned!(i.cond.span()=> __tw::If::new(#condition));
        // Without `else` there is no value.
        let want = if i.else_branch.is_some() { want } else { Want::Nothing };
        let then = Branch { code: self.block(&i.then_branch, want), leaves: block_leaves(&i.then_branch) };
        let otherwise = match &i.else_branch {
            Some((_, e)) => {
                let code = self.expr_wanted(e, want);
                Branch { code: quote!({ #code }), leaves: leaves(e) }
            }
            None => Branch { code: quote!({}), leaves: false },
        };
        branch(span, condition, then, otherwise, want)
    }

    /// The condition of `if let`: decided while the kernel is described.
    fn plain_condition(&mut self, condition: &Expr) -> TokenStream {
        match condition {
            Expr::Binary(b) if matches!(b.op, BinOp::And(_)) => {
                let (left, op) = (self.plain_condition(&b.left), &b.op);
                let right = self.plain_condition(&b.right);
                quote_spanned!(b.span()=> #left #op #right)
            }
            other => self.expr(other),
        }
    }

    /// `a && b` is `if a { b } else { false }`: the right side is only evaluated where it matters.
    pub(super) fn short_circuit(&mut self, b: &syn::ExprBinary) -> TokenStream {
        let span = b.span();
        let (left, right) = (self.expr(&b.left), self.expr(&b.right));
        let condition = quote_spanned!(b.left.span()=> __tw::If::new(#left));
        let right = quote_spanned!(b.right.span()=> __tw::condition(#right));
        let right = Branch { code: quote!({ #right }), leaves: false };
        let fixed = |value: bool| Branch { code: quote!({ #value }), leaves: false };
        match b.op {
            BinOp::And(_) => branch(span, condition, right, fixed(false), Want::Value),
            _ => branch(span, condition, fixed(true), right, Want::Value),
        }
    }

    pub(super) fn match_expr(&mut self, m: &ExprMatch, want: Want) -> TokenStream {
        let span = m.match_token.span;
        let scrutinee = self.expr(&m.expr);
        if !m.arms.iter().all(|arm| is_simple(&arm.pat)) {
            // Patterns that take things apart are for values of the host.
            let arms: Vec<_> = m
                .arms
                .iter()
                .map(|arm| {
                    self.scoped(|r| {
                        r.declare_pattern(&arm.pat, Binding::Plain);
                        let pattern = &arm.pat;
                        let guard = arm.guard.as_ref().map(|(token, g)| {
                            let g = r.expr(g);
                            quote!(#token #g)
                        });
                        let body = r.expr_wanted(&arm.body, want);
                        quote!(#pattern #guard => { #body })
                    })
                })
                .collect();
            return quote_spanned!(span=> match #scrutinee { #(#arms)* });
        }
        let value = self.fresh("scrutinee");
        let covered: Vec<_> = m
            .arms
            .iter()
            .map(|arm| {
                let pattern = &arm.pat;
                let guard = arm.guard.as_ref().map(|_| quote!(if __tw::sometimes()));
                quote_spanned!(pattern.span()=> #pattern #guard => {})
            })
            .collect();
        let check = quote_spanned!(span=>
            // Rust's own check that the patterns fit the type and cover it; never run.
            #[allow(unused_variables, clippy::all)]
            if false { match (&&__tw::Scrutinee(&#value)).pattern_type() { #(#covered)* } }
        );
        let chain = self.arms(&value, &m.arms, want, span);
        quote_spanned!(span=> { let #value = #scrutinee; #check #chain })
    }

    /// The arms as a chain of `if`.
    fn arms(&mut self, value: &syn::Ident, arms: &[Arm], want: Want, span: Span) -> TokenStream {
        let Some((arm, rest)) = arms.split_first() else {
            return self.error(span, "a `match` in a kernel needs an arm");
        };
        let (body, condition) = self.scoped(|r| {
            let bound = bound_name(&arm.pat);
            let bind = bound.map(|name| {
                r.declare(name, Binding::Plain);
                quote!(let #name = #value;)
            });
            let condition = r.pattern_condition(value, &arm.pat);
            let guard = arm.guard.as_ref().map(|(_, g)| r.expr(g));
            let code = r.expr_wanted(&arm.body, want);
            // The guard may be all that uses the name.
            let allow = (bind.is_some() && guard.is_some()).then(|| quote!(#[allow(unused_variables)]));
            let body = Branch { code: quote!({ #allow #bind #code }), leaves: leaves(&arm.body) };
            let condition = match (condition, guard) {
                (None, None) => None,
                (None, Some(guard)) => Some(quote!({ #bind #guard })),
                (Some(condition), None) => Some(condition),
                (Some(condition), Some(guard)) => {
                    let start = quote_spanned!(arm.pat.span()=> __tw::If::new(#condition));
                    let guard = Branch { code: quote!({ #bind #guard }), leaves: false };
                    let never = Branch { code: quote!({ false }), leaves: false };
                    Some(branch(arm.pat.span(), start, guard, never, Want::Value))
                }
            };
            (body, condition)
        });
        // The last arm takes what is left: that nothing is missing, Rust has checked.
        let Some(condition) = condition.filter(|_| !rest.is_empty()) else { return body.code };
        let start = quote_spanned!(arm.pat.span()=> __tw::If::new(#condition));
        let otherwise = Branch {
            code: {
                let rest = self.arms(value, rest, want, span);
                quote!({ #rest })
            },
            leaves: rest.iter().all(|a| leaves(&a.body)),
        };
        branch(span, start, body, otherwise, want)
    }

    /// Whether a value matches a pattern; `None` if it always does.
    fn pattern_condition(&mut self, value: &syn::Ident, pattern: &Pat) -> Option<TokenStream> {
        let span = pattern.span();
        let compare = |method: &str, with: &dyn quote::ToTokens| {
            let method = syn::Ident::new(method, span);
            quote_spanned!(span=> (&&&__tw::Sides(&#value, &(#with))).#method())
        };
        match pattern {
            Pat::Wild(_) => None,
            Pat::Ident(name) if bound_name(pattern).is_some() => {
                // `name @ pattern` matches where the pattern does.
                name.subpat.as_ref().and_then(|(_, inner)| self.pattern_condition(value, inner))
            }
            Pat::Ident(name) => Some(compare("tw_eq", &name.ident)),
            Pat::Lit(lit) => Some(compare("tw_eq", lit)),
            Pat::Path(path) => Some(compare("tw_eq", path)),
            Pat::Paren(p) => self.pattern_condition(value, &p.pat),
            Pat::Range(range) => {
                let low = range.start.as_ref().map(|start| compare("tw_ge", start));
                let high = range.end.as_ref().map(|end| match range.limits {
                    syn::RangeLimits::Closed(_) => compare("tw_le", end),
                    syn::RangeLimits::HalfOpen(_) => compare("tw_lt", end),
                });
                match (low, high) {
                    (Some(low), Some(high)) => Some(both(span, low, high, true)),
                    (low, high) => low.or(high),
                }
            }
            Pat::Or(or) => {
                let mut any: Option<TokenStream> = None;
                for case in &or.cases {
                    let condition = self.pattern_condition(value, case)?;
                    any = Some(match any {
                        None => condition,
                        Some(others) => both(span, others, condition, false),
                    });
                }
                any
            }
            other => Some(self.error(other.span(), "this pattern cannot be matched on the device")),
        }
    }
}

/// `a && b` or `a || b` of rewritten conditions.
fn both(span: Span, a: TokenStream, b: TokenStream, and: bool) -> TokenStream {
    let start = quote_spanned!(span=> __tw::If::new(#a));
    let b = Branch { code: quote!({ #b }), leaves: false };
    let fixed = Branch { code: if and { quote!({ false }) } else { quote!({ true }) }, leaves: false };
    match and {
        true => branch(span, start, b, fixed, Want::Value),
        false => branch(span, start, fixed, b, Want::Value),
    }
}

/// An `if` around two rewritten branches.
fn branch(span: Span, start: TokenStream, then: Branch, otherwise: Branch, want: Want) -> TokenStream {
    let (a, b) = (&then.code, &otherwise.code);
    if want == Want::Nothing || (then.leaves && otherwise.leaves) {
        return quote_spanned!(span=> {
            let mut __if = #start;
            if __if.then() { #a; }
            if __if.otherwise() { #b; }
            __if.end();
        });
    }
    // Names of their own: `span` may lie in another macro than the rest.
    let (first, second) = (hidden("then"), hidden("otherwise"));
    let taken = |code: &TokenStream, leaves: bool, place: &syn::Ident| match leaves {
        true => quote_spanned!(span=> #code;),
        false => {
            quote_spanned!(span=> #place = ::core::option::Option::Some({ let __value = #code; __if.arm(__value) });)
        }
    };
    let (in_first, in_second) = (taken(a, then.leaves, &first), taken(b, otherwise.leaves, &second));
    let (used, finish) = match (then.leaves, otherwise.leaves) {
        (true, _) => (vec![&second], quote_spanned!(span=> __if.finish_one(#second))),
        (_, true) => (vec![&first], quote_spanned!(span=> __if.finish_one(#first))),
        _ => (vec![&first, &second], quote_spanned!(span=> __if.finish(#first, #second))),
    };
    quote_spanned!(span=> ({
        let mut __if = #start;
        #(let mut #used = ::core::option::Option::None;)*
        if __if.then() { #in_first }
        if __if.otherwise() { #in_second }
        #finish
    }))
}

/// A pattern that only compares: literals, ranges, constants, `_`, a name, and alternatives of them.
fn is_simple(pattern: &Pat) -> bool {
    match pattern {
        Pat::Wild(_) | Pat::Lit(_) | Pat::Path(_) | Pat::Range(_) => true,
        Pat::Ident(name) => {
            name.by_ref.is_none() && name.subpat.as_ref().is_none_or(|(_, inner)| is_simple(inner))
        }
        Pat::Paren(p) => is_simple(&p.pat),
        Pat::Or(or) => or.cases.iter().all(is_simple),
        _ => false,
    }
}

/// The name that a pattern binds the whole value to; a name in capitals is a constant.
fn bound_name(pattern: &Pat) -> Option<&syn::Ident> {
    match pattern {
        Pat::Ident(name)
            if name.ident.to_string().contains(char::is_lowercase) && !starts_upper(&name.ident) =>
        {
            Some(&name.ident)
        }
        Pat::Paren(p) => bound_name(&p.pat),
        _ => None,
    }
}

fn starts_upper(name: &syn::Ident) -> bool {
    name.to_string().starts_with(char::is_uppercase)
}

fn has_let(condition: &Expr) -> bool {
    match condition {
        Expr::Let(_) => true,
        Expr::Binary(b) => matches!(b.op, BinOp::And(_)) && (has_let(&b.left) || has_let(&b.right)),
        Expr::Paren(p) => has_let(&p.expr),
        _ => false,
    }
}

/// Whether the end of an expression cannot be reached, as far as its form tells.
pub(crate) fn leaves(expr: &Expr) -> bool {
    match expr {
        Expr::Return(_) | Expr::Break(_) | Expr::Continue(_) => true,
        Expr::Block(b) => b.label.is_none() && block_leaves(&b.block),
        Expr::Unsafe(u) => block_leaves(&u.block),
        Expr::Paren(p) => leaves(&p.expr),
        Expr::Group(g) => leaves(&g.expr),
        Expr::If(i) => block_leaves(&i.then_branch) && i.else_branch.as_ref().is_some_and(|(_, e)| leaves(e)),
        Expr::Match(m) => !m.arms.is_empty() && m.arms.iter().all(|a| leaves(&a.body)),
        Expr::Loop(l) => !super::loops::has_break(&l.body, l.label.as_ref()),
        Expr::Macro(m) => never_returns(&m.mac),
        _ => false,
    }
}

pub(super) fn block_leaves(block: &Block) -> bool {
    block.stmts.iter().any(|s| match s {
        Stmt::Expr(e, _) => leaves(e),
        Stmt::Macro(m) => never_returns(&m.mac),
        _ => false,
    })
}

fn never_returns(mac: &syn::Macro) -> bool {
    ["panic", "unreachable", "unimplemented", "todo"].iter().any(|name| mac.path.is_ident(name))
}
