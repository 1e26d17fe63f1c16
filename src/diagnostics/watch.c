#include "diagnostics/watch.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/document.h"
#include "base/memory.h"
#include "base/text.h"
#include "diagnostics/nearest.h"
#include "diagnostics/test-energy.h"

enum on_jump { ON_JUMP_WARN, ON_JUMP_FAIL, ON_JUMP_STOP };
static const char *const on_jump_names[] = { "warn", "fail", "stop", NULL };

const struct parameter watch_parameters[] = {
    { .key = "every",
      .type = PARAMETER_INTEGER,
      .standard = "1000",
      .minimum = 1,
      .maximum = INFINITY,
      .help = "Steps after which to look at the latest for the fastest pair and for what is not "
              "finite; the energy is judged at steps of the watch's own." },
    { .key = "energy_error",
      .type = PARAMETER_REAL,
      .standard = "0.005",
      .maximum = INFINITY,
      .help = "Largest |E - E0| since the start, over the larger of |E0| and |U0|, that a result "
              "is trusted with; 0: no limit." },
    { .key = "energy_drift",
      .type = PARAMETER_REAL,
      .standard = "",
      .maximum = INFINITY,
      .help = "Largest steady change of the energy over the whole run, in the same measure; unset: "
              "0.001, and the noise of the precision for a method that is not symplectic, since "
              "all that it loses is drift; 0: no limit." },
    { .key = "energy_jump",
      .type = PARAMETER_REAL,
      .standard = "0.1",
      .maximum = INFINITY,
      .help = "Change of the energy within 1000 steps that counts as a jump, in the same measure; "
              "0: none does." },
    { .key = "on_jump",
      .type = PARAMETER_CHOICE,
      .standard = "fail",
      .choices = on_jump_names,
      .help = "What an energy beyond one of these limits does: warn (say so), fail (the verdict is "
              "failed) or stop (an error or a jump ends the run as a numerical failure)." },
    { .key = "least_steps",
      .type = PARAMETER_REAL,
      .standard = "2.0",
      .maximum = INFINITY,
      .help = "Warn, once, when the orbital period over 2 pi of the fastest pair is shorter than "
              "so many steps: 2 are 12.6 steps of its period, where orrery check advises 200." },
};
const size_t watch_parameter_count = COUNT_OF(watch_parameters);

/* The fastest pair at some look, all numbers; undefined where there was none. */
struct sighting {
    double ids[2];
    double distance;
    double steps; /* of its orbital period over 2 pi */
    double time;  /* of the look */
};

/* The history of the energy is kept as means over so many windows of equal length. When they are
 * full, each two become one. So its size is fixed, and at least half of them always count. */
enum { WINDOWS = 16, LEAST_WINDOWS = WINDOWS / 2 };

/* What the records share, all numbers: all systems are judged at the same steps. */
struct history {
    double judged;          /* the last step at which the energy was judged; -1: none */
    double width;           /* of a window, in steps */
    double counts[WINDOWS]; /* looks in each */
};

/* An energy whose changes are judged, over `scale`, all numbers. */
struct level {
    double scale;  /* the larger of |E| and |U| at the start */
    double start;  /* the energy then */
    double energy; /* from which a jump is counted */
};

/*
 * The memory of one system, all numbers. Where a single body has mass, the energy of the system
 * says nothing; there the system is judged at each look by the worst of the specific energies of
 * its test bodies, the bodies without mass, and the sizes of their changes make its history.
 */
struct record {
    struct level level;               /* of the system */
    double by_tests;                  /* 1: judged by its test bodies */
    double largest_error, error_time; /* |E - E0|, over scale, and when */
    double error_body;                /* id of the test body whose it was */
    double first_error;               /* the time when it was beyond the limit first */
    struct sighting offending;        /* the faster of the pairs before and after that */
    double windows[WINDOWS];          /* sums of (E - E0) / scale */
    double inertia, virial;           /* sums of I and |W| over all looks */
    double time;                      /* from which a jump is counted */
    double jumps, first_jump;         /* how many, and the time of the first */
    double jumped_body;               /* id of the test body that made the first */
    double largest_jump;              /* over scale */
    struct sighting jumped;           /* the faster of the pairs before and after the first jump */
    double next_search;               /* step from which to look for the fastest pair again */
    struct sighting last;             /* what that look has found */
    struct sighting fastest;          /* of all looks */
    double warned;                    /* of the step */
};

