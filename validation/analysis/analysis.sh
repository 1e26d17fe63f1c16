#!/bin/bash
# make check-analysis: cppcheck, clang-tidy, clang's static analyser, valgrind and ThreadSanitizer
# (threads of CPUs, kernels of GPUs), each demanded to find nothing. ANALYSIS names those to run;
# logs lie in analysis/ in the build directory. Needs AM_CPPFLAGS and AM_CFLAGS from make, beside
# what common.sh needs.
# shellcheck disable=SC2317 # the checks are called by their names
# shellcheck source=validation/analysis/common.sh
. "$(dirname "$0")/../analysis/common.sh"

here=$build/analysis
kept=$source/validation/analysis
export OMP_WAIT_POLICY=passive # or the program would begin anew, where valgrind does not follow it
read -ra flags <<<"-std=gnu11 -DKERNELS=baseline $AM_CPPFLAGS $LIBRARY_CFLAGS"
read -ra mpi <<<"$MPI_CPPFLAGS"

# Does a program of that name exist? Skips with the package that has it.
need() {
    command -v "$1" >/dev/null && return
    skip "$1 is not installed (Debian: apt install $2)"
    return 1
}

# nothing_in LOG NAME: the log must be empty.
nothing_in() {
    if [ -s "$1" ]; then
        head -60 "$1"
        fail "$2: $(wc -l <"$1") lines of findings"
    else
        pass "$2"
    fi
}

# The C sources; mpi-job.c only where MPI's headers are.
c_files() {
    local file
    for file in "$source"/src/*.c "$source"/src/*/*.c "$source"/src/*/*/*.c \
        "$source"/gpu/host/{none,tuning}.c "$source"/validation/fuzz/*.c; do
        [ "${file##*/}" = mpi-job.c ] && [ ${#mpi[@]} = 0 ] || printf '%s\0' "$file"
    done
}

# Not its matters of style: compilers and clang-tidy know the names, and it is often mistaken.
check_cppcheck() {
    need cppcheck cppcheck || return 0
    local report=$here/cppcheck.log
    # Paths relative to the source: those of the suppressions. fmm-kernel.c is left out: it takes
    # twenty thousand lines that translations.py writes, and cppcheck more than ten minutes.
    (cd "$source" && cppcheck --quiet -j"$jobs" --enable=warning,performance,portability --std=c11 \
        --inline-suppr --suppressions-list="$kept/cppcheck.supp" -Isrc -I. -Ivalidation/fuzz \
        --template='{file}:{line}: {id}: {message}' --error-exitcode=0 \
        -i src/force/fmm/fmm-kernel.c src gpu validation/fuzz) >"$report" 2>&1
    nothing_in "$report" cppcheck
}

# clang_tidy NAME CHECKS: the checks of .clang-tidy that CHECKS leaves.
clang_tidy() {
    local report=$here/$1.log program
    program=$(command -v clang-tidy-14 || command -v clang-tidy) || {
        skip "$1: clang-tidy is not installed (Debian: apt install clang-tidy-14)"
        return
    }
    # One file a process: the header filter, the checks and their reasons are in .clang-tidy.
    (cd "$source" && c_files | xargs -0 -I{} -P"$jobs" "$program" -quiet --checks="$2" \
        --extra-arg="-I$build" {} -- "${flags[@]}" "${mpi[@]}") >"$report.all" 2>"$report.err"
    grep -E '(warning|error):' "$report.all" | sort -u >"$report"
    nothing_in "$report" "$1"
}

check_clang_tidy() {
    clang_tidy clang-tidy '-clang-analyzer-*'
}

# Most of the time goes here: some five seconds a file.
check_clang_analyzer() {
    local others='-bugprone-*,-cert-*,-concurrency-*,-misc-*,-performance-*,-portability-*'
    clang_tidy clang-analyzer "$others,-readability-*"
}

# Each line: a name, the exit status that it must have, and what orrery is called with, in the order
# in which one builds on the other.
memory_runs=(
    "serial|0|run memory.cfg -q"
    "restart|0|run memory.cfg -q --restart -P time.end=0.3"
    "verify|0|verify memory.run"
    "openmp|0|run memory.cfg -q -o openmp.run -P compute.backend=openmp -P compute.threads=2"
    "small systems|0|run memory.cfg -q -o small.run -P compute.backend=openmp -P ensemble.systems=5"
    "report|0|report memory.run"
    "sweep|0|run sweep.cfg -q"
    "bad config|78|run memory.cfg -q -P time.step=0 -P nothing=1"
    "bad bodies|65|run memory.cfg -q -o b.run -P bodies.initial=file -P bodies.file=memory.cfg"
)

write_configs() {
    cat >memory.cfg <<'END'
bodies = { initial = "plummer"; };
physics = { softening = 0.1; };
time = { step = 0.01; end = 0.2; };
compute = { backend = "serial"; };
diagnostics = ( { type = "conservation"; every = 5; }, { type = "lagrangian-radii"; every = 10; },
    { type = "radial-distribution"; every = 20; r_max = 4.0; bins = 50; } );
outputs = ( { type = "xyz"; every = 5; } );
checkpoint = { every_steps = 10; };
expect = ( { quantity = "energy_error"; at_most = 1e-2; } );
END
    sed -i "s/initial = \"plummer\";/& count = $1;/" memory.cfg
    printf '@include "memory.cfg"\nsweep = ( { key = "time.step"; values = [0.05, 0.02]; } );\n' \
        >sweep.cfg
}

