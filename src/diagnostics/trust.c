#include "diagnostics/trust.h"

#include <float.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdio.h>

#include "base/document.h"
#include "base/memory.h"
#include "diagnostics/growth.h"
#include "diagnostics/table.h"

const struct parameter trust_parameters[] = {
    { .key = "shadow",
      .type = PARAMETER_FLAG,
      .standard = "false",
      .help = "Carry along a twin of every system, displaced by a rounding error, and say until "
              "when the orbits can be trusted (trust.csv)." },
    { .key = "half_step",
      .type = PARAMETER_FLAG,
      .standard = "true",
      .help =
          "Carry along another one that takes half the step, until it has left the run: from it "
          "comes until when the orbits are accurate." },
    { .key = "every",
      .type = PARAMETER_INTEGER,
      .standard = "10",
      .minimum = 1,
      .maximum = INFINITY,
      .help = "Compare at step 0, at every so many steps, and at the last one." },
    { .key = "tolerance",
      .type = PARAMETER_REAL,
      .standard = "0.01",
      .maximum = 0.5,
      .open = OPEN_MINIMUM,
      .help = "Divergence, over the size of the system, at which its orbits count as others." },
    { .key = "displacement",
      .type = PARAMETER_REAL,
      .standard = "1e-12",
      .minimum = 1e-14,
      .maximum = 1e-3,
      .help = "How far each body of the twin stands away at the start, over the size of the "
              "system; farther where the precision of the forces asks for it." },
    { .key = "seed",
      .type = PARAMETER_INTEGER,
      .standard = "1",
      .minimum = 1,
      .maximum = 4294967295.0,
      .help =
          "Seed of the directions of these displacements; systems take it and those after it." },
};
const size_t trust_parameter_count = COUNT_OF(trust_parameters);

const unsigned trust_steps[TRUST_SHADOWS] = { [TRUST_TWIN] = 1, [TRUST_FINE] = 2 };

enum {
    DIVERGENCE,
    ROUNDING,
    TRUNCATION,
    E_FOLDING_TIME,
    E_FOLDING_TIME_ERROR,
    ACCURATE_UNTIL,
    REPRODUCIBLE_UNTIL,
    COLUMNS
};

static const struct column columns[COLUMNS] = {
    { "divergence", DIMENSION_NONE,
      "distance from the twin, root mean square over the bodies, over the size of the system; "
      "empty "
      "once the twin has been brought nearer, or is not needed any more" },
    { "rounding", DIMENSION_NONE,
      "the same that another machine, compiler or kernel would find: the rounding errors of the "
      "run so far, grown as the distance from the twin grows" },
    { "truncation", DIMENSION_NONE,
      "the same from the orbits with an infinitely small step: distance from the system with half "
      "the step, times 2^p / (2^p - 1) with the order p; empty once that one is not needed any "
      "more" },
    { "e_folding_time", DIMENSION_TIME,
      "time in which the distance from the twin grows by e; empty while it has not grown enough, "
      "or "
      "where it grows by a power of the time" },
    { "e_folding_time_error", DIMENSION_TIME, "its standard error" },
    { "accurate_until", DIMENSION_TIME,
      "when truncation and rounding together have reached trust.tolerance; empty before" },
    { "reproducible_until", DIMENSION_TIME,
      "when rounding has reached trust.tolerance; empty before" },
};

/* A divergence over time, and when it has first reached the tolerance. */
struct rise {
    double last;  /* value at the last look */
    double until; /* INFINITY before */
};

/* The memory of one system, all numbers. Distances are over the size, velocities over the speed. */
struct memory {
    double size;       /* a length */
    double speed;      /* sqrt(G M / size) */
    double noise;      /* what the rounding errors of one step add to the distance in phase space */
    double step, time; /* of the last look */
    double start, last;  /* distance of the twin in phase space: at its start, and then */
    double grown;        /* ln of the growth before the twin was brought nearer */
    double rounded;      /* distance in phase space that rounding errors make */
    double nearing;      /* what trust_take_nearing() is to say */
    double moved;        /* the twin was brought nearer at least once */
    double displacement; /* of the twin at the start */
    double lost[TRUST_SHADOWS];
    double carried[TRUST_SHADOWS]; /* steps of the run that it was carried along for */
    struct rise rounding, error;
    struct growth growth;
};