enum {
    HISTORY_LENGTH = sizeof(struct history) / sizeof(double),
    RECORD_LENGTH = sizeof(struct record) / sizeof(double),
    LEVEL_LENGTH = sizeof(struct level) / sizeof(double)
};

/* What a symplectic method may lose steadily, if the config does not say. */
static const double steady_drift = 1e-3;

static const double two_pi = 6.283185307179586;

static const struct sighting nobody = { { NAN, NAN }, NAN, INFINITY, NAN };

struct watch {
    uint64_t every;
    double energy_error, energy_drift, energy_jump; /* limits; infinite: none */
    double noise, least_steps;
    enum on_jump on_jump;
    bool symplectic;
    const struct pace *pace;
    const struct units *units; /* of the run, for what is said */
    double dt;
    size_t systems;
    struct history *history; /* owns the numbers of the records and levels as well */
    struct record *records;
    size_t test_count;    /* levels of each system, for all its bodies; 0: no system needs them */
    struct level *levels; /* of the test bodies of all systems */
    size_t length;        /* of all these numbers, in reals */
};

/* Energies nearer to each other than this are not told apart: what a good integrator was seen to
 * leave after 10^6 steps, by the precision of the pair terms, and some ten times that. */
static const double noise_of[] = {
    [PRECISION_DOUBLE] = 1e-11, [PRECISION_MIXED] = 3e-7, [PRECISION_SINGLE] = 1e-5
};

/* --- when ------------------------------------------------------------------------------------- */

/*
 * The energy is judged at steps that depend on nothing but the number of bodies in all, so that the
 * verdict is the same whatever else is measured, and when. The stride between them grows with the
 * steps done, from strides[k] steps to the next where looks * strides[k + 1] steps are done; each
 * of these bounds is a multiple of both. Few bodies are looked at often, since their worst moments
 * are short and a look costs them little.
 */
struct pace {
    uint64_t looks;
    size_t count;
    uint64_t strides[8];
};

enum { FEW_BODIES = 64 };   /* in all; in one system: its fastest pair is sought at every look */
enum { JUMP_STEPS = 1000 }; /* within which a change is a jump; a multiple of every stride */

static const struct pace few = { 100, 6, { 1, 2, 5, 10, 20, 50 } };
static const struct pace many = { 20, 5, { 50, 100, 200, 500, 1000 } };

uint64_t watch_stride(const struct watch *watch, uint64_t step)
{
    const struct pace *pace = watch->pace;
    size_t k = 0;
    while (k + 1 < pace->count && pace->looks * pace->strides[k + 1] <= step)
        k++;
    return pace->strides[k];
}

/* Where warnings go. */
struct listener {
    void (*tell)(void *context, const char *line);
    void *context;
};

static double energy_of(const struct conserved *conserved)
{
    return conserved->kinetic + conserved->potential;
}

/* 0 is no limit; none is below the noise. */
static double limit_of(const struct section *section, const char *key, double unset, double noise)
{
    const double limit = section_has(section, key) ? section_real(section, key) : unset;
    return limit == 0.0 ? INFINITY : fmax(limit, noise);
}

static void read_limits(struct watch *watch, const struct section *section)
{
    const double noise = watch->noise;
    watch->every = (uint64_t)section_integer(section, "every");
    watch->energy_error = limit_of(section, "energy_error", NAN, noise);
    watch->energy_drift =
        limit_of(section, "energy_drift", watch->symplectic ? steady_drift : noise, noise);
    watch->energy_jump = limit_of(section, "energy_jump", NAN, noise);
    watch->on_jump = (enum on_jump)section_choice(section, "on_jump");
    watch->least_steps = section_real(section, "least_steps");
}

static struct level level_of(double energy, double potential)
{
    return (struct level){ fmax(fabs(energy), fabs(potential)), energy, energy };
}

static void begin_levels(struct watch *watch, const struct moment *start, size_t system)
{
    const struct bodies *b = start->bodies;
    const size_t center = test_energy_center(b, system), first = system * b->stride;
    struct level *levels = watch->levels + system * watch->test_count;
    for (size_t i = 0; i < b->count; i++) {
        const struct test_motion motion = test_energy_motion(start->physics, b, center, first + i);
        levels[i] = level_of(motion.kinetic + motion.potential, motion.potential);
    }
}

