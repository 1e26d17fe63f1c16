/* Writes and unpacks files compressed with gzip. Each is one gzip stream, since OVITO reads only
 * the first stream of a file. */
#ifndef ORRERY_OUTPUT_GZIP_H
#define ORRERY_OUTPUT_GZIP_H

#include <stddef.h>

#include "base/status.h"
#include "output/directory.h"

/* Returns the length of a file's name without a ".gz" at its end. */
size_t gzip_stem(const char *file);

/* a stream that is being written; equal content gives equal bytes */

struct gzip;

/* Makes a compressor that writes to the descriptor `fd`, which the caller closes. NULL if memory is
 * exhausted. */
struct gzip *gzip_create(int fd);
int gzip_write(struct gzip *gzip, const void *bytes, size_t length); /* returns 0, or errno */
/* Writes the end of the stream, and frees the compressor in any case. Returns 0, or errno. */
int gzip_end(struct gzip *gzip);
void gzip_destroy(struct gzip *gzip); /* frees it, with no end of the stream; accepts NULL */

/* --- files of a run directory; the new one appears whole or not at all --- */

/* Compresses the file `name` into the file `packed`, which it replaces; `name` stays.
 * STATUS_STOPPED, and nothing is changed, if the interruption of the directory is raised;
 * STATUS_IO, STATUS_CANT_CREATE, STATUS_NO_INPUT, STATUS_MEMORY. */
enum status gzip_pack(struct directory *directory, const char *name, const char *packed,
                      struct error *error);

/* Unpacks the file `packed` into the file `name`, which it replaces; `packed` stays. Errors as
 * gzip_pack(); STATUS_IO also if `packed` is damaged or cut short. */
enum status gzip_unpack(struct directory *directory, const char *packed, const char *name,
                        struct error *error);

#endif
