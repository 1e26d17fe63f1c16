/* Outputs: files to which a run writes its bodies at chosen steps, the events. Each has one source
 * file and one row of the table. */
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

/* A written file of an output that has one for each event: its length and hash, and its inode,
 * which tell later whether it was changed or replaced. */
struct output_file {
    struct stream_mark mark;
    uint64_t inode;
};

/* The part that every output begins with; open() fills it. */
struct output {
    const struct output_class *class_;
    unsigned needs;   /* enum need, or-ed: the quantities that write() must be given */
    const char *file; /* its name in the run directory, or the start of the names of its files;
                         borrowed from the config */
    bool grows;       /* all events go into one file, which grows; else each event has a file */
    struct stream *stream;     /* the open file, if the output grows; else NULL */
    uint64_t written;          /* number of files so far, if each event has one */
    struct output_file *files; /* the files so far, an array with room for file_room of them */
    uint64_t file_room;
};

enum { OUTPUT_NAME_SIZE = 256 };

/* Checks that the key `file` is a name that a file of the run directory may have, and that
 * OUTPUT_NAME_SIZE has room for it and `spare` more bytes, the final NUL included; `what` stands in
 * the message: "a plain file name". */
enum status output_check_name(const struct section *section, size_t spare, const char *what,
                              struct error *error);

struct output_class {
    struct variant variant;
    /* Opens the file of an output or, with a `mark` (at a restart), continues it from there. Checks
     * the parameters before it touches anything; with `directory` NULL it only does this check. If
     * each event has a file, the length of the mark counts files. */
    enum status (*open)(const struct section *section, struct directory *directory,
                        const struct stream_mark *mark, struct output **output,
                        struct error *error);
    /* Removes, at a restart, files that the continued output does not keep: those of later events,
     * or a compressed copy. It is called once all outputs have been checked and the stream, if
     * there is one, has been cut. NULL: there are no such files. */
    enum status (*trim)(struct output *output, struct error *error);
    enum status (*write)(struct output *output, const struct moment *now, struct error *error);
    /* Does what is left to do to the file, such as compressing it, when the run has reached its end
     * and saved its state. This may take long; if the directory's interruption ends it, the file is
     * left as it is (STATUS_STOPPED). NULL: nothing is left to do. */
    enum status (*finish)(struct output *output, struct error *error);
    /* Flushes and closes the file and frees the output, also after a failure; accepts NULL. */
    enum status (*close)(struct output *output, struct error *error);
    /* Returns the bytes that one event writes for `bodies` bodies in all systems, to estimate the
     * space on the disk. */
    double (*event_bytes)(const struct section *section, size_t systems, double bodies);
    /* Returns the bytes of memory that are taken while an event is written; an array of struct
     * bodies has `length` numbers, with padding. NULL: hardly any are taken. */
    double (*memory_bytes)(const struct section *section, size_t systems, double bodies,
                           double length);
    /* Writes the name of file number `event` (0, 1, ...); NULL: there is one file for all
     * events. */
    void (*event_file)(const struct section *section, uint64_t event, char name[OUTPUT_NAME_SIZE]);
    /* Writes the name that finish() gives to the file; returns false if the file keeps its own.
     * NULL: finish() gives no other name. */
    bool (*finished_file)(const struct section *section, char name[OUTPUT_NAME_SIZE]);
};

const struct variant *output_variant(size_t index);
/* Finds the class that a section of the list `outputs` asks for. */
const struct output_class *output_find(const struct section *section);

/* For outputs that have a file for each event: checks the files that a checkpoint has counted,
 * which must have the `marks` (two words for each file, its length and hash). STATUS_IO,
 * STATUS_MEMORY. */
enum status output_resume_files(struct output *output, const struct section *section,
                                struct directory *directory, const uint64_t *marks,
                                struct error *error);

/* Checks that the files of the output are still those that the run wrote: by their lengths and
 * inodes, without reading them; for a file that grows also by its last bytes. STATUS_IO. */
enum status output_look(const struct output *output, const struct section *section,
                        const struct directory *directory, struct error *error);

/* The keys that all outputs share: every. */
extern const struct parameter output_parameters[];
extern const size_t output_parameter_count;

#endif
