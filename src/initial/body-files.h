/* The files that bodies come from: bodies.file, or bodies.files, of which each is a system. */
#ifndef ORRERY_INITIAL_BODY_FILES_H
#define ORRERY_INITIAL_BODY_FILES_H

#include <stddef.h>

#include "config/configuration.h"

struct body_files {
    const char *key;          /* "file" or "files" */
    const char *const *paths; /* borrowed from the config */
    size_t count;             /* 0: the bodies come from no file */
    size_t folder; /* the letters of each path that name the folder that all of them are in */
};

/* Returns the files of the section `bodies`. */
struct body_files body_files_of(const struct section *bodies);

/* Returns the number of systems that they make: 0 if ensemble.systems decides it. */
size_t body_files_systems(const struct body_files *files);

/* The file of a system, counted from 0, as tables name it: without the folders that all have in
 * common. "" where the systems have no files of their own. */
const char *body_files_name(const struct body_files *files, size_t system);

#endif
