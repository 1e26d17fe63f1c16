/* Hands files to a fuzz target, one after the other: those named, or the seeds of its corpus. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

static const long longest = 64L << 20; /* bytes of an input */

/* The path goes out first: where the target crashes, it is the last line. */
static void replay(const char *path)
{
    printf("# %s\n", path);
    fflush(stdout);
    FILE *file = fopen(path, "rb");
    fuzz_demand(file && fseek(file, 0, SEEK_END) == 0, "the input can be read");
    const long length = ftell(file);
    fuzz_demand(length >= 0 && length <= longest, "the input has a size");
    rewind(file);
    uint8_t *bytes = malloc((size_t)length + 1);
    fuzz_demand(bytes && fread(bytes, 1, (size_t)length, file) == (size_t)length,
                "the input can be read");
    fclose(file);
    LLVMFuzzerTestOneInput(bytes, (size_t)length);
    free(bytes);
}

static int replay_corpus(void)
{
    char folder[400];
    const char *source = getenv("ORRERY_SOURCE");
    snprintf(folder, sizeof folder, "%s/validation/fuzz/corpus/%s", source ? source : ".",
             fuzz_corpus);
    struct dirent **entries;
    const int count = scandir(folder, &entries, NULL, alphasort);
    int replayed = 0;
    for (int i = 0; i < count; i++) {
        char path[700];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.') {
            replay(path);
            replayed++;
        }
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    fuzz_demand(replayed > 0, "the corpus has files");
    return replayed;
}

int main(int count, char **arguments)
{
    LLVMFuzzerInitialize(&count, &arguments);
    printf("1..1\n");
    for (int i = 1; i < count; i++)
        replay(arguments[i]);
    const int replayed = count > 1 ? count - 1 : replay_corpus();
    printf("ok 1 - %s: %d inputs end in a result or an error\n", fuzz_corpus, replayed);
    return 0;
}
