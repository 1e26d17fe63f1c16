/* Bodies from a file; the formats are in read.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "initial/read.h"
#include "initial/table.h"

static const char *const format_choices[] = { "auto", "xyz", "csv", "plain", "hdf5", NULL };
enum { UNITS_AUTO, UNITS_AS_IS };
static const char *const units_choices[] = { "auto",         "as-is",       "nbody",
                                             "astronomical", "galactic",    "si",
                                             "pc-msun-kms",  "pc-msun-myr", NULL };

static const struct parameter parameters[] = {
    { .key = "file",
      .type = PARAMETER_PATH,
      .standard = NULL,
      .help = "The file, plain or compressed with gzip. Numbers whose units it names are converted "
              "to physics.units." },
    { .key = "file_units",
      .type = PARAMETER_CHOICE,
      .standard = "auto",
      .choices = units_choices,
      .help = "Units of its numbers. auto: those that the file names, or physics.units where it "
              "names none; as-is: physics.units, whatever it names; a system: that one, and what "
              "the file names must agree." },
    { .key = "format",
      .type = PARAMETER_CHOICE,
      .standard = "auto",
      .choices = format_choices,
      .help = "xyz: extended XYZ; csv: columns named in the first line (m or mass, x, y, z, vx, "
              "vy, vz, and optionally id and system); plain: m x y z vx vy vz; hdf5: a snapshot as "
              "GADGET writes it; auto: as the file looks." },
    { .key = "frame",
      .type = PARAMETER_INTEGER,
      .standard = "-1",
      .minimum = -1,
      .maximum = INFINITY,
      .help = "Frame of an XYZ file, from 0; -1 is the last one." },
    INITIAL_COUNT("", "Number of bodies in each system, which the file must then have."),
};

/* What the section asks for: the format, the path and the frame. */
static enum status choose(const struct section *section, const struct read_format **format,
                          struct read_request *request, struct error *error)
{
    request->path = section_string(section, "file");
    request->frame = section_integer(section, "frame");
    request->wish.as_is = section_choice(section, "file_units") == UNITS_AS_IS;
    request->wish.file_units = units_find(section_string(section, "file_units"));
    *format = read_find(section_string(section, "format"));
    return *format ? STATUS_OK : read_recognise(request->path, format, error);
}

static enum status measure(const struct section *section, struct read_shape *shape,
                           struct error *error)
{
    const struct read_format *format;
    struct read_request request = { 0 };
    if (choose(section, &format, &request, error) != STATUS_OK ||
        format->measure(&request, shape, error) != STATUS_OK)
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

/* A file that is not there, or not in the units that are wanted, is reported at its key, where it
 * can be mended. */
static enum status refuse_input(const struct section *section, const struct error *found,
                                struct error *error)
{
    const char *path = section_string(section, "file"), *reason = found->text;
    const size_t length = strlen(path);
    if (strncmp(reason, path, length) == 0 && strncmp(reason + length, ": ", 2) == 0)
        reason += length + 2;
    return section_refuse(section, "file", found->status, error, reason);
}

static enum status count(const struct section *section, size_t *count, struct error *error)
{
    struct read_shape shape;
    struct error found = { 0 };
    const enum status status = measure(section, &shape, &found);
    *count = status ? 0 : shape.count;
    if (status == STATUS_CONFIG || status == STATUS_NO_INPUT)
        return refuse_input(section, &found, error);
    return status ? error_set(error, status, "%s", found.text) : STATUS_OK;
}

/* The file itself, or only its start where `bodies` is NULL. */
static enum status read(const struct section *section, const struct physics *physics,
                        struct bodies *bodies, struct error *error)
{
    const struct read_format *format;
    struct read_request request = { .wish.units = physics->units };
    struct error found = { 0 };
    enum status status = choose(section, &format, &request, &found);
    if (!status)
        status = bodies ? format->read(&request, bodies, &found)
                        : format->measure(&request, NULL, &found);
    if (status == STATUS_CONFIG || status == STATUS_NO_INPUT)
        return refuse_input(section, &found, error);
    return status ? error_set(error, status, "%s", found.text) : STATUS_OK;
}

static enum status fill_all(const struct section *section, const struct physics *physics,
                            struct bodies *bodies, struct error *error)
{
    return read(section, physics, bodies, error);
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
    return error->status ? read(section, physics, NULL, error) : STATUS_OK;
}

const struct initial_class initial_file = {
    .variant = { "file", "Bodies from a file: extended XYZ, CSV, plain columns or GADGET HDF5.",
                 parameters, COUNT_OF(parameters) },
    .count = count,
    .check_units = check_units,
    .fill_all = fill_all,
};
