/* The file that the bodies of a run come from, by its content: names say little of it later. */
#ifndef ORRERY_RUN_INPUT_H
#define ORRERY_RUN_INPUT_H

#include "config/config.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The path of bodies.file; NULL where the bodies come from no file. */
const char *input_path(const struct config *config);

/* XXH3-64 of its bytes in hexadecimal digits; "" where it cannot be read. */
enum { INPUT_HASH_SIZE = 17 };
const char *input_hash(const char *path, char hash[INPUT_HASH_SIZE]);

#ifdef __cplusplus
}
#endif

#endif
