//! What is known at a point of the walk, and how the walk goes back to what was known before a branch or a loop.

use super::difference::Difference;
use super::range::Range;
use super::ranges::Walk;
use crate::kernel::Value;
use smallvec::SmallVec;

/// How much was known at a point, to go back to.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    trail: usize,
    differences: usize,
}

/// What is known at a point beyond a [`Mark`].
pub(super) struct Knowledge {
    ranges: SmallVec<[(Value, Range); 8]>,
    differences: SmallVec<[Difference; 4]>,
}

impl Walk<'_> {
    /// From here on, until the walk goes back, a value is in `range`. Gives whether the value can be so.
    pub(super) fn learn(&mut self, value: Value, range: Range) -> bool {
        let before = self.range(value);
        let Some(after) = before.meet(range) else { return false };
        if after != before {
            self.trail.push((value, before));
            self.ranges[value.0 as usize] = after;
        }
        true
    }

    pub(super) fn mark(&self) -> Mark {
        Mark { trail: self.trail.len(), differences: self.differences.len() }
    }

    /// Back to what was known at a mark.
    pub(super) fn back(&mut self, mark: Mark) {
        while self.trail.len() > mark.trail
            && let Some((value, before)) = self.trail.pop()
        {
            self.ranges[value.0 as usize] = before;
        }
        self.differences.truncate(mark.differences);
    }

    /// What has become known since a mark.
    pub(super) fn knowledge(&self, mark: Mark) -> Knowledge {
        Knowledge {
            ranges: self.trail[mark.trail..].iter().map(|&(value, _)| (value, self.range(value))).collect(),
            differences: self.differences[mark.differences..].iter().copied().collect(),
        }
    }

    /// It is known again.
    pub(super) fn know(&mut self, knowledge: Knowledge) {
        for (value, range) in knowledge.ranges {
            // It was possible, so it is.
            self.learn(value, range);
        }
        self.differences.extend(knowledge.differences);
    }
}