static void begin_records(struct watch *watch, const struct moment *start)
{
    *watch->history = (struct history){ .judged = -1.0, .width = (double)watch->pace->strides[0] };
    for (size_t s = 0; s < watch->systems; s++) {
        const struct conserved *c = &start->conserved[s];
        watch->records[s] = (struct record){
            .level = level_of(energy_of(c), c->potential),
            .by_tests = test_energy_applies(start->bodies, s),
            .first_error = NAN,
            .error_time = NAN,
            .error_body = NAN,
            .offending = nobody,
            .time = start->time,
            .first_jump = NAN,
            .jumped_body = NAN,
            .jumped = nobody,
            .last = nobody,
            .fastest = nobody,
        };
        if (watch->records[s].by_tests > 0.0)
            begin_levels(watch, start, s);
    }
}

/* The history, the records and the levels stand in one array, so that they are saved as one. */
static enum status create_memory(struct watch *watch, const struct bodies *bodies,
                                 struct error *error)
{
    watch->systems = bodies->systems;
    for (size_t s = 0; s < bodies->systems; s++)
        if (test_energy_applies(bodies, s))
            watch->test_count = bodies->count;
    /* Whole records, so that the size is one product: the history takes the room of some, and the
     * levels of a system that of some more. */
    enum { HISTORY_RECORDS = (HISTORY_LENGTH + RECORD_LENGTH - 1) / RECORD_LENGTH };
    const size_t levels = (watch->test_count * LEVEL_LENGTH + RECORD_LENGTH - 1) / RECORD_LENGTH;
    size_t records = memory_bytes(watch->systems, 1 + levels);
    if (records < SIZE_MAX)
        records += HISTORY_RECORDS;
    watch->history = memory_array(records, sizeof(struct record), error);
    if (!watch->history)
        return error->status;
    watch->records = (struct record *)((double *)watch->history + HISTORY_LENGTH);
    watch->levels = (struct level *)(watch->records + watch->systems);
    watch->length =
        HISTORY_LENGTH + watch->systems * (RECORD_LENGTH + watch->test_count * LEVEL_LENGTH);
    return STATUS_OK;
}

enum status watch_create(const struct section *section, const struct moment *start,
                         const struct watch_method *method, struct watch **result,
                         struct error *error)
{
    *result = NULL;
    struct watch *watch = calloc(1, sizeof *watch);
    if (!watch)
        return error_set(error, STATUS_MEMORY, "out of memory");
    if (create_memory(watch, start->bodies, error)) {
        watch_destroy(watch);
        return error->status;
    }
    watch->pace = watch->systems * start->bodies->count <= FEW_BODIES ? &few : &many;
    watch->noise = noise_of[method->precision];
    watch->symplectic = method->integrator->symplectic;
    watch->dt = start->dt;
    watch->units = start->physics->units;
    read_limits(watch, section);
    begin_records(watch, start);
    *result = watch;
    return STATUS_OK;
}

void watch_destroy(struct watch *watch)
{
    if (!watch)
        return;
    memory_free(watch->history);
    free(watch);
}

size_t watch_system_reals(void)
{
    return RECORD_LENGTH;
}

uint64_t watch_every(const struct watch *watch)
{
    return watch->every;
}

double *watch_memory(struct watch *watch, size_t *count)
{
    *count = watch->length;
    return (double *)watch->history;
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
    char time[UNITS_TEXT_SIZE];
    for (size_t i = first; i < first + b->count; i++)
        sum += blemish(b, i);
    if (sum == 0.0)
        return STATUS_OK;
    size_t bad = first;
    while (blemish(b, bad) == 0.0)
        bad++;
    return error_set(error, STATUS_NUMERICAL,
                     "system %zu, body %" PRId64 " at step %" PRIu64
                     " (t = %s): position (%g, %g, %g) or velocity (%g, %g, %g) is not finite",
                     system + 1, b->id[bad], now->step,
                     units_time(now->physics->units, now->time, 6, time), text_plain(b->x[bad]),
                     text_plain(b->y[bad]), text_plain(b->z[bad]), text_plain(b->vx[bad]),
                     text_plain(b->vy[bad]), text_plain(b->vz[bad]));
}

/* --- the fastest pair ------------------------------------------------------------------------- */

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

static const char *sighting_text(const struct watch *watch, const struct sighting *sighting,
                                 char buffer[WATCH_TEXT_SIZE])
{
    char distance[UNITS_TEXT_SIZE], time[UNITS_TEXT_SIZE];
    snprintf(buffer, WATCH_TEXT_SIZE,
             "bodies %.0f and %.0f, %s apart at t = %s, whose orbital period was %.3g steps (%d "
             "are advised)",
             sighting->ids[0], sighting->ids[1],
             units_length(watch->units, sighting->distance, 3, distance),
             units_time(watch->units, sighting->time, 6, time), two_pi * sighting->steps,
             WATCH_STEPS_PER_PERIOD);
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
    snprintf(line, sizeof line, "WARNING: system %zu: the step is too large for %s", system + 1,
             sighting_text(watch, &record->fastest, text));
    listener->tell(listener->context, line);
    return STATUS_OK;
}

