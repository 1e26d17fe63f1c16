/*
 * The positions of moments as a DCD trajectory of CHARMM and NAMD, which VMD and MDAnalysis read:
 * records of Fortran, each between two copies of its length in bytes. A head of three records has
 * the numbers and times of the frames, a title and the number of bodies; a frame is a record of its
 * cell, if the file has cells, and one for each axis, in single precision. ("DCD" in the
 * documentation of VMD's plugins; CHARMM's io.doc; libdcd of MDAnalysis.)
 */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/memory.h"
#include "formats/output.h"
#include "formats/snapshot.h"
#include "model/cell.h"

/* TITLE_LINE: characters of a line of the title. VERSION: that of CHARMM whose layout the file
 * has. */
enum { AXES = 3, TITLE_LINE = 80, VERSION = 24 };

/* The most bodies of a file. A record has a float for each body, and its length in bytes must fit
 * into an integer of 32 bits. */
static const size_t most_bodies = INT32_MAX / sizeof(float);

/* CHARMM's unit of time (AKMA) in picoseconds. Readers multiply the step in the head by it; so the
 * head gets the step of the run divided by it, and readers show the times of the run. */
static const double akma = 0.04888821;

/* --- records ---------------------------------------------------------------------------------- */

static void put_record(struct stream *stream, const void *bytes, size_t length)
{
    const int32_t mark = (int32_t)length;
    stream_write(stream, (const char *)&mark, sizeof mark);
    stream_write(stream, bytes, length);
    stream_write(stream, (const char *)&mark, sizeof mark);
}

static void put_text(struct stream *stream, struct text *text)
{
    if (text->failed)
        stream_fail(stream, ENOMEM);
    else
        put_record(stream, text->bytes, text->length);
    text_free(text);
}

/* --- values of gathered moments --------------------------------------------------------------- */

static double real_at(const struct snapshot_arrays *arrays, enum snapshot_array array, size_t index)
{
    double value;
    memcpy(&value, arrays->array[array].bytes + index * sizeof value, sizeof value);
    return value;
}

static int64_t step_at(const struct snapshot_arrays *arrays, size_t index)
{
    int64_t value;
    memcpy(&value, arrays->array[ARRAY_STEP].bytes + index * sizeof value, sizeof value);
    return value;
}

/* --- times ------------------------------------------------------------------------------------ */

/* The steps and times of frames: frame k is at step first + k * distance, and its time is the
 * number of this step times `step`. */
struct clock {
    int32_t first, distance;
    double step;
};

/* Sets the steps of the clock. Returns false, and leaves the clock unchanged, if the steps of the
 * frames are unknown or at unequal distances. */
static bool find_steps(const struct snapshot_arrays *arrays, struct clock *clock)
{
    const int64_t first = step_at(arrays, 0);
    const int64_t distance = arrays->frames > 1 ? step_at(arrays, 1) - first : 1;
    bool even = first >= 0 && first <= INT32_MAX && distance > 0 && distance <= INT32_MAX;
    for (size_t k = 0; k < arrays->frames && even; k++)
        even = step_at(arrays, k) == first + (int64_t)k * distance;
    if (even)
        *clock = (struct clock){ (int32_t)first, (int32_t)distance, 1.0 };
    return even;
}

/* Tells whether the time of one step fits into a head, which has single precision for it. */
static bool fits_head(double step)
{
    return step / akma >= (double)FLT_MIN && step / akma <= (double)FLT_MAX;
}

/* Sets the time of one step in the clock. Returns false, and leaves it unchanged, unless the time
 * of each frame is its step times this time, within the seven digits that a head has for it. */
static bool find_times(const struct snapshot_arrays *arrays, struct clock *clock)
{
    const size_t last = arrays->frames - 1;
    const double steps = (double)clock->first + (double)last * clock->distance;
    const double step = steps > 0.0 ? real_at(arrays, ARRAY_TIME, last) / steps : 1.0;
    bool even = fits_head(step);
    for (size_t k = 0; k < arrays->frames && even; k++) {
        const double time = ((double)clock->first + (double)k * clock->distance) * step;
        even = fabs(real_at(arrays, ARRAY_TIME, k) - time) <= 1e-6 * clock->distance * step;
    }
    if (even)
        clock->step = step;
    return even;
}

