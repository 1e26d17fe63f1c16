/*
 * orrery convert: copies bodies from one kind of file to another, by the readers of initial
 * conditions and the writers of outputs. Numbers are converted only if the units of the input are
 * known and the user asks for others.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/name.h"
#include "base/text.h"
#include "commands/arguments.h"
#include "commands/commands.h"
#include "commands/convert-files.h"
#include "formats/hdf5-snapshot.h"
#include "output/gzip.h"

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

static enum status choose_units(struct conversion *c, struct error *error)
{
    if (find_units("--units", c->units, &c->wanted, error))
        return error->status;
    return convert_as_is(c) ? STATUS_OK
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
static void tell_losses(const struct conversion *c, const struct convert_source *source,
                        unsigned lost_here)
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

static void tell_result(const struct conversion *c, const struct convert_source *source,
                        const struct convert_target *target)
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

static enum status convert(struct conversion *c, struct error *error)
{
    struct convert_source source = { 0 };
    struct convert_target target = { 0 };
    if (!convert_source_open(c, &source, error) && !convert_target_open(c, &target, error) &&
        !convert_frames(c, &source, &target, error) && c->writer->write_arrays)
        c->writer->write_arrays(&target.arrays, target.stream, error);
    const unsigned lost = target.arrays.lost;
    const enum status status = convert_target_close(&target, error);
    if (!status && !c->quiet) {
        tell_losses(c, &source, lost);
        tell_result(c, &source, &target);
    }
    convert_source_close(&source);
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
