#!/usr/bin/env bash
# Runs what bench/pack.sh has packed, on a machine with an NVIDIA GPU, in the folder where it lies:
#
#     ./run.sh                      # tests, puzzles, benchmark
#     ./run.sh vulkan               # conformance tests, puzzles and benchmark by NVIDIA's driver for Vulkan
#     ./run.sh tests                # the tests of the device and the conformance tests
#     ./run.sh puzzles              # every puzzle's solution
#     ./run.sh bench --quick        # the benchmark, with arguments of tilewise-bench
#
# The exit code is that of the first step that failed; the steps after it are run all the same. The benchmark's results
# are also in results.jsonl, those by Vulkan in results-vulkan.jsonl.
set -uo pipefail
cd "$(dirname "$0")"
status=0

step() {
    echo "==> $*"
    "$@"
    local code=$?
    if [ $code -ne 0 ]; then
        echo "==> failed ($code): $*"
        [ $status -ne 0 ] || status=$code
    fi
}

tests() {
    # The conformance tests look for their sources below this folder.
    export CARGO_MANIFEST_DIR=$PWD
    step ./test-cuda
    step ./test-conformance
}

# Each puzzle with the flag of each of its variants, a line each, from the command's own list.
puzzle_list() {
    ./puzzle | awk '
        /^  p[0-9]+ / { if (puzzle && !variants) print puzzle; puzzle = $1; variants = 0 }
        /^ +--/ { print puzzle, $1; variants++ }
        END { if (puzzle && !variants) print puzzle }'
}

# On the device that is named.
puzzles() {
    local puzzle flag
    while read -r puzzle flag; do
        step ./puzzle "$puzzle" -e "$1" --solution ${flag:+"$flag"}
    done < <(puzzle_list)
}

# Has programs find the loader of Vulkan, and it NVIDIA's driver.
find_vulkan() {
    if ! ldconfig -p 2>/dev/null | grep -q 'libvulkan\.so\.1'; then
        export LD_LIBRARY_PATH="$PWD/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
    fi
    local library
    # On machines without a display the library for X, which drivers tell the loader of, has no Vulkan to give; that for
    # EGL has. Containers may bring the libraries without the file that leads the loader to one.
    for library in libEGL_nvidia.so.0 libGLX_nvidia.so.0; do
        library=$(ldconfig -p 2>/dev/null | sed -n "s/.*x86-64.* => \(.*$library\)$/\1/p" | head -n 1)
        if [ -n "$library" ] && ! ldd "$library" | grep -q 'not found'; then
            printf '{"file_format_version": "1.0.0", "ICD": {"library_path": "%s", "api_version": "1.3.0"}}\n' \
                "$library" >nvidia_icd.json
            export VK_ICD_FILENAMES="$PWD/nvidia_icd.json" VK_DRIVER_FILES="$PWD/nvidia_icd.json"
            return
        fi
    done
    echo "no driver of NVIDIA for Vulkan: neither libGLX_nvidia.so.0 nor libEGL_nvidia.so.0 can be loaded"
}

vulkan() {
    find_vulkan
    # The conformance tests run on each device that can be opened.
    export CARGO_MANIFEST_DIR=$PWD TILEWISE_ADAPTER=nvidia
    step ./test-conformance
    puzzles vulkan
    step ./tilewise-bench copy dot add matmul indirect -e vulkan --beside nvidia --no-peers --json results-vulkan.jsonl "$@"
}

bench() {
    local nvcc
    nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null || true)
    if [ -n "$nvcc" ]; then
        if [ ! -x tilewise-peers ]; then
            # The libraries lie beside nvcc, where the loader may not look.
            step "$nvcc" -O3 -std=c++17 -arch=native peers/*.cu -lcublas -lcuda \
                -Xlinker "-rpath=$(dirname "$(dirname "$(readlink -f "$nvcc")")")/lib64" -o tilewise-peers
        fi
    else
        echo "no nvcc: the benchmark runs without peers"
    fi
    step ./tilewise-bench -e nvidia --json results.jsonl "$@"
}

case "${1:-all}" in
    tests) tests ;;
    puzzles) puzzles nvidia ;;
    vulkan)
        shift
        vulkan "$@"
        ;;
    bench)
        shift
        bench "$@"
        ;;
    all)
        tests
        puzzles nvidia
        bench
        vulkan
        ;;
    *)
        echo "usage: run.sh [tests | puzzles | (bench | vulkan) [arguments of tilewise-bench]]"
        exit 2
        ;;
esac
exit $status
