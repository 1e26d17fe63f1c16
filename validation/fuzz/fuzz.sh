#!/bin/bash
# make check-fuzz: builds the fuzz targets for clang's libFuzzer and shares FUZZ_SECONDS (60) among
# them. What it finds comes to lie in fuzz/findings and fails the check; inputs that reach new code
# are kept in fuzz/corpus for the next time.
# shellcheck source=validation/analysis/common.sh
. "$(dirname "$0")/../analysis/common.sh"

seconds=${FUZZ_SECONDS:-60}
here=$build/fuzz
targets=(bodies checkpoint config convert pairs report)

can_fuzz() {
    printf '%s\n' '#include <omp.h>' '#include <stddef.h>' '#include <stdint.h>' \
        'int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);' \
        'int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)' \
        '{ return (int)(bytes[0] + length) * 0 * omp_get_max_threads(); }' >"$here/probe.c"
    "$CLANG" -fopenmp -fsanitize=fuzzer,address,undefined -o "$here/probe" "$here/probe.c" 2>&1
}

# The seeds, and for the config reader the files that users read.
gather() {
    local target=$1
    mkdir -p "$here/corpus/$target" "$here/findings/$target" "$here/scratch"
    [ "$target" = config ] || return 0
    local file name
    for file in "$source"/{examples,validation}/*/*.cfg "$source"/config/*.cfg; do
        name=${file#"$source"/}
        cp "$file" "$here/corpus/config/${name//\//-}"
    done
}

fuzz() {
    local target=$1 found
    gather "$target"
    TMPDIR=$here/scratch OMP_NUM_THREADS=1 ASAN_OPTIONS=allocator_may_return_null=1 \
        "$here/build/validation/fuzz/$target" \
        -max_total_time=$((seconds / ${#targets[@]})) -timeout=60 \
        -rss_limit_mb=2048 -max_len=16384 -print_final_stats=1 -close_fd_mask=0 \
        -dict="$source/validation/fuzz/$target.dict" -artifact_prefix="$here/findings/$target/" \
        "$here/corpus/$target" "$source/validation/fuzz/corpus/$target" \
        >"$here/$target.log" 2>&1 </dev/null
    local status=$?
    grep -hE '^stat::(number_of_executed_units|average_exec_per_sec|new_units_added)' \
        "$here/$target.log" | tr '\n' ' '
    echo
    rm -rf "$here/scratch"
    [ $status = 0 ] && pass "fuzz $target" && return
    tail -40 "$here/$target.log"
    fail "fuzz $target: status $status"
    for found in "$here/findings/$target"/*; do
        [ -e "$found" ] && echo "replay it: ./validation/fuzz/$target $found"
    done
}

mkdir -p "$here"
if ! message=$(can_fuzz); then
    echo "$message" | head -3
    skip "fuzzing: needs clang with libFuzzer and OpenMP (Debian: apt install clang-14" \
        "libclang-rt-14-dev libomp-14-dev)"
elif ! sub_build "$here/build" build-commit.h "${targets[@]/#/validation/fuzz/}" -- \
    CC="$CLANG" CXX="$CLANG" CFLAGS='-O1 -g -w' --enable-fuzzing \
    orrery_cv_x86_kernels=no; then
    tail -20 "$here/build.log"
    fail "the fuzz targets do not build"
else
    for target in "${targets[@]}"; do
        fuzz "$target"
    done
fi
finish