# runs NAME COMMAND...: every line of memory_runs by COMMAND, which exits with 99 on a finding.
runs() {
    local title=$1 line name expected arguments log=$here/$1.log wrong=0
    shift
    : >"$log"
    for line in "${memory_runs[@]}"; do
        IFS='|' read -r name expected arguments <<<"$line"
        [ "$name" != report ] || command -v gnuplot >/dev/null || continue
        # shellcheck disable=SC2086 # several arguments
        timeout 300 "$@" $arguments >>"$log" 2>&1 </dev/null
        local status=$?
        [ "$status" = "$expected" ] && continue
        echo "$title, $name: status $status, $expected is expected"
        wrong=1
    done
    [ "$wrong" = 0 ] && pass "$title: ${#memory_runs[@]} runs" && return
    tail -60 "$log"
    fail "$title"
}

# Errors of memory, and memory that nobody frees. What can still be reached at the end is left to
# the kernel by libraries, and by the processes of a sweep.
check_valgrind() {
    need valgrind valgrind || return 0
    if ldd "$ORRERY" | grep -q -e libasan -e libmpi; then
        skip "valgrind: not under AddressSanitizer, nor with MPI"
        return
    fi
    local folder
    folder=$(mktemp -d "$here/valgrind.XXXXXX") && cd "$folder" || return
    write_configs 24
    OMP_NUM_THREADS=2 runs valgrind valgrind -q --error-exitcode=99 --leak-check=full \
        --errors-for-leak-kinds=definite,indirect,possible --num-callers=20 \
        --suppressions="$kept/valgrind.supp" "$ORRERY"
    cd "$here" && rm -rf "$folder"
}

# Races, by clang's ThreadSanitizer. Archer tells it what OpenMP's own barriers order; without it
# every loop would look like a race.
check_threads() {
    local archer probe=$here/race
    archer=$(dirname "$(readlink -f "$(command -v "$CLANG")")")/../lib/libarcher.so
    mkdir -p "$here/threads"
    printf '%s\n' 'int main(void) { int sum = 0;' '#pragma omp parallel for num_threads(2)' \
        'for (int i = 0; i < 100000; i++) sum += i;' 'return sum == 1; }' >"$probe.c"
    if ! [ -e "$archer" ] || ! "$CLANG" -g -fopenmp -fsanitize=thread -o "$probe" "$probe.c"; then
        skip "threads: needs clang with ThreadSanitizer and Archer (Debian: apt install clang-14" \
            "libclang-rt-14-dev libomp-14-dev)"
        return
    fi
    export OMP_TOOL_LIBRARIES=$archer TSAN_OPTIONS=ignore_noninstrumented_modules=1:exitcode=99
    "$probe" >"$here/race.log" 2>&1
    [ $? = 99 ] || {
        fail "threads: a race that was planted is not seen"
        return
    }
    # Functions cloned for instruction sets are chosen before ThreadSanitizer has begun.
    if ! sub_build "$here/threads/build" build-commit.h orrery -- CC="$CLANG" CXX="$CLANG" \
        CFLAGS='-O1 -g -w -fsanitize=thread' LDFLAGS=-fsanitize=thread \
        ac_cv_target_clones=no orrery_cv_x86_kernels=no; then
        tail -20 "$here/threads/build.log"
        fail "threads: the program does not build"
        return
    fi
    cd "$here/threads" && rm -rf ./*.run || return
    write_configs 700
    sed -i 's/"serial"/"openmp"; threads = 3/' memory.cfg
    memory_runs=("${thread_runs[@]}")
    runs threads ./build/orrery
    cd "$here" || return
}

# Races in the GPU's kernels, on the executor.
check_races() {
    local log=$here/races.log
    ORRERY_SOURCE=$source ORRERY_BUILD=$build PYTHONPATH=$source/validation \
        "${PYTHON:-python3}" "$source/validation/gpu/races.py" >"$log" 2>&1
    local status=$?
    grep '^# ' "$log"
    if grep -q '# SKIP' "$log"; then
        skip "races: $(sed -n 's/.*# SKIP //p' "$log" | head -1)"
    elif [ "$status" = 0 ]; then
        pass "races: the kernels of GPUs, and $(grep -c found "$log") races that were planted"
    else
        tail -40 "$log"
        fail races
    fi
}

thread_runs=(
    "double|0|run memory.cfg -q"
    "restart|0|run memory.cfg -q --restart -P time.end=0.3"
    "verify|0|verify memory.run"
    "symmetric|0|run memory.cfg -q -o s.run -P compute.kernel=symmetric"
    "mixed|0|run memory.cfg -q -o m.run -P compute.precision=mixed"
    "ensemble|0|run memory.cfg -q -o e.run -P ensemble.systems=4 -P bodies.count=100"
    "small systems|0|run memory.cfg -q -o t.run -P ensemble.systems=6 -P bodies.count=20"
)

mkdir -p "$here"
for part in ${ANALYSIS:-cppcheck clang-tidy clang-analyzer valgrind threads races}; do
    "check_${part//-/_}"
done
finish
