/* The folder of this program, for the files that lie beside it. */
#ifndef ORRERY_BASE_PROGRAM_H
#define ORRERY_BASE_PROGRAM_H

/* The path of its file, without links, which the caller frees; NULL where the system does not say.
 */
char *program_path(void);

#endif