/* Returns the clock of the frames. If it cannot give their steps, or their times, it counts these
 * from 0 by 1, and arrays->lost notes that. */
static struct clock clock_of(struct snapshot_arrays *arrays)
{
    struct clock clock = { 0, 1, 1.0 };
    if (!find_steps(arrays, &clock))
        arrays->lost |= SNAPSHOT_STEP;
    if (!find_times(arrays, &clock))
        arrays->lost |= SNAPSHOT_TIME;
    return clock;
}

/* --- the head --------------------------------------------------------------------------------- */

static bool has_cells(const struct snapshot_arrays *arrays)
{
    bool cells = false;
    for (size_t k = 0; k < arrays->frames; k++)
        cells = cells || real_at(arrays, ARRAY_BOX, k) > 0.0;
    return cells;
}

struct head {
    /* Number of frames; 0: not known yet, so that readers count them by the length of the file. */
    size_t frames;
    size_t bodies;
    struct clock clock;
    bool cells;
    const struct units *units;
};

/* The offset in a file, in bytes, of the number of steps from frame to frame: it stands behind the
 * length of the record, "CORD" and two integers. */
enum { DISTANCE_OFFSET = 16 };

static void put_head(struct stream *stream, const struct head *head)
{
    const struct clock *const clock = &head->clock;
    const int32_t bodies = (int32_t)head->bodies, lines = 2;
    int32_t control[20] = { (int32_t)head->frames, clock->first, clock->distance };
    const float step = (float)(clock->step / akma);
    const double steps = (double)clock->distance * (double)head->frames;
    control[3] = (int32_t)fmin(steps, INT32_MAX);
    memcpy(&control[9], &step, sizeof step);
    control[10] = head->cells;
    control[19] = VERSION;
    struct text text = { 0 };
    text_append(&text, "CORD", 4);
    text_append(&text, (const char *)control, sizeof control);
    put_text(stream, &text);

    char length[UNITS_LABEL_SIZE], time[UNITS_LABEL_SIZE], title[2 * UNITS_LABEL_SIZE + 64];
    text_append(&text, (const char *)&lines, sizeof lines);
    text_print(&text, "%-*s", TITLE_LINE, "WRITTEN BY ORRERY");
    snprintf(title, sizeof title, "LENGTHS IN %s, TIMES (AKMA: PS) IN %s",
             units_label(head->units, (struct dimension)DIMENSION_LENGTH, length),
             units_label(head->units, (struct dimension)DIMENSION_TIME, time));
    text_print(&text, "%-*.*s", TITLE_LINE, TITLE_LINE, title);
    put_text(stream, &text);
    put_record(stream, &bodies, sizeof bodies);
}

/* --- frames ----------------------------------------------------------------------------------- */

/* Writes the record of a cubic cell of side `length`: sides and angles in the order A, gamma, B,
 * beta, alpha, C. */
static void put_cell(struct stream *stream, double length)
{
    const double cell[] = { length, 90.0, length, 90.0, 90.0, length };
    put_record(stream, cell, sizeof cell);
}

/* Rounds `count` coordinates to single precision, into `axis`, after it has moved them into the
 * periodic cell. In x they stand `distance` numbers apart. Returns the index of the first one that
 * is too large for single precision; `count` if none is. Sets *rounded if digits are lost. */
static size_t round_axis(const double *x, size_t distance, size_t count, const struct cell *cell,
                         float *axis, bool *rounded)
{
    for (size_t i = 0; i < count; i++) {
        const double inside = cell_wrap(cell, x[i * distance]);
        if (!(fabs(inside) <= (double)FLT_MAX))
            return i;
        axis[i] = (float)inside;
        *rounded |= (double)axis[i] != inside;
    }
    return count;
}

