#include "study/member.h"

#include <stdlib.h>

#include "base/text.h"
#include "run/schema.h"

/* The caller's overrides, those of the member, which are read where the sweep is written, and that
 * a member is no sweep itself. */
enum status member_load(const struct study *study, const struct study_options *options, int threads,
                        size_t member, struct config **config, struct error *error)
{
    const size_t given = options->override_count, count = given + study->key_count + 2;
    struct text *texts = calloc(count, sizeof *texts);
    const char **overrides = calloc(count, sizeof(char *));
    struct place *places = calloc(count, sizeof *places);
    enum status status = STATUS_MEMORY;
    if (texts && overrides && places) {
        for (size_t i = 0; i < given; i++)
            text_print(&texts[i], "%s", options->overrides[i]);
        for (size_t k = 0; k < study->key_count; k++) {
            text_print(&texts[given + k], "%s=%s", study->keys[k],
                       study->values[member * study->key_count + k]);
            places[given + k] = study->places[k];
        }
        text_print(&texts[count - 2], "sweep=()");
        text_print(&texts[count - 1], "compute.threads=%d", threads);
        bool whole = true;
        for (size_t i = 0; i < count; i++) {
            overrides[i] = texts[i].bytes;
            whole = whole && !texts[i].failed;
        }
        const struct config_source source = { .path = options->path,
                                              .overrides = overrides,
                                              .override_count = count,
                                              .override_places = places };
        status = whole ? schema_read(&source, config, error)
                       : error_set(error, STATUS_MEMORY, "out of memory");
    } else {
        error_set(error, STATUS_MEMORY, "out of memory");
    }
    for (size_t i = 0; texts && i < count; i++)
        text_free(&texts[i]);
    free(texts);
    free(overrides);
    free(places);
    return status;
}
