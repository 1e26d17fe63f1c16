/* Memory for arrays: overflow-checked, zeroed, aligned for every vector instruction set. */
#ifndef ORRERY_BASE_MEMORY_H
#define ORRERY_BASE_MEMORY_H

#include <stddef.h>

#include "base/status.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0])) /* number of elements */

enum { MEMORY_ALIGNMENT = 64 }; /* bytes: one cache line, one AVX-512 register */

/* Allocates `count` zeroed elements of `size` bytes, aligned to MEMORY_ALIGNMENT; the caller frees
 * them with memory_free(). Returns NULL with STATUS_MEMORY in *error if count x size overflows or
 * memory is exhausted. A count of 0 gives a valid, empty array. */
void *memory_array(size_t count, size_t size, struct error *error);

/* Returns count x size in bytes, for malloc() and realloc(); SIZE_MAX, which no machine has, if the
 * product overflows. */
size_t memory_bytes(size_t count, size_t size);

/* Frees an array of memory_array(); accepts NULL. */
void memory_free(void *array);

/* Makes arrays of a megabyte or more go back to the system when they are freed; main() calls it
 * once, at its beginning. Otherwise glibc would soon keep such arrays in its heap, and the
 * temporary arrays of diagnostics would add up in the gaps of the heap. */
void memory_return_large(void);

/* --- libraries -------------------------------------------------------------------------------- */

/* Libraries such as libgomp end the process by exit() if an allocation fails. The two functions
 * make such a process say that memory is exhausted and end with STATUS_MEMORY. */

/* Takes every exit(1) or exit(2) from now on for a call by a library that found no memory; main()
 * calls it once, at its beginning. */
void memory_watch_libraries(void);
/* Ends the effect of memory_watch_libraries(); main() calls it before it returns. */
void memory_finish(void);

#endif
