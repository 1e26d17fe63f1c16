/*
 * Libraries that end the process with an exit status of their own where an allocation fails, as
 * libgomp does: it then says that memory is exhausted and ends with STATUS_MEMORY.
 */
#ifndef ORRERY_BASE_LIBRARY_H
#define ORRERY_BASE_LIBRARY_H

/* From here on an exit(1) or exit(2) is a library's; once, when main() begins. */
void library_watch(void);
/* main() returns from here. */
void library_finish(void);

#endif
