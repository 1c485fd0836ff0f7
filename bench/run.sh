#!/usr/bin/env bash
# Runs what bench/pack.sh has packed, on a machine with an NVIDIA GPU, in the folder where it lies:
#
#     ./run.sh                      # tests, puzzles, benchmark
#     ./run.sh tests                # the tests of the device and the conformance tests
#     ./run.sh puzzles              # every puzzle's solution
#     ./run.sh bench --quick        # the benchmark, with arguments of tilewise-bench
#
# The exit code is that of the first step that failed; the steps after it are run all the same. The benchmark's results
# are also in results.jsonl.
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

puzzles() {
    local puzzle flag
    while read -r puzzle flag; do
        step ./puzzle "$puzzle" -e nvidia --solution ${flag:+"$flag"}
    done < <(puzzle_list)
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
    tests | puzzles) "$1" ;;
    bench)
        shift
        bench "$@"
        ;;
    all)
        tests
        puzzles
        bench
        ;;
    *)
        echo "usage: run.sh [tests | puzzles | bench [arguments of tilewise-bench]]"
        exit 2
        ;;
esac
exit $status
