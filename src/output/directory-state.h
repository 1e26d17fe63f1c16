/* The state of an open directory, for the sources that share it: its files, its manifest, its
 * opening. */
#ifndef ORRERY_OUTPUT_DIRECTORY_STATE_H
#define ORRERY_OUTPUT_DIRECTORY_STATE_H

#include <stdbool.h>

#include "output/directory-kind.h"

struct directory {
    const struct directory_kind *kind;
    char *path;
    int fd;
    int lock, files_lock; /* -1: not locked */
    bool created;
};

#endif
