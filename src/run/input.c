#include "run/input.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

const char *input_path(const struct config *config)
{
    const struct section *bodies = config_section(config, "bodies");
    const bool from_file = strcmp(section_variant(bodies)->name, "file") == 0;
    return from_file ? section_string(bodies, "file") : NULL;
}

const char *input_hash(const char *path, char hash[INPUT_HASH_SIZE])
{
    char buffer[16384];
    size_t length;
    struct stat about;
    hash[0] = '\0';
    /* What is no regular file, a pipe, say, can be read once only. */
    FILE *file = stat(path, &about) == 0 && S_ISREG(about.st_mode) ? fopen(path, "rb") : NULL;
    XXH3_state_t *state = file ? XXH3_createState() : NULL;
    if (state) {
        XXH3_64bits_reset(state);
        while ((length = fread(buffer, 1, sizeof buffer, file)) > 0)
            XXH3_64bits_update(state, buffer, length);
        if (!ferror(file))
            snprintf(hash, INPUT_HASH_SIZE, "%016" PRIx64, (uint64_t)XXH3_64bits_digest(state));
        XXH3_freeState(state);
    }
    if (file)
        fclose(file);
    return hash;
}
