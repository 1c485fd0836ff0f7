//! `while`, `loop`, `for`, labelled blocks, `break` and `continue`.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::{Block, Expr, ExprBreak, ExprContinue, ExprForLoop, ExprLoop, ExprWhile, Label, Pat};

use super::{Binding, LoopContext, Rewriter, Want};

impl Rewriter {
    fn in_loop(
        &mut self,
        label: Option<&Label>,
        result: Option<syn::Ident>,
        block: bool,
        recorded: bool,
        body: impl FnOnce(&mut Self) -> TokenStream,
    ) -> (syn::Ident, TokenStream) {
        let handle = self.fresh("loop");
        let label = label.map(|l| l.name.ident.to_string());
        self.loops.push(LoopContext { label, handle: handle.clone(), result, block });
        self.recorded_depth += usize::from(recorded);
        let body = self.scoped(body);
        self.recorded_depth -= usize::from(recorded);
        self.loops.pop();
        (handle, body)
    }

    pub(super) fn while_expr(&mut self, w: &ExprWhile) -> TokenStream {
        let span = w.while_token.span;
        if let Expr::Let(_) = &*w.cond {
            let (handle, code) = self.in_loop(w.label.as_ref(), None, false, false, |r| {
                let condition = r.expr(&w.cond);
                let body = r.block(&w.body, Want::Nothing);
                quote!(while #condition)
                    .into_iter()
                    .chain(quote!({ LOOP.round(); #body if !LOOP.again() { break; } }))
                    .collect()
            });
            let code = rename(code, &handle);
            return quote_spanned!(span=> { let mut #handle = __tw::Loop::once(); #code #handle.end(); });
        }
        if matches!(&*w.cond, Expr::Lit(l) if matches!(&l.lit, syn::Lit::Bool(b) if b.value)) {
            // Rust's `loop` under another name.
            let (handle, body) =
                self.in_loop(w.label.as_ref(), None, false, true, |r| r.block(&w.body, Want::Nothing));
            return quote_spanned!(span=> {
                let mut #handle = __tw::Loop::repeat();
                #body
                #handle.end();
            });
        }
        let mut condition = TokenStream::new();
        let (handle, body) = self.in_loop(w.label.as_ref(), None, false, false, |r| {
            condition = r.expr(&w.cond);
            r.block(&w.body, Want::Nothing)
        });
        quote_spanned!(span=> {
            let mut #handle = __tw::Loop::repeat();
            loop {
                if !#handle.test(#condition) { break; }
                #body
                if !#handle.again() { break; }
            }
            #handle.end();
        })
    }

    pub(super) fn loop_expr(&mut self, l: &ExprLoop, want: Want) -> TokenStream {
        let span = l.loop_token.span;
        let result = has_valued_break(&l.body, l.label.as_ref()).then(|| self.fresh("result"));
        let (handle, body) =
            self.in_loop(l.label.as_ref(), result.clone(), false, true, |r| r.block(&l.body, Want::Nothing));
        let (declare, value) = result_code(result, want, span);
        quote_spanned!(span=> {
            #declare
            let mut #handle = __tw::Loop::repeat();
            #body
            #handle.end();
            #value
        })
    }

    pub(super) fn labelled_block(&mut self, label: &Label, block: &Block, want: Want) -> TokenStream {
        let span = label.span();
        let tail = block
            .stmts
            .last()
            .is_some_and(|s| matches!(s, syn::Stmt::Expr(e, None) if !super::branch::leaves(e)));
        let valued = has_valued_break(block, Some(label));
        let result = (valued && want == Want::Value).then(|| self.fresh("result"));
        let tail = tail && result.is_some();
        let (handle, body) = self.in_loop(Some(label), result.clone(), true, false, |r| {
            r.block(block, if tail { Want::Value } else { Want::Nothing })
        });
        let body = match (&result, tail) {
            (Some(result), true) => quote_spanned!(span=> #result.set(#body);),
            _ => body,
        };
        let (declare, value) = result_code(result, want, span);
        quote_spanned!(span=> {
            #declare
            let mut #handle = __tw::Loop::once();
            #body
            #handle.end();
            #value
        })
    }

    pub(super) fn for_expr(&mut self, f: &ExprForLoop) -> TokenStream {
        let span = f.for_token.span;
        if let Some(range) = self.device_range(&f.expr) {
            let (pattern, variable) = match &*f.pat {
                Pat::Ident(name) if name.subpat.is_none() => (Some(&name.ident), name.mutability.is_some()),
                Pat::Wild(_) => (None, false),
                other => {
                    return self.error(other.span(), "the variable of a range is a number: give it a name");
                }
            };
            let (handle, body) = self.in_loop(f.label.as_ref(), None, false, true, |r| {
                if let Some(name) = pattern {
                    r.declare(name, if variable { Binding::Variable } else { Binding::Plain });
                }
                r.block(&f.body, Want::Nothing)
            });
            let bind = pattern.map(|name| match variable {
                true => {
                    let text = name.to_string();
                    quote_spanned!(name.span()=> let #name = __tw::Var::new(#text, #handle.index());)
                }
                false => quote_spanned!(name.span()=> let #name = #handle.index();),
            });
            return quote_spanned!(span=> {
                let mut #handle = __tw::For::begin(#range);
                { #bind #body }
                #handle.end();
            });
        }
        // Over values of the host: the body is described for each.
        let iterator = self.expr(&f.expr);
        let (renamed, split) = super::statement::split_variables(&f.pat);
        let (handle, body) = self.in_loop(f.label.as_ref(), None, false, false, |r| {
            r.declare_pattern(&f.pat, Binding::Plain);
            r.block(&f.body, Want::Nothing)
        });
        let variables: TokenStream = split
            .iter()
            .map(|(name, hidden)| {
                let text = name.to_string();
                quote_spanned!(name.span()=> let #name = __tw::Var::new(#text, #hidden);)
            })
            .collect();
        quote_spanned!(span=> {
            let mut #handle = __tw::Loop::once();
            for #renamed in #iterator {
                #handle.round();
                { #variables #body }
                if !#handle.again() { break; }
            }
            #handle.end();
        })
    }

    /// `lo..hi` with `rev` and `step_by`, as a range of the device.
    fn device_range(&mut self, expr: &Expr) -> Option<TokenStream> {
        let span = expr.span();
        match expr {
            Expr::Paren(p) => self.device_range(&p.expr),
            Expr::Group(g) => self.device_range(&g.expr),
            Expr::Range(r) => {
                let (Some(lo), Some(hi)) = (&r.start, &r.end) else {
                    return Some(self.error(span, "a range of a loop on the device has both ends: `lo..hi`"));
                };
                let (lo, hi) = (self.expr(lo), self.expr(hi));
                Some(match r.limits {
                    syn::RangeLimits::HalfOpen(_) => quote_spanned!(span=> __tw::range(#lo, #hi)),
                    syn::RangeLimits::Closed(_) => quote_spanned!(span=> __tw::range_inclusive(#lo, #hi)),
                })
            }
            Expr::MethodCall(call) if call.method == "rev" || call.method == "step_by" => {
                let receiver = self.device_range(&call.receiver)?;
                let args: Vec<_> = call.args.iter().map(|a| self.expr(a)).collect();
                let method = &call.method;
                Some(quote_spanned!(method.span()=> #receiver.#method(#(#args),*)))
            }
            _ => None,
        }
    }

    pub(super) fn break_expr(&mut self, b: &ExprBreak) -> TokenStream {
        let span = b.break_token.span;
        let Some((handle, result)) = self.target(b.label.as_ref(), true) else {
            return self.outside(b.label.as_ref(), "break", span);
        };
        match (&b.expr, result) {
            (Some(value), Some(result)) => {
                let value = self.expr(value);
                quote_spanned!(span=> { #result.set(#value); #handle.leave(); })
            }
            (Some(value), None) => {
                let value = self.expr(value);
                quote_spanned!(span=> { let _ = #value; #handle.leave(); })
            }
            (None, _) => quote_spanned!(span=> #handle.leave()),
        }
    }

    pub(super) fn continue_expr(&mut self, c: &ExprContinue) -> TokenStream {
        let span = c.continue_token.span;
        match self.target(c.label.as_ref(), false) {
            Some((handle, _)) => quote_spanned!(span=> #handle.next()),
            None => self.outside(c.label.as_ref(), "continue", span),
        }
    }

    /// The error for a `break` or `continue` that means no loop.
    fn outside(&mut self, label: Option<&syn::Lifetime>, word: &str, span: Span) -> TokenStream {
        match label {
            Some(label) => {
                let message = format!("no loop around this `{word}` has the label `{label}`");
                self.error(label.span(), message)
            }
            None => self.error(span, format!("`{word}` outside a loop of the kernel")),
        }
    }

    /// The loop that `break` or `continue` means.
    fn target(&self, label: Option<&syn::Lifetime>, leave: bool) -> Option<(syn::Ident, Option<syn::Ident>)> {
        let found = self.loops.iter().rev().find(|l| match label {
            Some(label) => l.label.as_deref() == Some(&label.ident.to_string()) && (leave || !l.block),
            None => !l.block,
        })?;
        Some((found.handle.clone(), found.result.clone()))
    }
}

fn result_code(result: Option<syn::Ident>, want: Want, span: Span) -> (TokenStream, TokenStream) {
    match result {
        Some(result) => (
            quote_spanned!(span=> let #result = __tw::Var::uninit();),
            match want {
                Want::Value => quote_spanned!(span=> #result.get()),
                Want::Nothing => TokenStream::new(),
            },
        ),
        None => (TokenStream::new(), TokenStream::new()),
    }
}

/// Replaces the stand-in `LOOP` by the loop's handle, which is named after its body is rewritten.
fn rename(code: TokenStream, handle: &syn::Ident) -> TokenStream {
    use proc_macro2::{Group, TokenTree};
    code.into_iter()
        .map(|token| match token {
            TokenTree::Ident(i) if i == "LOOP" => TokenTree::Ident(handle.clone()),
            TokenTree::Group(g) => TokenTree::Group(Group::new(g.delimiter(), rename(g.stream(), handle))),
            other => other,
        })
        .collect()
}

struct Breaks<'a> {
    label: Option<&'a Label>,
    depth: usize,
    any: bool,
    valued: bool,
}

impl<'a> Visit<'a> for Breaks<'_> {
    fn visit_expr_break(&mut self, b: &'a ExprBreak) {
        let ours = match (&b.label, self.label) {
            (Some(label), Some(own)) => label.ident == own.name.ident,
            (Some(_), None) => false,
            (None, _) => self.depth == 0,
        };
        self.any |= ours;
        self.valued |= ours && b.expr.is_some();
        syn::visit::visit_expr_break(self, b);
    }

    fn visit_expr_loop(&mut self, l: &'a ExprLoop) {
        self.nested(|v| syn::visit::visit_expr_loop(v, l));
    }

    fn visit_expr_while(&mut self, w: &'a ExprWhile) {
        self.nested(|v| syn::visit::visit_expr_while(v, w));
    }

    fn visit_expr_for_loop(&mut self, f: &'a ExprForLoop) {
        self.nested(|v| syn::visit::visit_expr_for_loop(v, f));
    }

    fn visit_expr_closure(&mut self, _: &'a syn::ExprClosure) {}

    fn visit_item(&mut self, _: &'a syn::Item) {}
}

impl Breaks<'_> {
    fn nested(&mut self, f: impl FnOnce(&mut Self)) {
        self.depth += 1;
        f(self);
        self.depth -= 1;
    }
}

fn breaks<'a>(body: &'a Block, label: Option<&'a Label>) -> Breaks<'a> {
    let mut breaks = Breaks { label, depth: 0, any: false, valued: false };
    breaks.visit_block(body);
    breaks
}

/// Whether a loop's body has a `break` of that loop.
pub(super) fn has_break(body: &Block, label: Option<&Label>) -> bool {
    breaks(body, label).any
}

fn has_valued_break(body: &Block, label: Option<&Label>) -> bool {
    breaks(body, label).valued
}
