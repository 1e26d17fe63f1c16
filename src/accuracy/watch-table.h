/*
 * The table of the accuracy watch's findings: for each quantity that it judges, the row of the
 * worst system. The rows of a system are made from its record by watch-energy.c, watch-bound.c and
 * watch-check.c; the verdict (watch-verdict.c) makes sentences and run.json from the table.
 *
 * Systems with left_out[system] do not count; if `left_out` is NULL, all do.
 */
#ifndef ORRERY_ACCURACY_WATCH_TABLE_H
#define ORRERY_ACCURACY_WATCH_TABLE_H

#include "accuracy/watch-energy.h"

/* The rows of a system, one for each quantity. If a system fails by several rows, the first counts,
 * from which the others follow; but errors of the forces count if they are worse. */
enum watch_row {
    WATCH_ROW_ERROR,  /* energy error */
    WATCH_ROW_DRIFT,  /* energy drift */
    WATCH_ROW_CHANGE, /* energy change within JUMP_STEPS */
    WATCH_ROW_ORBIT,  /* orbits of light bodies */
    WATCH_ROW_FORCES, /* errors of the forces */
    WATCH_ROW_PAIR,   /* steps of the fastest pair */
    WATCH_ROWS
};

struct watch_table {
    const bool *left_out;            /* the systems that the table leaves out, or NULL */
    struct finding rows[WATCH_ROWS]; /* of the worst systems; `systems`: how many are beyond */
    struct finding worst;            /* the worst failure, with the number of systems that fail */
};

/* Makes the table of the systems that count if any of these fails, else of all. */
struct watch_table watch_table_make(const struct watch *watch, const bool *left_out);

/* Returns the record of the system that a row of the table is of. */
const struct record *watch_table_record(const struct watch *watch, const struct finding *row);

bool watch_table_counts(const bool *left_out, size_t system);
bool watch_table_any_counts(const struct watch *watch, const bool *left_out);

/* Tells whether a system that counts fails by one of the rows `first` to `last`. */
bool watch_table_fails(const struct watch *watch, const bool *left_out, int first, int last);

/* Returns the record with the largest number at `offset` (bytes into a struct record). */
const struct record *watch_table_largest(const struct watch *watch, size_t offset);

#endif
