/*
 * Files of bodies. A format is a row: how to recognise it, how to find out what it holds, and how
 * to read it into bodies. To add one: a source file, a line here, a row and a choice in file.c.
 */
#ifndef ORRERY_INITIAL_READ_H
#define ORRERY_INITIAL_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "model/bodies.h"

#ifdef __cplusplus
extern "C" {
#endif

struct read_request {
    const char *path;
    int64_t frame; /* of files that hold several: from 0; -1 is the last one */
};

struct read_shape {
    size_t systems;
    size_t count; /* bodies in each of them */
    size_t line;  /* where the last body stands, for errors; 0 if there are no lines */
};

/* All report STATUS_DATA with the line, STATUS_NO_INPUT, STATUS_IO, STATUS_MEMORY. */
struct read_format {
    const char *name; /* as bodies.format spells it */
    /* From the path and the first bytes of the file, uncompressed and NUL-terminated. */
    bool (*recognise)(const char *path, const char *head, size_t length);
    enum status (*measure)(const struct read_request *request, struct read_shape *shape,
                           struct error *error);
    /* Into bodies of the shape that was measured; ids stay as they are where the file has none. A
     * file of one system fills all systems of `bodies` with it. */
    enum status (*read)(const struct read_request *request, struct bodies *bodies,
                        struct error *error);
};

extern const struct read_format read_csv;
extern const struct read_format read_hdf5;
extern const struct read_format read_plain;
extern const struct read_format read_xyz;

/* For read(): may a file of `systems` systems fill `bodies`? STATUS_DATA. */
enum status read_check_systems(const struct read_request *request, size_t systems,
                               const struct bodies *bodies, struct error *error);

/* Copies system 0 to all others. */
void read_repeat(struct bodies *bodies);

#ifdef __cplusplus
}
#endif

#endif
