#include "commands/prepare.h"

#include "run/schema.h"

enum status prepare_config(const struct prepare_options *options, struct prepared *prepared,
                           struct error *error)
{
    *prepared = (struct prepared){ 0 };
    return schema_load(options->path, options->overrides.items, options->overrides.count,
                       &prepared->config, error);
}

enum status prepare_run(const struct run_options *options, bool measure, struct prepared *prepared,
                        struct error *error)
{
    return run_prepare(prepared->config, options, measure, &prepared->run, error);
}

void prepare_done(struct prepared *prepared)
{
    run_destroy(prepared->run);
    config_free(prepared->config);
    *prepared = (struct prepared){ 0 };
}