/* --- the energy ------------------------------------------------------------------------------- */

enum { JUMPS_TOLD = 3 }; /* of each system; the others are only counted */

/* Who may have changed the energy: of the fastest pairs at the last look and now the faster one. */
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

/* Says it, or ends the run with it, as `on_jump` has it. */
static enum status report(const struct watch *watch, const struct listener *listener,
                          const char *line, const char *more, struct error *error)
{
    if (watch->on_jump == ON_JUMP_STOP)
        return error_set(error, STATUS_NUMERICAL, "%s", line);
    char warning[4 * WATCH_TEXT_SIZE];
    snprintf(warning, sizeof warning, "WARNING: %s%s", line, more);
    listener->tell(listener->context, warning);
    return STATUS_OK;
}

/* What a look finds of an energy: where it stands, over the scale. */
struct standing {
    double change, jump;           /* since the start, and since the last mark */
    double change_body, jump_body; /* ids of the test bodies whose they are; NaN: the system's */
    double inertia, virial;        /* I and |W|; of the test body with the largest change */
};

/* "the energy", or whose. */
enum { WHOSE_SIZE = 64 };
static const char *whose(double body, char buffer[WHOSE_SIZE])
{
    if (isnan(body))
        return "the energy";
    snprintf(buffer, WHOSE_SIZE, "the specific energy of test body %.0f", body);
    return buffer;
}

/* What its changes are measured in. */
static const char *scale_of(double body)
{
    return isnan(body) ? "max(|E0|, |U0|)" : "max(|e0|, |u0|)";
}

static enum status report_jump(struct watch *watch, const struct moment *now, unsigned valid,
                               size_t system, const struct standing *standing,
                               const struct listener *listener, struct error *error)
{
    struct record *record = &watch->records[system];
    struct sighting suspects;
    record->jumps += 1.0;
    record->largest_jump = fmax(record->largest_jump, fabs(standing->jump));
    if (record->jumps > JUMPS_TOLD && watch->on_jump != ON_JUMP_STOP)
        return STATUS_OK;
    if (find_suspects(record, now, valid, system, &suspects, error))
        return error->status;
    if (record->jumps == 1.0) {
        record->first_jump = now->time;
        record->jumped_body = standing->jump_body;
        record->jumped = suspects;
    }
    char text[WATCH_TEXT_SIZE], line[3 * WATCH_TEXT_SIZE], name[WHOSE_SIZE];
    char from[UNITS_TEXT_SIZE], to[UNITS_TEXT_SIZE];
    snprintf(line, sizeof line,
             "system %zu: %s jumped by %+.3g of %s between t = %s and t = %s; fastest pair: %s",
             system + 1, whose(standing->jump_body, name), standing->jump,
             scale_of(standing->jump_body), units_time(watch->units, record->time, 6, from),
             units_time(watch->units, now->time, 6, to), sighting_text(watch, &suspects, text));
    return report(watch, listener, line,
                  record->jumps == JUMPS_TOLD ? "; later jumps are only counted" : "", error);
}

/* The energy was beyond its limit in how many systems? */
static size_t beyond(const struct watch *watch)
{
    size_t systems = 0;
    for (size_t s = 0; s < watch->systems; s++)
        systems += !isnan(watch->records[s].first_error);
    return systems;
}

/* Once for each system; it is told of the first ones, and not beside a jump. */
static enum status report_error(struct watch *watch, const struct moment *now, unsigned valid,
                                size_t system, const struct standing *standing, bool told,
                                const struct listener *listener, struct error *error)
{
    struct record *record = &watch->records[system];
    const bool quiet = told || beyond(watch) >= JUMPS_TOLD;
    record->first_error = now->time;
    if (find_suspects(record, now, valid, system, &record->offending, error))
        return error->status;
    if (quiet && watch->on_jump != ON_JUMP_STOP)
        return STATUS_OK;
    char text[WATCH_TEXT_SIZE], line[3 * WATCH_TEXT_SIZE], name[WHOSE_SIZE], time[UNITS_TEXT_SIZE];
    snprintf(line, sizeof line,
             "system %zu: %s is off by %+.3g of %s since the start, at t = %s; fastest pair: %s",
             system + 1, whose(standing->change_body, name), standing->change,
             scale_of(standing->change_body), units_time(watch->units, now->time, 6, time),
             sighting_text(watch, &record->offending, text));
    return report(watch, listener, line, "", error);
}

