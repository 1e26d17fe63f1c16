/* Threads of a block: stacks that take turns on one CPU thread. */
#ifndef ORRERY_EXECUTOR_FIBER_H
#define ORRERY_EXECUTOR_FIBER_H

#include <functional>

/* Goes on with fiber `index`, which begins with `body` where it had ended before. Returns when a
 * fiber goes back: this one, or another to which it has passed on. */
void fiber_enter(unsigned index, const std::function<void()> &body);

/* Goes from the current fiber to fiber `index`, which begins with the same body where it had ended.
 * Returns when the current fiber goes on. */
void fiber_pass_on(unsigned index);

/* Tells whether fibers can pass on; otherwise, as under sanitizers, they go back. */
bool fiber_passes_on();

/* Goes back from the current fiber to where the first fiber was entered. */
void fiber_leave();

/*
 * Order memory: the writes of one fiber, or of the thread that enters them, before fiber_release()
 * have happened for another after its fiber_acquire() of the same address; going from one to
 * another orders nothing. Without ThreadSanitizer (EXECUTOR_RACES) there is nobody to tell.
 */
void fiber_release(void *what);
void fiber_acquire(void *what);

#endif
