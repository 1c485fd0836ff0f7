//! The loops: a function of lanes applied to whole chunks.

use super::{Out, OutCell, Shape};
use crate::column::{CHUNK, Cell, Chunk, Reg, Registers, Source};
use crate::lane::Lane;

/// What an operation reads and writes.
pub(super) struct Context<'a> {
    pub(super) registers: &'a Registers,
    pub(super) shape: Shape,
    pub(super) out: &'a mut Out,
}

/// A function on the lanes of a chunk. As a function of its own it tells the compiler that the arrays do not overlap.
#[inline(always)]
fn lanes1<A: Cell, D: Cell>(to: &mut [D; CHUNK], a: &[A; CHUNK], f: impl Fn(A) -> D) {
    for lane in 0..CHUNK {
        to[lane] = f(a[lane]);
    }
}

#[inline(always)]
fn lanes2<A: Cell, B: Cell, D: Cell>(
    to: &mut [D; CHUNK],
    a: &[A; CHUNK],
    b: &[B; CHUNK],
    f: impl Fn(A, B) -> D,
) {
    for lane in 0..CHUNK {
        to[lane] = f(a[lane], b[lane]);
    }
}

#[inline(always)]
fn lanes3<A: Cell, B: Cell, C: Cell, D: Cell>(
    to: &mut [D; CHUNK],
    a: &[A; CHUNK],
    b: &[B; CHUNK],
    c: &[C; CHUNK],
    f: impl Fn(A, B, C) -> D,
) {
    for lane in 0..CHUNK {
        to[lane] = f(a[lane], b[lane], c[lane]);
    }
}

impl<'a> Context<'a> {
    #[inline(always)]
    fn source<T: Cell>(&self, reg: Reg) -> Source<'a, T> {
        Source::new(self.registers, reg, self.shape.block)
    }

    /// Calls `f` with the component, the number and the chunk of each chunk of the result.
    #[inline(always)]
    fn each<D: OutCell>(&mut self, mut f: impl FnMut(usize, usize, &mut Chunk<D>)) {
        let Shape { first, last, chunks, components, .. } = self.shape;
        let out = D::column(self.out);
        for component in 0..components {
            for chunk in first..last {
                f(component, chunk, &mut out[component * chunks + chunk]);
            }
        }
    }

    /// A function of one operand.
    #[inline(always)]
    pub(super) fn map1<A: Lane, D: Lane<Cell: OutCell>>(&mut self, a: Reg, f: impl Fn(A) -> D) {
        let a = self.source::<A::Cell>(a);
        self.each::<D::Cell>(|component, chunk, to| {
            lanes1(&mut to.0, &a.chunk(component, chunk).0, |a| f(A::get(a)).put());
        });
    }

    /// A function of two operands.
    #[inline(always)]
    pub(super) fn map2<A: Lane, D: Lane<Cell: OutCell>>(&mut self, a: Reg, b: Reg, f: impl Fn(A, A) -> D) {
        let (a, b) = (self.source::<A::Cell>(a), self.source::<A::Cell>(b));
        self.each::<D::Cell>(|component, chunk, to| {
            let (a, b) = (a.chunk(component, chunk), b.chunk(component, chunk));
            lanes2(&mut to.0, &a.0, &b.0, |a, b| f(A::get(a), A::get(b)).put());
        });
    }

    /// A function of two operands with a truth value.
    #[inline(always)]
    pub(super) fn test2<A: Lane>(&mut self, a: Reg, b: Reg, f: impl Fn(A, A) -> bool) {
        let (a, b) = (self.source::<A::Cell>(a), self.source::<A::Cell>(b));
        self.each::<u32>(|component, chunk, to| {
            let (a, b) = (a.chunk(component, chunk), b.chunk(component, chunk));
            lanes2(&mut to.0, &a.0, &b.0, |a, b| f(A::get(a), A::get(b)) as u32);
        });
    }

    /// A function of three operands.
    #[inline(always)]
    pub(super) fn map3<A: Lane<Cell: OutCell>>(&mut self, a: Reg, b: Reg, c: Reg, f: impl Fn(A, A, A) -> A) {
        let (a, b) = (self.source::<A::Cell>(a), self.source::<A::Cell>(b));
        let c = self.source::<A::Cell>(c);
        self.each::<A::Cell>(|component, chunk, to| {
            let (a, b) = (a.chunk(component, chunk), b.chunk(component, chunk));
            let c = c.chunk(component, chunk);
            lanes3(&mut to.0, &a.0, &b.0, &c.0, |a, b, c| f(A::get(a), A::get(b), A::get(c)).put());
        });
    }

    /// A function of one operand that no vector instruction computes: a uniform one is computed once.
    #[inline(always)]
    pub(super) fn slow1<A: Lane, D: Lane<Cell: OutCell>>(&mut self, a: Reg, f: impl Fn(A) -> D) {
        let (a, uniform) = (self.source::<A::Cell>(a), self.shape.uniform);
        self.each::<D::Cell>(|component, chunk, to| {
            let a = a.chunk(component, chunk);
            if uniform {
                *to = Chunk([f(A::get(a.0[0])).put(); CHUNK]);
            } else {
                lanes1(&mut to.0, &a.0, |a| f(A::get(a)).put());
            }
        });
    }

    /// A function of two operands that no vector instruction computes: a uniform one is computed once.
    #[inline(always)]
    pub(super) fn slow2<A: Lane<Cell: OutCell>>(&mut self, a: Reg, b: Reg, f: impl Fn(A, A) -> A) {
        let (a, b) = (self.source::<A::Cell>(a), self.source::<A::Cell>(b));
        let uniform = self.shape.uniform;
        self.each::<A::Cell>(|component, chunk, to| {
            let (a, b) = (a.chunk(component, chunk), b.chunk(component, chunk));
            if uniform {
                *to = Chunk([f(A::get(a.0[0]), A::get(b.0[0])).put(); CHUNK]);
            } else {
                lanes2(&mut to.0, &a.0, &b.0, |a, b| f(A::get(a), A::get(b)).put());
            }
        });
    }

    /// `cond ? a : b`; `one` is whether the condition has one component for all.
    #[inline(always)]
    pub(super) fn select<T: OutCell>(&mut self, cond: Reg, one: bool, a: Reg, b: Reg) {
        let mut cond = self.source::<u32>(cond);
        if one {
            cond = cond.broadcast();
        }
        let (a, b) = (self.source::<T>(a), self.source::<T>(b));
        self.each::<T>(|component, chunk, to| {
            let (a, b) = (a.chunk(component, chunk), b.chunk(component, chunk));
            let cond = cond.chunk(component, chunk);
            lanes3(&mut to.0, &cond.0, &a.0, &b.0, |cond, a, b| if cond != 0 { a } else { b });
        });
    }
}
