/*
 * Outputs: files that take the bodies themselves at chosen steps. One source file and one row of
 * the table each.
 */
#ifndef ORRERY_FORMATS_OUTPUT_H
#define ORRERY_FORMATS_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "config/configuration.h"
#include "config/parameter.h"
#include "diagnostics/diagnostic.h"
#include "output/directory.h"
#include "output/stream.h"

struct output_class;

/* A file of an output that has one for each event, as it was written. */
struct output_file {
    struct stream_mark mark;
    uint64_t inode;
};

/* The part that every output begins with; open() fills it. */
struct output {
    const struct output_class *class_;
    unsigned needs;        /* enum need, or-ed */
    const char *file;      /* its name in the run directory, or the start of the names of its files;
                              borrowed from the config */
    bool grows;            /* one file for all events, rather than one file each */
    struct stream *stream; /* that file, once it is open */
    uint64_t written;      /* files so far, where each event has one */
    struct output_file *files; /* the files written; an array with room for file_room of them */
    uint64_t file_room;
};

enum { OUTPUT_NAME_SIZE = 256 };

struct output_class {
    struct variant variant;
    /* Opens its file; with a `mark` (a restart) continues it from there. Checks its parameters
     * before it touches anything; with `directory` NULL it does only that. Where each event has a
     * file, the mark counts files. */
    enum status (*open)(const struct section *section, struct directory *directory,
                        const struct stream_mark *mark, struct output **output,
                        struct error *error);
    /* Removes, for an output that is continued, the other files that lie behind the part that is
     * kept: called once all outputs are as they should be and the stream, if there is one, is cut.
     * Or NULL. */
    enum status (*trim)(struct output *output, struct error *error);
    enum status (*write)(struct output *output, const struct moment *now, struct error *error);
    /* When the run has reached its end and saved it: what is left to do to the file. It may take
     * long, and leaves the file as it is where the directory's interruption ends it
     * (STATUS_STOPPED). Or NULL. */
    enum status (*finish)(struct output *output, struct error *error);
    /* Flushes and closes, frees in any case; accepts NULL. */
    enum status (*close)(struct output *output, struct error *error);
    /* Bytes that one event writes for `bodies` bodies in all systems, for the estimate. */
    double (*event_bytes)(const struct section *section, size_t systems, double bodies);
    /* Bytes of memory that it borrows while it writes them, where an array of all bodies has
     * `length` numbers; NULL: hardly any. */
    double (*memory_bytes)(const struct section *section, size_t systems, double bodies,
                           double length);
    /* The name of file number `event` (0, 1, ...), where each event has one; otherwise NULL. */
    void (*event_file)(const struct section *section, uint64_t event, char name[OUTPUT_NAME_SIZE]);
    /* The name that finish() gives to the file; false where it keeps its own. Or NULL. */
    bool (*finished_file)(const struct section *section, char name[OUTPUT_NAME_SIZE]);
};

const struct variant *output_variant(size_t index);
/* The class that a section of the list `outputs` asks for. */
const struct output_class *output_find(const struct section *section);

/*
 * For outputs that have a file for each event. output_write_file() writes the next one, which must
 * not be there, counts it and notes what it is; output_resume_files() reads those that a checkpoint
 * has counted, whose `marks` (two words for each, its length and hash) they must have. STATUS_IO,
 * STATUS_CANT_CREATE, STATUS_MEMORY.
 */
enum status output_write_file(struct output *output, struct directory *directory, const char *name,
                              const void *bytes, size_t length, struct error *error);
enum status output_resume_files(struct output *output, const struct section *section,
                                struct directory *directory, const uint64_t *marks,
                                struct error *error);

/* Checks that all its files are still there as they were written. One look at each. STATUS_IO. */
enum status output_look(const struct output *output, const struct section *section,
                        const struct directory *directory, struct error *error);

/* The keys that all outputs share: every. */
extern const struct parameter output_parameters[];
extern const size_t output_parameter_count;

#endif