/* sum m (x - X)^2 about the centre of mass. */
static double inertia_of(const struct bodies *b, size_t system, const double center[3])
{
    double sum = 0.0;
    for (size_t i = system * b->stride; i < system * b->stride + b->count; i++) {
        const double x = b->x[i] - center[0], y = b->y[i] - center[1], z = b->z[i] - center[2];
        sum += b->m[i] * (x * x + y * y + z * z);
    }
    return sum;
}

/* Of the test body whose energy has changed most, and of the one whose has jumped most. */
static struct standing find_worst(const struct watch *watch, const struct moment *now,
                                  size_t system)
{
    const struct bodies *b = now->bodies;
    const size_t center = test_energy_center(b, system), first = system * b->stride;
    const struct level *levels = watch->levels + system * watch->test_count;
    struct standing worst = { 0.0, 0.0, NAN, NAN, 0.0, 0.0 };
    for (size_t i = 0; i < b->count; i++) {
        if (first + i == center || !(levels[i].scale > 0.0))
            continue; /* without energy nothing can be judged */
        const struct test_motion motion = test_energy_motion(now->physics, b, center, first + i);
        const double energy = motion.kinetic + motion.potential;
        const double change = fabs(energy - levels[i].start) / levels[i].scale;
        const double jump = (energy - levels[i].energy) / levels[i].scale;
        if (isnan(worst.change_body) || change > worst.change) {
            worst.change = change;
            worst.change_body = (double)b->id[first + i];
            worst.inertia = motion.r2;
            worst.virial = fabs(motion.virial);
        }
        if (isnan(worst.jump_body) || fabs(jump) > fabs(worst.jump)) {
            worst.jump = jump;
            worst.jump_body = (double)b->id[first + i];
        }
    }
    return worst;
}

static struct standing find_standing(const struct watch *watch, const struct moment *now,
                                     size_t system)
{
    const struct record *record = &watch->records[system];
    const struct conserved *c = &now->conserved[system];
    if (record->by_tests > 0.0)
        return find_worst(watch, now, system);
    const double energy = energy_of(c), scale = record->level.scale; /* 0/0: nothing there */
    return (struct standing){ (energy - record->level.start) / scale,
                              (energy - record->level.energy) / scale,
                              NAN,
                              NAN,
                              inertia_of(now->bodies, system, c->center),
                              fabs(c->virial) };
}

/* Jumps are counted from here on. */
static void mark(struct watch *watch, const struct moment *now, size_t system)
{
    struct record *record = &watch->records[system];
    const struct bodies *b = now->bodies;
    record->level.energy = energy_of(&now->conserved[system]);
    record->time = now->time;
    if (!(record->by_tests > 0.0))
        return;
    const size_t center = test_energy_center(b, system), first = system * b->stride;
    for (size_t i = 0; i < b->count; i++) {
        const struct test_motion motion = test_energy_motion(now->physics, b, center, first + i);
        watch->levels[system * watch->test_count + i].energy = motion.kinetic + motion.potential;
    }
}

static enum status judge_energy(struct watch *watch, const struct moment *now, unsigned valid,
                                size_t system, const struct standing *standing,
                                const struct listener *listener, struct error *error)
{
    struct record *record = &watch->records[system];
    const bool jumped = fabs(standing->jump) > watch->energy_jump;
    enum status status = STATUS_OK;
    if (fabs(standing->change) > record->largest_error) {
        record->largest_error = fabs(standing->change);
        record->error_time = now->time;
        record->error_body = standing->change_body;
    }
    if (jumped)
        status = report_jump(watch, now, valid, system, standing, listener, error);
    if (!status && fabs(standing->change) > watch->energy_error && isnan(record->first_error))
        status = report_error(watch, now, valid, system, standing, jumped, listener, error);
    if (jumped || now->step % JUMP_STEPS == 0)
        mark(watch, now, system);
    return status;
}

/* --- the history of the energy ---------------------------------------------------------------- */

static void merge(double windows[WINDOWS])
{
    for (size_t k = 0; k < LEAST_WINDOWS; k++)
        windows[k] = windows[2 * k] + windows[2 * k + 1];
    for (size_t k = LEAST_WINDOWS; k < WINDOWS; k++)
        windows[k] = 0.0;
}

