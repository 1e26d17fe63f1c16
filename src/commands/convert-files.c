#include "commands/convert-files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "initial/initial.h"

/* --- reading ---------------------------------------------------------------------------------- */

bool convert_as_is(const struct conversion *c)
{
    return c->from_units && strcmp(c->from_units, "as-is") == 0;
}

/* Chooses the units of OUT: those of --units; otherwise those of IN, which the file names (`said`)
 * or --from-units declares; otherwise N-body units. Refuses a conversion between N-body units and
 * physical ones. */
static enum status settle_units(struct conversion *c, const struct read_units *said,
                                struct error *error)
{
    char words[READ_PROBLEM_SIZE];
    const struct units *nbody = units_find("nbody");
    const struct units *known = said->said ? read_units_system(said) : c->declared;
    if (!c->wanted && said->said && !known)
        return error_set(error, STATUS_USAGE,
                         "orrery convert: %s is in %s, which are not the units of one system; "
                         "choose one with --units",
                         c->input, read_units_words(said, words));
    c->physics.units = c->wanted ? c->wanted : known ? known : nbody;
    if (!said->said && !known)
        return STATUS_OK;
    const bool worth = said->said ? said->of[QUANTITY_MASS].worth > 0 : units_physical(known);
    if (worth != units_physical(c->physics.units))
        return error_set(error, STATUS_USAGE,
                         "orrery convert: %s is in %s units, which cannot become those of --units "
                         "%s; --from-units as-is takes its numbers as they stand",
                         c->input, known ? known->name : "other", c->physics.units->name);
    return STATUS_OK;
}

enum status convert_source_open(struct conversion *c, struct convert_source *source,
                                struct error *error)
{
    *source = (struct convert_source){ .request = { .path = c->input, .frame = c->frame } };
    source->request.wish =
        (struct read_wish){ NULL, c->declared, convert_as_is(c), "--from-units" };
    source->request.about = &source->about;
    if (c->all && c->reader->frames == READ_FRAMES_MANY) {
        if (lines_open(c->input, &source->lines, error))
            return error->status;
        source->request.frame = 0;
    }
    struct read_shape shape;
    if (c->reader->measure(c->reader, &source->request, &shape, error)) {
        if (error->status == STATUS_CONFIG) /* here no config but the command line is at fault */
            error->status = STATUS_USAGE;
        return error->status;
    }
    if (settle_units(c, &source->about.units, error))
        return error->status;
    source->request.wish.units = c->physics.units;
    source->request.lines = source->lines;
    return bodies_create(shape.systems, shape.count, &source->bodies, error);
}

void convert_source_close(struct convert_source *source)
{
    lines_close(source->lines);
    bodies_destroy(source->bodies);
}

/* Reads the next frame into source->bodies; *more becomes false if there is none left. */
static enum status read_next(const struct conversion *c, struct convert_source *source, bool *more,
                             struct error *error)
{
    *more = source->frames == 0;
    if (source->lines && lines_skip_blank(source->lines, more, error))
        return error->status;
    if (!*more && source->frames > 0)
        return STATUS_OK;
    if (c->reader->read(c->reader, &source->request, source->bodies, error))
        return error->status;
    source->frames++;
    const bool hidden = c->reader->frames == READ_FRAMES_HIDDEN;
    for (size_t s = 0; hidden && s < source->bodies->systems && !error->status; s++)
        check_ids(source->bodies, s * source->bodies->stride, c->input, error);
    return error->status;
}

/* --- writing ---------------------------------------------------------------------------------- */

/* Tells whether the file `name` in the folder of OUT is IN itself, maybe by another name. */
static bool is_input(const struct conversion *c, const struct convert_target *target,
                     const char *name)
{
    struct directory_entry out;
    struct stat in;
    struct error none = { 0 };
    return stat(c->input, &in) == 0 && !directory_look(target->directory, name, &out, &none) &&
           (uint64_t)in.st_dev == out.device && (uint64_t)in.st_ino == out.inode;
}

/* Checks that a file may be written: with --force it may be there, unless it is IN itself, whose
 * other frames would be lost. */
