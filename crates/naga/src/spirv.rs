//! Floats that a driver leaves as they are written: what naga does not write about them.
//!
//! A driver may contract, reorder and simplify arithmetic on floats whose result is not decorated with `NoContraction`:
//! Mesa's compiler takes `(a + b) - a` for `b`. It may take arithmetic without infinities and NaN for granted, and subnormal
//! numbers for zero, unless the module asks for more (`SPV_KHR_float_controls`): NVIDIA's takes a comparison by which NaN is
//! told apart for a minimum. [`exact`] decorates all arithmetic and asks for what the device has to give, in a module that
//! naga's writer has made; wgpu runs the words by `create_shader_module_passthrough`.

use crate::capability::{FloatControls, Widths};

/// Words before the first instruction.
const HEADER: usize = 5;

/// Number of the decoration `NoContraction`.
const NO_CONTRACTION: u32 = 42;

/// The name of the extension, with zeros up to whole words.
const FLOAT_CONTROLS: &[u8; 24] = b"SPV_KHR_float_controls\0\0";

/// Instructions, by the lower half of their first word.
mod opcode {
    pub(super) const DECORATE: u32 = 71;
    pub(super) const MEMBER_DECORATE: u32 = 72;
    pub(super) const TYPE_FIRST: u32 = 19;
    pub(super) const FUNCTION: u32 = 54;
    pub(super) const F_NEGATE: u32 = 127;
    pub(super) const F_ADD: u32 = 129;
    pub(super) const F_SUB: u32 = 131;
    pub(super) const F_MUL: u32 = 133;
    pub(super) const F_DIV: u32 = 136;
    pub(super) const F_REM: u32 = 140;
    pub(super) const F_MOD: u32 = 141;
    pub(super) const EXTENSION: u32 = 10;
    pub(super) const EXT_INST: u32 = 12;
    pub(super) const ENTRY_POINT: u32 = 15;
    pub(super) const EXECUTION_MODE: u32 = 16;
    pub(super) const CAPABILITY: u32 = 17;
}

/// The module with `NoContraction` on the result of each arithmetic operation on floats, which asks for what `controls`
/// promise. Words that are no SPIR-V come back as they are.
///
/// ```
/// use tilewise_naga::{capability::FloatControls, spirv::exact};
///
/// // `OpFAdd` in a module of nothing else: 5 words, its type is 1, its result 2.
/// let words = [0x0723_0203, 0x0001_0300, 0, 9, 0, 5 << 16 | 129, 1, 2, 3, 4];
/// let exact = exact(&words, &FloatControls::NONE);
/// // `OpDecorate %2 NoContraction` stands before it.
/// assert_eq!(exact[5..8], [3 << 16 | 71, 2, 42]);
/// assert_eq!(exact[8..], words[5..]);
/// ```
pub fn exact(words: &[u32], controls: &FloatControls) -> Vec<u32> {
    let (Some(header), Some(instructions)) = (words.get(..HEADER), instructions(words)) else {
        return words.to_vec();
    };
    // Sections of a module come in a fixed order.
    let is_decoration = |opcode| matches!(opcode, opcode::DECORATE | opcode::MEMBER_DECORATE);
    let after =
        |wanted: &dyn Fn(u32) -> bool| instructions.iter().rposition(|&(op, _)| wanted(op)).map(|n| n + 1);
    let capabilities = after(&|op| op == opcode::CAPABILITY);
    let modes = after(&|op| matches!(op, opcode::ENTRY_POINT | opcode::EXECUTION_MODE));
    let decorations =
        after(&is_decoration).or_else(|| instructions.iter().position(|&(op, _)| is_behind_decorations(op)));
    let entry_points = instructions.iter().filter(|&&(op, _)| op == opcode::ENTRY_POINT);
    let entry_points: Vec<u32> = entry_points.filter_map(|(_, words)| words.get(2).copied()).collect();

    let mut exact = header.to_vec();
    for n in 0..=instructions.len() {
        if Some(n) == capabilities && !entry_points.is_empty() {
            exact.extend(promises(controls));
        }
        if Some(n) == modes {
            exact.extend(entry_points.iter().flat_map(|&entry| execution_modes(controls, entry)));
        }
        if Some(n) == decorations {
            for (op, words) in &instructions {
                if let (true, Some(&result)) = (is_float_arithmetic(*op), words.get(2)) {
                    exact.extend([3 << 16 | opcode::DECORATE, result, NO_CONTRACTION]);
                }
            }
        }
        if let Some((_, words)) = instructions.get(n) {
            exact.extend_from_slice(words);
        }
    }
    exact
}

