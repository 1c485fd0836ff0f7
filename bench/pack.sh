#!/usr/bin/env bash
# Packs what a machine with an NVIDIA GPU needs into target/gpu, so that tests and benchmarks run there without Rust:
# the tests, the puzzles and the benchmark as programs, the sources of the benchmark's peers, and run.sh.
#
#     bench/pack.sh
#     scp -r target/gpu gpu-machine:        # any copy will do
#     ssh gpu-machine gpu/run.sh            # or: run.sh tests | puzzles | bench [arguments of tilewise-bench]
#
# The machine needs an NVIDIA driver, and for the peers nvcc with cuBLAS; without nvcc the benchmark runs alone. Its system
# libraries (glibc) have to be as new as this machine's. For Vulkan it needs the loader libvulkan.so.1, which drivers do not
# bring along: that of Debian's package libvulkan1 is packed, for machines that have none.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}
out=target/gpu

# The path of the program that cargo builds for a test target: `test_program NAME cargo-arguments...`
test_program() {
    local name=$1
    shift
    cargo test --no-run --message-format=json "$@" |
        sed -n "/\"name\":\"$name\"/s/.*\"executable\":\"\([^\"]*\)\".*/\1/p" | tail -n 1
}

rm -rf "$out"
mkdir -p "$out/tests" "$out/peers"

cargo build --release -p tilewise-bench -p tilewise-course --features tilewise-bench/wgpu,tilewise-course/wgpu
cp "$target/release/tilewise-bench" "$target/release/puzzle" "$out/"

# Tests are built with debug assertions: the verifier runs after every pass.
conformance=$(test_program conformance -p tilewise --features wgpu --test conformance)
cuda=$(test_program cuda -p tilewise-runtime --features cuda --test cuda)
cp "$conformance" "$out/test-conformance"
cp "$cuda" "$out/test-cuda"
# The conformance tests read their own sources.
cp -r crates/tilewise/tests/conformance "$out/tests/"
strip "$out/tilewise-bench" "$out/puzzle" "$out/test-conformance" "$out/test-cuda"

# The loader of Vulkan.
loader=$(mktemp -d)
trap 'rm -rf "$loader"' EXIT
(cd "$loader" && apt-get download -qq libvulkan1 && dpkg-deb -x libvulkan1_*.deb .) ||
    echo "libvulkan1 cannot be downloaded: only a machine with a loader of its own can run Vulkan"
mkdir -p "$out/lib"
find "$loader" -name 'libvulkan.so.1*' -exec cp -P {} "$out/lib/" ';'

cp bench/peers/*.cu bench/peers/*.cuh "$out/peers/"
cp bench/run.sh "$out/"
chmod +x "$out/run.sh"
du -sh "$out"
