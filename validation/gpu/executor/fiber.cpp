#include "fiber.h"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <vector>

/*
 * makecontext() gives a fiber its stack; later changes go as by setjmp() and longjmp(), because
 * swapcontext() asks the kernel for the signal mask each time. AddressSanitizer must be told of
 * every change of stacks, and follows swapcontext(); ThreadSanitizer, which takes fibers for
 * threads, of every change of fibers.
 */
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#elif defined(EXECUTOR_RACES)
#include <sanitizer/tsan_interface.h>
#endif

enum { STACK = 128 * 1024 };

/* The tops of stacks that are multiples of STACK apart would share the same few lines of the cache:
 * fiber k begins k % COLORS times COLOR bytes below the top. */
enum { COLORS = 61, COLOR = 5 * 64 };

/* The compiler's own saves the registers that are in use; the library's takes several times as
 * long. */
#if defined(__x86_64__)
typedef void *place[5];
#define PLACE_SAVE(place) __builtin_setjmp(place)
#define PLACE_RETURN(place) __builtin_longjmp(place, 1)
#else
typedef jmp_buf place;
#define PLACE_SAVE(place) _setjmp(place)
#define PLACE_RETURN(place) _longjmp(place, 1)
#endif

struct fiber {
    ucontext_t context;
    place left;
    void *stack = nullptr;
    void *fake_stack = nullptr; /* AddressSanitizer's */
    void *thread = nullptr;     /* ThreadSanitizer's */
    bool started = false, ended = true;
    const std::function<void()> *body = nullptr;
};

static std::vector<std::unique_ptr<fiber>> fibers;
static fiber *current;

#if defined(__SANITIZE_ADDRESS__)

static ucontext_t home;
static const void *home_stack;
static size_t home_size;
static void *home_fake_stack;

static void arrive_in_fiber()
{
    __sanitizer_finish_switch_fiber(current->fake_stack, &home_stack, &home_size);
}

static void go_to_fiber()
{
    __sanitizer_start_switch_fiber(&home_fake_stack, current->stack, STACK);
    swapcontext(&home, &current->context);
    __sanitizer_finish_switch_fiber(home_fake_stack, nullptr, nullptr);
}

static void go_home()
{
    __sanitizer_start_switch_fiber(&current->fake_stack, home_stack, home_size);
    swapcontext(&current->context, &home);
    arrive_in_fiber();
}

#elif defined(EXECUTOR_RACES)

static ucontext_t home;
static void *home_thread;

static void arrive_in_fiber()
{
}

static void go_to_fiber()
{
    if (!current->thread)
        current->thread = __tsan_create_fiber(0);
    home_thread = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(current->thread, __tsan_switch_to_fiber_no_sync);
    swapcontext(&home, &current->context);
}

static void go_home()
{
    __tsan_switch_to_fiber(home_thread, __tsan_switch_to_fiber_no_sync);
    swapcontext(&current->context, &home);
}

#else

static place home_left;

static void arrive_in_fiber()
{
}

/* Not within the functions that save a place, as the compiler's own asks. */
__attribute__((noinline)) static void continue_fiber()
{
    if (current->started)
        PLACE_RETURN(current->left);
    current->started = true;
    setcontext(&current->context);
}

__attribute__((noinline)) static void leave_fiber()
{
    PLACE_RETURN(home_left);
}

static void go_to_fiber()
{
    if (PLACE_SAVE(home_left) == 0)
        continue_fiber();
}

static void go_home()
{
    if (PLACE_SAVE(current->left) == 0)
        leave_fiber();
}

static void go_from(fiber *left)
{
    if (PLACE_SAVE(left->left) == 0)
        continue_fiber();
}

#endif

#if defined(EXECUTOR_RACES)

void fiber_release(void *what)
{
    __tsan_release(what);
}

void fiber_acquire(void *what)
{
    __tsan_acquire(what);
}

#else

void fiber_release(void *)
{
}

void fiber_acquire(void *)
{
}

#endif

static void run()
{
    arrive_in_fiber();
    for (;;) {
        (*current->body)();
        current->ended = true;
        go_home();
    }
}

static fiber *make_fiber(size_t index)
{
    fiber *made = new fiber;
    made->stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made->stack == MAP_FAILED) {
        perror("executor: mmap");
        abort();
    }
    getcontext(&made->context);
    made->context.uc_stack.ss_sp = made->stack;
    made->context.uc_stack.ss_size = STACK - index % COLORS * COLOR;
    made->context.uc_link = NULL;
    makecontext(&made->context, run, 0);
    return made;
}

static void choose(unsigned index, const std::function<void()> *body)
{
    while (fibers.size() <= index)
        fibers.emplace_back(make_fiber(fibers.size()));
    current = fibers[index].get();
    if (current->ended) {
        current->ended = false;
        current->body = body;
    }
}

void fiber_enter(unsigned index, const std::function<void()> &body)
{
    choose(index, &body);
    go_to_fiber();
}

#if defined(__SANITIZE_ADDRESS__) || defined(EXECUTOR_RACES)

bool fiber_passes_on()
{
    return false;
}

void fiber_pass_on(unsigned)
{
    abort();
}

#else

bool fiber_passes_on()
{
    return true;
}

void fiber_pass_on(unsigned index)
{
    fiber *const left = current;
    choose(index, left->body);
    go_from(left);
}

#endif

void fiber_leave()
{
    go_home();
}
