/* The bytes that the runs of a study will write, before the first of them is run. */
#ifndef ORRERY_STUDY_DISK_H
#define ORRERY_STUDY_DISK_H

#include <stdbool.h>

#include "base/status.h"
#include "study/study.h"

/*
 * The bytes of all rows and frames of those members for which `counts` is true. They are worked out
 * in a process of its own, so that no device or team of threads is begun in this one, which must
 * have none yet. A member that cannot be prepared counts nothing: its own run will say why; where
 * that is so for all of them because of their config, STATUS_CONFIG with the words of the first. 0
 * bytes where no process could be made.
 */
enum status disk_needed(const struct study *study, const struct study_options *options,
                        bool (*counts)(const void *context, size_t member), const void *context,
                        double *bytes, struct error *error);

/* STATUS_CANT_CREATE where the disk of `directory`, which need not be there yet, has less room. */
enum status disk_check(const char *directory, double bytes, struct error *error);

#endif