enum { MEMORY_LENGTH = sizeof(struct memory) / sizeof(double) };

struct trust {
    struct diagnostic diagnostic;
    uint64_t every;
    double tolerance, displacement;
    bool half_step;
    double richardson; /* error of the step over its difference to half the step */
    size_t systems;
    const struct units *units; /* of the run, for what is said */
    const struct bodies *shadows[TRUST_SHADOWS];
    const int64_t *slots[TRUST_SHADOWS];
    double *sorted; /* room for a number of each system */
};

static struct memory *memory_of(const struct trust *trust, size_t system)
{
    return (struct memory *)trust->diagnostic.memory + system;
}

/* --- scales -------------------------------------------------------------------------------------
 */

/* Sums over the bodies of one system. */
struct spread {
    double mass;
    double mean[3];
    double distance2;            /* mean square from the mean position */
    double position2, velocity2; /* mean squares from the origin */
};

static struct spread spread_of(const struct bodies *b, size_t system)
{
    struct spread spread = { 0 };
    const size_t first = system * b->stride;
    const double share = 1.0 / (double)b->count;
    for (size_t i = first; i < first + b->count; i++) {
        const double x[] = { b->x[i], b->y[i], b->z[i] }, v[] = { b->vx[i], b->vy[i], b->vz[i] };
        spread.mass += b->m[i];
        for (int k = 0; k < 3; k++) {
            spread.mean[k] += share * x[k];
            spread.position2 += share * x[k] * x[k];
            spread.velocity2 += share * v[k] * v[k];
        }
    }
    for (size_t i = first; i < first + b->count; i++) {
        const double x[] = { b->x[i], b->y[i], b->z[i] };
        for (int k = 0; k < 3; k++)
            spread.distance2 += share * (x[k] - spread.mean[k]) * (x[k] - spread.mean[k]);
    }
    return spread;
}

/*
 * What rounding adds to phase space in one step. A sum is off by up to half a unit in the last
 * place, which is between eps/2 and eps of it: the root mean square is some 0.2 eps. Each drift
 * rounds the positions and each kick the velocities; forces bring their own errors.
 */
static double noise_of(const struct integrator *integrator, const struct trust_force *force,
                       double dt, const struct spread *spread, const struct memory *memory)
{
    const double unit = 0.2 * DBL_EPSILON;
    const double acceleration =
        fmax(force->scale, memory->speed * memory->speed / memory->size); /* a start may be cold */
    double drifts = 0.0, kicks = 0.0, squares = 0.0;
    for (size_t k = 0; k < integrator->stage_count; k++) {
        const struct stage *stage = &integrator->stages[k];
        drifts += stage->verb == VERB_DRIFT;
        kicks += stage->verb == VERB_KICK;
        if (stage->verb == VERB_KICK)
            squares += stage->coefficient * stage->coefficient;
    }
    const double position = unit * sqrt(drifts * spread->position2) / memory->size;
    const double velocity =
        unit * sqrt(kicks * fmax(spread->velocity2 / (memory->speed * memory->speed), 1.0));
    const double kick =
        fmax(force->error, unit) * acceleration * dt * sqrt(squares) / memory->speed;
    return sqrt(position * position + velocity * velocity + kick * kick);
}

/* Of a uniform cube, the root mean square distance from its centre is half its side. */
static void measure_scales(struct memory *memory, const struct moment *start, size_t system,
                           const struct integrator *integrator, const struct trust_force *force,
                           double displacement)
{
    /* Nearer, the rounding errors of a crossing time part the twin from the run, and its growth is
     * theirs: with forces in fp32. */
    static const double clear_of_noise = 30.0;
    const struct spread spread = spread_of(start->bodies, system);
    const struct physics *physics = start->physics;
    const double size =
        physics->boundary == BOUNDARY_PERIODIC ? 0.5 * physics->box_length : sqrt(spread.distance2);
    memory->size = size > 0.0 ? size : 1.0; /* one body alone */
    memory->speed = sqrt(physics->gravitational_constant * spread.mass / memory->size);
    memory->noise = noise_of(integrator, force, start->dt, &spread, memory);
    const double steps = size > 0.0 ? memory->size / memory->speed / start->dt : 1.0;
    memory->displacement = fmax(displacement, clear_of_noise * memory->noise * sqrt(steps));
    memory->nearing = 1.0;
    memory->rounding.until = memory->error.until = INFINITY;
}

