//! What `explain` says of launches: by what each bound is proved, and why one is not.

use std::sync::{Arc, Mutex};

use tilewise::prelude::*;

#[kernel]
fn gather(output: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 1>, index: &TileTensor<u32, 1>) {
    let i = block_dim().x * block_idx().x + thread_idx().x;
    if i < output.dim(0) {
        output[i] = a[index[i] as usize];
    }
}

/// The listing of a gather of 10 elements by so many threads.
fn listing(threads: usize) -> String {
    let ctx = DeviceContext::open("cpu").unwrap();
    let a = ctx.zeros::<f32, 1>(row_major([4])).unwrap();
    let index = ctx.zeros::<u32, 1>(row_major([10])).unwrap();
    let mut output = ctx.zeros::<f32, 1>(row_major([10])).unwrap();
    let explanation = explain(gather(&mut output, &a, &index), grid_dim(1), block_dim(threads)).unwrap();
    assert_eq!(explanation.checks_left(), 1);
    assert_eq!(explanation.checks_proved(), 2);
    explanation.to_string()
}

#[test]
fn an_index_from_memory_is_checked_and_a_guard_proves_the_others() {
    assert_eq!(
        listing(16),
        "\
gather: 1 x 1 x 1 blocks of 16 x 1 x 1 threads
  crates/tilewise/tests/explain.rs
  11 |         output[i] = a[index[i] as usize];
     |     load from `index`: 4 bytes, aligned to 4
     |       dimension 0: index 0 to 9 below 10: proved by a condition around it
     |     load from `a`: 4 bytes, aligned to 4
     |       dimension 0: index 0 to 4294967295, extent 4: CHECKED, the index depends on what is read from `index` in line 11
     |     store to `output`: 4 bytes, aligned to 4
     |       dimension 0: index 0 to 9 below 10: proved by a condition around it
  2 checks proved, 1 check left
"
    );
}

#[test]
fn a_guard_that_the_launch_decides_is_no_branch() {
    let listing = listing(10);
    let decided = "  10 |     if i < output.dim(0) {\n     |     the condition is true in every thread: no branch is left\n";
    assert!(listing.contains(decided), "{listing}");
    assert!(listing.contains("index 0 to 9 below 10: proved by the launch's numbers"), "{listing}");
}

#[kernel]
fn shift(output: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 1>) {
    let i = thread_idx().x;
    output[i] = a[i + 1];
}

#[test]
fn an_index_that_reaches_the_extent_is_checked() {
    let text = Arc::new(Mutex::new(String::new()));
    let ctx = DeviceContext::open("cpu").unwrap().with_explain(text.clone());
    let a = ctx.zeros::<f32, 1>(row_major([8])).unwrap();
    let mut output = ctx.zeros::<f32, 1>(row_major([8])).unwrap();
    ctx.enqueue_function(shift(&mut output, &a), grid_dim(1), block_dim(8)).unwrap();
    assert!(matches!(ctx.synchronize(), Err(Error::Fault(_))));
    let text = text.lock().unwrap();
    assert!(text.contains("index 1 to 8, extent 8: CHECKED, the index may reach the extent"), "{text}");
    assert!(text.ends_with("1 check proved, 1 check left\n"), "{text}");
}

#[test]
fn a_vector_is_told_with_its_alignment() {
    let text = Arc::new(Mutex::new(String::new()));
    let ctx = DeviceContext::open("cpu").unwrap().with_explain(text.clone());
    let a = ctx.zeros::<f32, 1>(row_major([64])).unwrap();
    let mut output = ctx.zeros::<f32, 1>(row_major([64])).unwrap();
    let double = tilewise::kernel!([mut output, a] |width, [i]| {
        output.store(i, a.load(i, width) * 2.0);
    });
    elementwise(&ctx, 8, [64], double).unwrap();
    let text = text.lock().unwrap();
    assert!(text.contains("load from `a`: 32 bytes as 2 times 16, aligned to 32"), "{text}");
    let bound = "index 0 to 56, and 7 more for the other lanes, below 64: proved by the launch's numbers";
    assert!(text.contains(bound), "{text}");
}
