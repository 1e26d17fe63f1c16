/* The initial condition "file": bodies from files, in one of the formats of formats/read.h. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "formats/read.h"
#include "initial/body-files.h"
#include "initial/initial.h"

static const char *const format_choices[] = { "auto", READ_FORMATS(READ_NAME) NULL };
enum { UNITS_AUTO, UNITS_AS_IS };
static const char *const units_choices[] = { "auto",         "as-is",       "nbody",
                                             "astronomical", "galactic",    "si",
                                             "pc-msun-kms",  "pc-msun-myr", NULL };

static const struct parameter parameters[] = {
    { KEY(PATH, file), OPTIONAL,
      .help = "The file, plain or compressed with gzip. Numbers whose units it names are converted "
              "to physics.units." },
    { KEY(PATHS, files), OPTIONAL,
      .help = "Instead of file: files with equal numbers and species of bodies; each is a system "
              "of the ensemble, in this order. A pattern (\"ic_*.csv\") stands for the files that "
              "match it, in the order of their bytes: ic_10.csv comes before ic_2.csv." },
    { KEY(CHOICE, file_units), BY_DEFAULT(STRING, "auto"), .choices = units_choices,
      .help = "Units of its numbers. auto: those that the file names, or physics.units if it "
              "names none; as-is: physics.units, whatever it names; a system: that one, and "
              "the file must not name others." },
    { KEY(CHOICE, format), BY_DEFAULT(STRING, "auto"), .choices = format_choices,
      .help =
          "xyz: extended XYZ; csv: columns named in the first line (m or mass, x, y, z, "
          "vx, vy, vz, and optionally id, system and species); plain: m x y z vx vy vz; hdf5: a "
          "snapshot as GADGET writes it; auto: by the content of the file." },
    { KEY(INTEGER, frame), BY_DEFAULT(INTEGER, -1), AT_LEAST(-1),
      .help = "Frame of an XYZ file, from 0; -1 is the last one. Other files hold one alone, 0." },
    INITIAL_COUNT(DEFAULT_UNSET, "Number of bodies in each system, which the file must then have."),
};

/* Sets the request by the keys of the section, and *format by the key `format` or by the content of
 * the file. */
static enum status choose(const struct section *section, const char *path,
                          const struct read_format **format, struct read_request *request,
                          struct error *error)
{
    request->path = path;
    request->frame = section_integer(section, "frame");
    request->wish.as_is = section_choice(section, "file_units") == UNITS_AS_IS;
    request->wish.file_units = units_find(section_string(section, "file_units"));
    *format = read_find(section_string(section, "format"));
    return *format ? STATUS_OK : read_recognise(request->path, format, error);
}

static enum status measure(const struct section *section, const char *path,
                           struct read_shape *shape, struct error *error)
{
    const struct read_format *format;
    struct read_request request = { 0 };
    if (choose(section, path, &format, &request, error) != STATUS_OK ||
        format->measure(format, &request, shape, error) != STATUS_OK)
        return error->status;
    if (!section_has(section, "count") || shape->count == (size_t)section_integer(section, "count"))
        return STATUS_OK;
    char line[24] = "";
    if (shape->line)
        snprintf(line, sizeof line, ":%zu", shape->line);
    return error_set(error, STATUS_DATA,
                     "%s%s: the file has %zu bodies here, but bodies.count = %" PRId64,
                     request.path, line, shape->count, section_integer(section, "count"));
}

/* Reports the error `found` of a file that is missing, or not in the units that are wanted, with
 * the location of the config key that names the file, where the user can correct it. The message
 * has the file's name only if there are several. */
static enum status refuse_input(const struct section *section, const struct body_files *files,
                                const char *path, const struct error *found, struct error *error)
{
    const char *reason = found->text;
    char whole[1024];
    const size_t length = strlen(path);
    const bool named = strncmp(reason, path, length) == 0 && strncmp(reason + length, ": ", 2) == 0;
    if (named && body_files_systems(files) == 0)
        reason += length + 2;
    else if (found->status == STATUS_NO_INPUT && strpbrk(path, "*?["))
        reason = whole;
    snprintf(whole, sizeof whole, "%.900s: no file fits this pattern", path);
    return section_refuse(section, files->key, found->status, error, reason);
}

static enum status report(const struct section *section, const struct body_files *files,
                          const char *path, const struct error *found, struct error *error)
{
    if (found->status == STATUS_CONFIG || found->status == STATUS_NO_INPUT)
        return refuse_input(section, files, path, found, error);
    return error_pass(error, found);
}

