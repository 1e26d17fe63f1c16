/* The kinds of directory: a run, a study, a report, a benchmark. */
#ifndef ORRERY_OUTPUT_DIRECTORY_KIND_H
#define ORRERY_OUTPUT_DIRECTORY_KIND_H

struct directory_kind {
    const char *noun;                   /* "run" */
    const char *manifest;               /* "run.json" */
    const char *lock;                   /* "run.lock" */
    const char *files_lock;             /* held while files that others write too are; or NULL */
    const char *format;                 /* what its manifest gives as "format" */
    const char *temporary;              /* the end of the first temporary name of a file */
    const struct directory_kind *rival; /* does not go into the same directory; NULL: none */
};

extern const struct directory_kind directory_run, directory_study, directory_report,
    directory_bench, directory_bench_gpu;

#endif