/* Makes room for a look at this step, and counts it. */
static void extend_history(struct watch *watch, uint64_t step)
{
    struct history *history = watch->history;
    while ((double)step >= WINDOWS * history->width) {
        history->width *= 2.0;
        merge(history->counts);
        for (size_t s = 0; s < watch->systems; s++)
            merge(watch->records[s].windows);
    }
    history->counts[(size_t)((double)step / history->width)] += 1.0;
}

static void add_to_history(struct watch *watch, uint64_t step, size_t system,
                           const struct standing *standing)
{
    struct record *record = &watch->records[system];
    record->windows[(size_t)((double)step / watch->history->width)] += standing->change;
    record->inertia += standing->inertia;
    record->virial += standing->virial;
}

/* --- a look ----------------------------------------------------------------------------------- */

static enum status look_at_energy(const struct moment *now, size_t system, struct error *error)
{
    char time[UNITS_TEXT_SIZE];
    if (isfinite(energy_of(&now->conserved[system])))
        return STATUS_OK;
    return error_set(error, STATUS_NUMERICAL,
                     "system %zu: the energy is not finite at step %" PRIu64 " (t = %s)",
                     system + 1, now->step, units_time(now->physics->units, now->time, 6, time));
}

enum status watch_look(struct watch *watch, const struct moment *now, unsigned valid, bool last,
                       void (*tell)(void *context, const char *line), void *context,
                       struct error *error)
{
    const struct listener listener = { tell, context };
    const bool summed = (valid & NEED_CONSERVED) && (double)now->step != watch->history->judged;
    const bool due = summed && now->step % watch_stride(watch, now->step) == 0;
    if (due) {
        extend_history(watch, now->step);
        watch->history->judged = (double)now->step;
    }
    for (size_t s = 0; s < watch->systems; s++) {
        if ((valid & NEED_STATE) && look_at_state(now, s, error))
            return error->status;
        if ((valid & NEED_CONSERVED) && look_at_energy(now, s, error))
            return error->status;
        if (due || (summed && last)) {
            const struct standing standing = find_standing(watch, now, s);
            if (judge_energy(watch, now, valid, s, &standing, &listener, error))
                return error->status;
            if (due)
                add_to_history(watch, now->step, s, &standing);
        }
        if ((valid & NEED_STATE) && look_at_step(watch, now, s, &listener, error))
            return error->status;
    }
    return STATUS_OK;
}

/* --- drift ------------------------------------------------------------------------------------ */

/*
 * The steady change of a system's energy: the line of least squares through the means over the
 * windows. `steadiness` is the part of their variance that lies on it (r squared): 1 for a drift
 * that does not falter, 1 - 1/(k + 1)^2 for k equal jumps in turn, 3/4 at most for one jump.
 */
struct drift {
    double change; /* by the line, over the windows; NaN: too few of them */
    double steadiness;
    double
        periods; /* that they cover, of 2 pi tau, tau = sqrt(<I> / <|W|>): 1 for a circular pair */
};

static struct drift drift_of(const struct watch *watch, const struct record *record)
{
    const struct history *history = watch->history;
    const size_t n = history->judged > 0.0 ? (size_t)(history->judged / history->width) : 0;
    if (n < LEAST_WINDOWS)
        return (struct drift){ NAN, NAN, NAN };
    double mean = 0.0, xx = 0.0, xy = 0.0, yy = 0.0;
    for (size_t k = 0; k < n; k++)
        mean += record->windows[k] / history->counts[k] / (double)n;
    for (size_t k = 0; k < n; k++) {
        const double x = (double)k - 0.5 * (double)(n - 1);
        const double y = record->windows[k] / history->counts[k] - mean;
        xx += x * x;
        xy += x * y;
        yy += y * y;
    }
    const double tau = sqrt(record->inertia / record->virial);
    return (struct drift){ xy / xx * (double)n, yy > 0.0 ? xy * xy / (xx * yy) : 0.0,
                           (double)n * history->width * watch->dt / (two_pi * tau) };
}

/* Half an oscillation looks like a line (0.985), four fifths of one like less of it (0.87); a
 * random walk is above 0.95 once in some fifty times. */
static const double least_steadiness = 0.95, least_periods = 0.8;

/* All that a method loses which is not symplectic is drift. */
static bool drifts(const struct watch *watch, const struct record *record)
{
    if (!watch->symplectic)
        return record->largest_error > watch->energy_drift;
    const struct drift drift = drift_of(watch, record);
    return fabs(drift.change) > watch->energy_drift && drift.steadiness > least_steadiness &&
           drift.periods > least_periods;
}

