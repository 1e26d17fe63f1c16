# What fuzz.sh and analysis.sh share; sourced by bash, in the build directory of a configured tree.
# shellcheck shell=bash
# Needs from make: ORRERY_SOURCE, ORRERY_BUILD, MAKE, CLANG.
set -u
source=${ORRERY_SOURCE:?call it by make check-fuzz or make check-analysis}
build=${ORRERY_BUILD:?}
jobs=$(nproc)
passed=0 failed=0 skipped=0

pass() {
    echo "PASS: $*"
    passed=$((passed + 1))
}

fail() {
    echo "FAIL: $*"
    failed=$((failed + 1))
}

skip() {
    echo "SKIP: $*"
    skipped=$((skipped + 1))
}

# The counts as automake writes them; ends the script.
finish() {
    printf '# PASS: %d\n# FAIL: %d\n# SKIP: %d\n' "$passed" "$failed" "$skipped"
    [ "$failed" = 0 ]
    exit
}

# sub_build FOLDER TARGET... -- CONFIGURE ARGUMENTS...: a tree of its own in FOLDER, with what make
# says in FOLDER.log. Sources that were configured in place cannot be configured for a second tree;
# these are copied.
sub_build() {
    local folder=$1 targets=() from=$source
    shift
    while [ "$1" != -- ]; do
        targets+=("$1")
        shift
    done
    shift
    mkdir -p "$folder"
    {
        if [ -e "$source/config.status" ]; then
            from=$folder/source
            "$MAKE" -s -C "$build" distdir distdir="$from" || return 1
        fi
        cd "$folder" || return 1
        [ -e Makefile ] || "$from/configure" -q --with-cuda=no "$@" || return 1
        "$MAKE" -s -j"$jobs" "${targets[@]}"
    } >"$folder.log" 2>&1 </dev/null
}
