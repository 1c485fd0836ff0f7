//! What is refused, and how it reads.

use tilewise_ir::analysis::Facts;
use tilewise_ir::{Kernel, text};
use tilewise_naga::{Capabilities, Feature, Reason, compile};

/// Why a kernel is refused for blocks of 64 threads, with the message.
fn refused(body: &str, capabilities: &Capabilities) -> (Reason, String) {
    let kernel = kernel(body);
    let facts = Facts { block: Some([64, 1, 1]), ..Facts::unknown(&kernel) };
    let error = compile(&kernel, &facts, capabilities).expect_err("it is refused");
    let message = error.to_string();
    (error.reason, message)
}

fn kernel(body: &str) -> Kernel {
    let params = "%out: tensor<i32, 1, mut>, %x: tensor<i64, 1>, %n: index";
    text::parse(&format!("kernel @k({params}) {{\n{body}\nreturn\n}}")).expect("a kernel")
}

#[test]
fn wide_indices_need_64_bits() {
    let body = "%0 = scalar %n\n%1 = add %0, %0\nstore %out[%1], %2";
    let body = body.replace("store", "%2 = const i32 0\nstore");
    let (reason, message) = refused(&body, &Capabilities::WEBGPU);
    assert_eq!(reason, Reason::WideIndex);
    assert_eq!(
        message,
        "kernel `k`: index arithmetic that may exceed 32 bits, and the device has no 64-bit integers; smaller \
         extents or a smaller grid make it fit"
    );
}

#[test]
fn types_that_a_device_lacks_are_named_with_the_line() {
    let kernel = text::parse(
        "; spans\nkernel @k(%x: tensor<i64, 1>) {\n%0 = const index 0\n%1 = load %x[%0] : i64 @src/k.rs:7:5\nreturn\n}",
    )
    .expect("a kernel");
    let facts = Facts { block: Some([64, 1, 1]), ..Facts::unknown(&kernel) };
    let error = compile(&kernel, &facts, &Capabilities::WEBGPU).expect_err("it is refused");
    assert_eq!(error.reason, Reason::Lacks { what: "`load` of i64".to_owned(), feature: Feature::Int64 });
    assert_eq!(
        error.to_string(),
        "kernel `k`: `load` of i64 needs 64-bit integers, which the device does not have (src/k.rs:7:5)"
    );
}

#[test]
fn barriers_that_only_some_threads_reach() {
    let in_branch = "%0 = thread_idx.x\n%1 = const index 3\n%2 = lt %0, %1\nif %2 {\nbarrier\n}";
    let in_loop = "%0 = thread_idx.x\n%1 = const index 0\n%2 = const index 1\nfor ^0 %3 = %1 to %0 step %2 {\nbarrier\n\
                   continue ^0\n}";
    let left_by_some = "%0 = thread_idx.x\n%1 = const index 3\n%2 = lt %0, %1\nloop ^0 {\nbarrier\nif %2 {\nbreak \
                        ^0\n}\ncontinue ^0\n}";
    let by_memory =
        "%0 = const index 0\n%1 = const i32 3\n%2 = load %out[%0] : i32\n%3 = lt %2, %1\nif %3 {\nbarrier\n}";
    for body in [in_branch, in_loop, left_by_some, by_memory] {
        let (reason, _) = refused(body, &Capabilities::ALL);
        assert_eq!(reason, Reason::DivergentBarrier, "{body}");
    }
}

#[test]
fn barriers_that_all_threads_reach() {
    let in_branch = "%0 = block_idx.x\n%1 = const index 3\n%2 = lt %0, %1\nif %2 {\nbarrier\n}";
    let in_loop = "%0 = scalar %n\n%1 = const index 0\n%2 = const index 1\nfor ^0 %3 = %1 to %0 step %2 {\nbarrier\n\
                   continue ^0\n}";
    for body in [in_branch, in_loop] {
        let kernel = kernel(body);
        let facts = Facts { block: Some([64, 1, 1]), ..Facts::unknown(&kernel) };
        assert!(compile(&kernel, &facts, &Capabilities::ALL).is_ok(), "{body}");
    }
}

#[test]
fn orders_need_memory_barriers() {
    let (reason, _) = refused("fence device acq_rel", &Capabilities::WEBGPU);
    assert_eq!(reason, Reason::Lacks { what: "`fence`".to_owned(), feature: Feature::MemoryBarriers });
}

