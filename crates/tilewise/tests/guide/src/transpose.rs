//! A matrix transposed: element by element, and by tiles in shared memory.
use tilewise::prelude::*;

const TILE: usize = 32;

#[kernel]
pub(crate) fn by_element(output: &mut TileTensor<f32, 2>, a: &TileTensor<f32, 2>) {
    let row = block_dim().y * block_idx().y + thread_idx().y;
    let col = block_dim().x * block_idx().x + thread_idx().x;
    output[[col, row]] = a[[row, col]];
}

#[kernel]
pub(crate) fn by_tile(output: &mut TileTensor<f32, 2>, a: &TileTensor<f32, 2>, #[comptime] width: usize) {
    let tile = stack_allocation::<f32, 2>(AddressSpace::Shared, row_major([TILE, width]));
    let (x, y) = (thread_idx().x, thread_idx().y);
    let (row, col) = (TILE * block_idx().y, TILE * block_idx().x);
    tile[[y, x]] = a[[row + y, col + x]];
    barrier();
    output[[col + y, row + x]] = tile[[x, y]];
}
