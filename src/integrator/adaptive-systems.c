#include "integrator/adaptive-systems.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "force/direct/reference.h"

enum {
    CLOCK_REALS = sizeof(struct adaptive_clock) / sizeof(double),
    STATE_ARRAYS = 6 /* positions and velocities */
};

static const struct adaptive_systems *systems_of(const struct adaptive *adaptive)
{
    return (const struct adaptive_systems *)adaptive;
}

enum status adaptive_systems_init(struct adaptive_systems *all,
                                  const struct adaptive_method *method,
                                  const struct physics *physics, struct bodies *bodies,
                                  struct error *error)
{
    const size_t reals = memory_bytes(bodies->systems, method->arrays * bodies->stride);
    *all = (struct adaptive_systems){
        .adaptive = { method->class_ },
        .method = method,
        .physics = physics,
        .bodies = bodies,
        .arrays = memory_array(reals, sizeof(double), error),
        .clocks = memory_array(bodies->systems, sizeof *all->clocks, error),
    };
    for (size_t s = 0; s < bodies->systems && all->clocks; s++)
        all->clocks[s].smallest = INFINITY;
    if (!physics->interruption || error->status)
        return error->status;
    const size_t before = memory_bytes(bodies_length(bodies), method->arrays + STATE_ARRAYS);
    all->before = memory_array(before, sizeof(double), error);
    all->clocks_before = memory_array(bodies->systems, sizeof *all->clocks, error);
    return error->status;
}

void adaptive_systems_clear(struct adaptive_systems *all)
{
    memory_free(all->arrays);
    memory_free(all->clocks);
    memory_free(all->before);
    memory_free(all->clocks_before);
}

double adaptive_systems_bytes(const struct adaptive_method *method, double systems, double count)
{
    const double numbers =
        (2.0 * (double)method->arrays + STATE_ARRAYS) * bodies_length_of(1, count);
    return systems * (numbers * sizeof(double) + 2.0 * sizeof(struct adaptive_clock));
}

double *adaptive_systems_arrays(const struct adaptive_systems *all, size_t s)
{
    return all->arrays + s * all->method->arrays * all->bodies->stride;
}

void adaptive_clock_fit(struct adaptive_clock *clock, double dt)
{
    if (clock->dt > 0 && clock->dt != dt) /* copied from a run with another grid step */
        clock->grid *= clock->dt / dt;
    clock->dt = dt;
}

void adaptive_clock_copy_failure(struct adaptive_clock *clock, const struct adaptive_clock *copy)
{
    clock->time = copy->time;
    clock->time_low = copy->time_low;
    clock->step = copy->step;
    clock->limiting = copy->limiting;
}

static void copy_state(const struct adaptive_systems *all, bool back)
{
    const struct bodies *const b = all->bodies;
    const size_t length = bodies_length(b), reals = all->method->arrays * length;
    double *const arrays[STATE_ARRAYS] = { b->x, b->y, b->z, b->vx, b->vy, b->vz };
    const size_t bytes = length * sizeof(double), clocks = b->systems * sizeof *all->clocks;
    memcpy(back ? all->arrays : all->before, back ? all->before : all->arrays,
           reals * sizeof(double));
    memcpy(back ? all->clocks : all->clocks_before, back ? all->clocks_before : all->clocks,
           clocks);
    for (size_t k = 0; k < STATE_ARRAYS; k++) {
        double *const before = all->before + reals + k * length;
        memcpy(back ? arrays[k] : before, back ? before : arrays[k], bytes);
    }
}

void adaptive_systems_begin(const struct adaptive_systems *all)
{
    if (all->before)
        copy_state(all, false);
}

enum status adaptive_systems_end(const struct adaptive_systems *all, struct error *error)
{
    if (!interruption_agreed(all->physics->interruption) || !all->before)
        return adaptive_systems_check(all, error);
    copy_state(all, true);
    return interruption_status(all->physics->interruption, error);
}

enum status adaptive_systems_check(const struct adaptive_systems *all, struct error *error)
{
    for (size_t s = 0; s < all->bodies->systems; s++)
        if (all->clocks[s].stuck != ADAPTIVE_DONE)
            return all->method->describe_stuck(all, s, error);
    return STATUS_OK;
}

