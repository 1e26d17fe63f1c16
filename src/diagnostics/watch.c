#include "diagnostics/watch.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/document.h"
#include "base/memory.h"
#include "diagnostics/nearest.h"

enum on_jump { ON_JUMP_WARN, ON_JUMP_FAIL, ON_JUMP_STOP };
static const char *const on_jump_names[] = { "warn", "fail", "stop", NULL };

const struct parameter watch_parameters[] = {
    { .key = "every",
      .type = PARAMETER_INTEGER,
      .standard = "1000",
      .minimum = 1,
      .maximum = INFINITY,
      .help = "Steps after which to look at the latest; every event that has measured the energy "
              "is looked at anyway." },
    { .key = "energy_jump",
      .type = PARAMETER_REAL,
      .standard = "0.1",
      .maximum = INFINITY,
      .open = OPEN_MINIMUM,
      .help = "Change of the energy from one look to the next that counts as a jump, over the "
              "larger of |E| and |U| at the start." },
    { .key = "on_jump",
      .type = PARAMETER_CHOICE,
      .standard = "fail",
      .choices = on_jump_names,
      .help = "What a jump does: warn (say so), fail (the verdict is failed) or stop (end the "
              "run as a numerical failure)." },
    { .key = "least_steps",
      .type = PARAMETER_REAL,
      .standard = "2.0",
      .maximum = INFINITY,
      .help = "Warn, once, when the orbital period over 2 pi of the fastest pair is shorter than "
              "so many steps." },
};
const size_t watch_parameter_count = COUNT_OF(watch_parameters);

/* The fastest pair at some look, all numbers; undefined where there was none. */
struct sighting {
    double ids[2];
    double distance;
    double steps; /* of its orbital period over 2 pi */
    double time;  /* of the look */
};

/* The memory of one system, all numbers. */
struct record {
    double scale;             /* of the energy */
    double energy, time;      /* at the last look at the sums */
    double jumps, first_jump; /* how many, and the time of the first */
    double largest_jump;      /* over scale */
    struct sighting jumped;   /* the faster of the pairs before and after the first jump */
    double next_search;       /* step from which to look for the fastest pair again */
    struct sighting last;     /* what that look has found */
    struct sighting fastest;  /* of all looks */
    double warned;            /* of the step */
};

enum { RECORD_LENGTH = sizeof(struct record) / sizeof(double) };

static const struct sighting nobody = { { NAN, NAN }, NAN, INFINITY, NAN };

struct watch {
    uint64_t every;
    double energy_jump, least_steps;
    enum on_jump on_jump;
    size_t systems;
    struct record *records;
};

/* Where warnings go. */
struct listener {
    void (*tell)(void *context, const char *line);
    void *context;
};

static double energy_of(const struct conserved *conserved)
{
    return conserved->kinetic + conserved->potential;
}

enum status watch_create(const struct section *section, const struct moment *start,
                         struct watch **result, struct error *error)
{
    *result = NULL;
    struct watch *watch = calloc(1, sizeof *watch);
    if (!watch)
        return error_set(error, STATUS_MEMORY, "out of memory");
    watch->systems = start->bodies->systems;
    watch->records = memory_array(watch->systems, sizeof *watch->records, error);
    if (!watch->records) {
        watch_destroy(watch);
        return error->status;
    }
    watch->every = (uint64_t)section_integer(section, "every");
    watch->energy_jump = section_real(section, "energy_jump");
    watch->on_jump = (enum on_jump)section_choice(section, "on_jump");
    watch->least_steps = section_real(section, "least_steps");
    for (size_t s = 0; s < watch->systems; s++) {
        const struct conserved *c = &start->conserved[s];
        watch->records[s] = (struct record){
            .scale = fmax(fabs(energy_of(c)), fabs(c->potential)),
            .energy = energy_of(c),
            .time = start->time,
            .first_jump = NAN,
            .jumped = nobody,
            .last = nobody,
            .fastest = nobody,
        };
    }
    *result = watch;
    return STATUS_OK;
}

void watch_destroy(struct watch *watch)
{
    if (!watch)
        return;
    memory_free(watch->records);
    free(watch);
}

uint64_t watch_every(const struct watch *watch)
{
    return watch->every;
}

double *watch_memory(struct watch *watch, size_t *count)
{
    *count = watch->systems * RECORD_LENGTH;
    return (double *)watch->records;
}

/* --- what is not finite ----------------------------------------------------------------------- */

/* 0, or NaN if a coordinate is not finite. */
static double blemish(const struct bodies *b, size_t i)
{
    return 0.0 * (b->x[i] + b->y[i] + b->z[i] + b->vx[i] + b->vy[i] + b->vz[i]);
}

