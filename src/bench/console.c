#include "bench/console.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

static void clear_bar(const struct console *console)
{
    if (console->terminal)
        fprintf(stderr, "\r%*s\r", 60, "");
}

static void show_progress(void *context, double part)
{
    static const char marks[] = "########################################";
    const struct console *console = context;
    const int width = (int)(part * (double)(sizeof marks - 1) + 0.5);
    if (!console->terminal)
        return;
    if (part < 1)
        fprintf(stderr, "\r[%-40.*s] %3.0f %% ", width, marks, 100 * part);
    else
        clear_bar(console);
    fflush(stderr);
}

static void show_rate(void *context, const struct bench_rate *rate)
{
    struct console *console = context;
    printf("  %-10s %-16s %-7s %8.1f\n", rate->isa, rate->operation, rate->type,
           1e-9 * rate->per_second);
    fflush(stdout);
    results_add_rate(console->results, rate);
}

static void print_title(const char *title, bool multipoles)
{
    printf("\n%s\n  %6s %-9s %-6s %-10s %2s %9s", title, "bodies",
           multipoles ? "accuracy" : "kernel", "force", "isa", "th", "us/step");
    if (multipoles)
        printf(" %7s %7s %7s %7s  %4s %4s %4s %4s %6s\n", "error", "99 %", "99.99 %", "worst",
               "near", "far", "tree", "ctrl", "pairs");
    else
        printf(" %7s %5s %7s %7s\n", "G/s", "limit", "error", "far");
}

static void print_error(double error)
{
    if (isfinite(error))
        printf(" %7.1e", error);
    else
        printf(" %7s", "");
}

static void print_multipoles(const struct bench_row *row)
{
    const struct force_audit *const errors = &row->multipoles.errors;
    const struct force_profile *const profile = &row->multipoles.profile;
    const double shares[] = { profile->near, profile->far, profile->tree, profile->control };
    print_error(row->error);
    print_error(errors->error_99);
    print_error(errors->error_9999);
    print_error(errors->largest);
    printf(" ");
    for (size_t k = 0; k < COUNT_OF(shares) && isfinite(profile->near); k++)
        printf(" %4.2f", shares[k]);
    if (isfinite(profile->pairs))
        printf(" %6.0f", profile->pairs);
}

static void show_row(void *context, const struct bench_row *row)
{
    struct console *console = context;
    char limit[16] = "", accuracy[16];
    const bool multipoles = row->accuracy > 0;
    clear_bar(console);
    if (!console->title || strcmp(console->title, row->title) != 0 ||
        console->multipoles != multipoles)
        print_title(row->title, multipoles);
    console->title = row->title;
    console->multipoles = multipoles;
    *(multipoles ? &console->any_multipoles : &console->any_direct) = true;
    results_add_row(console->results, row);
    if (row->device[0])
        snprintf(console->device, sizeof console->device, "%s", row->device);
    snprintf(accuracy, sizeof accuracy, "%g", row->accuracy);
    const char *kernel = multipoles                            ? accuracy
                         : strcmp(row->backend, "openmp") == 0 ? row->kernel
                                                               : row->backend;
    if (row->skipped) {
        printf("  %6zu %-9s %-6s %-10s not measured: %s\n", row->count, kernel, row->precision,
               row->isa, row->skipped);
        return;
    }
    if (row->limit > 0)
        snprintf(limit, sizeof limit, "%.0f %%", 100 * row->rate / row->limit);
    printf("  %6zu %-9s %-6s %-10s %2d %9.4g", row->count, kernel, row->precision, row->isa,
           row->threads, 1e6 * row->seconds);
    if (multipoles) {
        print_multipoles(row);
    } else {
        printf(" %7.3g %5s", 1e-9 * row->rate, limit);
        print_error(row->error);
        print_error(row->far_error);
    }
    printf("\n");
    fflush(stdout);
}

void console_print_legend(const struct console *console, const struct integrator *integrator)
{
    printf("\n"
           "us/step  least time of a step of %s, in microseconds\n",
           integrator->variant.name);
    if (console->any_direct)
        printf("G/s      1e9 ordered pair interactions per second; at 20 flop each, 20 GFLOP/s\n"
               "limit    of the rate that the arithmetic of the kernel's inner loop would have\n"
               "         alone, measured in turns with it\n"
               "error    of the forces, rms, against sums in long double; far: the same for two\n"
               "         groups of bodies that stand 10^4 of their sizes apart\n");
    if (console->any_multipoles)
        printf(
            "accuracy that fast multipoles are asked for; their errors are over the rms of the\n"
            "         accelerations: rms, the error that 99 %% and 99.99 %% of the bodies do not\n"
            "         exceed, and the largest, of up to %d bodies (10^9 pairs) beside direct sums\n"
            "         in double; the serial backend has the rms against sums in long double\n"
            "near     share of the time in sums over pairs of bodies; far: in cells that act as\n"
            "         wholes; tree: in the tree and its multipoles; ctrl: in the search for the\n"
            "         tolerance and the audit\n"
            "pairs    of the near sums, of each body\n",
            MULTIPOLES_COMPARED);
    if (console->device[0])
        printf("cuda     %s\n", console->device);
}

struct bench_sink console_sink(struct console *console)
{
    return (struct bench_sink){ show_rate, show_row, show_progress, console };
}
