/*
 * Libraries that do not survive a failed allocation: libgomp and the scanner of libconfig end the
 * process with an exit status of their own, and libconfig 1.5 writes to address 0. Whatever they
 * do, the process says that memory is exhausted and ends with STATUS_MEMORY.
 */
#ifndef ORRERY_BASE_LIBRARY_H
#define ORRERY_BASE_LIBRARY_H

#ifdef __cplusplus
extern "C" {
#endif

/* From here on an exit(1) or exit(2) is a library's; once, when main() begins. */
void library_watch(void);
/* main() returns from here. */
void library_finish(void);

/* Around calls of a library that does not look whether it got memory. */
void library_guard(void);
void library_unguard(void);

#ifdef __cplusplus
}
#endif

#endif
