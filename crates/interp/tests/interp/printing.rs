//! Lines: in the order of blocks, and within a block as the threads get there.

use crate::device::{run_clean, scalar, tensor, x};

#[test]
fn lines_come_in_the_order_of_blocks() {
    let text = "
        kernel @hello(%n: index) {
          %t = thread_idx.x
          %b = block_idx.x
          print \"block {} thread {:>3}\", %b, %t
          %n1 = scalar %n
          %some = lt %b, %n1
          if %some {
            barrier
            %zero = const index 0
            %first = eq %t, %zero
            if %first {
              %v = const f32 0.5
              %v2 = splat %v x 2
              print \"{:?} after {}\", %v2, %b
            }
          }
          return
        }";
    let expected: Vec<String> = (0..40)
        .flat_map(|b| {
            let mut lines: Vec<String> = (0..70).map(|t| format!("block {b} thread {t:>3}")).collect();
            if b < 3 {
                lines.push(format!("[0.5, 0.5] after {b}"));
            }
            lines
        })
        .collect();
    assert_eq!(run_clean(text, x(40), x(70), &[scalar(3usize)]).lines, expected);
}

#[test]
fn each_side_of_a_branch_prints_for_itself() {
    let text = "
        kernel @sides(%a: tensor<i32, 1>) {
          %t = thread_idx.x
          %v = load %a[%t] : i32
          %zero = const i32 0
          %neg = lt %v, %zero
          if %neg {
            print \"{} is negative\", %v
          } else {
            print \"{:+} is not\", %v
          }
          print \"done\"
          return
        }";
    let run = run_clean(text, x(1), x(3), &[tensor(&[1i32, -2, 3])]);
    assert_eq!(run.lines, ["-2 is negative", "+1 is not", "+3 is not", "done", "done", "done"]);
}