static enum status check_free(const struct conversion *c, const struct convert_target *target,
                              const char *name, struct error *error)
{
    if (directory_replaceable(target->directory, name, error))
        return error->status;
    if (is_input(c, target, name))
        return error_set(error, STATUS_CANT_CREATE,
                         "%s/%s: is the file to be read; OUT must be another one",
                         directory_path(target->directory), name);
    if (c->force || !directory_has(target->directory, name))
        return STATUS_OK;
    return error_set(error, STATUS_CANT_CREATE, "%s/%s: is there already; --force replaces it",
                     directory_path(target->directory), name);
}

enum status convert_target_open(const struct conversion *c, struct convert_target *target,
                                struct error *error)
{
    *target = (struct convert_target){ 0 };
    if (c->to_standard) {
        target->files = 1;
        return stream_standard_output(&target->stream, error);
    }
    if (directory_open(c->folder, DIRECTORY_ANY, &target->directory, error))
        return error->status;
    if (c->writer->image)
        return STATUS_OK;
    if (check_free(c, target, c->name, error))
        return error->status;
    snprintf(target->first, sizeof target->first, "%s", c->name);
    target->files = 1;
    return stream_replace(target->directory, c->name, c->compressed, &target->stream, error);
}

/* Writes the name of the file for frame `index` of a format that has one frame per file:
 * snapshot.hdf5 or, with --all, snapshot_000.hdf5 and on. */
static void file_of_frame(const struct conversion *c, size_t index, char name[CONVERT_PATH_SIZE])
{
    const char *dot = strrchr(c->name, '.');
    const int stem = (int)(dot && dot != c->name ? (size_t)(dot - c->name) : strlen(c->name));
    if (c->all)
        snprintf(name, CONVERT_PATH_SIZE, "%.*s_%03zu%s", stem, c->name, index, c->name + stem);
    else
        snprintf(name, CONVERT_PATH_SIZE, "%s", c->name);
}

static enum status write_file(const struct conversion *c, struct convert_target *target,
                              const struct moment *now, struct error *error)
{
    char name[CONVERT_PATH_SIZE];
    void *bytes;
    size_t length;
    file_of_frame(c, target->files, name);
    if (check_free(c, target, name, error) || c->writer->image(now, &bytes, &length, error))
        return error->status;
    if (target->files++ == 0)
        snprintf(target->first, sizeof target->first, "%s", name);
    directory_replace_file(target->directory, name, bytes, length, error);
    free(bytes);
    return error->status;
}

static enum status write_frame(struct conversion *c, struct convert_target *target,
                               const struct convert_source *source, struct error *error)
{
    const struct read_about *about = &source->about;
    c->physics.boundary = about->box_length > 0 ? BOUNDARY_PERIODIC : BOUNDARY_OPEN;
    c->physics.box_length = about->box_length;
    c->xyz.as_read = true;
    memcpy(c->xyz.corner, about->box_corner, sizeof c->xyz.corner);
    const struct moment now = { .step = about->step < 0 ? MOMENT_NO_STEP : (uint64_t)about->step,
                                .time = about->time,
                                .physics = &c->physics,
                                .bodies = source->bodies };
    c->species = source->frames == 1 ? source->bodies->species_count > 0 : c->species;
    const struct snapshot_options options = { c->all, source->frames - 1, c->species, &c->xyz };
    if (c->writer->image)
        return write_file(c, target, &now, error);
    if (c->writer->write_arrays)
        return snapshot_arrays_add(&target->arrays, &now, c->species, error);
    if (source->frames == 1 && c->writer->begin)
        c->writer->begin(target->stream, &now, &options);
    c->writer->write(target->stream, &now, &options);
    return stream_flush(target->stream, false, error);
}

enum status convert_target_close(struct convert_target *target, struct error *error)
{
    if (error->status || !target->stream)
        stream_abandon(target->stream);
    else if (target->directory)
        stream_commit(target->stream, error);
    else
        stream_close(target->stream, error);
    directory_close(target->directory);
    snapshot_arrays_free(&target->arrays);
    return error->status;
}

enum status convert_frames(struct conversion *c, struct convert_source *source,
                           struct convert_target *target, struct error *error)
{
    bool more = true;
    enum status status = STATUS_OK;
    while (more && !status) {
        status = read_next(c, source, &more, error);
        if (!status && more)
            status = write_frame(c, target, source, error);
    }
    return status;
}
