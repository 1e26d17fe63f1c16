#include "formats/read.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

/* The first that recognises a file reads it; the last one takes all. */
static const struct read_format *const formats[] = { &read_hdf5, &read_xyz, &read_csv,
                                                     &read_plain };

const struct read_format *read_find(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(formats); i++)
        if (strcmp(formats[i]->name, name) == 0)
            return formats[i];
    return NULL;
}

enum status read_recognise(const char *path, const struct read_format **format, struct error *error)
{
    char head[4096];
    size_t length;
    if (lines_head(path, head, sizeof head, &length, error) != STATUS_OK)
        return error->status;
    const char *text = strncmp(head, "\xef\xbb\xbf", 3) == 0 ? head + 3 : head;
    size_t i = 0;
    while (!formats[i]->recognise(path, text, length))
        i++;
    *format = formats[i];
    return STATUS_OK;
}

void read_about_clear(struct read_about *about)
{
    *about = (struct read_about){ .time = NAN, .step = -1 };
}

void read_about_leave_out(struct read_about *about, const char *name)
{
    const size_t length = strlen(name);
    char *list = about->left_out;
    if (length == 0)
        return;
    for (const char *p = list; (p = strstr(p, name)); p += length)
        if ((p == list || p[-1] == ' ') && (p[length] == ',' || p[length] == '\0'))
            return;
    const size_t used = strlen(list);
    snprintf(list + used, READ_LEFT_OUT_SIZE - used, "%s%s", used ? ", " : "", name);
}

enum status read_resolve_units(const struct read_request *request, size_t line,
                               struct read_about *about, struct read_factors *factors,
                               struct error *error)
{
    char problem[READ_PROBLEM_SIZE], number[24] = "";
    if (read_units_factors(&about->units, &request->wish, factors, problem)) {
        about->time *= factors->time;
        about->box_length *= factors->of[QUANTITY_X];
        return STATUS_OK;
    }
    if (line)
        snprintf(number, sizeof number, ":%zu", line);
    return error_set(error, STATUS_CONFIG, "%s%s: %s", request->path, number, problem);
}

enum status read_check_frame(const struct read_request *request, const char *what,
                             struct error *error)
{
    if (request->frame <= 0)
        return STATUS_OK;
    return error_set(error, STATUS_DATA,
                     "%s: there is no frame %" PRId64 ": %s holds one, number 0", request->path,
                     request->frame, what);
}

enum status read_check_systems(const struct read_request *request, size_t systems,
                               const struct bodies *bodies, struct error *error)
{
    if (systems == 1 || systems == bodies->systems)
        return STATUS_OK;
    return error_set(error, STATUS_DATA,
                     "%s: the file holds %zu systems, the run %zu: ensemble.systems must be %zu",
                     request->path, systems, bodies->systems, systems);
}

void read_repeat(struct bodies *bodies)
{
    for (size_t s = 1; s < bodies->systems; s++)
        bodies_copy_system(bodies, s, bodies, 0);
}
