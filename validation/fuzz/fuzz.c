#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char directory[200];
static char *paths[FUZZ_SLOTS];

static void remove_all(void)
{
    for (int slot = 0; slot < FUZZ_SLOTS; slot++) {
        if (paths[slot])
            unlink(paths[slot]);
        free(paths[slot]);
        paths[slot] = NULL;
    }
    rmdir(directory);
}

void fuzz_demand(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "does not hold: %s\n", what);
    abort();
}

static void create_directory(void)
{
    const char *parent = getenv("TMPDIR");
    snprintf(directory, sizeof directory, "%s/orrery-fuzz-XXXXXX", parent ? parent : "/tmp");
    fuzz_demand(mkdtemp(directory) != NULL, "the scratch directory can be created");
    atexit(remove_all);
}

const char *fuzz_path(int slot, const char *name)
{
    if (!directory[0])
        create_directory();
    const size_t size = sizeof directory + strlen(name) + 2;
    if (!paths[slot])
        paths[slot] = malloc(size);
    fuzz_demand(paths[slot] != NULL, "memory");
    snprintf(paths[slot], size, "%s/%s", directory, name);
    return paths[slot];
}

void fuzz_write(const char *path, const void *bytes, size_t length)
{
    FILE *file = fopen(path, "wb");
    fuzz_demand(file && (length == 0 || fwrite(bytes, 1, length, file) == length) &&
                    fclose(file) == 0,
                "the scratch file can be written");
}
