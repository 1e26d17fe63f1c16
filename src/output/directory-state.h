/* The kinds of directory (of a run, a study, a report, a benchmark), and the state of an open one,
 * for the sources in src/output that share it. */
#ifndef ORRERY_OUTPUT_DIRECTORY_STATE_H
#define ORRERY_OUTPUT_DIRECTORY_STATE_H

#include <stdbool.h>

#include "base/interruption.h"

/* The names by which the program recognises a kind of directory, with those of a run as
 * examples. */
struct directory_kind {
    const char *noun;                      /* "run" */
    const char *manifest;                  /* "run.json" */
    const char *lock;                      /* "run.lock" */
    const char *files_lock;                /* lock while shared files are written; NULL: none */
    const char *format;                    /* the manifest has this as "format": "orrery run" */
    const struct directory_kind *excluded; /* kind not allowed beside it; NULL: none */
};

extern const struct directory_kind directory_run, directory_study, directory_report,
    directory_bench, directory_bench_gpu;

struct directory {
    const struct directory_kind *kind;
    char *path;
    int fd;                            /* the open directory */
    int lock, files_lock;              /* descriptors of its locks; -1: not locked */
    bool created;                      /* the program has made the directory */
    struct interruption *interruption; /* asks long work on files to end; or NULL */
};

#endif
