//! Whether what a kernel computed is right.

use tilewise::HostBuffer;

/// How a run of a puzzle ended.
pub(crate) enum Verdict {
    /// Every element is right.
    Right,
    /// Something is not, and this is what.
    Wrong(String),
}

/// Prints both, and compares every element, bit by bit.
pub(crate) fn compare(out: HostBuffer<f32>, expected: Vec<f32>) -> Verdict {
    let expected = HostBuffer::from(expected);
    println!("out: {out}");
    println!("expected: {expected}");
    verdict(&out, &expected)
}

/// Compares every element, bit by bit.
pub(crate) fn verdict(out: &[f32], expected: &[f32]) -> Verdict {
    if out.len() != expected.len() {
        return Verdict::Wrong(format!("out has {} elements instead of {}", out.len(), expected.len()));
    }
    let mut wrong = out.iter().zip(expected).enumerate().filter(|(_, (x, y))| x.to_bits() != y.to_bits());
    let Some((i, (x, y))) = wrong.next() else { return Verdict::Right };
    let count = 1 + wrong.count();
    Verdict::Wrong(format!(
        "{count} of {} elements differ, first element {i}: {x:?} instead of {y:?}",
        out.len()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(out: &[f32], expected: &[f32]) -> Option<String> {
        match verdict(out, expected) {
            Verdict::Right => None,
            Verdict::Wrong(why) => Some(why),
        }
    }

    #[test]
    fn every_element_counts() {
        assert_eq!(why(&[1.0, 2.0, 3.0], &[1.0, 2.0, 3.0]), None);
        assert_eq!(
            why(&[1.0, 2.0, 3.5], &[1.0, 2.0, 3.0]).unwrap(),
            "1 of 3 elements differ, first element 2: 3.5 instead of 3.0",
        );
        assert_eq!(
            why(&[0.0, 2.0, 0.0], &[1.0, 2.0, 3.0]).unwrap(),
            "2 of 3 elements differ, first element 0: 0.0 instead of 1.0",
        );
    }

    #[test]
    fn equal_means_the_same_bits() {
        assert!(why(&[-0.0], &[0.0]).is_some());
        assert!(why(&[f32::NAN], &[0.0]).is_some());
        assert!(why(&[f32::NAN], &[f32::NAN]).is_none());
    }

    #[test]
    fn a_missing_element_is_wrong() {
        assert_eq!(why(&[], &[1.0]).unwrap(), "out has 0 elements instead of 1");
    }
}
