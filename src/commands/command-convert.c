/*
 * orrery convert: copies bodies from one kind of file to another, by the readers of initial
 * conditions and the writers of outputs. Numbers are converted only if the units of the input are
 * known and the user asks for others.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/name.h"
#include "base/text.h"
#include "commands/arguments.h"
#include "commands/commands.h"
#include "formats/hdf5-snapshot.h"
#include "formats/read.h"
#include "formats/snapshot.h"
#include "initial/initial.h"
#include "output/gzip.h"

enum { PATH_SIZE = 4096 };

/* The options of the command line, and what follows from them. IN is the file to read, OUT the file
 * to write. */
struct conversion {
    const char *input, *output;
    const char *from, *to, *units, *from_units, *columns;
    long long frame, digits;
    bool all, force, quiet;
    bool species;     /* the first frame of IN names the species of its bodies */
    bool to_standard; /* OUT is "-", standard output */

    const struct read_format *reader;
    const struct snapshot_format *writer;
    char folder[PATH_SIZE]; /* folder of OUT */
    const char *name;       /* name of OUT in that folder */
    bool compressed;        /* OUT ends in .gz */
    struct xyz_frame xyz;
    const struct units *wanted, *declared; /* units of --units for OUT, and of --from-units for an
                                              IN that names none; NULL: not given */
    struct physics physics;
};

/* The input, which is read frame after frame: a frame has the bodies at one time. */
struct source {
    struct read_request request;
    struct read_about about;
    struct lines *lines;   /* lines of an xyz file of which all frames are read; otherwise NULL */
    struct bodies *bodies; /* bodies of the frame read last */
    size_t frames;
};

/* The output, and what was written so far. */
struct target {
    struct directory *directory;
    struct stream *stream;
    struct snapshot_arrays arrays; /* frames, if all are written at the end */
    size_t files;
    char first[PATH_SIZE];
};

/* --- options ---------------------------------------------------------------------------------- */

static void list_word(struct text *list, const char *separator, const char *word)
{
    text_print(list, "%s%s", list->length ? separator : "", word);
}

static bool holds_text(const struct snapshot_format *format)
{
    return format->write != NULL;
}

/* Tells whether --all goes with the format, by one file or by one for each frame. */
static bool takes_all(const struct snapshot_format *format)
{
    return format->holds_of_many || !holds_text(format);
}

/* Lists the formats of OUT that `takes` accepts; NULL: all. */
static void list_writers(struct text *list, const char *separator,
                         bool (*takes)(const struct snapshot_format *format))
{
    const struct snapshot_format *format;
    for (size_t i = 0; (format = snapshot_at(i)); i++)
        if (!takes || takes(format))
            list_word(list, separator, format->name);
}

/* Sets STATUS_USAGE: `option` (which may be empty) and `word`, then `reason`, which the list ends.
 * Frees the list. */
static enum status refuse(const char *option, const char *word, const char *reason,
                          struct text *list, struct error *error)
{
    error_set(error, STATUS_USAGE, "orrery convert: %s%s%s: %s %s", option, option[0] ? " " : "",
              word, reason, list->failed ? "?" : list->bytes);
    text_free(list);
    return error->status;
}

static enum status refuse_ending(const char *output, struct error *error)
{
    struct text list = { 0 };
    for (size_t i = 0; snapshot_at(i); i++)
        list_word(&list, ", ", snapshot_at(i)->endings[0]);
    return refuse("", output,
                  "the end of the name says no format; say it with --to, or end it in one of",
                  &list, error);
}