/* --- the verdict ------------------------------------------------------------------------------ */

/* What all systems together have shown; records are those of the worst. */
struct finding {
    double jumps;
    size_t beyond, drifting; /* systems */
    const struct record *jumped, *off, *drift, *fastest;
};

/* Is a before b? Times are NaN where it never was. */
static bool before(double a, double b)
{
    return a < b || (isnan(b) && !isnan(a));
}

static double drift_size(const struct watch *watch, const struct record *record)
{
    return watch->symplectic ? fabs(drift_of(watch, record).change) : record->largest_error;
}

static struct finding find(const struct watch *watch)
{
    const struct record *r = watch->records;
    struct finding all = { 0.0, beyond(watch), 0, r, r, r, r };
    bool drifting = false; /* all.drift does */
    for (size_t s = 0; s < watch->systems; s++, r++) {
        const bool now = drifts(watch, r);
        all.jumps += r->jumps;
        all.drifting += now;
        if (before(r->first_jump, all.jumped->first_jump))
            all.jumped = r;
        if (r->largest_error > all.off->largest_error)
            all.off = r;
        if ((now && !drifting) ||
            (now == drifting && drift_size(watch, r) > drift_size(watch, all.drift)))
            all.drift = r;
        drifting |= now;
        if (r->fastest.steps < all.fastest->fastest.steps)
            all.fastest = r;
    }
    return all;
}

bool watch_within_limits(const struct watch *watch, const bool *left_out)
{
    for (size_t s = 0; s < watch->systems; s++) {
        const struct record *record = &watch->records[s];
        if (left_out && left_out[s])
            continue;
        if (record->jumps > 0.0 || !isnan(record->first_error) || drifts(watch, record))
            return false;
    }
    return true;
}

bool watch_holds(const struct watch *watch, const bool *left_out)
{
    return watch->on_jump == ON_JUMP_WARN || watch_within_limits(watch, left_out);
}

double watch_error_in_limits(const struct watch *watch)
{
    double largest = 0.0;
    for (size_t s = 0; s < watch->systems; s++)
        largest = fmax(largest, watch->records[s].largest_error);
    return largest / watch->energy_error;
}

/* Adds to the text, as far as there is room. */
static void say(char buffer[WATCH_TEXT_SIZE], const char *format, ...)
{
    const size_t used = strlen(buffer);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(buffer + used, WATCH_TEXT_SIZE - used, format, arguments);
    va_end(arguments);
}

/* Of an ensemble, which system it was: " of system 3"; counted from 1 as everywhere outside. */
enum { SYSTEM_SIZE = 40 };
static const char *which(const struct watch *watch, const struct record *record,
                         char buffer[SYSTEM_SIZE])
{
    buffer[0] = '\0';
    if (watch->systems > 1)
        snprintf(buffer, SYSTEM_SIZE, " of system %zu", (size_t)(record - watch->records) + 1);
    return buffer;
}

/* And of how many it is the worst. */
static void say_worst(const struct watch *watch, size_t systems, char buffer[WATCH_TEXT_SIZE])
{
    if (watch->systems > 1 && systems > 1)
        say(buffer, ", the worst of %zu systems", systems);
}

static void say_drift(const struct watch *watch, const struct finding *all,
                      char buffer[WATCH_TEXT_SIZE])
{
    const struct record *drift = all->drift;
    char name[WHOSE_SIZE], system[SYSTEM_SIZE];
    if (!watch->symplectic && all->beyond > 0)
        return;
    if (watch->symplectic)
        say(buffer, "%s%s%s drifts by %+.3g of %s over the run (limit %g)", buffer[0] ? "; " : "",
            drift->by_tests > 0.0 ? "the specific energy of the worst test body" : "the energy",
            which(watch, drift, system), drift_of(watch, drift).change,
            scale_of(drift->by_tests > 0.0 ? 0.0 : NAN), watch->energy_drift);
    else
        say(buffer, "%sthe method is one that drifts: %s%s is off by %.3g of %s (limit %g)",
            buffer[0] ? "; " : "", whose(drift->error_body, name), which(watch, drift, system),
            drift->largest_error, scale_of(drift->error_body), watch->energy_drift);
    say_worst(watch, all->drifting, buffer);
}

