#include "block.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "executor.h"
#include "fiber.h"

dim3 gridDim, blockDim, blockIdx, threadIdx;

void executor_broken(const char *what)
{
    fprintf(stderr, "executor: %s\n", what);
    abort();
}

std::vector<unsigned> executor_order_of(unsigned n)
{
    std::vector<unsigned> order(n);
    for (unsigned k = 0; k < n; k++)
        order[k] = executor_settings.order == EXECUTOR_BACKWARD ? n - 1 - k : k;
    static std::mt19937 engine(20231);
    if (executor_settings.order == EXECUTOR_SHUFFLED)
        std::shuffle(order.begin(), order.end(), engine);
    return order;
}

enum { WARP = 32 };

struct thread {
    enum { READY, AT_BARRIER, AT_SHUFFLE, DONE } state;
    unsigned mask;               /* of the lanes that it waits for */
    unsigned shuffles, barriers; /* so far */
};

struct warp {
    uint64_t values[2][WARP]; /* of this shuffle and of the next, which a fast lane may be at */
};

static std::vector<struct thread> threads;
static std::vector<unsigned> order; /* in which the threads take turns */
static size_t turn;                 /* the next place in `order` */
static std::vector<struct warp> warps;
static std::vector<unsigned char> shared;
static size_t shared_size;
static unsigned current;

void *executor_shared_memory()
{
    return (void *)(((uintptr_t)shared.data() + 15) / 16 * 16);
}

/* Makes the next thread current that can go on before all others have had their turn. */
static bool next_thread()
{
    while (turn < order.size()) {
        const unsigned k = order[turn++];
        if (threads[k].state == thread::READY) {
            current = k;
            threadIdx.x = k;
            return true;
        }
    }
    return false;
}

static void wait_as(decltype(thread::state) state)
{
    threads[current].state = state;
    if (fiber_passes_on() && next_thread())
        fiber_pass_on(current);
    else
        fiber_leave();
}

#ifdef EXECUTOR_RACES
static const bool looks_for_races = true;
#else
static const bool looks_for_races = false;
#endif

/* ORRERY_EXECUTOR_DROP=sum.cuh:128: no thread waits there; where races are looked for, all of them
 * wait, but it orders nothing. */
static bool is_dropped(const char *file, int line)
{
    static const char *const dropped = getenv("ORRERY_EXECUTOR_DROP");
    if (!dropped)
        return false;
    const char *base = strrchr(file, '/');
    char here[256];
    snprintf(here, sizeof here, "%s:%d", base ? base + 1 : file, line);
    return strcmp(here, dropped) == 0;
}

/* A thread may be at the next barrier before another has left this one, hence two addresses. */
static char block_start, block_end, barriers[2];

void executor_barrier(const char *file, int line)
{
    void *const what = &barriers[threads[current].barriers++ % 2];
    const bool dropped = is_dropped(file, line);
    if (dropped && !looks_for_races)
        return;
    if (!dropped)
        fiber_release(what);
    wait_as(thread::AT_BARRIER);
    if (!dropped)
        fiber_acquire(what);
}

/* The number of threads of this launch that have waited for the kernels before it. */
static size_t waits;

void executor_wait_for_kernels()
{
    waits++;
}

/* The value goes from lane to lane; memory is not ordered by it, as CUDA has it. */
uint64_t executor_shuffle(unsigned mask, uint64_t bits, unsigned source)
{
    struct thread &own = threads[current];
    struct warp &own_warp = warps[current / WARP];
    const unsigned side = own.shuffles++ % 2;
    if (!(mask >> current % WARP & 1))
        executor_broken("a lane is not in the mask of its own shuffle");
    own_warp.values[side][current % WARP] = bits;
    own.mask = mask;
    wait_as(thread::AT_SHUFFLE);
    return own_warp.values[side][source % WARP];
}

/* Lets a warp go on whose lanes have all come to the shuffle. */
static bool release_warp(unsigned first)
{
    const unsigned last = std::min<unsigned>(first + WARP, (unsigned)threads.size());
    unsigned here = 0, wanted = 0;
    for (unsigned k = first; k < last; k++)
        if (threads[k].state == thread::AT_SHUFFLE) {
            here |= 1u << (k - first);
            wanted |= threads[k].mask;
        }
    if (here == 0 || here != wanted)
        return false;
    for (unsigned k = first; k < last; k++)
        if (threads[k].state == thread::AT_SHUFFLE)
            threads[k].state = thread::READY;
    return true;
}

/* Lets all threads go on that have not ended, if all of them are at the barrier. */
static bool release_barrier()
{
    for (const struct thread &t : threads)
        if (t.state != thread::AT_BARRIER && t.state != thread::DONE)
            return false;
    for (struct thread &t : threads)
        if (t.state == thread::AT_BARRIER)
            t.state = thread::READY;
    return true;
}

static void run_block(const std::function<void()> &body)
{
    order = executor_order_of(blockDim.x);
    threads.assign(blockDim.x, thread());
    warps.assign((blockDim.x + WARP - 1) / WARP, warp());
    shared.assign(shared_size + 16 + GUARD, POISON);
    size_t left = threads.size();
    const std::function<void()> whole = [&] {
        fiber_acquire(&block_start);
        body();
        fiber_release(&block_end);
        threads[current].state = thread::DONE;
        left--;
    };
    fiber_release(&block_start);
    while (left > 0) {
        bool moved = false;
        for (turn = 0; next_thread(); moved = true)
            fiber_enter(current, whole);
        for (unsigned k = 0; k < threads.size(); k += WARP)
            moved |= release_warp(k);
        if (!moved && left > 0 && !release_barrier())
            executor_broken("threads wait for others that never come");
    }
    fiber_acquire(&block_end);
    const unsigned char *end = (unsigned char *)executor_shared_memory() + shared_size;
    if (std::count(end, end + GUARD - 16, POISON) != GUARD - 16)
        executor_broken("a kernel wrote past its shared memory");
}

void block_run_grid(const cudaLaunchConfig_t &config, const std::function<void()> &body)
{
    gridDim = config.gridDim;
    blockDim = config.blockDim;
    shared_size = config.dynamicSmemBytes;
    waits = 0;
    for (unsigned k : executor_order_of(gridDim.x)) {
        blockIdx.x = k;
        run_block(body);
    }
    if (config.numAttrs > 0 && waits != (size_t)gridDim.x * blockDim.x)
        executor_broken("a kernel may begin early, and a thread of it does not wait");
}
