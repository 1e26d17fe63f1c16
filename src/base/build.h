/* Describes the program: its version, commit, compiler and options, and where its file is. */
#ifndef ORRERY_BASE_BUILD_H
#define ORRERY_BASE_BUILD_H

const char *build_version(void);  /* "0.1.0" */
const char *build_commit(void);   /* abbreviated hash, "-dirty" appended; "unknown" without git */
const char *build_compiler(void); /* "gcc 12.2.0" */
const char *build_options(void);  /* the flags that decide results: CFLAGS and modes */

/* Returns the path of the program's file, without links, which the caller frees; NULL where the
 * system does not say. */
char *build_path(void);

#endif
