/* Snapshots in HDF5 as GADGET has them: one file for each event, snapshot_000.hdf5 and on. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "formats/gadget-hdf5.h"
#include "formats/output.h"

static const char suffix[] = ".hdf5";

struct gadget {
    struct output output;
    const struct section *section;
    struct directory *directory;
};

static void gadget_file(const struct section *section, uint64_t event, char name[OUTPUT_NAME_SIZE])
{
    snprintf(name, OUTPUT_NAME_SIZE, "%s_%03" PRIu64 "%s", section_string(section, "file"), event,
             suffix);
}

/* --- the class -------------------------------------------------------------------------------- */

extern const struct output_class output_gadget;

static enum status gadget_close(struct output *output, struct error *error)
{
    (void)error;
    if (output)
        free(output->files);
    free(output);
    return STATUS_OK;
}

/* Tells whether this is a snapshot that was written after the checkpoint. */
static bool is_late(const void *context, const char *name)
{
    const struct gadget *gadget = context;
    const size_t length = strlen(gadget->output.file);
    if (strncmp(name, gadget->output.file, length) != 0 || name[length] != '_')
        return false;
    const char *digits = name + length + 1;
    const size_t count = strspn(digits, "0123456789");
    return count > 0 && strcmp(digits + count, suffix) == 0 &&
           strtoull(digits, NULL, 10) >= gadget->output.written;
}

static enum status check_file(const struct section *section, struct error *error)
{
    enum { LONGEST = OUTPUT_NAME_SIZE - 64 };
    const char *file = section_string(section, "file");
    if (!file[0] || file[0] == '.' || strchr(file, '/') || strlen(file) > LONGEST)
        return section_error(section, "file", error, "must be the start of a plain file name");
    return STATUS_OK;
}

static enum status gadget_open(const struct section *section, struct directory *directory,
                               const struct stream_mark *mark, struct output **result,
                               struct error *error)
{
    *result = NULL;
    if (gadget_hdf5_probe(error) || check_file(section, error))
        return error->status;
    struct gadget *gadget = calloc(1, sizeof *gadget);
    if (!gadget)
        return error_memory(error);
    gadget->output.class_ = &output_gadget;
    gadget->output.needs = NEED_STATE;
    gadget->output.file = section_string(section, "file");
    gadget->output.written = mark ? mark->length : 0;
    gadget->section = section;
    gadget->directory = directory;
    *result = &gadget->output;
    return STATUS_OK;
}

static enum status gadget_trim(struct output *output, struct error *error)
{
    const struct gadget *gadget = (struct gadget *)output;
    return directory_remove(gadget->directory, is_late, gadget, error);
}

static enum status gadget_write(struct output *output, const struct moment *now,
                                struct error *error)
{
    struct gadget *gadget = (struct gadget *)output;
    char name[OUTPUT_NAME_SIZE];
    gadget_file(gadget->section, output->written, name);
    void *bytes;
    size_t length;
    if (gadget_hdf5_image(now, &bytes, &length, error))
        return error->status;
    const enum status status =
        output_write_file(output, gadget->directory, name, bytes, length, error);
    free(bytes);
    return status;
}

/* Eight numbers of 8 bytes a body, of an ensemble nine, and what describes them. */
static double gadget_event_bytes(const struct section *section, size_t systems, double bodies)
{
    (void)section;
    return (systems > 1 ? 72.0 : 64.0) * bodies + 16384.0;
}

/* Built as an image of the file, which is then copied. */
static double gadget_memory_bytes(const struct section *section, size_t systems, double bodies,
                                  double length)
{
    (void)length;
    return 2.5 * gadget_event_bytes(section, systems, bodies);
}

static const struct parameter parameters[] = {
    { .key = "file",
      .type = PARAMETER_STRING,
      .default_value = DEFAULT_STRING("snapshot"),
      .help = "Beginning of the names of the files: snapshot_000.hdf5, snapshot_001.hdf5 ..." },
};

const struct output_class output_gadget = {
    .variant = { "gadget-hdf5",
                 "Snapshots in HDF5 as GADGET has them, for yt, pynbody and SWIFT; needs a build "
                 "with HDF5.",
                 parameters, COUNT_OF(parameters) },
    .open = gadget_open,
    .trim = gadget_trim,
    .write = gadget_write,
    .close = gadget_close,
    .event_bytes = gadget_event_bytes,
    .memory_bytes = gadget_memory_bytes,
    .event_file = gadget_file,
};
