/*
 * The files of `orrery convert`: IN, which is read frame after frame, and OUT, to which the frames
 * are written in another format.
 */
#ifndef ORRERY_COMMANDS_CONVERT_FILES_H
#define ORRERY_COMMANDS_CONVERT_FILES_H

#include "formats/read.h"
#include "formats/snapshot.h"

enum { CONVERT_PATH_SIZE = 4096 };

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
    char folder[CONVERT_PATH_SIZE]; /* folder of OUT */
    const char *name;               /* name of OUT in that folder */
    bool compressed;                /* OUT ends in .gz */
    struct xyz_frame xyz;
    const struct units *wanted, *declared; /* units of --units for OUT, and of --from-units for an
                                              IN that names none; NULL: not given */
    struct physics physics;
};

/* The input, which is read frame after frame: a frame has the bodies at one time. */
struct convert_source {
    struct read_request request;
    struct read_about about;
    struct lines *lines;   /* lines of an xyz file of which all frames are read; otherwise NULL */
    struct bodies *bodies; /* bodies of the frame read last */
    size_t frames;
};

/* The output, and what was written so far. */
struct convert_target {
    struct directory *directory;
    struct stream *stream;
    struct snapshot_arrays arrays; /* frames, if all are written at the end */
    size_t files;
    char first[CONVERT_PATH_SIZE];
};

/* Tells whether --from-units asks to take the numbers of IN as they stand. */
bool convert_as_is(const struct conversion *c);

/* Opens IN, learns what it holds, and chooses the units of OUT. STATUS_USAGE, STATUS_MEMORY, and
 * the errors of the format's measure(). */
enum status convert_source_open(struct conversion *c, struct convert_source *source,
                                struct error *error);
void convert_source_close(struct convert_source *source);

/* Opens the folder of OUT and, unless each frame has a file of its own, OUT. STATUS_CANT_CREATE. */
enum status convert_target_open(const struct conversion *c, struct convert_target *target,
                                struct error *error);

/* Copies the frames of IN that were asked for to OUT. */
enum status convert_frames(struct conversion *c, struct convert_source *source,
                           struct convert_target *target, struct error *error);

/* Closes OUT, which appears only now, and not at all after an error. Returns error->status. */
enum status convert_target_close(struct convert_target *target, struct error *error);

#endif
