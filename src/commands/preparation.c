#include "commands/preparation.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "run/schema.h"

/* Names the file that a newcomer may have meant by a path that is no config file. */
static enum status check_path(const char *path, struct error *error)
{
    struct text other = { 0 };
    struct stat about;
    const bool found = stat(path, &about) == 0;
    text_print(&other, "%s%s", path, found ? "/run.cfg" : ".cfg");
    if (other.bytes && access(other.bytes, R_OK) == 0 && strcmp(path, "-") != 0) {
        if (!found)
            error_set(error, STATUS_NO_INPUT, "%s: no such file; did you mean %s?", path,
                      other.bytes);
        else if (S_ISDIR(about.st_mode))
            error_set(error, STATUS_NO_INPUT, "%s: is a folder; did you mean %s?", path,
                      other.bytes);
    }
    text_free(&other);
    return error->status;
}

enum status prepare_config(const struct prepare_options *options, struct prepared *prepared,
                           struct error *error)
{
    *prepared = (struct prepared){ 0 };
    if (check_path(options->path, error))
        return error->status;
    return schema_load(options->path, options->overrides.items, options->overrides.count,
                       &prepared->config, error);
}

void prepare_done(struct prepared *prepared)
{
    run_destroy(prepared->run);
    config_free(prepared->config);
    *prepared = (struct prepared){ 0 };
}