static enum status look_at_state(const struct moment *now, size_t system, struct error *error)
{
    const struct bodies *b = now->bodies;
    const size_t first = system * b->stride;
    double sum = 0.0;
    for (size_t i = first; i < first + b->count; i++)
        sum += blemish(b, i);
    if (sum == 0.0)
        return STATUS_OK;
    size_t bad = first;
    while (blemish(b, bad) == 0.0)
        bad++;
    return error_set(error, STATUS_NUMERICAL,
                     "system %zu, body %" PRId64 " at step %" PRIu64
                     " (t = %g): position (%g, %g, %g) or velocity (%g, %g, %g) is not finite",
                     system, b->id[bad], now->step, now->time, b->x[bad], b->y[bad], b->z[bad],
                     b->vx[bad], b->vy[bad], b->vz[bad]);
}

/* --- the fastest pair ------------------------------------------------------------------------- */

enum { FEW_BODIES = 64 }; /* of which the fastest pair is looked for at every look */

static enum status find_fastest(const struct moment *now, size_t system, struct sighting *sighting,
                                struct error *error)
{
    struct nearest_pair pair;
    if (nearest_pair(now->physics, now->bodies, system, NEAREST_IN_TIME, &pair, error))
        return error->status;
    const int64_t *id = now->bodies->id + system * now->bodies->stride;
    *sighting = nobody;
    if (pair.found)
        *sighting = (struct sighting){ { (double)id[pair.i], (double)id[pair.j] },
                                       pair.distance,
                                       pair.time_scale / now->dt,
                                       now->time };
    return STATUS_OK;
}

static const char *sighting_text(const struct sighting *sighting, char buffer[WATCH_TEXT_SIZE])
{
    snprintf(buffer, WATCH_TEXT_SIZE,
             "bodies %.0f and %.0f, %.3g apart at t = %g, whose orbital period over 2 pi was %.3g "
             "steps",
             sighting->ids[0], sighting->ids[1], sighting->distance, sighting->time,
             sighting->steps);
    return buffer;
}

static bool was_warned(const struct watch *watch)
{
    for (size_t s = 0; s < watch->systems; s++)
        if (watch->records[s].warned > 0.0)
            return true;
    return false;
}

static enum status look_at_step(struct watch *watch, const struct moment *now, size_t system,
                                const struct listener *listener, struct error *error)
{
    struct record *record = &watch->records[system];
    if (now->bodies->count > FEW_BODIES && (double)now->step < record->next_search)
        return STATUS_OK;
    record->next_search = (double)(now->step + watch->every);
    if (find_fastest(now, system, &record->last, error))
        return error->status;
    if (record->last.steps < record->fastest.steps)
        record->fastest = record->last;
    if (record->fastest.steps >= watch->least_steps || was_warned(watch))
        return STATUS_OK;
    record->warned = 1.0;
    char text[WATCH_TEXT_SIZE], line[2 * WATCH_TEXT_SIZE];
    snprintf(line, sizeof line, "WARNING: system %zu: the step is too large for %s", system,
             sighting_text(&record->fastest, text));
    listener->tell(listener->context, line);
    return STATUS_OK;
}

/* --- jumps of the energy ---------------------------------------------------------------------- */

enum { JUMPS_TOLD = 3 }; /* of each system; the others are only counted */

/* Who may have caused a jump: of the fastest pairs at the last look and now the faster one. */
static enum status find_suspects(const struct record *record, const struct moment *now,
                                 unsigned valid, size_t system, struct sighting *suspects,
                                 struct error *error)
{
    struct sighting present = nobody;
    if ((valid & NEED_STATE) && find_fastest(now, system, &present, error))
        return error->status;
    *suspects = present.steps < record->last.steps ? present : record->last;
    return STATUS_OK;
}

static enum status report_jump(struct watch *watch, const struct moment *now, unsigned valid,
                               size_t system, double jump, const struct listener *listener,
                               struct error *error)
{
    struct record *record = &watch->records[system];
    struct sighting suspects;
    record->jumps += 1.0;
    record->largest_jump = fmax(record->largest_jump, fabs(jump));
    if (record->jumps > JUMPS_TOLD && watch->on_jump != ON_JUMP_STOP)
        return STATUS_OK;
    if (find_suspects(record, now, valid, system, &suspects, error))
        return error->status;
    if (record->jumps == 1.0) {
        record->first_jump = now->time;
        record->jumped = suspects;
    }
    char text[WATCH_TEXT_SIZE], line[3 * WATCH_TEXT_SIZE];
    snprintf(line, sizeof line,
             "system %zu: the energy jumped by %+.3g of its size between t = %g and t = %g; "
             "fastest pair: %s",
             system, jump, record->time, now->time, sighting_text(&suspects, text));
    if (watch->on_jump == ON_JUMP_STOP)
        return error_set(error, STATUS_NUMERICAL, "%s", line);
    char warning[4 * WATCH_TEXT_SIZE];
    snprintf(warning, sizeof warning, "WARNING: %s%s", line,
             record->jumps == JUMPS_TOLD ? "; later jumps are only counted" : "");
    listener->tell(listener->context, warning);
    return STATUS_OK;
}

