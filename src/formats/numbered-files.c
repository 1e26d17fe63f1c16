/* The outputs of a run that write a new file at each event: snapshot_000.hdf5, snapshot_001.hdf5
 * and on. A row of the table for each format says how the bytes of a file are made. A file appears
 * whole or not at all; so these formats need not be able to grow. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "formats/hdf5-snapshot.h"
#include "formats/output.h"
#include "formats/snapshot.h"

extern const struct output_class output_gadget;
extern const struct output_class output_vtk;

struct format {
    const struct output_class *class_;
    const char *suffix;
    enum status (*image)(const struct moment *now, void **bytes, size_t *length,
                         struct error *error);
    /* Bytes of a file: `head_bytes`, and `body_bytes` for each body. */
    double head_bytes, body_bytes;
    double system_bytes; /* further bytes for each body in an ensemble */
    double image_memory; /* most bytes of memory that are taken to make a byte of a file */
};

static const struct format formats[] = {
    { .class_ = &output_gadget,
      .suffix = ".hdf5",
      .image = gadget_hdf5_image,
      .head_bytes = 16384.0,
      .body_bytes = 64.0,
      .system_bytes = 8.0,
      .image_memory = 2.5 },
    { .class_ = &output_vtk,
      .suffix = ".vtkhdf",
      .image = vtk_hdf5_image,
      .head_bytes = 32768.0,
      .body_bytes = 80.0,
      .system_bytes = 8.0,
      .image_memory = 4.0 },
};

static const struct format *format_of(const struct section *section)
{
    size_t k = 0;
    while (formats[k].class_ != output_find(section))
        k++;
    return &formats[k];
}

struct numbered {
    struct output output;
    const struct format *format;
    const struct section *section;
    struct directory *directory;
};

static void numbered_file(const struct section *section, uint64_t event,
                          char name[OUTPUT_NAME_SIZE])
{
    snprintf(name, OUTPUT_NAME_SIZE, "%s_%03" PRIu64 "%s", section_string(section, "file"), event,
             format_of(section)->suffix);
}

static enum status numbered_close(struct output *output, struct error *error)
{
    (void)error;
    if (output)
        free(output->files);
    free(output);
    return STATUS_OK;
}

static enum status numbered_open(const struct section *section, struct directory *directory,
                                 const struct stream_mark *mark, struct output **result,
                                 struct error *error)
{
    const struct format *format = format_of(section);
    *result = NULL;
    if (hdf5_snapshot_probe(format->class_->variant.name, error) ||
        output_check_name(section, 64, "the start of a plain file name", error))
        return error->status;
    struct numbered *numbered = calloc(1, sizeof *numbered);
    if (!numbered)
        return error_memory(error);
    numbered->output.class_ = format->class_;
    numbered->output.needs = NEED_STATE;
    numbered->output.file = section_string(section, "file");
    numbered->output.written = mark ? mark->length : 0;
    numbered->format = format;
    numbered->section = section;
    numbered->directory = directory;
    *result = &numbered->output;
    return STATUS_OK;
}

/* Tells directory_remove() whether `name` is a file that this output wrote after the checkpoint, by
 * its number: the checkpoint has counted `written` files, from 0 on. */
static bool is_late(const void *context, const char *name)
{
    const struct numbered *numbered = context;
    const size_t length = strlen(numbered->output.file);
    if (strncmp(name, numbered->output.file, length) != 0 || name[length] != '_')
        return false;
    const char *digits = name + length + 1;
    const size_t count = strspn(digits, "0123456789");
    return count > 0 && strcmp(digits + count, numbered->format->suffix) == 0 &&
           strtoull(digits, NULL, 10) >= numbered->output.written;
}

static enum status numbered_trim(struct output *output, struct error *error)
{
    const struct numbered *numbered = (struct numbered *)output;
    return directory_remove(numbered->directory, is_late, numbered, error);
}

static enum status numbered_write(struct output *output, const struct moment *now,
                                  struct error *error)
{
    struct numbered *numbered = (struct numbered *)output;
    char name[OUTPUT_NAME_SIZE];
    numbered_file(numbered->section, output->written, name);
    void *bytes;
    size_t length;
    if (numbered->format->image(now, &bytes, &length, error))
        return error->status;
    const enum status status =
        output_write_file(output, numbered->directory, name, bytes, length, error);
    free(bytes);
    return status;
}

static double numbered_event_bytes(const struct section *section, size_t systems, double bodies)
{
    const struct format *format = format_of(section);
    const double each = format->body_bytes + (systems > 1 ? format->system_bytes : 0.0);
    return format->head_bytes + each * bodies;
}

/* Returns the bytes of memory that writing a file takes: libhdf5 builds it, and then it is
 * copied. */
static double numbered_memory_bytes(const struct section *section, size_t systems, double bodies,
                                    double length)
{
    (void)length;
    return format_of(section)->image_memory * numbered_event_bytes(section, systems, bodies);
}

/* The members that are equal in the classes of all these formats. */
#define NUMBERED_FUNCTIONS                                                                         \
    .open = numbered_open, .trim = numbered_trim, .write = numbered_write,                         \
    .close = numbered_close, .event_bytes = numbered_event_bytes,                                  \
    .memory_bytes = numbered_memory_bytes, .event_file = numbered_file

static const struct parameter gadget_parameters[] = {
    { KEY(STRING, file), BY_DEFAULT(STRING, "snapshot"),
      .help = "Beginning of the names of the files: snapshot_000.hdf5, snapshot_001.hdf5 ..." },
};

const struct output_class output_gadget = {
    .variant = { "gadget-hdf5",
                 "Snapshots in HDF5 as GADGET has them, for yt, pynbody and SWIFT; needs a build "
                 "with HDF5.",
                 gadget_parameters, COUNT_OF(gadget_parameters) },
    NUMBERED_FUNCTIONS,
};

static const struct parameter vtk_parameters[] = {
    { KEY(STRING, file), BY_DEFAULT(STRING, "points"),
      .help = "Beginning of the names of the files: points_000.vtkhdf, points_001.vtkhdf ..." },
};

const struct output_class output_vtk = {
    .variant = { "vtkhdf",
                 "Points in VTK's HDF5, a file for each event, for ParaView and pyvista; needs a "
                 "build with HDF5.",
                 vtk_parameters, COUNT_OF(vtk_parameters) },
    NUMBERED_FUNCTIONS,
};