static enum status put_frames(struct stream *stream, struct snapshot_arrays *arrays, bool cells,
                              float *axis, struct error *error)
{
    const struct cell as_given = { 0 };
    const size_t bodies = arrays->bodies;
    const double *const positions = (const void *)arrays->array[ARRAY_POSITION].bytes;
    for (size_t frame = 0; frame < arrays->frames; frame++) {
        if (cells)
            put_cell(stream, real_at(arrays, ARRAY_BOX, frame));
        for (size_t k = 0; k < AXES; k++) {
            const double *const x = positions + AXES * frame * bodies + k;
            bool rounded = false;
            const size_t i = round_axis(x, AXES, bodies, &as_given, axis, &rounded);
            if (i < bodies)
                return error_set(error, STATUS_DATA,
                                 "position %g of body %zu in frame %zu: dcd has single precision, "
                                 "up to %.3g; other --units make the number smaller",
                                 x[AXES * i], i + 1, frame, (double)FLT_MAX);
            arrays->lost |= rounded ? SNAPSHOT_DIGITS : 0;
            put_record(stream, axis, bodies * sizeof *axis);
        }
    }
    return STATUS_OK;
}

enum status snapshot_arrays_write_dcd(struct snapshot_arrays *arrays, struct stream *stream,
                                      struct error *error)
{
    if (arrays->bodies > most_bodies || arrays->frames > INT32_MAX)
        return error_set(error, STATUS_DATA,
                         "%zu bodies in %zu frames: dcd counts up to %zu bodies and %d frames",
                         arrays->bodies, arrays->frames, most_bodies, INT32_MAX);
    float *const axis = malloc(memory_bytes(arrays->bodies, sizeof *axis));
    if (!axis)
        return error_memory(error);
    const struct head head = { arrays->frames, arrays->bodies, clock_of(arrays), has_cells(arrays),
                               arrays->units };
    put_head(stream, &head);
    if (!put_frames(stream, arrays, head.cells, axis, error))
        stream_flush(stream, false, error);
    free(axis);
    return error->status;
}

/* --- the output of a run ---------------------------------------------------------------------- */

/*
 * An output that appends frames while the run goes on. Bytes that were written never change, so
 * that a restart can check them by their hash: the head keeps 0 for the number of frames. The head
 * has one number of steps between frames, so a last step of the run that is no multiple of this
 * number gets no frame.
 */
struct dcd {
    struct output output;
    const struct section *section;
    uint64_t every;
};

extern const struct output_class output_dcd;

static enum status check_parameters(const struct section *section, struct error *error)
{
    output_check_name(section, 1, "a plain file name", error);
    if (section_integer(section, "every") > INT32_MAX)
        section_error(section, "every", error, "dcd has integers up to %d", INT32_MAX);
    return error->status;
}

/* Checks, at a restart, that the frames in the file are `every` steps apart, as those to come will
 * be. */
static enum status check_distance(const struct dcd *dcd, struct directory *directory,
                                  struct error *error)
{
    int32_t distance = 0;
    size_t length;
    const int fd = directory_open_file(directory, dcd->output.file, error);
    if (fd < 0)
        return error->status;
    const int code = descriptor_read_at(fd, DISTANCE_OFFSET, &distance, sizeof distance, &length);
    close(fd);
    if (code)
        return error_system(error, STATUS_IO, code, dcd->output.file);
    if (distance == (int32_t)dcd->every)
        return STATUS_OK;
    return section_error(dcd->section, "every", error,
                         "%s has a frame each %d steps, and dcd has one distance of frames: give "
                         "it the same number",
                         dcd->output.file, (int)distance);
}

static enum status dcd_close(struct output *output, struct error *error)
{
    if (!output)
        return STATUS_OK;
    const enum status status = stream_close(output->stream, error);
    free(output);
    return status;
}

static enum status dcd_open(const struct section *section, struct directory *directory,
                            const struct stream_mark *mark, struct output **result,
                            struct error *error)
{
    *result = NULL;
    if (check_parameters(section, error))
        return error->status;
    struct dcd *dcd = calloc(1, sizeof *dcd);
    if (!dcd)
        return error_memory(error);
    dcd->output.class_ = &output_dcd;
    dcd->output.needs = NEED_STATE;
    dcd->output.grows = true;
    dcd->output.file = section_string(section, "file");
    dcd->section = section;
    dcd->every = (uint64_t)section_integer(section, "every");
    enum status status = STATUS_OK;
    if (directory)
        status = stream_open(directory, dcd->output.file, mark, &dcd->output.stream, error);
    if (!status && mark && mark->length > 0)
        status = check_distance(dcd, directory, error);
    if (status)
        dcd_close(&dcd->output, error);
    else
        *result = &dcd->output;
    return status;
}

