/* Memory for arrays: overflow-checked, zeroed, aligned for every vector instruction set. */
#ifndef ORRERY_BASE_MEMORY_H
#define ORRERY_BASE_MEMORY_H

#include <stddef.h>

#include "base/status.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0])) /* elements of a true array */

enum { MEMORY_ALIGNMENT = 64 }; /* bytes: one cache line, one AVX-512 register */

/*
 * `count` zeroed elements of `size` bytes, MEMORY_ALIGNMENT-aligned; the caller owns them and
 * gives them back with memory_free(). NULL with STATUS_MEMORY in *error when count x size
 * overflows or memory is exhausted. A count of 0 gives a valid, empty array.
 */
void *memory_array(size_t count, size_t size, struct error *error);

/* count x size, for malloc() and realloc(); SIZE_MAX, which no machine has, where it overflows. */
size_t memory_bytes(size_t count, size_t size);

/* Accepts NULL. */
void memory_free(void *array);

/*
 * Large arrays go back to the system when they are freed. Otherwise glibc learns to keep them, and
 * what diagnostics borrow for a moment adds up in gaps of its heap. Once, when main() begins.
 */
void memory_return_large(void);

/* --- libraries -------------------------------------------------------------------------------- */

/*
 * Libraries that end the process with an exit status of their own where an allocation fails, as
 * libgomp does: it then says that memory is exhausted and ends with STATUS_MEMORY.
 */

/* Takes an exit(1) or exit(2) from here on for a library's; once, when main() begins. */
void memory_watch_libraries(void);
/* Ends this: main() is about to return. */
void memory_finish(void);

#endif