/* Checks that a file of bodies.files holds one system, of as many bodies as the first file.
 * STATUS_DATA. */
static enum status compare_shapes(const struct body_files *files, size_t system,
                                  const struct read_shape *first, const struct read_shape *shape,
                                  struct error *error)
{
    const char *path = files->paths[system];
    if (shape->systems != 1)
        return error_set(
            error, STATUS_DATA,
            "%s: holds %zu systems, but each of bodies.files is one; a file of several "
            "is for bodies.file",
            path, shape->systems);
    if (shape->count != first->count)
        return error_set(error, STATUS_DATA,
                         "%s: holds %zu bodies, but %s holds %zu: all systems of an ensemble have "
                         "as many",
                         path, shape->count, files->paths[0], first->count);
    return STATUS_OK;
}

static enum status count(const struct section *section, size_t *count, struct error *error)
{
    const struct body_files files = body_files_of(section);
    struct read_shape first = { 0 };
    *count = 0;
    for (size_t i = 0; i < files.count; i++) {
        struct read_shape shape;
        struct error found = { 0 };
        if (!measure(section, files.paths[i], &shape, &found) && body_files_systems(&files)) {
            first = i == 0 ? shape : first;
            compare_shapes(&files, i, &first, &shape, &found);
        }
        if (report(section, &files, files.paths[i], &found, error))
            return error->status;
        *count = shape.count;
    }
    return STATUS_OK;
}

/* Writes how the periodic cell of a file differs from the space of the run. Returns false if it
 * does not, or if the file has none. Snapshots of isolated bodies in HDF5 may have a BoxSize. */
static bool describe_cell(const struct read_format *format, const struct read_about *about,
                          const struct physics *physics, char *words, size_t size)
{
    static const double rounding = 1e-6; /* the side may be in single precision */
    const double side = about->box_length, run = physics->box_length;
    char its[UNITS_TEXT_SIZE], own[UNITS_TEXT_SIZE];
    if (!(side > 0.0) && !about->other_cell)
        return false;
    if (physics->boundary == BOUNDARY_OPEN)
        snprintf(words, size, "%s",
                 format == &read_hdf5
                     ? "it has a BoxSize, but the run is in open space (physics.boundary)"
                     : "its bodies are in a periodic cell, those of the run in open space "
                       "(physics.boundary)");
    else if (about->other_cell)
        snprintf(words, size, "its periodic cell is no cube, as that of the run is");
    else if (fabs(side - run) > rounding * run)
        snprintf(words, size,
                 "its periodic cell has a side of %s, that of the run of %s "
                 "(physics.box_length)",
                 units_length(physics->units, side, 6, its),
                 units_length(physics->units, run, 6, own));
    else
        return false;
    return true;
}

static void note_warnings(const char *path, const struct read_format *format,
                          const struct read_about *about, const struct physics *physics,
                          struct initial_warnings *warnings)
{
    char *const cut = warnings->files[INITIAL_CUT].words;
    char *const periodic = warnings->files[INITIAL_PERIODIC].words;
    const size_t size = sizeof warnings->files[0].words;
    char cell[160];
    if (about->unfinished[0] && warnings->files[INITIAL_CUT].count++ == 0)
        snprintf(cut, size, READ_UNFINISHED, path, about->unfinished);
    if (describe_cell(format, about, physics, cell, sizeof cell) &&
        warnings->files[INITIAL_PERIODIC].count++ == 0)
        snprintf(periodic, size, "%.300s: %s", path, cell);
}

static enum status read(const struct section *section, const struct body_files *files,
                        const char *path, const struct physics *physics, struct bodies *bodies,
                        struct initial_warnings *warnings, struct error *error)
{
    const struct read_format *format;
    struct read_about about = { 0 };
    struct read_request request = { .wish.units = physics->units, .about = &about };
    struct error found = { 0 };
    if (!choose(section, path, &format, &request, &found) &&
        !format->read(format, &request, bodies, &found))
        note_warnings(path, format, &about, physics, warnings);
    return report(section, files, path, &found, error);
}

/* Reads only the start of a file, which names its units, and reports errors in them. */
static enum status read_start(const struct section *section, const struct body_files *files,
                              const char *path, const struct physics *physics, struct error *error)
{
    const struct read_format *format;
    struct read_request request = { .wish.units = physics->units };
    struct error found = { 0 };
    if (!choose(section, path, &format, &request, &found))
        format->measure(format, &request, NULL, &found);
    return report(section, files, path, &found, error);
}

