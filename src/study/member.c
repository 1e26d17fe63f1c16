#include "study/member.h"

#include <stdlib.h>

#include "base/text.h"
#include "run/schema.h"

/* The caller's overrides, the member's share of the cores, its own values, which are read where the
 * sweep is written and may set the threads themselves, and that a member is no sweep itself. */
enum status member_load(const struct study *study, const struct study_options *options, int threads,
                        size_t member, struct config **config, struct error *error)
{
    const size_t given = options->override_count, own = given + 1,
                 count = own + study->key_count + 1;
    struct text *texts = calloc(count, sizeof *texts);
    const char **overrides = calloc(count, sizeof(char *));
    struct location *locations = calloc(count, sizeof *locations);
    enum status status = STATUS_MEMORY;
    if (texts && overrides && locations) {
        for (size_t i = 0; i < given; i++)
            text_print(&texts[i], "%s", options->overrides[i]);
        text_print(&texts[given], "compute.threads=%d", threads);
        for (size_t k = 0; k < study->key_count; k++) {
            text_print(&texts[own + k], "%s=%s", study->keys[k],
                       study->values[member * study->key_count + k]);
            locations[own + k] = study->locations[k];
        }
        text_print(&texts[count - 1], "sweep=()");
        bool whole = true;
        for (size_t i = 0; i < count; i++) {
            overrides[i] = texts[i].bytes;
            whole = whole && !texts[i].failed;
        }
        const struct config_source source = { .path = options->path,
                                              .overrides = overrides,
                                              .override_count = count,
                                              .override_locations = locations };
        status = whole ? schema_read(&source, config, error) : error_memory(error);
    } else {
        error_memory(error);
    }
    for (size_t i = 0; texts && i < count; i++)
        text_free(&texts[i]);
    free(texts);
    free(overrides);
    free(locations);
    return status;
}
