/* Describes the build: the version, the commit, the compiler and its options. */
#ifndef ORRERY_BASE_BUILD_H
#define ORRERY_BASE_BUILD_H

const char *build_version(void);  /* "0.1.0" */
const char *build_commit(void);   /* abbreviated hash, "-dirty" appended; "unknown" without git */
const char *build_compiler(void); /* "gcc 12.2.0" */
const char *build_options(void);  /* the flags that decide results: CFLAGS and modes */

#endif
