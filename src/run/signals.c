#include "run/signals.h"

#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/status.h"

/* The requests of signals, which a handler can leave only in globals. */
static atomic_int stop_signal;
static atomic_bool interrupted, checkpoint_wanted;

/* Leaves the request to stop; only a second SIGINT ends the process. One Ctrl-C may bring SIGINT
 * from the terminal and SIGTERM from the parent, which has got it too, in either order. */
static void on_stop(int number)
{
    if (number == SIGINT && atomic_exchange(&interrupted, true)) {
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
    bool politely; /* the signal stays ignored if it was ignored before, as by nohup */
} table[] = {
    { SIGINT, on_stop, false },
    { SIGTERM, on_stop, false },
    { SIGUSR1, on_stop, false },
    { SIGXCPU, on_stop, false },
    { SIGHUP, on_stop, true },
    { SIGUSR2, on_checkpoint, false },
    /* A write to a closed pipe shall fail, not end the run. */
    { SIGPIPE, SIG_IGN, false },
};

static struct sigaction before[COUNT_OF(table)];
static bool caught, expected;

/* Installs the handlers of the table; if `early` is not NULL, it becomes the handler of all signals
 * that ask to stop, until the run begins. */
static void install(void (*early)(int))
{
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        const bool stops = table[i].handler == on_stop;
        struct sigaction action = { .sa_handler = stops && early ? early : table[i].handler,
                                    .sa_flags = SA_RESTART };
        sigemptyset(&action.sa_mask);
        if (!expected || early)
            sigaction(table[i].number, NULL, &before[i]);
        if (!table[i].politely || before[i].sa_handler != SIG_IGN)
            sigaction(table[i].number, &action, NULL);
    }
}

static void end_with(const char *line)
{
    const ssize_t unheard = write(STDERR_FILENO, line, strlen(line));
    (void)unheard;
    _exit(STATUS_STOPPED);
}

static void end_in_time(int number)
{
    (void)number;
    end_with("stopped by the time limit before the run began; nothing was written\n");
}

/* Ends the process with a message; the handler of signals until a run opens files. A handler may
 * not call printf(), so the digits of the signal's number are put into the line by hand. */
static void end_early(int number)
{
    char line[] = "stopped by signal    before the run began; nothing was written\n";
    enum { PLACE = sizeof "stopped by signal" };
    line[PLACE] = (char)('0' + number / 10);
    line[PLACE + 1] = (char)('0' + number % 10);
    if (number < 10) { /* "signal 2" */
        line[PLACE] = line[PLACE + 1];
        memmove(line + PLACE + 1, line + PLACE + 2, sizeof line - PLACE - 2);
    }
    end_with(line);
}

void signals_expect(void)
{
    install(end_early);
    expected = true;
}

static void set_timer(double seconds)
{
    const time_t whole = (time_t)seconds;
    const struct itimerval timer = {
        .it_value = { .tv_sec = whole, .tv_usec = (suseconds_t)(1e6 * (seconds - (double)whole)) }
    };
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void limit(double seconds, void (*end)(int))
{
    const struct sigaction action = { .sa_handler = end };
    sigaction(SIGALRM, &action, NULL);
    set_timer(fmin(fmax(seconds, 1e-3), 1e8));
}

void signals_limit(double seconds)
{
    limit(seconds, end_in_time);
}

static void end_quietly(int number)
{
    (void)number;
    _exit(STATUS_STOPPED);
}

void signals_leave_quietly(double seconds)
{
    caught = false;
    install(end_quietly);
    if (stop_signal) /* the signal came between fork() and install() */
        _exit(STATUS_STOPPED);
    if (isfinite(seconds))
        limit(seconds, end_quietly);
}

void signals_catch(void)
{
    if (caught)
        return;
    set_timer(0.0);
    if (!expected) {
        stop_signal = 0;
        interrupted = false;
        checkpoint_wanted = false;
    }
    install(NULL);
    caught = true;
}

void signals_release(void)
{
    if (expected) /* the handlers stay until the process ends, which is soon */
        return;
    for (size_t i = 0; caught && i < COUNT_OF(table); i++)
        sigaction(table[i].number, &before[i], NULL);
    caught = false;
}

int signals_stop(void)
{
    return stop_signal;
}

bool signals_checkpoint_waits(void)
{
    return checkpoint_wanted;
}

bool signals_checkpoint(void)
{
    return atomic_exchange(&checkpoint_wanted, false);
}
