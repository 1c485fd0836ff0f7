//! From a kernel to linear [`Code`].
//!
//! The order: which loops may wait ([`waits`]), which values are uniform ([`uniform`]), which are needed and how long
//! they live ([`live`]), then code and registers ([`emit`], [`registers`]). All work on the operations as a table
//! ([`index`]).

mod emit;
mod index;
mod live;
mod registers;
mod uniform;
mod waits;

use tilewise_ir::Kernel;

use crate::code::Code;
use emit::Emitter;
use index::Index;
use live::Live;
use uniform::Uniform;

/// Flattens a kernel that the verifier lets through.
pub(crate) fn compile(kernel: &Kernel) -> Code {
    let index = Index::new(kernel);
    let waits = waits::waiting_loops(&index);
    let mut uniform = Uniform::new(&index, false);
    let fair = waits::may_go_ahead(&index, &uniform, &waits);
    if fair {
        uniform = Uniform::new(&index, true);
    }
    let live = Live::new(&index, &uniform);
    Emitter::new(&index, &uniform, &live, &waits, fair).emit()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(body: &str) -> Code {
        let text = format!(
            "kernel @k(%out: tensor<u32, 1, mut>, %in: tensor<u32, 1>, %n: index) {{
               shared %s: array<u32, 64>
               %t = thread_idx.x
               %b = block_idx.x
               %limit = scalar %n
               %zero = const index 0
               %one = const index 1
               %no = const u32 0
               {body}
               return
             }}"
        );
        let kernel: Kernel = text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"));
        tilewise_ir::verify::verify(&kernel).unwrap_or_else(|errors| panic!("{}\n{kernel}", errors[0]));
        compile(&kernel)
    }

    /// Number of registers with a lane for each thread.
    fn columns(code: &Code) -> usize {
        code.narrow.iter().chain(&code.wide).filter(|shape| !shape.uniform).count()
    }

    #[test]
    fn what_all_blocks_share_is_computed_once() {
        let code = code(
            "%a = mul %limit, %limit
             %c = mul %b, %a
             %d = add %c, %t
             %v = cast %d to u32
             store %out[%t], %v",
        );
        assert_eq!((code.launch.len(), code.block.len()), (2, 2), "{:?} {:?}", code.launch, code.block);
        assert_eq!(columns(&code), 3, "thread_idx, %d and %v");
    }

    #[test]
    fn what_nobody_needs_is_not_computed() {
        let code = code("%a = mul %t, %t\n%c = add %a, %t");
        assert_eq!(code.body.len(), 1, "{:?}", code.body);
    }

    #[test]
    fn uniform_loops_have_uniform_registers() {
        let code = code(
            "%sum = for ^k %k = %zero to %limit step %one carry (%acc = %zero) {
               %next = add %acc, %k
               continue ^k %next
             }
             %v = cast %sum to u32
             store %out[%zero], %v",
        );
        assert_eq!(columns(&code), 0);
        assert!(!code.fair && !code.waits);
    }

    #[test]
    fn addresses_need_no_columns_of_their_own() {
        let code = code(
            "%two = const index 2
             %b0 = add %t, %limit
             %b1 = add %b0, %two
             %v = load %in[%b1] if (0: %b1 < %limit) : u32
             store %out[%t], %v",
        );
        assert_eq!(columns(&code), 2, "thread_idx and %v");
    }

    #[test]
    fn equal_checks_are_made_once() {
        let code = code(
            "%v = load %in[%t] if (0: %t < %limit) : u32
             %c = lt %t, %limit
             if %c {
               store %out[%t], %v if (0: %t < %limit)
             }",
        );
        assert_eq!(code.flags, 1);
    }

    #[test]
    fn cheap_sides_are_both_computed() {
        let code = code(
            "%c = lt %t, %limit
             %x = load %in[%t] : u32
             %v = if %c : u32 {
               %y = add %x, %x
               yield %y
             } else {
               yield %no
             }
             store %out[%t], %v",
        );
        assert!(!code.body.iter().any(|i| matches!(i, crate::code::Instr::Branch { .. })));
    }

    /// A loop that is left depending on `load`.
    fn spin(load: &str) -> String {
        format!(
            "loop ^w {{
               %f = {load}
               %set = ne %f, %no
               if %set {{
                 break ^w
               }}
               continue ^w
             }}"
        )
    }

    #[test]
    fn loops_wait_for_memory_that_others_write() {
        let each = code(&spin("load %out[%t] : u32"));
        assert!(each.fair && each.waits && each.loops[0].waits);
        let read_only = code(&spin("load %in[%t] : u32"));
        assert!(!read_only.fair && !read_only.waits);
        // All threads of the block wait together, for another block.
        let together = code(&spin("load %out[%zero] : u32"));
        assert!(!together.fair && together.waits);
        // They do not if some have not come to the loop.
        let some = code(&format!(
            "%c = lt %t, %limit
             if %c {{
               {}
             }}",
            spin("load %s[%zero] : u32")
        ));
        assert!(some.fair && some.waits);
    }

    #[test]
    fn a_barrier_for_some_lets_others_go_ahead() {
        let barrier = |cond: &str| code(&format!("%c = lt {cond}, %limit\nif %c {{\nbarrier\n}}"));
        assert!(barrier("%t").fair);
        assert!(!barrier("%b").fair);
    }
}