/* Of the time that a body takes through the system, at least. */
static struct growth_fit fit_growth(const struct memory *memory)
{
    return growth_fit(&memory->growth, memory->size / memory->speed);
}

/* --- distances ----------------------------------------------------------------------------------
 */

/* Between a system and its shadow. */
struct distance {
    double position; /* root mean square over the bodies, over the size */
    double phase;    /* with that of the velocities, over the speed */
};

static double square_of_difference(const double *a, const double *b, size_t count, double L)
{
    double sum = 0.0;
    for (size_t i = 0; i < count; i++) {
        const double d = L > 0.0 ? physics_nearest_image(a[i] - b[i], L) : a[i] - b[i];
        sum += d * d;
    }
    return sum;
}

static bool is_carried(const struct trust *trust, enum trust_shadow shadow, size_t system)
{
    return trust->shadows[shadow] && trust->slots[shadow][system] != TRUST_NOT_CARRIED;
}

static struct distance distance_of(const struct trust *trust, const struct moment *now,
                                   enum trust_shadow kind, size_t system)
{
    const struct bodies *b = now->bodies, *shadow = trust->shadows[kind];
    const struct memory *memory = memory_of(trust, system);
    const struct physics *physics = now->physics;
    const size_t first = system * b->stride;
    const size_t other = (size_t)trust->slots[kind][system] * shadow->stride;
    const double *const from[] = { b->x, b->y, b->z, b->vx, b->vy, b->vz };
    const double *const to[] = {
        shadow->x, shadow->y, shadow->z, shadow->vx, shadow->vy, shadow->vz
    };
    const double L = physics->boundary == BOUNDARY_PERIODIC ? physics->box_length : 0.0;
    double position2 = 0.0, velocity2 = 0.0;
    for (int k = 0; k < 3; k++) {
        position2 += square_of_difference(from[k] + first, to[k] + other, b->count, L);
        velocity2 += square_of_difference(from[k + 3] + first, to[k + 3] + other, b->count, 0.0);
    }
    const double position = sqrt(position2 / (double)b->count) / memory->size;
    const double velocity = sqrt(velocity2 / (double)b->count) / memory->speed;
    return (struct distance){ position, hypot(position, velocity) };
}

/* --- measuring ----------------------------------------------------------------------------------
 */

/* On from time t0 to t1 and `value`; between the two looks it grows exponentially. */
static void rise_to(struct rise *rise, double value, double tolerance, double t0, double t1)
{
    if (isinf(rise->until) && value >= tolerance) {
        const double part = rise->last > 0.0 && isfinite(value)
                                ? log(tolerance / rise->last) / log(value / rise->last)
                                : 1.0;
        rise->until = t0 + part * (t1 - t0);
    }
    rise->last = value;
}

/*
 * The distance that rounding errors make: what there was has grown as the twin's distance has, and
 * each step since has added its own. Along regular orbits, where distances grow like the time, the
 * errors add up to more: to noise sqrt(n) growth / sqrt(3).
 */
static void add_rounding(struct memory *memory, double growth, double steps, double all_steps)
{
    static const double most = 10.0; /* larger than any distance within a system */
    const double grown = memory->rounded * growth;
    const double regular = memory->noise * sqrt(all_steps / 3.0) * exp(memory->growth.log);
    memory->rounded = fmax(hypot(grown, memory->noise * sqrt(steps)), regular);
    memory->rounded = fmin(memory->rounded, most);
}