/// Each instruction: its opcode and its words; `None` if the words are none.
fn instructions(words: &[u32]) -> Option<Vec<(u32, &[u32])>> {
    let mut instructions = Vec::new();
    let mut rest = words.get(HEADER..)?;
    while let Some(&first) = rest.first() {
        let (instruction, after) = rest.split_at_checked((first >> 16) as usize)?;
        if instruction.is_empty() {
            return None;
        }
        instructions.push((first & 0xffff, instruction));
        rest = after;
    }
    Some(instructions)
}

/// The capabilities of the promises that are asked for, and the extension that has them.
fn promises(controls: &FloatControls) -> Vec<u32> {
    let asked = kinds(controls).into_iter().filter(|(widths, ..)| widths.bits().next().is_some());
    let mut words: Vec<u32> =
        asked.flat_map(|(_, capability, _)| [2 << 16 | opcode::CAPABILITY, capability]).collect();
    if !words.is_empty() {
        // Text ends with a zero byte.
        let text = FLOAT_CONTROLS
            .chunks(4)
            .map(|bytes| bytes.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte)));
        words.push((1 + text.len() as u32) << 16 | opcode::EXTENSION);
        words.extend(text);
    }
    words
}

fn execution_modes(controls: &FloatControls, entry_point: u32) -> Vec<u32> {
    let modes = |(widths, _, mode): (Widths, u32, u32)| {
        widths.bits().flat_map(move |bits| [4 << 16 | opcode::EXECUTION_MODE, entry_point, mode, bits])
    };
    kinds(controls).into_iter().flat_map(modes).collect()
}

/// Each promise: for which widths, its capability, its execution mode.
fn kinds(controls: &FloatControls) -> [(Widths, u32, u32); 3] {
    [
        (controls.denorm_preserve, 4464, 4459),
        (controls.signed_zero_inf_nan_preserve, 4466, 4461),
        (controls.rounding_mode_rte, 4467, 4462),
    ]
}

fn is_float_arithmetic(opcode: u32) -> bool {
    // Extended instructions are functions of floats, `fma` among them; where one is of integers, the decoration says
    // nothing.
    matches!(
        opcode,
        opcode::F_NEGATE
            | opcode::F_ADD
            | opcode::F_SUB
            | opcode::F_MUL
            | opcode::F_DIV
            | opcode::F_REM
            | opcode::F_MOD
            | opcode::EXT_INST
    )
}

/// Whether an instruction is one of those that stand behind decorations: types, constants, variables, functions.
fn is_behind_decorations(opcode: u32) -> bool {
    (opcode::TYPE_FIRST..=opcode::FUNCTION).contains(&opcode)
        || is_float_arithmetic(opcode) && opcode != opcode::EXT_INST
}

#[cfg(test)]
mod tests {
    use super::exact;
    use crate::capability::FloatControls;

    #[test]
    fn what_is_no_spirv_stays() {
        for words in [&[][..], &[1, 2, 3], &[0, 0, 0, 0, 0, 0], &[0, 0, 0, 0, 0, 9 << 16 | 129, 1]] {
            assert_eq!(exact(words, &FloatControls::ALL), words);
        }
    }

    #[test]
    fn integers_are_not_decorated() {
        let add = [0x0723_0203, 0x0001_0300, 0, 9, 0, 2 << 16 | 19, 1, 5 << 16 | 128, 1, 2, 3, 4];
        assert_eq!(exact(&add, &FloatControls::NONE), add);
    }
}
