//! Floats that a driver leaves as they are written: a decoration that naga does not write.
//!
//! A driver may contract, reorder and simplify arithmetic on floats whose result is not decorated with `NoContraction`:
//! Mesa's compiler takes `(a + b) - a` for `b`. [`exact`] decorates all of it, in a module that naga's writer has made;
//! wgpu runs the words by `create_shader_module_passthrough`.

/// Words before the first instruction.
const HEADER: usize = 5;

/// Number of the decoration `NoContraction`.
const NO_CONTRACTION: u32 = 42;

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
    pub(super) const EXT_INST: u32 = 12;
}

/// The module with `NoContraction` on the result of each arithmetic operation on floats. Words that are no SPIR-V come back
/// as they are.
///
/// ```
/// // `OpFAdd` in a module of nothing else: 5 words, its type is 1, its result 2.
/// let words = [0x0723_0203, 0x0001_0300, 0, 9, 0, 5 << 16 | 129, 1, 2, 3, 4];
/// let exact = tilewise_naga::spirv::exact(&words);
/// // `OpDecorate %2 NoContraction` stands before it.
/// assert_eq!(exact[5..8], [3 << 16 | 71, 2, 42]);
/// assert_eq!(exact[8..], words[5..]);
/// ```
pub fn exact(words: &[u32]) -> Vec<u32> {
    let mut decorations = Vec::new();
    // Decorations stand together, before the first type.
    let mut place = None;
    let mut at = HEADER;
    while let Some(&first) = words.get(at) {
        let (len, opcode) = ((first >> 16) as usize, first & 0xffff);
        let Some(instruction) = words.get(at..at + len).filter(|words| !words.is_empty()) else {
            return words.to_vec();
        };
        match opcode {
            opcode::DECORATE | opcode::MEMBER_DECORATE => place = Some(at + len),
            _ if place.is_none() && is_behind_decorations(opcode) => place = Some(at),
            _ => {}
        }
        if let (true, Some(&result)) = (is_float_arithmetic(opcode), instruction.get(2)) {
            decorations.extend([3 << 16 | opcode::DECORATE, result, NO_CONTRACTION]);
        }
        at += len;
    }
    let Some(place) = place else { return words.to_vec() };
    [&words[..place], &decorations, &words[place..]].concat()
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

    #[test]
    fn what_is_no_spirv_stays() {
        for words in [&[][..], &[1, 2, 3], &[0, 0, 0, 0, 0, 0], &[0, 0, 0, 0, 0, 9 << 16 | 129, 1]] {
            assert_eq!(exact(words), words);
        }
    }

    #[test]
    fn integers_are_not_decorated() {
        let add = [0x0723_0203, 0x0001_0300, 0, 9, 0, 2 << 16 | 19, 1, 5 << 16 | 128, 1, 2, 3, 4];
        assert_eq!(exact(&add), add);
    }
}