/* The twin has grown to the tolerance: from now on it is to show the rounding errors themselves,
 * and stands no farther away than they bring it. */
static void bring_nearer(struct memory *memory, double position)
{
    memory->nearing = fmin(fmax(memory->rounding.last, memory->displacement) / position, 1.0);
    memory->moved = 1.0;
    memory->grown = memory->growth.log;
    memory->start = memory->last = memory->last * memory->nearing;
}

static double look_at_twin(struct trust *trust, struct memory *memory, const struct moment *now,
                           size_t system)
{
    const double steps = (double)now->step - memory->step;
    struct distance d = distance_of(trust, now, TRUST_TWIN, system);
    if (memory->lost[TRUST_TWIN] > 0.0)
        d = (struct distance){ INFINITY, INFINITY };
    if (memory->start == 0.0)
        memory->start = memory->last = d.phase;
    const double growth = d.phase / memory->last;
    growth_add(&memory->growth, now->time, memory->grown + log(d.phase / memory->start));
    add_rounding(memory, growth, steps, (double)now->step);
    const double share = isfinite(d.phase) ? d.position / d.phase : 1.0;
    memory->last = d.phase;
    rise_to(&memory->rounding, memory->rounded * share, trust->tolerance, memory->time, now->time);
    const double shown = memory->moved > 0.0 ? NAN : d.position;
    /* Not at the end of a run, if its cadence does not say so: it may go further. */
    if (d.position >= trust->tolerance && isinf(memory->rounding.until) && isfinite(d.position) &&
        now->step % trust->every == 0)
        bring_nearer(memory, d.position);
    return shown;
}

static double look_at_fine(struct trust *trust, struct memory *memory, const struct moment *now,
                           size_t system)
{
    const struct distance d = distance_of(trust, now, TRUST_FINE, system);
    const double truncation =
        memory->lost[TRUST_FINE] > 0.0 ? INFINITY : trust->richardson * d.position;
    /* An error of the force is one of the orbit too. */
    rise_to(&memory->error, hypot(truncation, memory->rounding.last), trust->tolerance,
            memory->time, now->time);
    return truncation;
}

static enum status measure_system(struct diagnostic *diagnostic, const struct moment *now,
                                  size_t system, const struct row_sink *sink, struct error *error)
{
    struct trust *trust = (struct trust *)diagnostic;
    struct memory *memory = memory_of(trust, system);
    double row[COLUMNS] = { NAN, NAN, NAN, NAN, NAN, NAN, NAN };
    if (is_carried(trust, TRUST_TWIN, system)) {
        row[DIVERGENCE] = look_at_twin(trust, memory, now, system);
        row[ROUNDING] = memory->rounding.last;
    }
    if (is_carried(trust, TRUST_FINE, system))
        row[TRUNCATION] = look_at_fine(trust, memory, now, system);
    for (int k = 0; k < TRUST_SHADOWS; k++)
        if (is_carried(trust, (enum trust_shadow)k, system))
            memory->carried[k] = (double)now->step;
    memory->step = (double)now->step;
    memory->time = now->time;
    const struct growth_fit fit = fit_growth(memory);
    row[E_FOLDING_TIME] = fit.time;
    row[E_FOLDING_TIME_ERROR] = fit.error;
    row[ACCURATE_UNTIL] = trust->half_step ? memory->error.until : NAN;
    row[REPRODUCIBLE_UNTIL] = memory->rounding.until;
    return sink->row(sink->context, system, row, error);
}

static void destroy(struct diagnostic *diagnostic)
{
    if (diagnostic)
        memory_free(((struct trust *)diagnostic)->sorted);
    diagnostic_free(diagnostic);
}

const struct diagnostic_class diagnostic_trust = {
    .variant = { .name = "trust", .help = "Until when the orbits can be trusted." },
    .measure_system = measure_system,
    .destroy = destroy,
    .columns = columns,
    .column_count = COLUMNS,
    .rows_per_event = 1,
};