static void say_jumps(const struct watch *watch, const struct finding *all,
                      char buffer[WATCH_TEXT_SIZE])
{
    char time[UNITS_TEXT_SIZE], distance[UNITS_TEXT_SIZE];
    const struct record *first = all->jumped;
    char name[WHOSE_SIZE], system[SYSTEM_SIZE];
    say(buffer,
        "%g jump%s of %s, the first before t = %s, where bodies %.0f and %.0f%s were %s apart",
        all->jumps, all->jumps == 1.0 ? "" : "s", whose(first->jumped_body, name),
        units_time(watch->units, first->first_jump, 4, time), first->jumped.ids[0],
        first->jumped.ids[1], which(watch, first, system),
        units_length(watch->units, first->jumped.distance, 3, distance));
}

const char *watch_text(const struct watch *watch, char buffer[WATCH_TEXT_SIZE])
{
    const struct finding all = find(watch);
    const struct sighting *fastest = &all.fastest->fastest;
    char name[WHOSE_SIZE], system[SYSTEM_SIZE], time[UNITS_TEXT_SIZE];
    buffer[0] = '\0';
    if (all.jumps > 0.0)
        say_jumps(watch, &all, buffer);
    else if (fastest->steps < watch->least_steps)
        say(buffer, "the step is too large for bodies %.0f and %.0f%s at t = %s", fastest->ids[0],
            fastest->ids[1], which(watch, all.fastest, system),
            units_time(watch->units, fastest->time, 4, time));
    if (all.beyond > 0) {
        say(buffer, "%s%s%s is off by %.3g of %s at t = %s (limit %g)", buffer[0] ? "; " : "",
            whose(all.off->error_body, name), which(watch, all.off, system), all.off->largest_error,
            scale_of(all.off->error_body), units_time(watch->units, all.off->error_time, 4, time),
            watch->energy_error);
        say_worst(watch, all.beyond, buffer);
    }
    if (all.drifting > 0)
        say_drift(watch, &all, buffer);
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

/* Counted from 1, as in tables and trajectories. */
static json_t *system_of(const struct watch *watch, const struct record *record)
{
    return json_integer((json_int_t)(record - watch->records) + 1);
}

/* Null for the energy of a system. */
static json_t *body_json(double id)
{
    return isnan(id) ? json_null() : json_integer((json_int_t)id);
}

/* Null where there is none. */
static json_t *limits_json(const struct watch *watch)
{
    return json_pack("{s:o, s:o, s:o, s:o}", "energy_error", document_number(watch->energy_error),
                     "energy_drift", document_number(watch->energy_drift), "energy_jump",
                     document_number(watch->energy_jump), "noise", document_number(watch->noise));
}

static json_t *error_json(const struct watch *watch, const struct finding *all)
{
    const struct record *off = all->off;
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:I}", "largest",
                     document_number(off->largest_error), "time", document_number(off->error_time),
                     "system", system_of(watch, off), "test_body", body_json(off->error_body),
                     "first_time_beyond", document_number(off->first_error), "pair",
                     sighting_json(&off->offending), "systems_beyond", (json_int_t)all->beyond);
}

static json_t *drift_json(const struct watch *watch, const struct finding *all)
{
    const struct drift drift = drift_of(watch, all->drift);
    return json_pack("{s:o, s:o, s:o, s:o, s:b, s:I}", "change", document_number(drift.change),
                     "steadiness", document_number(drift.steadiness), "periods",
                     document_number(drift.periods), "system", system_of(watch, all->drift),
                     "method_drifts", !watch->symplectic, "systems_beyond",
                     (json_int_t)all->drifting);
}

json_t *watch_json(const struct watch *watch, const bool *left_out)
{
    const struct finding all = find(watch);
    char text[WATCH_TEXT_SIZE];
    double largest = 0.0;
    for (size_t s = 0; s < watch->systems; s++)
        largest = fmax(largest, watch->records[s].largest_jump);
    return json_pack(
        "{s:b, s:s, s:o, s:o, s:o, s:I, s:o, s:o, s:o, s:o, s:o}", "holds",
        watch_holds(watch, left_out), "text", watch_text(watch, text), "limits", limits_json(watch),
        "energy_error", error_json(watch, &all), "energy_drift", drift_json(watch, &all),
        "energy_jumps", (json_int_t)all.jumps, "largest_jump", document_number(largest),
        "first_jump_time", document_number(all.jumped->first_jump), "first_jump_test_body",
        body_json(all.jumped->jumped_body), "first_jump_pair", sighting_json(&all.jumped->jumped),
        "fastest_pair", sighting_json(&all.fastest->fastest));
}