#[test]
fn limits() {
    let kernel = kernel("");
    let unknown = compile(&kernel, &Facts::unknown(&kernel), &Capabilities::WEBGPU).expect_err("no block");
    assert_eq!(unknown.reason, Reason::UnknownBlock);
    let facts = Facts { block: Some([32, 32, 1]), ..Facts::unknown(&kernel) };
    let error = compile(&kernel, &facts, &Capabilities::WEBGPU).expect_err("too many threads");
    assert_eq!(error.reason, Reason::Limit { what: "threads of a block", amount: 1024, limit: 256 });
    assert_eq!(error.to_string(), "kernel `k`: 1024 threads of a block, and the device can have 256");

    let kernel = text::parse(
        "kernel @k() {\nshared %tile: array<f32, 5000>\n%0 = const index 0\n%1 = load %tile[%0] : f32\nreturn\n}",
    )
    .expect("a kernel");
    let facts = Facts { block: Some([32, 1, 1]), ..Facts::unknown(&kernel) };
    let error = compile(&kernel, &facts, &Capabilities::WEBGPU).expect_err("too much memory");
    assert_eq!(
        error.reason,
        Reason::Limit { what: "bytes of shared memory of a block", amount: 20_000, limit: 16 << 10 }
    );

    let body =
        format!("%0 = thread_idx.x\n%1 = splat %0 x 64\nprint \"{}\"{}", "{}".repeat(8), ", %1".repeat(8));
    let (reason, _) = refused(&body, &Capabilities::ALL);
    assert_eq!(reason, Reason::Limit { what: "values of a line", amount: 512, limit: 500 });
}

#[test]
fn operations_of_warps_that_only_some_threads_reach() {
    let in_branch = "%0 = thread_idx.x\n%1 = const index 32\n%2 = lt %0, %1\nif %2 {\n%3 = ballot %2\n}";
    let left_by_some = "%0 = thread_idx.x\n%1 = const index 3\n%2 = lt %0, %1\nloop ^0 {\n%3 = ballot %2\nif %2 {\n\
                        break ^0\n}\ncontinue ^0\n}";
    for body in [in_branch, left_by_some] {
        let (reason, message) = refused(body, &Capabilities::ALL);
        assert_eq!(reason, Reason::DivergentWarpOperation, "{body}");
        assert_eq!(
            message,
            "kernel `k`: an operation of a warp that not all threads of the block come to together: its condition or \
             loop depends on the thread or on memory, and the device has no warps of 32 threads, so that all of the \
             block have to take part; move the operation out of it"
        );
    }
}

#[test]
fn a_block_of_one_warp_may_go_by_what_its_lanes_have_in_common() {
    let body = "%0 = thread_idx.x\n%1 = const index 3\n%2 = lt %0, %1\nloop ^0 {\n%3 = ballot %2\n%4 = const u32 0\n\
                %5 = eq %3, %4\nif %5 {\nbreak ^0\n}\ncontinue ^0\n}";
    let kernel = kernel(body);
    let of = |threads| Facts { block: Some([threads, 1, 1]), ..Facts::unknown(&kernel) };
    assert!(compile(&kernel, &of(32), &Capabilities::ALL).is_ok());
    let error = compile(&kernel, &of(33), &Capabilities::ALL).expect_err("two warps");
    assert_eq!(error.reason, Reason::DivergentWarpOperation);
}

#[test]
fn operations_of_warps_take_shared_memory() {
    let kernel = kernel("%0 = const index 0\n%1 = load %x[%0] : i64\n%2 = warp_reduce_add %1");
    let facts = Facts { block: Some([1024, 1, 1]), ..Facts::unknown(&kernel) };
    let module = compile(&kernel, &facts, &Capabilities::ALL).expect("it is supported");
    assert_eq!(module.shared_bytes, 2 * 8 * 1024);
    let capabilities = Capabilities { max_shared_bytes: 16_000, ..Capabilities::ALL };
    let error = compile(&kernel, &facts, &capabilities).expect_err("there is less");
    let what = "bytes of shared memory of a block";
    assert_eq!(error.reason, Reason::Limit { what, amount: 2 * 8 * 1024, limit: 16_000 });
}
