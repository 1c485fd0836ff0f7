//! Expressions: operators, calls, casts, literals of structs and arrays.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{BinOp, Expr, ExprCall, ExprMethodCall, Token, UnOp};

use super::{Binding, Leave, Rewriter, Want};
use crate::signature::hidden;

/// Methods of tensors with a list of indices, and which argument it is.
const INDEX_ARGUMENTS: [(&str, usize); 6] =
    [("load", 0), ("store", 0), ("aligned_load", 0), ("aligned_store", 0), ("atomic", 0), ("tile", 1)];

impl Rewriter {
    /// An expression whose value is used.
    pub(super) fn expr(&mut self, expr: &Expr) -> TokenStream {
        self.expr_wanted(expr, Want::Value)
    }

    pub(super) fn expr_wanted(&mut self, expr: &Expr, want: Want) -> TokenStream {
        let span = expr.span();
        match expr {
            Expr::Lit(_) | Expr::Infer(_) | Expr::Const(_) | Expr::Verbatim(_) => quote!(#expr),
            Expr::Path(path) => match path.path.get_ident().map(|name| (name, self.binding(name))) {
                Some((name, Binding::Variable | Binding::Reference)) => {
                    let name = self.handle(name);
                    quote_spanned!(span=> #name.get())
                }
                _ => quote!(#expr),
            },
            Expr::Paren(p) => {
                let inner = self.expr_wanted(&p.expr, want);
                quote_spanned!(span=> (#inner))
            }
            Expr::Group(g) => self.expr_wanted(&g.expr, want),
            Expr::Unary(u) => match u.op {
                UnOp::Deref(_) => match self.variable(&u.expr) {
                    Some(name) => quote_spanned!(span=> #name.get()),
                    None => {
                        let inner = self.expr(&u.expr);
                        let op = &u.op;
                        quote_spanned!(span=> #op #inner)
                    }
                },
                _ => {
                    let inner = self.expr(&u.expr);
                    let op = &u.op;
                    quote!(#op #inner)
                }
            },
            Expr::Binary(b) => self.binary(b),
            Expr::Assign(a) => self.assign(&a.left, &a.right, span),
            Expr::Cast(c) => {
                let ty = &c.ty;
                if is_literal(&c.expr) && !is_half(ty) {
                    return quote!(#expr);
                }
                let inner = self.expr(&c.expr);
                quote_spanned!(span=> __tw::Cast::<#ty>::cast(#inner))
            }
            Expr::Index(i) => self.read_index(i),
            Expr::Field(f) => {
                let base = self.expr(&f.base);
                let member = &f.member;
                quote_spanned!(span=> #base.#member)
            }
            Expr::MethodCall(call) => self.method_call(call),
            Expr::Call(call) => self.call(call),
            Expr::Struct(s) => {
                let path = &s.path;
                let fields = s.fields.iter().map(|f| {
                    let member = &f.member;
                    let value = self.expr(&f.expr);
                    quote_spanned!(f.span()=> #member: __tw::Field::field(#value))
                });
                let fields: Vec<_> = fields.collect();
                let rest = s.rest.as_ref().map(|r| {
                    let rest = self.expr(r);
                    quote!(.. #rest)
                });
                quote_spanned!(span=> #path { #(#fields,)* #rest })
            }
            Expr::Tuple(t) => {
                let items: Vec<_> = t.elems.iter().map(|e| self.expr(e)).collect();
                quote_spanned!(span=> (#(#items,)*))
            }
            Expr::Array(a) => self.array(&a.elems, span),
            Expr::Repeat(r) => {
                let (item, len) = (self.expr(&r.expr), self.expr(&r.len));
                quote_spanned!(span=> [#item; #len])
            }
            Expr::Block(b) => match &b.label {
                Some(label) => self.labelled_block(label, &b.block, want),
                None => self.block(&b.block, want),
            },
            Expr::Unsafe(u) => {
                let block = self.block(&u.block, want);
                quote_spanned!(span=> unsafe #block)
            }
            Expr::If(i) => self.if_expr(i, want),
            Expr::Match(m) => self.match_expr(m, want),
            Expr::While(w) => self.while_expr(w),
            Expr::Loop(l) => self.loop_expr(l, want),
            Expr::ForLoop(f) => self.for_expr(f),
            Expr::Break(b) => self.break_expr(b),
            Expr::Continue(c) => self.continue_expr(c),
            Expr::Return(r) => self.return_expr(r.expr.as_deref(), r.return_token.span),
            Expr::Closure(c) => self.closure(c),
            Expr::Range(r) => {
                let (start, end) = (
                    r.start.as_ref().map(|e| self.expr(e)),
                    r.end.as_ref().map(|e| self.expr(e)),
                );
                let limits = &r.limits;
                quote_spanned!(span=> #start #limits #end)
            }
            Expr::Reference(r) => self.reference(r),
            Expr::Macro(m) => self.macro_call(&m.mac),
            Expr::Let(l) => {
                let (pattern, value) = (&l.pat, self.expr(&l.expr));
                self.declare_pattern(pattern, Binding::Plain);
                quote_spanned!(span=> let #pattern = #value)
            }
            Expr::Try(_) => self.error(
                span,
                "`?` in a kernel: there are no errors to return on the device; use `assert!`, or write a flag to a tensor",
            ),
            Expr::Async(_) | Expr::Await(_) | Expr::Yield(_) => {
                self.error(span, "a kernel is not asynchronous: threads wait for each other at `barrier()`")
            }
            other => self.error(other.span(), "this expression has no meaning in a kernel"),
        }
    }

    /// The handle of a variable that an expression names.
    pub(super) fn variable(&self, expr: &Expr) -> Option<syn::Ident> {
        match expr {
            Expr::Path(path) => {
                let name = path.path.get_ident()?;
                matches!(self.binding(name), Binding::Variable | Binding::Reference)
                    .then(|| self.handle(name))
            }
            Expr::Paren(p) => self.variable(&p.expr),
            Expr::Group(g) => self.variable(&g.expr),
            _ => None,
        }
    }

    /// The Rust name of a variable: `self` cannot be shadowed.
    pub(super) fn handle(&self, name: &syn::Ident) -> syn::Ident {
        if name == "self" { hidden("self") } else { name.clone() }
    }

    fn binary(&mut self, b: &syn::ExprBinary) -> TokenStream {
        let span = b.span();
        let comparison = |name: &str| syn::Ident::new(name, b.op.span());
        let method = match b.op {
            BinOp::Eq(_) => comparison("tw_eq"),
            BinOp::Ne(_) => comparison("tw_ne"),
            BinOp::Lt(_) => comparison("tw_lt"),
            BinOp::Le(_) => comparison("tw_le"),
            BinOp::Gt(_) => comparison("tw_gt"),
            BinOp::Ge(_) => comparison("tw_ge"),
            BinOp::And(_) | BinOp::Or(_) => return self.short_circuit(b),
            BinOp::AddAssign(_)
            | BinOp::SubAssign(_)
            | BinOp::MulAssign(_)
            | BinOp::DivAssign(_)
            | BinOp::RemAssign(_)
            | BinOp::BitXorAssign(_)
            | BinOp::BitAndAssign(_)
            | BinOp::BitOrAssign(_)
            | BinOp::ShlAssign(_)
            | BinOp::ShrAssign(_) => return self.compound_assign(b),
            _ => {
                let (left, right, op) = (self.expr(&b.left), self.expr(&b.right), &b.op);
                return quote_spanned!(span=> #left #op #right);
            }
        };
        let (left, right) = (self.expr(&b.left), self.expr(&b.right));
        quote_spanned!(span=> (&&&__tw::Sides(&(#left), &(#right))).#method())
    }

    fn array(&mut self, items: &Punctuated<Expr, Token![,]>, span: Span) -> TokenStream {
        // A literal beside values of the kernel becomes one too.
        let mixed = items.iter().any(is_plain) && !items.iter().all(is_plain);
        let items: Vec<_> = items
            .iter()
            .map(|item| {
                let value = self.expr(item);
                if mixed && is_plain(item) {
                    quote_spanned!(item.span()=> __tw::Field::field(#value))
                } else {
                    value
                }
            })
            .collect();
        quote_spanned!(span=> [#(#items),*])
    }

    /// A list of indices `[i, j]`: plain and recorded ones may stand side by side.
    pub(super) fn coordinates(&mut self, index: &Expr) -> TokenStream {
        let Expr::Array(list) = index else { return self.expr(index) };
        let items: Vec<_> = list
            .elems
            .iter()
            .map(|item| {
                let value = self.expr(item);
                quote_spanned!(item.span()=> __tw::coordinate(#value))
            })
            .collect();
        quote_spanned!(index.span()=> [#(#items),*])
    }

    fn method_call(&mut self, call: &ExprMethodCall) -> TokenStream {
        let span = call.method.span();
        let list =
            INDEX_ARGUMENTS.iter().find(|(name, _)| call.method == name).map(|&(_, argument)| argument);
        let args: Vec<_> = call
            .args
            .iter()
            .enumerate()
            .map(|(i, arg)| if Some(i) == list { self.coordinates(arg) } else { self.argument(arg) })
            .collect();
        let (method, turbofish) = (&call.method, &call.turbofish);
        if *method == "iter" && args.is_empty() {
            // What it gives borrows from its receiver, which therefore lives as long as the statement.
            let receiver = self.expr(&call.receiver);
            return quote_spanned!(span=> #receiver.iter());
        }
        match self.place(&call.receiver) {
            // The method may change its receiver: it runs on a copy, which is written back if it did.
            Some(place) => {
                let (variable, whole) = (place.variable, hidden("whole"));
                let call = super::place::update(
                    quote!(#whole),
                    &place.fields,
                    span,
                    |receiver| quote_spanned!(span=> __returned = ::core::option::Option::Some(#receiver.#method #turbofish (#(#args),*));),
                );
                // In parentheses: a block at the start of a statement would end it.
                quote_spanned!(span=> ({
                    let __place = #variable;
                    let mut #whole = __place.get();
                    let __before = ::core::clone::Clone::clone(&#whole);
                    let mut __returned = ::core::option::Option::None;
                    #call
                    __place.write_back(&__before, &#whole);
                    __returned.expect("the method was called")
                }))
            }
            None => {
                let receiver = match &*call.receiver {
                    // A plain `&self` stays a place, so that methods can borrow it.
                    Expr::Path(path) => quote!(#path),
                    other => self.expr(other),
                };
                quote_spanned!(span=> #receiver.#method #turbofish (#(#args),*))
            }
        }
    }

    fn call(&mut self, call: &ExprCall) -> TokenStream {
        let span = call.span();
        if let Expr::Path(path) = &*call.func
            && call.args.is_empty()
            && let Some(last) = path.path.segments.last()
            && (last.ident == "block_dim" || last.ident == "grid_dim")
        {
            // With arguments these are the host's words for the size of a launch.
            let name = &last.ident;
            return quote_spanned!(span=> __tw::#name());
        }
        let func = match &*call.func {
            Expr::Path(path) => quote!(#path),
            other => self.expr(other),
        };
        let constructor = is_constructor(&call.func);
        let args: Vec<_> = call
            .args
            .iter()
            .map(|arg| {
                let value = self.argument(arg);
                if constructor && is_plain(arg) {
                    quote_spanned!(arg.span()=> __tw::Field::field(#value))
                } else {
                    value
                }
            })
            .collect();
        quote_spanned!(span=> #func(#(#args),*))
    }

    /// An argument of a call: a `&mut` parameter is passed on, as Rust reborrows it.
    fn argument(&mut self, arg: &Expr) -> TokenStream {
        match arg {
            Expr::Path(path)
                if path.path.get_ident().is_some_and(|n| self.binding(n) == Binding::Reference) =>
            {
                quote!(#path)
            }
            _ => self.expr(arg),
        }
    }

    fn reference(&mut self, r: &syn::ExprReference) -> TokenStream {
        let span = r.span();
        if r.mutability.is_none() {
            let inner = match &*r.expr {
                // A place of the host stays a place.
                Expr::Path(path) if self.variable(&r.expr).is_none() => quote!(#path),
                other => self.expr(other),
            };
            return quote_spanned!(span=> & #inner);
        }
        if let Some(place) = self.place(&r.expr) {
            return match place.fields.is_empty() {
                true => place.variable,
                false => self.error(
                    span,
                    "`&mut` of a field of a variable: copy the field, change the copy, assign it back",
                ),
            };
        }
        match &*r.expr {
            Expr::Path(path) => match path.path.get_ident().map(|name| self.binding(name)) {
                Some(Binding::Comptime(_)) => quote!(#r),
                // A tensor: handles are passed on by copying.
                _ => quote!(#path),
            },
            other => {
                let inner = self.expr(other);
                quote_spanned!(span=> &mut #inner)
            }
        }
    }

    fn closure(&mut self, c: &syn::ExprClosure) -> TokenStream {
        let (inputs, capture, output) = (&c.inputs, &c.capture, &c.output);
        let loops = std::mem::take(&mut self.loops);
        let leave = std::mem::replace(&mut self.leave, Leave::Refused);
        let body = self.scoped(|r| {
            for input in inputs {
                let pattern = match input {
                    syn::Pat::Type(t) => &t.pat,
                    other => other,
                };
                r.declare_pattern(pattern, Binding::Plain);
            }
            r.expr(&c.body)
        });
        self.loops = loops;
        self.leave = leave;
        let mut variables = TokenStream::new();
        let inputs: Vec<_> = inputs
            .iter()
            .map(|input| {
                let (renamed, split) = super::statement::split_variables(input);
                for (name, hidden) in split {
                    let text = name.to_string();
                    variables.extend(quote!(let #name = __tw::Var::new(#text, #hidden);));
                }
                match renamed {
                    syn::Pat::Type(mut t) if crate::signature::is_scalar(&t.ty, &self.elements) => {
                        let staged = crate::signature::staged(&t.ty, &self.elements);
                        *t.ty = syn::Type::Verbatim(staged);
                        quote!(#t)
                    }
                    other => quote!(#other),
                }
            })
            .collect();
        let output = match output {
            syn::ReturnType::Type(arrow, ty) if crate::signature::is_scalar(ty, &self.elements) => {
                let staged = crate::signature::staged(ty, &self.elements);
                quote!(#arrow #staged)
            }
            other => quote!(#other),
        };
        quote_spanned!(c.span()=> #capture |#(#inputs),*| #output { #variables #body })
    }

    pub(super) fn return_expr(&mut self, value: Option<&Expr>, span: Span) -> TokenStream {
        match self.leave {
            Leave::Thread => match value {
                None => quote_spanned!(span=> __tw::exit_thread()),
                Some(value) => {
                    self.error(value.span(), "a kernel returns nothing: write the result to a `&mut TileTensor`")
                }
            },
            Leave::Function => match value {
                None => {
                    let function = hidden("function");
                    quote_spanned!(span=> #function.leave())
                },
                Some(value) => {
                    let value = self.expr(value);
                    let (result, function) = (hidden("result"), hidden("function"));
                    quote_spanned!(span=> { #result.set(#value); #function.leave(); })
                }
            },
            Leave::Refused => self.error(
                span,
                "`return` in a closure of a kernel: give the value with `if` and `else`, or make the closure a #[device] function",
            ),
        }
    }
}

/// A number or truth value as it is written, perhaps with a minus sign.
pub(super) fn is_literal(expr: &Expr) -> bool {
    match expr {
        Expr::Lit(_) => true,
        Expr::Unary(u) => matches!(u.op, UnOp::Neg(_)) && is_literal(&u.expr),
        Expr::Paren(p) => is_literal(&p.expr),
        Expr::Group(g) => is_literal(&g.expr),
        _ => false,
    }
}

/// A literal, or an array of them.
fn is_plain(expr: &Expr) -> bool {
    match expr {
        Expr::Array(list) => list.elems.iter().all(is_plain),
        Expr::Repeat(list) => is_plain(&list.expr),
        other => is_literal(other),
    }
}

/// `Name(..)`: a tuple struct, or a variant of an enum of the host.
fn is_constructor(func: &Expr) -> bool {
    let Expr::Path(path) = func else { return false };
    path.path.segments.last().is_some_and(|last| {
        let name = last.ident.to_string();
        // The parameters of Rust's own are not known from their declaration.
        name.starts_with(char::is_uppercase) && !matches!(name.as_str(), "Some" | "Ok" | "Err")
    })
}

/// A type that Rust's own `as` does not know.
fn is_half(ty: &syn::Type) -> bool {
    match ty {
        syn::Type::Path(p) => {
            p.path.segments.last().is_some_and(|s| s.ident == "f16" || s.ident == "bf16" || s.ident == "bool")
                || p.path.get_ident().is_some_and(|i| i.to_string().starts_with(char::is_uppercase))
        }
        _ => true,
    }
}