enum status trust_create(const struct section *section, const struct moment *start,
                         const struct integrator *integrator, const struct trust_force *force,
                         struct diagnostic **result, struct error *error)
{
    const size_t systems = start->bodies->systems;
    struct trust *trust = (struct trust *)diagnostic_allocate(&diagnostic_trust, sizeof *trust,
                                                              systems * MEMORY_LENGTH, error);
    *result = NULL;
    if (!trust)
        return error->status;
    trust->sorted = memory_array(systems, sizeof *trust->sorted, error);
    if (!trust->sorted) {
        destroy(&trust->diagnostic);
        return error->status;
    }
    *result = &trust->diagnostic;
    trust->diagnostic.needs = NEED_STATE;
    trust->every = (uint64_t)section_integer(section, "every");
    trust->tolerance = section_real(section, "tolerance");
    trust->displacement = section_real(section, "displacement");
    trust->half_step = section_flag(section, "half_step");
    trust->richardson = 1.0 / (1.0 - exp2(-integrator->order));
    trust->systems = systems;
    trust->units = start->physics->units;
    for (size_t s = 0; s < systems; s++)
        measure_scales(memory_of(trust, s), start, s, integrator, force, trust->displacement);
    return STATUS_OK;
}

bool trust_is_horizon(size_t column)
{
    return column == ACCURATE_UNTIL || column == REPRODUCIBLE_UNTIL;
}

/* --- what to do with the shadows ----------------------------------------------------------------
 */

void trust_show(struct diagnostic *diagnostic, enum trust_shadow shadow,
                const struct bodies *bodies, const int64_t *slots)
{
    struct trust *trust = (struct trust *)diagnostic;
    trust->shadows[shadow] = bodies;
    trust->slots[shadow] = slots;
}

double trust_displacement(const struct diagnostic *diagnostic, size_t system)
{
    const struct trust *trust = (const struct trust *)diagnostic;
    const struct memory *memory = memory_of(trust, system);
    return memory->displacement * memory->size;
}

bool trust_is_done(const struct diagnostic *diagnostic, enum trust_shadow shadow, size_t system)
{
    const struct memory *memory = memory_of((const struct trust *)diagnostic, system);
    return isfinite((shadow == TRUST_TWIN ? memory->rounding : memory->error).until);
}

double trust_take_nearing(struct diagnostic *diagnostic, size_t system)
{
    struct memory *memory = memory_of((struct trust *)diagnostic, system);
    const double nearing = memory->nearing;
    memory->nearing = 1.0;
    return nearing;
}

void trust_lose(struct diagnostic *diagnostic, size_t system, enum trust_shadow shadow)
{
    memory_of((struct trust *)diagnostic, system)->lost[shadow] = 1.0;
}

/* --- telling ------------------------------------------------------------------------------------
 */

/* What is told of a horizon, or of another number, of all systems. */
struct summary {
    size_t reached;       /* systems of which it is known */
    double first, median; /* INFINITY where not */
};

static double accurate_until(const struct trust *trust, size_t system)
{
    return trust->half_step ? memory_of(trust, system)->error.until : INFINITY;
}

static double reproducible_until(const struct trust *trust, size_t system)
{
    return memory_of(trust, system)->rounding.until;
}

static double e_folding_time(const struct trust *trust, size_t system)
{
    const struct growth_fit fit = fit_growth(memory_of(trust, system));
    return fit.law == GROWTH_EXPONENTIAL ? fit.time : INFINITY;
}

static struct summary summarise(const struct trust *trust,
                                double (*value)(const struct trust *, size_t))
{
    struct summary summary = { 0 };
    double *const values = trust->sorted;
    for (size_t s = 0; s < trust->systems; s++) {
        values[s] = value(trust, s);
        summary.reached += isfinite(values[s]);
    }
    gsl_sort(values, 1, trust->systems);
    summary.first = values[0];
    /* The lower one of two in the middle: infinite ones have no mean. */
    summary.median = values[(trust->systems - 1) / 2];
    return summary;
}

