/* A test for names in a run.json that no run of Orrery's could have written. */
#ifndef ORRERY_REPORT_STRANGE_H
#define ORRERY_REPORT_STRANGE_H

#include <jansson.h>

#include "base/status.h"

/*
 * Looks at every key of the document, at the names of diagnostics and outputs in "config" and at
 * "files"; `path` is what messages call the document. From here on they may become names of files,
 * of figures and of columns. STATUS_DATA with the first that is strange, and where it stands.
 */
enum status strange_check(const json_t *document, const char *path, struct error *error);

#endif
