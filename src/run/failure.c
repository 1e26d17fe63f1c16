#include "run/failure.h"

#include <inttypes.h>

#include "base/text.h"

const char failure_name[] = "failure.xyz";

static void write_body(struct stream *stream, const struct bodies *b, size_t i)
{
    const double values[] = { b->x[i], b->y[i], b->z[i], b->vx[i], b->vy[i], b->vz[i], b->m[i] };
    stream_write(stream, "X", 1);
    for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
        stream_write(stream, " ", 1);
        stream_real(stream, text_plain(values[k]), 17);
    }
    stream_print(stream, " %" PRId64 " %zu %d\n", b->id[i], i / b->stride + 1, bodies_finite(b, i));
}

void failure_forget(struct run *run)
{
    if (continuation_owns(&run->continuation, failure_name))
        directory_take(run->files.directory, failure_name);
}

enum status failure_save(struct run *run, struct error *error)
{
    const struct bodies *b = run->simulation->bodies;
    struct stream *stream;
    const struct work_done own = run_work(run).sums;
    if (simulation_fetch(run->simulation, error))
        return error->status;
    failure_forget(run);
    if (stream_open(run->files.directory, failure_name, NULL, &stream, error))
        return error->status;
    run->files.failed = true;
    stream_print(stream,
                 "%zu\nProperties=species:S:1:pos:R:3:velo:R:3:mass:R:1:id:I:1:cluster:I:1:"
                 "finite:I:1 Time=%.17g Step=%" PRIu64 "\n",
                 b->systems * b->count, own.stuck ? own.time : run_time(run), run->schedule.step);
    for (size_t s = 0; s < b->systems; s++)
        for (size_t i = s * b->stride; i < s * b->stride + b->count; i++)
            write_body(stream, b, i);
    return stream_close(stream, error);
}