/* "accurate until t = 12", "accurate beyond the end (t > 20)" */
static void tell_horizon(const struct trust *trust, const char *what, struct summary summary,
                         double time, char *text, size_t size)
{
    const char *of = trust->systems > 1 ? "the median " : "";
    char first[64 + UNITS_TEXT_SIZE] = "", until[UNITS_TEXT_SIZE];
    if (trust->systems > 1 && isfinite(summary.first))
        snprintf(first, sizeof first, " (the first of %zu systems: %s)", trust->systems,
                 units_time(trust->units, summary.first, 4, until));
    if (isfinite(summary.median))
        snprintf(text, size, "%s%s until t = %s%s", of, what,
                 units_time(trust->units, summary.median, 4, until), first);
    else
        snprintf(text, size, "%s%s beyond the end (t > %s)%s", of, what,
                 units_time(trust->units, time, 4, until), first);
}

static void tell_growth(const struct trust *trust, char *text, size_t size)
{
    const struct summary summary = summarise(trust, e_folding_time);
    const struct growth_fit fit = fit_growth(memory_of(trust, 0));
    char time[UNITS_TEXT_SIZE];
    if (trust->systems > 1 && isfinite(summary.median))
        snprintf(text, size, "e-folding time %s",
                 units_time(trust->units, summary.median, 3, time));
    else if (trust->systems == 1 && fit.law == GROWTH_EXPONENTIAL)
        snprintf(text, size, "e-folding time %.3g +- %s", fit.time,
                 units_time(trust->units, fit.error, 2, time));
    else if (trust->systems == 1 && fit.law == GROWTH_POWER)
        snprintf(text, size, "errors grow by a power of the time");
    else
        snprintf(text, size, "no e-folding time seen yet");
}

const char *trust_text(const struct diagnostic *diagnostic, double time,
                       char buffer[TRUST_TEXT_SIZE])
{
    const struct trust *trust = (const struct trust *)diagnostic;
    char accurate[180] = "accuracy not measured", reproducible[180], growth[80];
    if (trust->half_step)
        tell_horizon(trust, "accurate", summarise(trust, accurate_until), time, accurate,
                     sizeof accurate);
    tell_horizon(trust, "reproducible", summarise(trust, reproducible_until), time, reproducible,
                 sizeof reproducible);
    tell_growth(trust, growth, sizeof growth);
    snprintf(buffer, TRUST_TEXT_SIZE, "%s, %s; %s", accurate, reproducible, growth);
    return buffer;
}

/* Steps of all shadows over those of the run, by the last look. */
static double cost_of(const struct trust *trust)
{
    double work = 0.0, steps = 0.0;
    for (size_t s = 0; s < trust->systems; s++) {
        const struct memory *memory = memory_of(trust, s);
        steps += memory->step;
        for (int k = 0; k < TRUST_SHADOWS; k++)
            work += trust_steps[k] * memory->carried[k];
    }
    return steps > 0.0 ? work / steps : 0.0;
}

static json_t *summary_json(struct summary summary)
{
    return json_pack("{s:I, s:o, s:o}", "systems", (json_int_t)summary.reached, "first",
                     document_number(summary.first), "median", document_number(summary.median));
}

json_t *trust_json(const struct diagnostic *diagnostic, double time)
{
    const struct trust *trust = (const struct trust *)diagnostic;
    const struct memory *memory = memory_of(trust, 0);
    const struct growth_fit fit = fit_growth(memory);
    char text[TRUST_TEXT_SIZE];
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o}",
                     "text", trust_text(diagnostic, time, text), "time", document_number(time),
                     "tolerance", document_number(trust->tolerance), "displacement",
                     document_number(memory->displacement), "size", document_number(memory->size),
                     "cost", document_number(cost_of(trust)), "accurate_until",
                     document_number(accurate_until(trust, 0)), "reproducible_until",
                     document_number(reproducible_until(trust, 0)), "growth",
                     growth_law_name(fit.law), "e_folding_time", document_number(fit.time),
                     "e_folding_time_error", document_number(fit.error), "all_accurate_until",
                     summary_json(summarise(trust, accurate_until)), "all_reproducible_until",
                     summary_json(summarise(trust, reproducible_until)), "all_e_folding_time",
                     summary_json(summarise(trust, e_folding_time)));
}
