//! The words of a kernel, used as the macros use them.
#![allow(clippy::needless_ifs, clippy::needless_borrow, reason = "the macros write it so")]

use tilewise_ir::{ParamId, ParamKind, Scalar};
use tilewise_layout::row_major;
use tilewise_stage::compare::{CompareHost as _, CompareLeft as _, Sides};
use tilewise_stage::control::{If, Loop};
use tilewise_stage::tensor::index::{ReadIndex, WriteIndex};
use tilewise_stage::tensor::{ParamDim, TensorParam};
use tilewise_stage::*;

#[test]
fn dot_product() {
    const TPB: usize = 8;
    let tensor = |mutable| ParamKind::Tensor { elem: Scalar::F32, rank: 1, mutable, aliased: false };
    let param = |id| TensorParam::<1> {
        id: ParamId(id),
        extents: [ParamDim::Launch],
        strides: [ParamDim::Known(1)],
        compact: true,
    };
    let params = [
        ("output", tensor(true)),
        ("a", tensor(false)),
        ("b", tensor(false)),
        ("size", ParamKind::Scalar(Scalar::Index)),
    ];
    let kernel = record("dot_product", &params, || {
        let output: TileTensor<f32, 1> = param(0).bind();
        let a: TileTensor<f32, 1, Immut> = param(1).bind();
        let b: TileTensor<f32, 1, Immut> = param(2).bind();
        let size = tilewise_stage::tensor::bind_scalar::<usize>(ParamId(3));
        let shared = stack_allocation::<f32, 1>(AddressSpace::Shared, row_major([TPB]));
        let global_i = block_dim().x * block_idx().x + thread_idx().x;
        let local_i = thread_idx().x;
        {
            let mut __if = If::new((&&&Sides(&global_i, &size)).tw_lt());
            if __if.then() {
                shared.write_index(local_i, a.read_index(global_i) * b.read_index(global_i));
            }
            if __if.otherwise() {}
            __if.end();
        }
        barrier();
        let stride = Var::new("stride", TPB / 2);
        let acc = Var::new("acc", 0.0);
        acc.set(acc.get() + a.read_index(0));
        acc.set(acc.get() + 2.0 * a.read_index(0));
        {
            let mut __l = Loop::repeat();
            loop {
                if !__l.test((&&&Sides(&stride.get(), &0)).tw_gt()) {
                    break;
                }
                {
                    let mut __if = If::new((&&&Sides(&local_i, &stride.get())).tw_lt());
                    if __if.then() {
                        let __v = shared.read_index(local_i + stride.get());
                        shared.write_index(local_i, shared.read_index(local_i) + __v);
                    }
                    if __if.otherwise() {}
                    __if.end();
                }
                barrier();
                stride.set(stride.get() / 2);
                if !__l.again() {
                    break;
                }
            }
            __l.end();
        }
        let v = {
            let mut __if = If::new((&&&Sides(&local_i, &0)).tw_eq());
            let mut x = None;
            let mut y = None;
            if __if.then() {
                x = Some(__if.arm(shared.read_index(0)));
            }
            if __if.otherwise() {
                y = Some(__if.arm(0.0));
            }
            __if.finish(x, y)
        };
        let n = {
            let mut __if = If::new((&&&Sides(&TPB, &4)).tw_gt());
            let mut x = None;
            let mut y = None;
            if __if.then() {
                x = Some(__if.arm(TPB));
            }
            if __if.otherwise() {
                y = Some(__if.arm(3));
            }
            __if.finish(x, y)
        };
        assert_eq!(n, 8);
        output.write_index(0, v);
    })
    .unwrap();
    tilewise_ir::verify::verify(&kernel).unwrap();
    assert_eq!(kernel.allocs[0].len, TPB as u64);
}
