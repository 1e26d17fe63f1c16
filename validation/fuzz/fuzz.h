/*
 * The fuzz targets: one function that takes any bytes, and must neither crash, leak, hang nor
 * accept what it should refuse. With clang and libFuzzer the bytes are made up; as a plain program
 * a target replays files, those of its corpus unless others are named.
 */
#ifndef ORRERY_VALIDATION_FUZZ_FUZZ_H
#define ORRERY_VALIDATION_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The target. Their names are libFuzzer's. */
int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

/* The folder of the target's seeds in validation/fuzz/corpus. */
extern const char fuzz_corpus[];

/* The path of a file of that name in a scratch directory, which goes away with the process; valid
 * until the process ends. `slot` (0 ... FUZZ_SLOTS - 1) tells them apart. */
enum { FUZZ_SLOTS = 8 };
const char *fuzz_path(int slot, const char *name);

/* Replaces the file. */
void fuzz_write(const char *path, const void *bytes, size_t length);

/* Aborts where something that must always hold does not, which counts as a crash. */
void fuzz_demand(bool holds, const char *what);

#endif
