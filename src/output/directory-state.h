/* The kinds of directory: a run, a study, a report, a benchmark; and the state of one that is open,
 * for the sources that share it: its files, its manifest, its opening. */
#ifndef ORRERY_OUTPUT_DIRECTORY_STATE_H
#define ORRERY_OUTPUT_DIRECTORY_STATE_H

#include <stdbool.h>

#include "base/interruption.h"

struct directory_kind {
    const char *noun;                      /* "run" */
    const char *manifest;                  /* "run.json" */
    const char *lock;                      /* "run.lock" */
    const char *files_lock;                /* held while shared files are written; NULL: none */
    const char *format;                    /* what its manifest gives as "format" */
    const char *temporary;                 /* the end of the first temporary name of a file */
    const struct directory_kind *excluded; /* must not be in the same directory; NULL: none */
};

extern const struct directory_kind directory_run, directory_study, directory_report,
    directory_bench, directory_bench_gpu;

struct directory {
    const struct directory_kind *kind;
    char *path;
    int fd;
    int lock, files_lock; /* -1: not locked */
    bool created;
    struct interruption *interruption; /* ends long work on its files early; NULL: nothing does */
};

#endif
