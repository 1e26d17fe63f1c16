#include "formats/output.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/name.h"
#include "formats/hdf5-snapshot.h"

/* The table of outputs: ROW(name) stands for the struct output_<name>. */
#define OUTPUTS(ROW) ROW(dcd) ROW(gadget) ROW(vtk) ROW(xyz)
#define DECLARE(name) extern const struct output_class output_##name;
OUTPUTS(DECLARE)
#define CLASS_OF(name) &output_##name,
static const struct output_class *const table[] = { OUTPUTS(CLASS_OF) };

const struct variant *output_variant(size_t index)
{
    return index < COUNT_OF(table) ? &table[index]->variant : NULL;
}

const struct output_class *output_find(const struct section *section)
{
    for (size_t i = 0; i < COUNT_OF(table); i++)
        if (&table[i]->variant == section_variant(section))
            return table[i];
    return NULL;
}

enum status output_check_name(const struct section *section, size_t spare, const char *what,
                              struct error *error)
{
    const char *const file = section_string(section, "file");
    if (!name_is_file(file) || strlen(file) + spare > OUTPUT_NAME_SIZE)
        return section_error(section, "file", error, "must be %s", what);
    return STATUS_OK;
}

/* --- a file for each event -------------------------------------------------------------------- */

static enum status make_room(struct output *output, uint64_t count, struct error *error)
{
    enum { FIRST = 64 };
    if (count <= output->file_room)
        return STATUS_OK;
    const uint64_t room = count < FIRST ? FIRST : 2 * count;
    struct output_file *files =
        count <= SIZE_MAX / 4 ? realloc(output->files, memory_bytes(room, sizeof *files)) : NULL;
    if (!files)
        return error_memory(error);
    output->files = files;
    output->file_room = room;
    return STATUS_OK;
}

/* Notes the inode of the file `name`, by which output_look() sees whether it was replaced. */
static enum status note_file(const struct directory *directory, const char *name,
                             struct output_file *file, struct error *error)
{
    struct directory_entry entry;
    if (directory_look(directory, name, &entry, error))
        return error->status;
    file->inode = entry.inode;
    return STATUS_OK;
}

/* Writes the next file, which must not exist yet, counts it and notes its mark. */
static enum status write_file(struct output *output, struct directory *directory, const char *name,
                              const void *bytes, size_t length, struct error *error)
{
    if (directory_has(directory, name))
        return error_set(error, STATUS_CANT_CREATE, "%s/%s: is there already",
                         directory_path(directory), name);
    struct output_file file = { .mark = stream_mark_bytes(bytes, length) };
    if (make_room(output, output->written + 1, error) ||
        directory_replace_file(directory, name, bytes, length, error) ||
        note_file(directory, name, &file, error))
        return error->status;
    output->files[output->written++] = file;
    return STATUS_OK;
}

enum status output_resume_files(struct output *output, const struct section *section,
                                struct directory *directory, const uint64_t *marks,
                                struct error *error)
{
    if (make_room(output, output->written, error))
        return error->status;
    for (uint64_t i = 0; i < output->written; i++) {
        char name[OUTPUT_NAME_SIZE];
        struct output_file file = { .mark = { marks[2 * i], marks[2 * i + 1] } };
        output->class_->event_file(section, i, name);
        if (stream_check(directory, name, &file.mark, error) ||
            note_file(directory, name, &file, error))
            return error->status;
        output->files[i] = file;
    }
    return STATUS_OK;
}

static enum status look_at_file(const struct output_file *file, const char *name,
                                const struct directory *directory, struct error *error)
{
    struct directory_entry entry;
    if (directory_look(directory, name, &entry, error))
        return error->status;
    if (entry.length == file->mark.length && entry.inode == file->inode)
        return STATUS_OK;
    return error_set(error, STATUS_IO, "%s/%s: is not the file that the run wrote",
                     directory_path(directory), name);
}

enum status output_look(const struct output *output, const struct section *section,
                        const struct directory *directory, struct error *error)
{
    if (output->stream)
        return stream_look(output->stream, directory, error);
    for (uint64_t i = 0; i < output->written; i++) {
        char name[OUTPUT_NAME_SIZE];
        output->class_->event_file(section, i, name);
        if (look_at_file(&output->files[i], name, directory, error))
            return error->status;
    }
    return STATUS_OK;
}

const struct parameter output_parameters[] = {
    { KEY(INTEGER, every), BY_DEFAULT(INTEGER, 100), BETWEEN(1, 9e18),
      .help = "Steps between two frames; the first and the last step are always written." },
};
const size_t output_parameter_count = COUNT_OF(output_parameters);

/* --- formats of a file for each event --------------------------------------------------------- */

/* The outputs of a run that write a new file at each event: snapshot_000.hdf5, snapshot_001.hdf5
 * and on. A row of the table for each format says how the bytes of a file are made. A file appears
 * whole or not at all; so these formats need not be able to grow. */

struct format {
    const struct output_class *class_;
    const char *suffix;
    enum status (*image)(const struct moment *now, void **bytes, size_t *length,
                         struct error *error);
    /* Bytes of a file: `head_bytes`, and `body_bytes` for each body; 8 more in an ensemble. */
    double head_bytes, body_bytes;
    double image_memory; /* most bytes of memory that are taken to make a byte of a file */
};

static const struct format formats[] = {
    { .class_ = &output_gadget,
      .suffix = ".hdf5",
      .image = gadget_hdf5_image,
      .head_bytes = 16384.0,
      .body_bytes = 64.0,
      .image_memory = 2.5 },
    { .class_ = &output_vtk,
      .suffix = ".vtkhdf",
      .image = vtk_hdf5_image,
      .head_bytes = 32768.0,
      .body_bytes = 80.0,
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
    return count > 0 && strcmp(digits + count, format_of(numbered->section)->suffix) == 0 &&
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
    if (format_of(numbered->section)->image(now, &bytes, &length, error))
        return error->status;
    const enum status status = write_file(output, numbered->directory, name, bytes, length, error);
    free(bytes);
    return status;
}

static double numbered_event_bytes(const struct section *section, size_t systems, double bodies)
{
    const struct format *format = format_of(section);
    const double each = format->body_bytes + (systems > 1 ? 8.0 : 0.0);
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
