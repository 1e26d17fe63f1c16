/* Files compressed with gzip, as one stream: OVITO reads the first stream of a file and no other.
 */
#ifndef ORRERY_OUTPUT_GZIP_H
#define ORRERY_OUTPUT_GZIP_H

#include <stddef.h>

#include "base/status.h"
#include "output/directory.h"

/* Returns the length of a file's name without a ".gz" at its end. */
size_t gzip_stem(const char *file);

/* --- a stream that is being written; the same bytes for the same bytes --- */

struct gzip;

/* Makes a compressor that writes to a descriptor, which stays the caller's. NULL if memory is
 * exhausted. */
struct gzip *gzip_create(int fd);
int gzip_write(struct gzip *gzip, const void *bytes, size_t length); /* 0, or errno */
/* Writes the end of the stream; frees in any case. 0, or errno. */
int gzip_end(struct gzip *gzip);
void gzip_destroy(struct gzip *gzip); /* frees it without an end; accepts NULL */

/* --- files of a run directory; the new one appears whole or not at all --- */

/*
 * Compresses `name` to `packed`, which it replaces. `name` stays. STATUS_STOPPED, with nothing
 * done, if the directory's interruption is raised; STATUS_IO, STATUS_CANT_CREATE, STATUS_NO_INPUT,
 * STATUS_MEMORY.
 */
enum status gzip_pack(struct directory *directory, const char *name, const char *packed,
                      struct error *error);

/* Unpacks `packed` to `name`, likewise. STATUS_IO also if `packed` is damaged or cut short. */
enum status gzip_unpack(struct directory *directory, const char *packed, const char *name,
                        struct error *error);

#endif
