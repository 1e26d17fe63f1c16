/* Threads of a block: stacks that take turns on one CPU thread. */
#ifndef ORRERY_EXECUTOR_FIBER_H
#define ORRERY_EXECUTOR_FIBER_H

#include <functional>

/* Goes on with fiber `index`, which begins with `body` where it had ended before. Returns when it
 * leaves: true if it has ended. */
bool fiber_enter(unsigned index, const std::function<void()> &body);

/* Back to who entered the current fiber. */
void fiber_leave();

/*
 * Order memory: the writes of one fiber, or of the thread that enters them, before fiber_release()
 * have happened for another after its fiber_acquire() of the same address; going from one to
 * another orders nothing. Without ThreadSanitizer (EXECUTOR_RACES) there is nobody to tell.
 */
void fiber_release(void *what);
void fiber_acquire(void *what);

#endif