static enum status begin(struct dcd *dcd, const struct moment *now, struct error *error)
{
    const struct head head = { .bodies = now->bodies->systems * now->bodies->count,
                               .clock = { 0, (int32_t)dcd->every, now->dt },
                               .cells = now->physics->boundary == BOUNDARY_PERIODIC,
                               .units = now->physics->units };
    if (head.bodies > most_bodies)
        return error_set(error, STATUS_DATA, "%s: %zu bodies: dcd counts up to %zu",
                         dcd->output.file, head.bodies, most_bodies);
    if (!fits_head(now->dt))
        return error_set(error, STATUS_DATA, "%s: step %g: dcd has single precision for it",
                         dcd->output.file, now->dt);
    put_head(dcd->output.stream, &head);
    return STATUS_OK;
}

/* Rounds the positions of all bodies to single precision, into axes[AXES][bodies of all systems].
 * STATUS_DATA if one is too large for it. */
static enum status round_moment(const struct dcd *dcd, const struct moment *now, float *axes,
                                struct error *error)
{
    const struct bodies *const b = now->bodies;
    const struct cell cell = cell_about_origin(now->physics);
    const double *const positions[AXES] = { b->x, b->y, b->z };
    bool rounded = false;
    for (size_t k = 0; k < AXES; k++)
        for (size_t s = 0; s < b->systems; s++) {
            const double *const x = positions[k] + s * b->stride;
            const size_t i =
                round_axis(x, 1, b->count, &cell, axes + (k * b->systems + s) * b->count, &rounded);
            if (i < b->count)
                return error_set(error, STATUS_DATA,
                                 "%s: position %g of body %zu at step %llu: dcd has single "
                                 "precision, up to %.3g",
                                 dcd->output.file, x[i], s * b->count + i + 1,
                                 (unsigned long long)now->step, (double)FLT_MAX);
        }
    return STATUS_OK;
}

static void put_moment(struct stream *stream, const struct moment *now, const float *axes)
{
    const size_t bodies = now->bodies->systems * now->bodies->count;
    if (now->physics->boundary == BOUNDARY_PERIODIC)
        put_cell(stream, now->physics->box_length);
    for (size_t k = 0; k < AXES; k++)
        put_record(stream, axes + k * bodies, bodies * sizeof *axes);
}

static enum status dcd_write(struct output *output, const struct moment *now, struct error *error)
{
    struct dcd *dcd = (struct dcd *)output;
    if (now->step % dcd->every != 0)
        return STATUS_OK;
    const size_t bodies = now->bodies->systems * now->bodies->count;
    float *const axes = malloc(memory_bytes(bodies, sizeof(float[AXES])));
    if (!axes)
        return error_memory(error);
    /* All positions are rounded before anything is written, so that no part of a frame is written
     * if one of them is too large. */
    enum status status = round_moment(dcd, now, axes, error);
    if (!status && stream_mark(output->stream).length == 0)
        status = begin(dcd, now, error);
    if (!status) {
        put_moment(output->stream, now, axes);
        status = stream_flush(output->stream, false, error);
    }
    free(axes);
    return status;
}

/* Returns the bytes of a frame: three floats for each body, the record of the cell, and the lengths
 * around the records of the axes. */
static double dcd_event_bytes(const struct section *section, size_t systems, double bodies)
{
    (void)section, (void)systems;
    return sizeof(float[AXES]) * bodies + 80.0;
}

static double dcd_memory_bytes(const struct section *section, size_t systems, double bodies,
                               double length)
{
    (void)section, (void)systems, (void)length;
    return sizeof(float[AXES]) * bodies;
}

static const struct parameter parameters[] = {
    { KEY(STRING, file), BY_DEFAULT(STRING, "trajectory.dcd"),
      .help = "Its name in the run directory." },
};

const struct output_class output_dcd = {
    .variant = { "dcd",
                 "Positions in single precision as a DCD trajectory of CHARMM, for VMD and "
                 "MDAnalysis. A last step between two frames is left out, and `every` stays as it "
                 "is at a restart.",
                 parameters, COUNT_OF(parameters) },
    .open = dcd_open,
    .write = dcd_write,
    .close = dcd_close,
    .event_bytes = dcd_event_bytes,
    .memory_bytes = dcd_memory_bytes,
};
