#include "commands/display.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/name.h"
#include "output/run-fields.h"

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

/* --- the choice for a run that asks for an error ---------------------------------------------- */

/* Sorts the candidate settings: first those that keep the accuracy asked for, each group by its
 * cost. */
static void sort_candidates(const struct choice *choice,
                            const struct candidate *sorted[CHOICE_CANDIDATES])
{
    for (size_t k = 0; k < choice->count; k++) {
        const struct candidate *const c = &choice->candidates[k];
        size_t at = k;
        while (at > 0 && (c->keeps > sorted[at - 1]->keeps ||
                          (c->keeps == sorted[at - 1]->keeps && c->cost < sorted[at - 1]->cost))) {
            sorted[at] = sorted[at - 1];
            at--;
        }
        sorted[at] = c;
    }
}

/* Writes a number by the printf format `format`, "3.1e-08"; returns "-" if the number is not
 * finite, which means unknown. */
enum { CELL_SIZE = 32 };
static const char *cell(char buffer[CELL_SIZE], const char *format, double value)
{
    if (!isfinite(value))
        return "-";
    snprintf(buffer, CELL_SIZE, format, value);
    return buffer;
}

/* Returns what setting_text() has behind the name of the integrator, "step 0.001" or "eta 0.02";
 * "-" if no setting was found (step 0). */
static const char *behind_name(const struct setting *setting, char buffer[SETTING_TEXT_SIZE])
{
    if (!(setting->step > 0.0))
        return "-";
    const char *const comma = strchr(setting_text(setting, buffer), ',');
    return comma ? comma + 2 : buffer;
}

void choice_report_table(const struct choice *choice, const char *indent, struct text *text)
{
    const struct candidate *sorted[CHOICE_CANDIDATES];
    const struct candidate *const taken = &choice->candidates[choice->chosen];
    sort_candidates(choice, sorted);
    text_print(text, "%s%-16s %-16s %-9s %-6s %-9s\n", indent, "integrator", "setting", "error",
               "cost", "least");
    for (size_t k = 0; k < choice->count; k++) {
        const struct candidate *const c = sorted[k];
        char setting[SETTING_TEXT_SIZE], error[CELL_SIZE], cost[CELL_SIZE], least[CELL_SIZE];
        text_print(text, "%s%-16s %-16s %-9s %-6s %-9s %s\n", indent,
                   c->setting.integrator->variant.name, behind_name(&c->setting, setting),
                   cell(error, "%.1e", c->error), cell(cost, "%.3g", c->cost / taken->cost),
                   cell(least, "%.1e", c->least),
                   c == taken      ? "chosen"
                   : c->why[0]     ? "cannot be taken"
                   : !c->tried     ? "not tried"
                   : !c->keeps     ? "misses it"
                   : c->part > 0.0 ? ""
                                   : "by its order");
    }
}

void choice_report_words(const struct choice *choice, struct text *text)
{
    const struct candidate *sorted[CHOICE_CANDIDATES];
    const struct candidate *const taken = &choice->candidates[choice->chosen];
    char setting[SETTING_TEXT_SIZE];
    sort_candidates(choice, sorted);
    text_print(text, "%s", setting_text(&taken->setting, setting));
    for (size_t k = 0; k < choice->count; k++)
        if (sorted[k] != taken && sorted[k]->keeps)
            text_print(text, "; %s for %.2g times the cost",
                       setting_text(&sorted[k]->setting, setting), sorted[k]->cost / taken->cost);
}

void choice_report_attempts(const struct choice *choice, struct text *text)
{
    const double cost = choice->candidates[choice->chosen].cost;
    const size_t count = json_array_size(choice->attempts);
    char setting[SETTING_TEXT_SIZE];
    double lost = 0.0;
    for (size_t k = 0; k < count; k++) {
        const json_t *const attempt = json_array_get(choice->attempts, k);
        const struct setting missed = setting_of_json(attempt);
        lost += run_field_real(attempt, FIELD_ATTEMPT_COST);
        if (missed.integrator)
            text_print(text, "%s%s",
                       k ? "; " : "missed the error: ", setting_text(&missed, setting));
    }
    if (count > 0)
        text_print(text, "; they cost %.2g of the run", lost / cost);
}

/* --- the terminal ----------------------------------------------------------------------------- */

static bool has_colours(FILE *file)
{
    const char *forbids = getenv("NO_COLOR"), *kind = getenv("TERM");
    return isatty(fileno(file)) && !(forbids && forbids[0]) && kind && strcmp(kind, "dumb") != 0;
}

void terminal_print(FILE *file, enum terminal_colour colour, const char *text)
{
    if (colour && has_colours(file))
        fprintf(file, "\033[%dm%s\033[0m", (int)colour, text);
    else
        fputs(text, file);
}

void terminal_put(FILE *file, enum terminal_colour colour, struct text *text)
{
    if (text->bytes) {
        name_neutralise(text->bytes);
        terminal_print(file, colour, text->bytes);
    }
    text_free(text);
}

struct terminal_size terminal_measure(FILE *file)
{
    struct terminal_size size = { .rows = 24, .columns = 80 };
#ifdef TIOCGWINSZ
    struct winsize window;
    if (ioctl(fileno(file), TIOCGWINSZ, &window) == 0 && window.ws_row > 0 && window.ws_col > 0)
        size = (struct terminal_size){ window.ws_row, window.ws_col };
#else
    (void)file;
#endif
    return size;
}
