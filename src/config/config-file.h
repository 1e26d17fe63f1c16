/* The bytes of configuration files, and where @include finds them. */
#ifndef ORRERY_CONFIG_CONFIG_FILE_H
#define ORRERY_CONFIG_CONFIG_FILE_H

#include <stdbool.h>
#include <sys/stat.h>

#include "base/status.h"
#include "base/text.h"

enum { FILE_LIMIT = 4 << 20 }; /* bytes; more is no configuration file */

/* The whole file, and which one it is. STATUS_NO_INPUT (missing, unreadable, a directory),
 * STATUS_CONFIG (too long), STATUS_IO, STATUS_MEMORY. */
enum status file_read(const char *path, struct text *text, struct stat *identity,
                      struct error *error);

/* The name of a file in errors: "<stdin>" for "-". */
const char *file_shown(const char *path);

/* `name`, or `directory of file`/`name` unless `name` is absolute. */
void file_beside(const char *file, const char *name, struct text *path);

/* Is there a file (not a directory) that can be read? Is it a regular one: no pipe or device, whose
 * end might never come? */
bool file_readable(const char *path);
bool file_there(const char *path); /* whatever it is */
bool file_regular(const char *path);

#endif