static enum status choose_formats(struct conversion *c, struct error *error)
{
    struct text list = { 0 };
    c->reader = c->from ? read_find(c->from) : NULL;
    if (c->from && !c->reader) {
        text_names(&list, read_names);
        return refuse("--from", c->from, "must be one of", &list, error);
    }
    c->writer = c->to ? snapshot_find(c->to) : snapshot_of_file(c->output);
    if (c->to && !c->writer) {
        list_writers(&list, ", ", NULL);
        return refuse("--to", c->to, "must be one of", &list, error);
    }
    if (!c->writer && c->to_standard) {
        list_writers(&list, ", ", holds_text);
        return refuse("", "-",
                      "standard output has no name that says the format; say it with --to and one "
                      "of",
                      &list, error);
    }
    if (!c->writer)
        return refuse_ending(c->output, error);
    const bool text = holds_text(c->writer);
    if (c->to_standard && !text)
        return error_set(error, STATUS_USAGE,
                         "orrery convert: -: %s needs a file; text goes to standard output",
                         c->writer->name);
    c->compressed = gzip_stem(c->output) < strlen(c->output);
    if (c->compressed && !text)
        return error_set(error, STATUS_USAGE, "orrery convert: %s: %s is not compressed by gzip",
                         c->output, c->writer->name);
    if (c->all && !takes_all(c->writer)) {
        list_writers(&list, ", ", takes_all);
        return refuse("", c->output, "its format holds one frame; --all needs one of", &list,
                      error);
    }
    if (!c->reader && read_recognise(c->input, &c->reader, error))
        return error->status;
    return c->writer->needs_hdf5 ? hdf5_snapshot_probe(c->writer->name, error) : STATUS_OK;
}

static enum status choose_numbers(struct conversion *c, struct error *error)
{
    char problem[XYZ_PROBLEM_SIZE];
    if (c->digits < 1 || c->digits > 17)
        return error_set(error, STATUS_USAGE, "orrery convert: --digits %lld: 1 to 17", c->digits);
    if (c->frame < -1)
        return error_set(error, STATUS_USAGE,
                         "orrery convert: --frame %lld: counts from 0; -1 is the last one",
                         c->frame);
    c->xyz.digits = (int)c->digits;
    if (!xyz_frame_choose(&c->xyz, c->columns, problem))
        return error_set(error, STATUS_USAGE, "orrery convert: --columns: %s", problem);
    if (c->xyz.needs & ~(unsigned)NEED_STATE)
        return error_set(error, STATUS_USAGE,
                         "orrery convert: --columns: force and local_energy are computed by "
                         "orrery run only");
    return STATUS_OK;
}

/* Finds the system of units called `name`; sets *units to NULL if `name` is NULL. STATUS_USAGE if
 * there is none, with the name of the option. */
static enum status find_units(const char *option, const char *name, const struct units **units,
                              struct error *error)
{
    *units = name ? units_find(name) : NULL;
    if (*units || !name)
        return STATUS_OK;
    struct text names = { 0 };
    text_names(&names, units_names);
    return refuse(option, name, "must be one of", &names, error);
}

static bool from_as_is(const struct conversion *c)
{
    return c->from_units && strcmp(c->from_units, "as-is") == 0;
}

static enum status choose_units(struct conversion *c, struct error *error)
{
    if (find_units("--units", c->units, &c->wanted, error))
        return error->status;
    return from_as_is(c) ? STATUS_OK
                         : find_units("--from-units", c->from_units, &c->declared, error);
}

static enum status choose_place(struct conversion *c, struct error *error)
{
    const char *slash = strrchr(c->output, '/');
    c->to_standard = strcmp(c->output, "-") == 0;
    c->name = slash ? slash + 1 : c->output;
    const size_t length = slash ? (size_t)(slash - c->output) : 0;
    if (strlen(c->name) == 0 || length >= sizeof c->folder)
        return error_set(error, STATUS_USAGE, "orrery convert: '%s' is no name for a file",
                         c->output);
    if (slash)
        snprintf(c->folder, sizeof c->folder, "%.*s", (int)(length ? length : 1), c->output);
    else
        snprintf(c->folder, sizeof c->folder, ".");
    return STATUS_OK;
}

/* --- units ------------------------------------------------------------------------------------ */

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

/* --- reading ---------------------------------------------------------------------------------- */

