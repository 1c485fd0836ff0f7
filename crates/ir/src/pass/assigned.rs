//! Which variables are written before each read, on every way to it: definite assignment, as Rust checks it.
//!
//! A variable is an element of local memory with a number, as [`promote`](crate::pass::promote) counts them. What is read
//! unwritten on some way has to stay memory in a checked run, where such a read is told.

use crate::kernel::{Block, Inst};
use crate::op::Op;
use std::ops::Range;

/// For each of `count` variables, whether every read of it comes after a write. `touched` gives the variables of a load or
/// store; `labels` is how many labels there are.
pub(crate) fn definitely(
    body: &Block,
    count: usize,
    labels: u32,
    touched: impl Fn(&Inst) -> Option<Range<usize>>,
) -> Vec<bool> {
    let mut walk = Walk { touched, sound: vec![true; count], exits: vec![None; labels as usize] };
    walk.block(body, vec![false; count]);
    walk.sound
}

struct Walk<F> {
    touched: F,
    sound: Vec<bool>,
    /// By label: what is written on all ways out of the loop so far; `None` if there is none yet.
    exits: Vec<Option<Vec<bool>>>,
}

impl<F: Fn(&Inst) -> Option<Range<usize>>> Walk<F> {
    /// What is written at the end of a block that goes on behind its operation; `None` if it does not.
    fn block(&mut self, block: &Block, mut written: Vec<bool>) -> Option<Vec<bool>> {
        for inst in &block.insts {
            match inst.op {
                Op::Load(_) => {
                    for variable in (self.touched)(inst).into_iter().flatten() {
                        self.sound[variable] &= written[variable];
                    }
                }
                Op::Store(_) => {
                    for variable in (self.touched)(inst).into_iter().flatten() {
                        written[variable] = true;
                    }
                }
                Op::If => {
                    let mut after = None;
                    for side in &inst.blocks {
                        let end = self.block(side, written.clone());
                        meet(&mut after, end);
                    }
                    written = after?;
                }
                Op::Loop(label) => {
                    self.block(&inst.blocks[0], written);
                    written = self.exits[label.0 as usize].take()?;
                }
                Op::For(label) => {
                    // It may run no round, so what its rounds write is not written behind it.
                    self.block(&inst.blocks[0], written.clone());
                    self.exits[label.0 as usize] = None;
                }
                Op::Yield => return Some(written),
                Op::Break(label) => {
                    meet(&mut self.exits[label.0 as usize], Some(written));
                    return None;
                }
                Op::Continue(_) | Op::Return => return None,
                _ => {}
            }
        }
        None
    }
}

/// Two ways meet: written is what is on both.
fn meet(a: &mut Option<Vec<bool>>, b: Option<Vec<bool>>) {
    match (a, b) {
        (_, None) => {}
        (Some(a), Some(b)) => a.iter_mut().zip(b).for_each(|(a, b)| *a &= b),
        (a, b) => *a = b,
    }
}
