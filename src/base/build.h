/* Describes the program: its version, commit, compiler and options, and where its file is. */
#ifndef ORRERY_BASE_BUILD_H
#define ORRERY_BASE_BUILD_H

const char *build_version(void);  /* "0.1.0" */
const char *build_commit(void);   /* hash, "1a2b3c4" or "1a2b3c4-dirty"; "unknown" without git */
const char *build_compiler(void); /* "gcc 12.2.0" */
const char *build_options(void);  /* the compiler options that decide results */

/* Returns the absolute path of the file of the running program, with symbolic links resolved; the
 * caller frees it. NULL if the system does not tell the path. */
char *build_path(void);

#endif