static enum status look_at_energy(struct watch *watch, const struct moment *now, unsigned valid,
                                  size_t system, const struct listener *listener,
                                  struct error *error)
{
    struct record *record = &watch->records[system];
    const double energy = energy_of(&now->conserved[system]);
    if (!isfinite(energy))
        return error_set(error, STATUS_NUMERICAL,
                         "system %zu: the energy is not finite at step %" PRIu64 " (t = %g)",
                         system, now->step, now->time);
    const double jump = (energy - record->energy) / record->scale; /* 0/0: nothing there */
    enum status status = STATUS_OK;
    if (fabs(jump) > watch->energy_jump)
        status = report_jump(watch, now, valid, system, jump, listener, error);
    record->energy = energy;
    record->time = now->time;
    return status;
}

enum status watch_look(struct watch *watch, const struct moment *now, unsigned valid,
                       void (*tell)(void *context, const char *line), void *context,
                       struct error *error)
{
    const struct listener listener = { tell, context };
    for (size_t s = 0; s < watch->systems; s++) {
        if ((valid & NEED_STATE) && look_at_state(now, s, error))
            return error->status;
        if ((valid & NEED_CONSERVED) && look_at_energy(watch, now, valid, s, &listener, error))
            return error->status;
        if ((valid & NEED_STATE) && look_at_step(watch, now, s, &listener, error))
            return error->status;
    }
    return STATUS_OK;
}

/* --- the verdict ------------------------------------------------------------------------------ */

/* Jumps of all systems. */
static double all_jumps(const struct watch *watch)
{
    double jumps = 0.0;
    for (size_t s = 0; s < watch->systems; s++)
        jumps += watch->records[s].jumps;
    return jumps;
}

/* The system that jumped first, and the one with the fewest steps to the fastest pair. */
static const struct record *first_to_jump(const struct watch *watch)
{
    const struct record *first = &watch->records[0];
    for (size_t s = 1; s < watch->systems; s++)
        if (!(first->first_jump <= watch->records[s].first_jump))
            first = isnan(watch->records[s].first_jump) ? first : &watch->records[s];
    return first;
}

static const struct record *fastest_system(const struct watch *watch)
{
    const struct record *fastest = &watch->records[0];
    for (size_t s = 1; s < watch->systems; s++)
        if (watch->records[s].fastest.steps < fastest->fastest.steps)
            fastest = &watch->records[s];
    return fastest;
}

bool watch_holds(const struct watch *watch, const bool *left_out)
{
    if (watch->on_jump == ON_JUMP_WARN)
        return true;
    for (size_t s = 0; s < watch->systems; s++)
        if (watch->records[s].jumps > 0.0 && !(left_out && left_out[s]))
            return false;
    return true;
}

const char *watch_text(const struct watch *watch, char buffer[WATCH_TEXT_SIZE])
{
    const double jumps = all_jumps(watch);
    const struct record *first = first_to_jump(watch);
    const struct sighting *jumped = &first->jumped, *fastest = &fastest_system(watch)->fastest;
    buffer[0] = '\0';
    if (jumps > 0.0)
        snprintf(buffer, WATCH_TEXT_SIZE,
                 "%g jump%s of the energy, the first by t = %.4g, bodies %.0f and %.0f %.3g apart",
                 jumps, jumps == 1.0 ? "" : "s", first->first_jump, jumped->ids[0], jumped->ids[1],
                 jumped->distance);
    else if (fastest->steps < watch->least_steps)
        snprintf(buffer, WATCH_TEXT_SIZE,
                 "the step is too large for bodies %.0f and %.0f at t = %.4g", fastest->ids[0],
                 fastest->ids[1], fastest->time);
    return buffer;
}

static json_t *sighting_json(const struct sighting *sighting)
{
    if (isnan(sighting->time))
        return json_null();
    return json_pack("{s:I, s:I, s:o, s:o, s:o}", "id_1", (json_int_t)sighting->ids[0], "id_2",
                     (json_int_t)sighting->ids[1], "distance", document_number(sighting->distance),
                     "steps_per_time_scale", document_number(sighting->steps), "time",
                     document_number(sighting->time));
}

json_t *watch_json(const struct watch *watch, const bool *left_out)
{
    const struct record *first = first_to_jump(watch);
    double largest = 0.0;
    for (size_t s = 0; s < watch->systems; s++)
        largest = fmax(largest, watch->records[s].largest_jump);
    return json_pack(
        "{s:b, s:I, s:o, s:o, s:o, s:o}", "holds", watch_holds(watch, left_out), "energy_jumps",
        (json_int_t)all_jumps(watch), "largest_jump", document_number(largest), "first_jump_time",
        document_number(first->first_jump), "first_jump_pair", sighting_json(&first->jumped),
        "fastest_pair", sighting_json(&fastest_system(watch)->fastest));
}
