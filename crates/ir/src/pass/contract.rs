//! Contraction: `a * b + c` becomes one operation with one rounding, [`Op::MulAdd`].
//!
//! Of an addition or subtraction of floats, an operand that is a multiplication used by nothing else is contracted:
//!
//! | staged | contracted |
//! | --- | --- |
//! | `a * b + c`, `c + a * b` | `muladd(a, b, c)` |
//! | `a * b - c` | `muladd(a, b, -c)` |
//! | `c - a * b` | `muladd(-a, b, c)` |
//!
//! If both operands are such multiplications, the left one is contracted. A negation between the two is not looked
//! through. Only where [`Kernel::contract`] is set.
//!
//! Both have to stand in the same block: not one before a loop or a branch and the other in it. A product before a loop
//! is computed once; in the loop it would be computed in each round, and both its factors would be kept instead of it.
//!
//! This changes results (for the better), so it is no optimisation but part of what a kernel means: it runs once, for
//! every device, whether the optimiser is on or not, on the data flow as staged, right after
//! [`promote`](crate::pass::promote), before any other pass can change which multiplication feeds which addition. No
//! pass makes a `MulAdd` later, or takes one apart, unless the result is the same in every bit. So all devices round
//! alike.

use rustc_hash::FxHashMap;

use crate::kernel::{Block, Inst, Kernel, Value};
use crate::op::{BinaryOp, Op, UnaryOp};
use crate::pass::uses::UseCounts;

/// Runs the pass; gives whether the kernel has changed.
pub fn run(kernel: &mut Kernel) -> bool {
    if !kernel.contract {
        return false;
    }
    let mut contractor =
        Contractor { uses: UseCounts::of(kernel), contracted: vec![false; kernel.values.len()] };
    let mut body = std::mem::take(&mut kernel.body);
    contractor.block(kernel, &mut body);
    let changed = contractor.contracted.contains(&true);
    if changed {
        remove(&mut body, &contractor.contracted);
    }
    kernel.body = body;
    changed
}

struct Contractor {
    uses: UseCounts,
    /// By value: a multiplication that has become part of a `MulAdd`.
    contracted: Vec<bool>,
}

/// The multiplications of floats in a block that are used once, with their factors.
type Products = FxHashMap<Value, (Value, Value)>;

impl Contractor {
    fn block(&mut self, kernel: &mut Kernel, block: &mut Block) {
        let insts = std::mem::take(&mut block.insts);
        block.insts.reserve(insts.len());
        let mut products = Products::default();
        for mut inst in insts {
            match (&inst.op, &inst.args[..], inst.result()) {
                (Op::Binary(BinaryOp::Mul), &[a, b], Some(product))
                    if kernel.ty(product).scalar.is_float() && self.uses.count(product) == 1 =>
                {
                    products.insert(product, (a, b));
                }
                (&Op::Binary(op @ (BinaryOp::Add | BinaryOp::Sub)), &[left, right], _) => {
                    self.sum(kernel, &mut inst, op, [left, right], &products, &mut block.insts);
                }
                _ => {}
            }
            for nested in &mut inst.blocks {
                self.block(kernel, nested);
            }
            block.insts.push(inst);
        }
    }

    /// Contracts `left op right` if it can be.
    fn sum(
        &mut self,
        kernel: &mut Kernel,
        inst: &mut Inst,
        op: BinaryOp,
        [left, right]: [Value; 2],
        products: &Products,
        out: &mut Vec<Inst>,
    ) {
        let mut negate = |value: Value| {
            let negated = kernel.new_value(kernel.ty(value));
            out.push(Inst::new(Op::Unary(UnaryOp::Neg), [value], [negated], inst.span));
            negated
        };
        let (product, args) = if let Some(&(a, b)) = products.get(&left) {
            (left, [a, b, if op == BinaryOp::Sub { negate(right) } else { right }])
        } else if let Some(&(a, b)) = products.get(&right) {
            (right, [if op == BinaryOp::Sub { negate(a) } else { a }, b, left])
        } else {
            return;
        };
        self.contracted[product.0 as usize] = true;
        inst.op = Op::MulAdd;
        inst.args = args.into_iter().collect();
    }
}

/// Removes the multiplications that have been contracted.
fn remove(block: &mut Block, contracted: &[bool]) {
    block.insts.retain_mut(|inst| {
        for nested in &mut inst.blocks {
            remove(nested, contracted);
        }
        inst.result().is_none_or(|result| contracted.get(result.0 as usize) != Some(&true))
    });
}
