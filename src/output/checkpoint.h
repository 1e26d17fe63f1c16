/*
 * The checkpoint container: named sections of little-endian numbers or text, each with its own
 * checksum, between a header and an end marker.
 *
 *   header   "ORRERYCP", format version (u64)
 *   section  name (56 bytes, zero-padded), length in bytes (u64), XXH3-64 of the payload (u64),
 *            payload
 *   end      a section named "end" whose payload is XXH3-64 of every byte before it
 *
 * A checkpoint is written under a temporary name and renamed over the last one, which is kept as
 * checkpoint.orr.prev: at any moment one of the two is whole.
 */
#ifndef ORRERY_OUTPUT_CHECKPOINT_H
#define ORRERY_OUTPUT_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "output/directory.h"

extern const char checkpoint_name[];     /* "checkpoint.orr" */
extern const char checkpoint_previous[]; /* "checkpoint.orr.prev" */

enum { CHECKPOINT_NAME_SIZE = 56 }; /* bytes of the name of a section, with its NUL */

/* --- writing: begin, sections, commit. The first failure is kept and reported by commit. --- */

struct checkpoint_writer;

enum status checkpoint_begin(struct directory *directory, struct checkpoint_writer **writer,
                             struct error *error);
void checkpoint_put_text(struct checkpoint_writer *writer, const char *name, const char *text);
/* Writes a section of doubles or integers of 64 bits: `rows` rows of `count` numbers, of which each
 * row begins `stride` numbers behind the one before, so that arrays of bodies go in without their
 * padding. Rows are converted and written in small parts, so that no copy of the whole is made. */
void checkpoint_put_words(struct checkpoint_writer *writer, const char *name, const void *words,
                          size_t rows, size_t count, size_t stride);
/* Puts the checkpoint in place. If `kept`, the checkpoint that was there becomes the previous one
 * (checkpoint.orr.prev); otherwise (because it is damaged, say) it is lost. Frees the writer in any
 * case. After STATUS_IO or STATUS_MEMORY a whole checkpoint is there as before. */
enum status checkpoint_commit(struct checkpoint_writer *writer, bool kept, struct error *error);
/* Removes the unfinished file; frees the writer. */
void checkpoint_abandon(struct checkpoint_writer *writer);

/* --- reading --- */

struct checkpoint; /* a file that was checked as a whole; its numbers are read on demand */

/* Opens a checkpoint and checks all of it. STATUS_NO_INPUT: there is no such file; STATUS_DATA: it
 * is damaged (the message says which section, and how); STATUS_IO, STATUS_MEMORY. */
enum status checkpoint_open(const struct directory *directory, const char *name,
                            struct checkpoint **checkpoint, struct error *error);
void checkpoint_close(struct checkpoint *checkpoint); /* accepts NULL */

/* Opens a checkpoint from `length` bytes in memory, which are borrowed; messages call it `label`.
 * For tests and fuzzing. */
enum status checkpoint_parse(const char *label, const void *bytes, size_t length,
                             struct checkpoint **checkpoint, struct error *error);

/* Returns the text of a section, with a NUL behind it; the caller frees it. NULL with an error:
 * STATUS_DATA if there is no such section, STATUS_IO, STATUS_MEMORY. */
char *checkpoint_get_text(const struct checkpoint *checkpoint, const char *name,
                          struct error *error);
/* Reads the numbers of a section into `words`: `rows` rows of `count` numbers, of which each row
 * begins `stride` numbers behind the one before. STATUS_DATA if the section is missing or has
 * another number of numbers; STATUS_IO. */
enum status checkpoint_get_words(const struct checkpoint *checkpoint, const char *name, void *words,
                                 size_t rows, size_t count, size_t stride, struct error *error);
/* Tells whether the checkpoint has a section of that name. */
bool checkpoint_has(const struct checkpoint *checkpoint, const char *name);

#endif
