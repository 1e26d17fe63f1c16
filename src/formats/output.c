#include "formats/output.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/name.h"

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

enum status output_write_file(struct output *output, struct directory *directory, const char *name,
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
