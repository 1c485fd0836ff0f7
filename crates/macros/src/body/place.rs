//! What can stand on the left of `=`: variables, their elements and fields, elements of tensors.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{BinOp, Expr, ExprIndex, Member};

use super::{Binding, Rewriter};
use crate::signature::hidden;

/// A variable or an element of an array variable, and fields in it.
pub(super) struct VariablePlace {
    /// An expression for the variable's handle.
    pub(super) variable: TokenStream,
    /// Fields and plain indices inside its value.
    pub(super) fields: Vec<Step>,
}

pub(super) enum Step {
    Field(Member),
    Index(TokenStream),
}

impl Rewriter {
    /// The variable that a place lies in, if it does.
    pub(super) fn place(&mut self, expr: &Expr) -> Option<VariablePlace> {
        match expr {
            Expr::Paren(p) => self.place(&p.expr),
            Expr::Group(g) => self.place(&g.expr),
            Expr::Unary(u) if matches!(u.op, syn::UnOp::Deref(_)) => self.place(&u.expr),
            Expr::Path(_) => {
                let name = self.variable(expr)?;
                Some(VariablePlace { variable: quote!(#name), fields: Vec::new() })
            }
            Expr::Index(i) => {
                let mut place = self.place(&i.expr)?;
                let index = self.expr(&i.index);
                if place.fields.is_empty() {
                    let variable = place.variable;
                    place.variable = quote_spanned!(i.span()=> #variable.at(#index));
                } else {
                    place.fields.push(Step::Index(index));
                }
                Some(place)
            }
            Expr::Field(f) => {
                let mut place = self.place(&f.base)?;
                place.fields.push(Step::Field(f.member.clone()));
                Some(place)
            }
            _ => None,
        }
    }

    /// `x[i]` where its value is used.
    pub(super) fn read_index(&mut self, i: &ExprIndex) -> TokenStream {
        let span = i.span();
        if let Some(place) = self.place(&Expr::Index(i.clone()))
            && place.fields.is_empty()
        {
            let variable = place.variable;
            return quote_spanned!(span=> #variable.get());
        }
        let base = self.base(&i.expr);
        let index = self.coordinates(&i.index);
        quote_spanned!(span=> __tw::ReadIndex::read_index(&(#base), #index))
    }

    /// The base of an index: a place of the host stays one.
    fn base(&mut self, expr: &Expr) -> TokenStream {
        match expr {
            Expr::Path(path) if self.variable(expr).is_none() => quote!(#path),
            other => self.expr(other),
        }
    }

    /// Whether a place lies in a `#[comptime] let mut`, whose own Rust assignment it is.
    fn is_comptime(&mut self, expr: &Expr) -> bool {
        let mut root = expr;
        loop {
            root = match root {
                Expr::Index(i) => &i.expr,
                Expr::Field(f) => &f.base,
                Expr::Paren(p) => &p.expr,
                Expr::Group(g) => &g.expr,
                Expr::Unary(u) => &u.expr,
                _ => break,
            };
        }
        let Expr::Path(path) = root else { return false };
        let Some(name) = path.path.get_ident() else { return false };
        let Binding::Comptime(depth) = self.binding(name) else { return false };
        if depth < self.recorded_depth {
            self.error(
                expr.span(),
                format!(
                    "`{name}` is a `#[comptime]` variable of the host, and this loop of the device is described only once: \
                     the assignment would not be repeated; use a variable of the kernel (`let mut` without `#[comptime]`), \
                     or a loop over `comptime(..)`"
                ),
            );
        }
        true
    }

    pub(super) fn assign(&mut self, left: &Expr, right: &Expr, span: Span) -> TokenStream {
        match left {
            Expr::Infer(_) => {
                let value = self.expr(right);
                return quote_spanned!(span=> let _ = #value);
            }
            Expr::Paren(p) => return self.assign(&p.expr, right, span),
            Expr::Tuple(t) => {
                // `(a, b) = (b, a)`: all values first, then the assignments.
                let value = self.expr(right);
                let parts: Vec<_> = (0..t.elems.len()).map(|_| self.fresh("part")).collect();
                let assigns: Vec<_> = t
                    .elems
                    .iter()
                    .zip(&parts)
                    .map(|(place, part)| {
                        let part: Expr = syn::parse_quote!(#part);
                        self.assign(place, &part, span)
                    })
                    .collect();
                return quote_spanned!(span=> { let (#(#parts,)*) = #value; #(#assigns;)* });
            }
            _ => {}
        }
        if self.is_comptime(left) {
            let value = self.expr(right);
            return quote_spanned!(span=> #left = #value);
        }
        let value = self.expr(right);
        if let Some(place) = self.place(left) {
            let variable = &place.variable;
            if place.fields.is_empty() {
                return quote_spanned!(span=> #variable.set(#value));
            }
            return place.change(
                value,
                span,
                |part| quote_spanned!(span=> #part = __tw::Field::field(__value);),
            );
        }
        match left {
            Expr::Index(i) => {
                let base = self.base(&i.expr);
                let index = self.coordinates(&i.index);
                // What does not fit is the value.
                let argument = quote_spanned!(right.span()=> __value);
                quote_spanned!(span=> {
                    let __value = #value;
                    __tw::WriteIndex::write_index(&(#base), #index, #argument)
                })
            }
            Expr::Field(_) => quote_spanned!(span=> #left = __tw::Field::field(#value)),
            _ => quote_spanned!(span=> #left = #value),
        }
    }

    pub(super) fn compound_assign(&mut self, b: &syn::ExprBinary) -> TokenStream {
        let span = b.span();
        if self.is_comptime(&b.left) {
            let (left, op, right) = (&b.left, &b.op, self.expr(&b.right));
            return quote_spanned!(span=> #left #op #right);
        }
        let op = operator(&b.op);
        let value = self.expr(&b.right);
        if let Some(place) = self.place(&b.left) {
            let variable = &place.variable;
            if place.fields.is_empty() {
                return quote_spanned!(span=> {
                    let __value = #value;
                    let __place = #variable;
                    __place.set(__place.get() #op __value);
                });
            }
            return place.change(value, span, |part| quote_spanned!(span=> #part = #part #op __value;));
        }
        match &*b.left {
            Expr::Index(i) => {
                let base = self.base(&i.expr);
                let index = self.coordinates(&i.index);
                quote_spanned!(span=> {
                    let __value = #value;
                    let __base = &(#base);
                    let __index = #index;
                    __tw::WriteIndex::write_index(
                        __base,
                        __index,
                        __tw::ReadIndex::read_index(__base, __index) #op __value,
                    )
                })
            }
            left => quote_spanned!(span=> #left = #left #op #value),
        }
    }
}

impl VariablePlace {
    /// Changes the part of the variable's value that the fields lead to; `change` is given it as a place, and the value is
    /// `__value` there.
    fn change(
        &self,
        value: TokenStream,
        span: Span,
        change: impl FnOnce(TokenStream) -> TokenStream,
    ) -> TokenStream {
        let variable = &self.variable;
        let whole = hidden("whole");
        let update = update(quote!(#whole), &self.fields, span, change);
        quote_spanned!(span=> {
            let __value = #value;
            let __place = #variable;
            let mut #whole = __place.get();
            #update
            __place.set(#whole);
        })
    }
}

/// Statements that change the part of `whole` that `steps` lead to; `change` is given the part as a place.
pub(super) fn update(
    whole: TokenStream,
    steps: &[Step],
    span: Span,
    change: impl FnOnce(TokenStream) -> TokenStream,
) -> TokenStream {
    match steps.split_first() {
        None => change(whole),
        Some((Step::Field(member), rest)) => {
            update(quote_spanned!(span=> #whole.#member), rest, span, change)
        }
        Some((Step::Index(index), rest)) => {
            let element = hidden("element");
            let inner = update(quote!((*#element)), rest, span, change);
            quote_spanned!(span=> __tw::UpdateElement::update_element(&mut #whole, #index, |#element| { #inner });)
        }
    }
}

/// `+` of `+=`.
fn operator(op: &BinOp) -> TokenStream {
    let span = op.span();
    match op {
        BinOp::AddAssign(_) => quote_spanned!(span=> +),
        BinOp::SubAssign(_) => quote_spanned!(span=> -),
        BinOp::MulAssign(_) => quote_spanned!(span=> *),
        BinOp::DivAssign(_) => quote_spanned!(span=> /),
        BinOp::RemAssign(_) => quote_spanned!(span=> %),
        BinOp::BitXorAssign(_) => quote_spanned!(span=> ^),
        BinOp::BitAndAssign(_) => quote_spanned!(span=> &),
        BinOp::BitOrAssign(_) => quote_spanned!(span=> |),
        BinOp::ShlAssign(_) => quote_spanned!(span=> <<),
        BinOp::ShrAssign(_) => quote_spanned!(span=> >>),
        other => quote!(#other),
    }
}
