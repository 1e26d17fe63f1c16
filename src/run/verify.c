#include "run/verify.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "base/build.h"
#include "base/clock.h"
#include "run/provenance.h"
#include "run/run.h"

/* The backend is called for about this long at a time, for the sake of progress. */
static const double call_seconds = 0.2;

/* A replay at work. */
struct replay {
    struct run *run;
    struct checkpoint *target; /* checkpoint.orr */
    struct verification *result;
    void (*progress)(void *context, double done);
    void *context;
};

static enum status nothing_to_verify(const struct run *run, const char *why, struct error *error)
{
    return error_set(error, STATUS_NO_INPUT, "%s: nothing to verify: %s",
                     directory_path(run->files.directory), why);
}

/* Both checkpoints, and the state of the earlier one. */
static enum status open_states(struct replay *replay, struct error *error)
{
    struct run *run = replay->run;
    uint64_t to;
    if (!directory_has(run->files.directory, checkpoint_previous))
        return nothing_to_verify(run, "it has no checkpoint.orr.prev yet", error);
    if (checkpoint_open(run->files.directory, checkpoint_name, &replay->target, error) ||
        checkpoint_open(run->files.directory, checkpoint_previous, &run->continuation.checkpoint,
                        error) ||
        restart_compare(run, error) || restart_load_bodies(run, error) ||
        restart_step(replay->target, &to, error))
        return error->status;
    replay->result->from = run->schedule.step;
    replay->result->to = to;
    if (to > run->schedule.step)
        return STATUS_OK;
    return nothing_to_verify(run, "both checkpoints are of the same step", error);
}

static enum status compute(struct replay *replay, struct error *error)
{
    struct run *run = replay->run;
    const struct verification *result = replay->result;
    enum status status = STATUS_OK;
    for (uint64_t batch_steps = 1; run->schedule.step < result->to && !status;) {
        const uint64_t left = result->to - run->schedule.step;
        const uint64_t steps = left < batch_steps ? left : batch_steps;
        const double before = clock_seconds();
        status = simulation_advance(run->simulation, steps, error);
        run->schedule.step += steps;
        if (clock_seconds() - before < call_seconds)
            batch_steps *= 2;
        if (replay->progress)
            replay->progress(replay->context, (double)(run->schedule.step - result->from) /
                                                  (double)(result->to - result->from));
    }
    return status ? status : simulation_fetch(run->simulation, error);
}

/* Returns the certificate in run.json. */
static json_t *certificate(const struct replay *replay)
{
    const struct verification *result = replay->result;
    const struct backend_description *d = &replay->run->simulation->description;
    char host[RUN_HOST_SIZE], stamp[CLOCK_STAMP_SIZE];
    return json_pack("{s:b, s:I, s:I, s:I, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:f}", "equal",
                     result->difference.values == 0, "from_step", (json_int_t)result->from,
                     "to_step", (json_int_t)result->to, "different_numbers",
                     (json_int_t)result->difference.values, "when", clock_stamp(stamp), "host",
                     run_host(host), "version", build_version(), "commit", build_commit(),
                     "backend", d->backend, "kernel", d->kernel, "isa", d->isa, "threads",
                     d->threads, "seconds", result->seconds);
}

static enum status judge(const struct replay *replay, struct error *error)
{
    struct run *run = replay->run;
    const struct restart_difference *d = &replay->result->difference;
    if (d->values > 0 && !replay->result->same_build)
        return error_set(error, STATUS_UNAVAILABLE,
                         "%s: %zu numbers differ, but another build or kind of machine had "
                         "computed them; verify with that one",
                         directory_path(run->files.directory), d->values);
    if (provenance_add(run, "verified", certificate(replay), error))
        return error->status;
    if (d->values == 0)
        return STATUS_OK;
    char whose[40] = "";
    if (d->id != RESTART_NO_BODY)
        snprintf(whose, sizeof whose, " of body %" PRId64, d->id);
    return error_set(error, STATUS_EXPECT_FAILED,
                     "%s: steps %" PRIu64 " to %" PRIu64 " do not come out with the same bits: %zu "
                     "numbers differ, the first is %s%s",
                     directory_path(run->files.directory), replay->result->from, replay->result->to,
                     d->values, d->array, whose);
}

static enum status replay_run(struct replay *replay, struct error *error)
{
    struct run *run = replay->run;
    if (open_states(replay, error) || simulation_start(run->simulation, error) ||
        restart_load_integrator(run, error))
        return error->status;
    replay->result->same_build = restart_same_build(run, replay->target) &&
                                 restart_same_build(run, run->continuation.checkpoint);
    const double start = clock_seconds();
    if (compute(replay, error))
        return error->status;
    replay->result->seconds = clock_seconds() - start;
    if (restart_differences(run, replay->target, &replay->result->difference, error))
        return error->status;
    return judge(replay, error);
}

enum status verify_run(const struct config *config, const char *directory,
                       void (*progress)(void *context, double done), void *context,
                       struct verification *verification, struct error *error)
{
    *verification = (struct verification){ 0 };
    struct run *run = run_open_bare(config, directory, error);
    struct replay replay = { run, NULL, verification, progress, context };
    if (run)
        replay_run(&replay, error);
    checkpoint_close(replay.target);
    run_destroy(run);
    return error->status;
}
