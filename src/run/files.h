/* The directory of a run, and its log. */
#ifndef ORRERY_RUN_FILES_H
#define ORRERY_RUN_FILES_H

#include <stdbool.h>

#include "base/status.h"
#include "base/text.h"
#include "output/directory.h"
#include "output/stream.h"
#include "run/input.h"

struct files {
    struct directory *directory;
    struct stream *log;
    struct text early_log; /* what is said before run.log is open */
    bool manifest_written; /* run.json is there and is this run's */
    bool failed;           /* failure.xyz holds the last frame of a run whose numbers failed */
    char bodies_hash[INPUT_HASH_SIZE]; /* of its files of bodies as it began; "" without one */
    json_t *members; /* of bodies.files; owned; NULL: the systems come from no files of their own */
};

/* Adds a line to the log, with the time. */
void files_log(struct files *files, const char *line);

/* Closes the log. */
void files_close(struct files *files, struct error *error);
void files_destroy(struct files *files);

#endif
