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

enum { CHECKPOINT_NAME_SIZE = 56 }; /* of a section's name, its NUL included */

/* --- writing: begin, sections, commit. The first failure is kept and reported by commit. --- */

struct checkpoint_writer;

enum status checkpoint_begin(struct directory *directory, struct checkpoint_writer **writer,
                             struct error *error);
void checkpoint_put_text(struct checkpoint_writer *writer, const char *name, const char *text);
/* Writes a section of doubles or integers of 64 bits: `rows` rows of `count` numbers, `stride`
 * apart, so that arrays of bodies go in without their padding. Rows are converted and written in
 * small parts; the whole is never copied. */
void checkpoint_put_words(struct checkpoint_writer *writer, const char *name, const void *words,
                          size_t rows, size_t count, size_t stride);
/* Puts the checkpoint in place. If `kept`, the one that was there becomes the previous one;
 * otherwise (it is damaged, say) it is lost. Frees the writer in any case. STATUS_IO,
 * STATUS_MEMORY: a checkpoint that was whole is still there. */
enum status checkpoint_commit(struct checkpoint_writer *writer, bool kept, struct error *error);
/* Removes what was written; frees the writer. */
void checkpoint_abandon(struct checkpoint_writer *writer);

/* --- reading --- */

struct checkpoint; /* a file that was checked as a whole; its numbers are read when asked for */

/* Opens a checkpoint and checks all of it. STATUS_NO_INPUT: there is none; STATUS_DATA: it is
 * damaged (which section, and how); STATUS_IO, STATUS_MEMORY. */
enum status checkpoint_open(const struct directory *directory, const char *name,
                            struct checkpoint **checkpoint, struct error *error);
void checkpoint_close(struct checkpoint *checkpoint); /* accepts NULL */

/* Opens a checkpoint from bytes in memory, which are borrowed; `label` is its name in messages. For
 * tests and fuzzing. */
enum status checkpoint_parse(const char *label, const void *bytes, size_t length,
                             struct checkpoint **checkpoint, struct error *error);

/* Reads the text of a section, NUL-terminated; the caller frees it. Returns NULL with STATUS_DATA
 * if there is no such section, STATUS_IO or STATUS_MEMORY. */
char *checkpoint_get_text(const struct checkpoint *checkpoint, const char *name,
                          struct error *error);
/* Reads the numbers of a section into `rows` rows of `count`, `stride` apart. STATUS_DATA if the
 * section is missing or holds another number of values; STATUS_IO. */
enum status checkpoint_get_words(const struct checkpoint *checkpoint, const char *name, void *words,
                                 size_t rows, size_t count, size_t stride, struct error *error);
/* Tells whether the checkpoint has a section of that name. */
bool checkpoint_has(const struct checkpoint *checkpoint, const char *name);

#endif
