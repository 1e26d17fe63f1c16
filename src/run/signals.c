#include "run/signals.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

#include "base/memory.h"

/* The one place where a signal handler can leave its word. */
static atomic_int stop_signal;
static atomic_bool checkpoint_wanted;

static void on_stop(int number)
{
    if (number == SIGINT && stop_signal) {
        signal(SIGINT, SIG_DFL);
        raise(SIGINT);
    }
    stop_signal = number;
}

static void on_checkpoint(int number)
{
    (void)number;
    checkpoint_wanted = true;
}

static const struct {
    int number;
    void (*handler)(int);
    bool politely; /* not where somebody had it ignored: nohup */
} table[] = {
    { SIGINT, on_stop, false },
    { SIGTERM, on_stop, false },
    { SIGUSR1, on_stop, false },
    { SIGXCPU, on_stop, false },
    { SIGHUP, on_stop, true },
    { SIGUSR2, on_checkpoint, false },
    /* A closed pipe is an error of that write, not the end of the run. */
    { SIGPIPE, SIG_IGN, false },
};

static struct sigaction before[COUNT_OF(table)];
static bool caught;

void signals_catch(void)
{
    if (caught)
        return;
    stop_signal = 0;
    checkpoint_wanted = false;
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        struct sigaction action = { .sa_handler = table[i].handler, .sa_flags = SA_RESTART };
        sigemptyset(&action.sa_mask);
        sigaction(table[i].number, NULL, &before[i]);
        if (!table[i].politely || before[i].sa_handler != SIG_IGN)
            sigaction(table[i].number, &action, NULL);
    }
    caught = true;
}

void signals_release(void)
{
    for (size_t i = 0; caught && i < COUNT_OF(table); i++)
        sigaction(table[i].number, &before[i], NULL);
    caught = false;
}

int signals_stop(void)
{
    return stop_signal;
}

bool signals_checkpoint(void)
{
    return atomic_exchange(&checkpoint_wanted, false);
}
