//! Which values are narrow, by small kernels: those that are marked by a name that starts with `n`, and no others that are
//! marked by `w`.

use tilewise_ir::analysis::{ArgNumbers, LaunchNumbers, analyze};
use tilewise_ir::{Kernel, Type};

/// Checks the values of a body, launched with a tensor of 100 elements and one of `large`.
fn check(body: &str, large: u64) {
    let text = format!(
        "kernel @k(%out: tensor<u32, 1, mut>, %large: tensor<u32, 1, mut>, %any: tensor<index, 1, mut>) {{
           shared %tile: array<u32, 64>
           %n0 = const index 0
           %n1 = const index 1
           %x = const u32 7
           {body}
           return
         }}"
    );
    let kernel: Kernel = text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"));
    let tensor = |extent| ArgNumbers::Tensor {
        extents: [extent].into_iter().collect(),
        strides: [1].into_iter().collect(),
        align: 64,
    };
    let args = [tensor(100), tensor(large), tensor(100)].into_iter().collect();
    let facts = analyze(&kernel, &LaunchNumbers { grid: [4, 1, 1], block: [32, 1, 1], args });
    // Values are numbered in the order of their definitions in the text.
    let marks: Vec<bool> = definitions(&text).into_iter().map(|name| name.starts_with('n')).collect();
    assert_eq!(marks.len(), kernel.values.len(), "{text}");
    for (value, (&narrow, marked)) in facts.narrow.iter().zip(marks).enumerate() {
        let expected = marked && kernel.values[value] == Type::INDEX;
        assert_eq!(narrow, expected, "value number {value} of {:?}\n{text}", definitions(&text));
    }
}

/// The names that are defined, in the order of the numbers of values.
fn definitions(text: &str) -> Vec<&str> {
    let kernel_body = text.lines().skip(2);
    let mut names = Vec::new();
    for line in kernel_body {
        let line = line.trim();
        if let Some((name, _)) = line.strip_prefix('%').and_then(|line| line.split_once(" = ")) {
            names.push(name);
        }
    }
    names
}

#[test]
fn small_numbers() {
    check(
        "%nt = thread_idx.x
         %nb = block_idx.x
         %nsum = add %nt, %nb
         %nlen = extent %out.0
         %wany = load %any[%n0] : index
         %wless = sub %nt, %nb
         store %any[%n0], %wless
         %nrem = rem %wany, %nlen",
        1,
    );
}

/// An offset into a memory that is not large, and what it is computed from.
#[test]
fn offsets() {
    check(
        "%nt = thread_idx.x
         %nany = load %any[%n0] : index
         %nless = sub %nany, %nt
         %nproduct = mul %nless, %nt
         %nshifted = shl %nproduct, %n1
         store %out[%nshifted], %x
         store %tile[%nless], %x",
        1,
    );
    let into_large = |name: &str| {
        format!(
            "%nt = thread_idx.x
             %{name}any = load %any[%n0] : index
             %{name}less = sub %{name}any, %nt
             store %large[%{name}less], %x"
        )
    };
    check(&into_large("n"), 1 << 32);
    check(&into_large("w"), (1 << 32) + 1);
}

#[test]
fn who_looks_at_the_upper_half() {
    check(
        "%wa = load %any[%n0] : index
         %nquotient = div %wa, %n1
         store %out[%nquotient], %x
         %nc = load %any[%n0] : index
         %lower = cast %nc to u32
         store %out[%n0], %lower
         %wd = load %any[%n0] : index
         %is_zero = eq %wd, %n0
         %we = load %any[%n0] : index
         store %out[%n0], %x if (0: %we < %n1)
         %wf = load %any[%n0] : index
         %float = cast %wf to f32
         %wg = load %any[%n0] : index
         print \"{}\", %wg",
        1,
    );
}