static bool same_species(const struct bodies *a, const struct bodies *b)
{
    bool same = a->species_count == b->species_count;
    for (size_t k = 0; same && k < a->species_count; k++)
        same = a->species[k].end == b->species[k].end &&
               strcmp(a->species[k].name, b->species[k].name) == 0;
    return same;
}

static enum status fill_members(const struct section *section, const struct body_files *files,
                                const struct physics *physics, struct bodies *bodies,
                                struct initial_warnings *warnings, struct error *error)
{
    struct bodies *one = NULL;
    enum status status = bodies_create(1, bodies->count, &one, error);
    for (size_t s = 0; s < bodies->systems && !status; s++) {
        /* A file without ids leaves those of `one` as they are, which must not be those of the file
         * before: so they are reset. */
        memcpy(one->id, bodies->id + s * bodies->stride, bodies->count * sizeof *one->id);
        status = read(section, files, files->paths[s], physics, one, warnings, error);
        if (!status && s > 0 && !same_species(one, bodies) && !section_has(section, "names"))
            status = error_set(error, STATUS_DATA,
                               "%s: its species are not those of %s, but all systems of an "
                               "ensemble have the same; bodies.names would replace them",
                               files->paths[s], files->paths[0]);
        if (!status)
            bodies_copy_system(bodies, s, one, 0);
    }
    bodies_destroy(one);
    return status;
}

static enum status fill_all(const struct section *section, const struct physics *physics,
                            unsigned long seed, struct bodies *bodies,
                            struct initial_warnings *warnings, struct error *error)
{
    (void)seed;
    const struct body_files files = body_files_of(section);
    if (files.count > 1)
        fill_members(section, &files, physics, bodies, warnings, error);
    else
        read(section, &files, files.paths[0], physics, bodies, warnings, error);
    for (size_t k = 0; k < INITIAL_FILE_WARNINGS; k++) {
        char *const words = warnings->files[k].words, *const end = words + strlen(words);
        if (warnings->files[k].count > 1)
            snprintf(end, sizeof warnings->files[k].words - (size_t)(end - words),
                     " (the first of %zu such files)", warnings->files[k].count);
    }
    return error->status;
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Refuses a file that is there twice (two patterns may fit it): it would count twice in the
 * statistics of the ensemble. */
static void check_twice(const struct section *section, const struct body_files *files,
                        struct error *error)
{
    const char **sorted = malloc(memory_bytes(files->count, sizeof *sorted));
    if (!sorted) {
        error_memory(error);
        return;
    }
    memcpy(sorted, files->paths, files->count * sizeof *sorted);
    qsort(sorted, files->count, sizeof *sorted, compare_paths);
    for (size_t i = 1; i < files->count; i++)
        if (strcmp(sorted[i - 1], sorted[i]) == 0 &&
            (i == 1 || strcmp(sorted[i - 2], sorted[i]) != 0))
            section_error(section, "files", error, "%s is there twice", sorted[i]);
    free(sorted);
}

static void check(const struct section *section, struct error *error)
{
    const struct body_files files = body_files_of(section);
    if (section_has(section, "file") && section_has(section, "files"))
        section_error(section, "files", error,
                      "bodies.file is given too; the bodies come from one or the other");
    else if (!section_has(section, "file") && !section_has(section, "files"))
        section_error(section, "file", error,
                      "must be given: the name of a file in quotation marks; or bodies.files, a "
                      "list of such names");
    else if (files.count == 0)
        section_error(section, "files", error, "must name a file");
    else
        check_twice(section, &files, error);
}

static enum status check_units(const struct section *section, const struct physics *physics,
                               struct error *error)
{
    const struct units *declared = units_find(section_string(section, "file_units"));
    if (declared && units_physical(declared) != units_physical(physics->units))
        return section_error(section, "file_units", error,
                             "cannot be converted to physics.units = \"%s\": N-body units are "
                             "worth nothing in particular",
                             physics->units->name);
    const struct body_files files = body_files_of(section);
    for (size_t i = 0; error->status && i < files.count; i++)
        if (read_start(section, &files, files.paths[i], physics, error))
            break;
    return error->status;
}

const struct initial_class initial_file = {
    .variant = { "file", "Bodies from a file: extended XYZ, CSV, plain columns or GADGET HDF5.",
                 parameters, COUNT_OF(parameters) },
    .check = check,
    .count = count,
    .check_units = check_units,
    .fill_all = fill_all,
};
