/*
 * Puts the files of a report in their place: made in a folder of their own (output/workplace.h),
 * all of them listed in the manifest with what is in them (output/seal.h), and moved there one by
 * one.
 */
#ifndef ORRERY_OUTPUT_PLACEMENT_H
#define ORRERY_OUTPUT_PLACEMENT_H

#include <stddef.h>

#include "base/status.h"

struct directory;

/* Checks that these files may be written. STATUS_CANT_CREATE for one that is there and is not as
 * the manifest has it, and for a manifest that Orrery has not written. */
enum status placement_check(struct directory *directory, const char *const *names, size_t count,
                            struct error *error);

/*
 * Puts the files of these names from the folder of work in their place: what placement_check()
 * says, then the manifest, which lists what is there and what will be, then the files, each as a
 * whole. STATUS_CANT_CREATE, STATUS_IO, STATUS_MEMORY.
 */
enum status placement_place(struct directory *directory, const struct directory *work,
                            const char *const *names, size_t count, struct error *error);

#endif
