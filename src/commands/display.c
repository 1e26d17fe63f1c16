#include "commands/display.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/terminal.h"

/* The seconds between two displays of progress: of the bar on a terminal, of a line elsewhere. */
static const double bar_seconds = 0.2, line_seconds = 60.0;
enum { BAR_WIDTH = 24 };

struct display display_begin(bool quiet)
{
    return (struct display){ .terminal = isatty(STDERR_FILENO), .quiet = quiet };
}

/* --- progress --------------------------------------------------------------------------------- */

/* Writes a duration: "1h02m", "3m20s", "12s"; "?" if it is unknown or longer than 100 hours. */
static const char *duration(double seconds, char buffer[32])
{
    if (!(seconds < 360000.0))
        return strcpy(buffer, "?");
    const int s = (int)lrint(seconds);
    if (s >= 3600)
        snprintf(buffer, 32, "%dh%02dm", s / 3600, s / 60 % 60);
    else if (s >= 60)
        snprintf(buffer, 32, "%dm%02ds", s / 60, s % 60);
    else
        snprintf(buffer, 32, "%ds", s);
    return buffer;
}

static double part_done(const struct run_progress *run)
{
    return run->last > 0 ? (double)run->step / (double)run->last : 1.0;
}

static double seconds_left(const struct run_progress *run)
{
    const double made = (double)(run->step - run->first_step);
    return made > 0 ? run->seconds * (double)(run->last - run->step) / made : NAN;
}

static void fill_bar(const struct run_progress *run, char bar[BAR_WIDTH + 1])
{
    for (int i = 0; i < BAR_WIDTH; i++)
        bar[i] = i < (int)(part_done(run) * BAR_WIDTH) ? '#' : '.';
    bar[BAR_WIDTH] = '\0';
}

void display_part(const struct run_progress *run, struct text *text)
{
    char bar[BAR_WIDTH + 1];
    fill_bar(run, bar);
    text_print(text, "[%s] %5.1f %%", bar, 100.0 * part_done(run));
}

void display_time_left(const struct run_progress *run, struct text *text)
{
    char time_left[32];
    text_print(text, "%s", duration(seconds_left(run), time_left));
}

void display_progress(void *context, const struct run_progress *run)
{
    struct display *const display = context;
    const double now = clock_seconds();
    const double wait = display->terminal ? bar_seconds : line_seconds;
    if (display->last == 0.0)
        display->last = now - run->seconds;
    if (display->quiet || now - display->last < wait)
        return;
    display->last = now;
    char bar[BAR_WIDTH + 1], time_left[32], time[UNITS_TEXT_SIZE];
    fill_bar(run, bar);
    struct text words = { 0 };
    text_print(&words, "%s %5.1f %%  t = %-9s %6.2f G/s  %s left%s",
               display->terminal ? bar : run->name, 100.0 * part_done(run),
               units_time(run->units, run->time, 4, time), 1e-9 * run->rate,
               duration(seconds_left(run), time_left), display->terminal ? "   " : "\n");
    if (display->terminal)
        fputc('\r', stderr);
    terminal_put(stderr, TERMINAL_PLAIN, &words);
    display->bar_shown = display->terminal;
}

void display_clear(struct display *display)
{
    if (display->bar_shown)
        fprintf(stderr, "\r%78s\r", "");
    display->bar_shown = false;
}

void display_notice(void *context, bool loud, const char *line)
{
    struct display *const display = context;
    display_clear(display);
    struct text words = { 0 };
    if (!loud && display->quiet)
        return;
    text_print(&words, "%s\n", line);
    terminal_put(stderr, TERMINAL_PLAIN, &words);
}

/* --- the table -------------------------------------------------------------------------------- */

enum { LEAST_WIDTH = 12 };

static int width_of(const char *label)
{
    const int length = (int)strlen(label);
    return length < LEAST_WIDTH ? LEAST_WIDTH : length;
}

static int step_width(const struct run_row *row)
{
    const int width = snprintf(NULL, 0, "%" PRIu64, row->last);
    return width < LEAST_WIDTH / 2 ? LEAST_WIDTH / 2 : width;
}

/* Writes the label of the column of the time: "time [Myr]", or "time" without units. */
static const char *time_label(const struct run_row *row, char label[UNITS_LABEL_SIZE + 8])
{
    char unit[UNITS_LABEL_SIZE] = "";
    if (row->units)
        units_label(row->units, (struct dimension)DIMENSION_TIME, unit);
    snprintf(label, UNITS_LABEL_SIZE + 8, unit[0] ? "time [%s]" : "time", unit);
    return label;
}

static void put_header(const struct run_row *row, const char *time, struct text *line)
{
    text_print(line, "%*s  %*s", step_width(row), "step", width_of(time), time);
    for (size_t i = 0; i < row->count; i++)
        text_print(line, "  %*s", width_of(row->cells[i].label), row->cells[i].label);
    text_print(line, "\n");
}

static void put_row(const struct run_row *row, const char *time, struct text *line)
{
    text_print(line, "%*" PRIu64 "  %*.8g", step_width(row), row->step, width_of(time), row->time);
    for (size_t i = 0; i < row->count; i++) {
        const struct run_cell *cell = &row->cells[i];
        if (cell->measured)
            text_print(line, "  %*.6g", width_of(cell->label), text_plain(cell->value));
        else
            text_print(line, "  %*s", width_of(cell->label), "-");
    }
    text_print(line, "\n");
}

void display_row(void *context, const struct run_row *row)
{
    struct display *const display = context;
    struct text lines = { 0 };
    char label[UNITS_LABEL_SIZE + 8];
    time_label(row, label);
    display_clear(display);
    if (!display->tabular)
        put_header(row, label, &lines);
    display->tabular = true;
    put_row(row, label, &lines);
    if (lines.failed)
        text_free(&lines);
    terminal_put(stdout, TERMINAL_PLAIN, &lines);
    fflush(stdout);
}