enum status adaptive_systems_describe_pair(const struct adaptive_systems *all, size_t s,
                                           const char *why, struct error *error)
{
    const struct bodies *const b = all->bodies;
    const struct adaptive_clock *const clock = &all->clocks[s];
    const size_t first = s * b->stride, limiting = (size_t)clock->limiting;
    const struct reference_motion motion = {
        .m = b->m + first,
        .x = { b->x + first, b->y + first, b->z + first },
        .count = b->count,
    };
    const size_t partner = reference_strongest(all->physics, &motion, limiting);
    char pair[BODIES_PAIR_SIZE];
    return error_set(error, STATUS_NUMERICAL,
                     "system %zu, %s: at t = %g they ask for a step of %g, %s; "
                     "physics.softening > 0 keeps their attraction finite",
                     s + 1, bodies_pair(b, b->id[first + limiting], b->id[first + partner], pair),
                     text_plain(clock->time), text_plain(clock->step), why);
}

/* --- functions of the class ------------------------------------------------------------------- */

void adaptive_systems_save(const struct adaptive *adaptive, const struct adaptive_writer *writer)
{
    const struct adaptive_systems *const all = systems_of(adaptive);
    const struct bodies *const b = all->bodies;
    writer->put(writer->context, "arrays", all->arrays, b->systems * all->method->arrays, b->count,
                b->stride);
    writer->put(writer->context, "clocks", all->clocks, b->systems, CLOCK_REALS, CLOCK_REALS);
}

/* Tells whether a run could have written this clock. A checkpoint with the right checksum need not
 * come from a run: it may have been edited. */
static bool makes_sense(const struct adaptive_clock *clock, double count)
{
    const double bodies[] = { clock->limiting, clock->pair[0], clock->pair[1] };
    const double times[] = { clock->time, clock->time_low, clock->last,
                             clock->grid, clock->dt,       clock->tolerance };
    bool good = clock->stuck >= ADAPTIVE_DONE && clock->stuck <= ADAPTIVE_NOT_FINITE &&
                clock->grid >= 0 && clock->dt >= 0 && clock->tolerance >= 0 &&
                (clock->known == 0 || clock->dt > 0);
    for (size_t k = 0; k < COUNT_OF(bodies); k++)
        good &= bodies[k] >= 0 && bodies[k] < count;
    for (size_t k = 0; k < COUNT_OF(times); k++)
        good &= isfinite(times[k]) != 0;
    return good;
}

enum status adaptive_systems_load(struct adaptive *adaptive, const struct adaptive_reader *reader,
                                  struct error *error)
{
    struct adaptive_systems *const all = (struct adaptive_systems *)adaptive;
    const struct bodies *const b = all->bodies;
    if (reader->get(reader->context, "arrays", all->arrays, b->systems * all->method->arrays,
                    b->count, b->stride, error) ||
        reader->get(reader->context, "clocks", all->clocks, b->systems, CLOCK_REALS, CLOCK_REALS,
                    error))
        return error->status;
    for (size_t s = 0; s < b->systems; s++)
        if (!makes_sense(&all->clocks[s], (double)b->count) || !all->method->makes_sense(all, s))
            return error_set(error, STATUS_DATA,
                             "the state of %s for system %zu is none that it could have",
                             all->method->name, s + 1);
    return STATUS_OK;
}

void adaptive_systems_copy(struct adaptive *to, size_t to_system, const struct adaptive *from,
                           size_t from_system)
{
    const struct adaptive_systems *const all = systems_of(to);
    const size_t reals = all->method->arrays * all->bodies->stride;
    memcpy(all->arrays + to_system * reals, systems_of(from)->arrays + from_system * reals,
           reals * sizeof(double));
    all->clocks[to_system] = systems_of(from)->clocks[from_system];
}

void adaptive_systems_statistics(const struct adaptive *adaptive, size_t system,
                                 struct work_done *statistics)
{
    const struct adaptive_systems *const all = systems_of(adaptive);
    const struct adaptive_clock *const clock = &all->clocks[system];
    const int64_t *const id = all->bodies->id + system * all->bodies->stride;
    const bool moved = clock->steps > 0;
    *statistics = (struct work_done){
        .steps = clock->steps,
        .bodies = (double)all->bodies->count,
        .rejections = all->method->rejects ? clock->rejections : NAN,
        .interactions = rint(clock->sums * (double)all->bodies->count), /* sums may be fractions */
        .smallest = clock->smallest,
        .current = clock->step,
        .pair = { moved ? id[(size_t)clock->pair[0]] : 0, moved ? id[(size_t)clock->pair[1]] : 0 },
        .time = clock->time,
        .stuck = clock->stuck != ADAPTIVE_DONE,
    };
}