static enum status open_source(struct conversion *c, struct source *source, struct error *error)
{
    *source = (struct source){ .request = { .path = c->input, .frame = c->frame } };
    source->request.wish = (struct read_wish){ NULL, c->declared, from_as_is(c), "--from-units" };
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

static void close_source(struct source *source)
{
    lines_close(source->lines);
    bodies_destroy(source->bodies);
}

/* Reads the next frame into source->bodies; *more becomes false if there is none left. */
static enum status read_next(const struct conversion *c, struct source *source, bool *more,
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
static bool is_input(const struct conversion *c, const struct target *target, const char *name)
{
    struct directory_entry out;
    struct stat in;
    struct error none = { 0 };
    return stat(c->input, &in) == 0 && !directory_look(target->directory, name, &out, &none) &&
           (uint64_t)in.st_dev == out.device && (uint64_t)in.st_ino == out.inode;
}

/* Checks that a file may be written: with --force it may be there, unless it is IN itself, whose
 * other frames would be lost. */
static enum status check_free(const struct conversion *c, const struct target *target,
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

static enum status open_target(const struct conversion *c, struct target *target,
                               struct error *error)
{
    *target = (struct target){ 0 };
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
static void file_of_frame(const struct conversion *c, size_t index, char name[PATH_SIZE])
{
    const char *dot = strrchr(c->name, '.');
    const int stem = (int)(dot && dot != c->name ? (size_t)(dot - c->name) : strlen(c->name));
    if (c->all)
        snprintf(name, PATH_SIZE, "%.*s_%03zu%s", stem, c->name, index, c->name + stem);
    else
        snprintf(name, PATH_SIZE, "%s", c->name);
}

static enum status write_file(const struct conversion *c, struct target *target,
                              const struct moment *now, struct error *error)
{
    char name[PATH_SIZE];
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

static enum status write_frame(struct conversion *c, struct target *target,
                               const struct source *source, struct error *error)
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

static enum status close_target(struct target *target, struct error *error)
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

/* --- messages --------------------------------------------------------------------------------- */

static void add_word(struct text *text, bool when, const char *word)
{
    if (when)
        text_print(text, "%s%s", text->length ? ", " : "", word);
}

/* Tells whether any id differs from the number of its body in its system, counted from 1. */
static bool has_own_ids(const struct bodies *bodies)
{
    for (size_t s = 0; s < bodies->systems; s++)
        for (size_t i = 0; i < bodies->count; i++)
            if (bodies->id[s * bodies->stride + i] != (int64_t)i + 1)
                return true;
    return false;
}

/* Names what IN has and OUT does not hold: what the format of OUT cannot hold, and what its writer
 * had to leave out this time (`lost_here`, bits SNAPSHOT_...). */
static void tell_losses(const struct conversion *c, const struct source *source, unsigned lost_here)
{
    const struct read_about *about = &source->about;
    const unsigned of_format =
        c->all && c->writer->holds_of_many ? c->writer->holds_of_many : c->writer->holds;
    const unsigned holds = of_format & ~lost_here;
    struct text lost = { 0 };
    add_word(&lost, isfinite(about->time) && !(holds & SNAPSHOT_TIME), "time");
    add_word(&lost, about->step >= 0 && !(holds & SNAPSHOT_STEP), "step");
    add_word(&lost, about->box_length > 0 && !(holds & SNAPSHOT_BOX), "periodic box");
    add_word(&lost, about->other_cell, "periodic cell");
    add_word(&lost, !(holds & SNAPSHOT_MOTION), "masses, velocities");
    add_word(&lost, !(holds & SNAPSHOT_DIGITS), "digits of positions after the seventh");
    add_word(&lost, !(holds & SNAPSHOT_IDS) && has_own_ids(source->bodies), "ids");
    add_word(&lost, source->bodies->systems > 1 && !(holds & SNAPSHOT_SYSTEMS), "systems");
    const bool names =
        source->bodies->species_count > 0 && !(c->species && holds & SNAPSHOT_SPECIES);
    add_word(&lost, names, holds & SNAPSHOT_SPECIES_NUMBERS ? "names of species" : "species");
    add_word(&lost, about->left_out[0], about->left_out);
    if (lost.length && !lost.failed)
        name_neutralise(lost.bytes);
    if (lost.length && !lost.failed)
        fprintf(stderr, "%s: not carried over: %s\n", c->output, lost.bytes);
    text_free(&lost);
    if (about->unfinished[0])
        fprintf(stderr, READ_UNFINISHED "\n", c->input, about->unfinished);
}

/* Prints ", from UNITS to UNITS" if numbers were converted. */
static void tell_units(FILE *out, const struct conversion *c, const struct read_units *said)
{
    char words[READ_PROBLEM_SIZE];
    const struct units *from = said->said ? read_units_system(said) : c->declared;
    if ((!said->said && !from) || from == c->physics.units)
        return;
    fprintf(out, ", from %s to %s", from ? from->name : read_units_words(said, words),
            c->physics.units->name);
}

static void tell_result(const struct conversion *c, const struct source *source,
                        const struct target *target)
{
    const struct bodies *bodies = source->bodies;
    FILE *const out = c->to_standard ? stderr : stdout; /* standard output has the bodies */
    fprintf(out, "%.*s%s%s: %zu frame%s of %zu bodies",
            (int)(c->to_standard ? 0 : c->name - c->output), c->output,
            c->to_standard ? "standard output" : target->first, target->files > 1 ? " ..." : "",
            source->frames, source->frames == 1 ? "" : "s", bodies->count);
    if (bodies->systems > 1)
        fprintf(out, " x %zu systems", bodies->systems);
    tell_units(out, c, &source->about.units);
    fprintf(out, "\n");
}

/* --- the command ------------------------------------------------------------------------------ */

static enum status convert_frames(struct conversion *c, struct source *source,
                                  struct target *target, struct error *error)
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

static enum status convert(struct conversion *c, struct error *error)
{
    struct source source = { 0 };
    struct target target = { 0 };
    if (!open_source(c, &source, error) && !open_target(c, &target, error) &&
        !convert_frames(c, &source, &target, error) && c->writer->write_arrays)
        c->writer->write_arrays(&target.arrays, target.stream, error);
    const unsigned lost = target.arrays.lost;
    const enum status status = close_target(&target, error);
    if (!status && !c->quiet) {
        tell_losses(c, &source, lost);
        tell_result(c, &source, &target);
    }
    close_source(&source);
    return status;
}

enum status command_convert(int argc, char **argv, struct error *error)
{
    struct conversion c = { .frame = -1, .digits = 17, .columns = "species pos velo mass id" };
    bool helped;
    struct text from = { 0 }, to = { 0 };
    for (size_t i = 0; read_names[i]; i++)
        list_word(&from, "|", read_names[i]);
    list_writers(&to, "|", NULL);
    const struct argument table[] = {
        { 'f', "frame", "N", ARGUMENT_INTEGER, &c.frame,
          "frame of a trajectory, from 0 (default: the last one)" },
        { 'a', "all", NULL, ARGUMENT_FLAG, &c.all, "all frames of a trajectory" },
        { 0, "from", from.failed ? "FORMAT" : from.bytes, ARGUMENT_TEXT, &c.from,
          "format of IN (default: by its content)" },
        { 0, "to", to.failed ? "FORMAT" : to.bytes, ARGUMENT_TEXT, &c.to,
          "format of OUT (default: by the end of its name)" },
        { 0, "units", "NAME", ARGUMENT_TEXT, &c.units,
          "units of OUT; numbers are converted if those of IN are known (default: as IN)" },
        { 0, "from-units", "NAME", ARGUMENT_TEXT, &c.from_units,
          "units of IN, if it names none; as-is: ignore those that it names" },
        { 0, "columns", "LIST", ARGUMENT_TEXT, &c.columns,
          "columns of extended XYZ, as for orrery run" },
        { 0, "digits", "N", ARGUMENT_INTEGER, &c.digits,
          "digits of text (default: 17, which is exact)" },
        { 0, "force", NULL, ARGUMENT_FLAG, &c.force, "replace a file that is there" },
        { 'q', "quiet", NULL, ARGUMENT_FLAG, &c.quiet, "print nothing" },
    };
    const struct arguments arguments = {
        "orrery convert IN OUT [options]",
        "Copies bodies from one kind of file to another, and names all that cannot be "
        "carried\n"
        "over. Formats: csv, xyz (extended XYZ), plain (m x y z vx vy vz), hdf5 "
        "(GADGET),\n"
        "and to lammps (.dump, for OVITO, ASE and VMD), npz (numpy), vtkhdf (ParaView) and\n"
        "dcd (positions, for VMD and MDAnalysis).\n"
        "Text may end in .gz; hdf5 with --all makes OUT_000.hdf5 and on;\n"
        "OUT - is standard output.",
        table,
        COUNT_OF(table),
        2,
        2
    };
    struct argument_list plain;
    arguments_parse(&arguments, argc, argv, &plain, &helped, error);
    text_free(&from);
    text_free(&to);
    if (error->status || helped)
        return error->status;
    c.input = plain.items[0];
    c.output = plain.items[1];
    if (choose_numbers(&c, error) || choose_units(&c, error) || choose_place(&c, error) ||
        choose_formats(&c, error))
        return error->status;
    return convert(&c, error);
}
