#include "fiber.h"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <vector>

/*
 * makecontext() gives a fiber its stack; later changes go by setjmp() and longjmp(), because
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

struct fiber {
    ucontext_t context;
    jmp_buf left;
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

static jmp_buf home_left;

static void arrive_in_fiber()
{
}

static void go_to_fiber()
{
    if (_setjmp(home_left) != 0)
        return;
    if (current->started)
        _longjmp(current->left, 1);
    current->started = true;
    setcontext(&current->context);
}

static void go_home()
{
    if (_setjmp(current->left) == 0)
        _longjmp(home_left, 1);
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

static fiber *make_fiber()
{
    fiber *made = new fiber;
    made->stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made->stack == MAP_FAILED) {
        perror("executor: mmap");
        abort();
    }
    getcontext(&made->context);
    made->context.uc_stack.ss_sp = made->stack;
    made->context.uc_stack.ss_size = STACK;
    made->context.uc_link = NULL;
    makecontext(&made->context, run, 0);
    return made;
}

bool fiber_enter(unsigned index, const std::function<void()> &body)
{
    while (fibers.size() <= index)
        fibers.emplace_back(make_fiber());
    current = fibers[index].get();
    if (current->ended) {
        current->ended = false;
        current->body = &body;
    }
    go_to_fiber();
    return current->ended;
}

void fiber_leave()
{
    go_home();
}
