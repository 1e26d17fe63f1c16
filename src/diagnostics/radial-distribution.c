/*
 * The diagnostic of the radial distribution function g(r): the number of pairs of bodies at a
 * distance r, over the number that an ideal gas with as many bodies in a volume V would have. In
 * open space nothing says what V is. It is fixed at step 0, since a V that followed the bodies
 * would make g jump whenever one of them leaves. Every row has the raw counts, volumes and numbers,
 * so that users can compute any other normalisation; the density of pairs needs no V.
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "diagnostics/diagnostic.h"
#include "model/cell.h"
#include "space/pairs.h"

enum {
    R,
    R_INNER,
    R_OUTER,
    SHELL_VOLUME,
    PAIRS,
    G,
    G_ERROR,
    PAIR_DENSITY,
    PAIR_DENSITY_ERROR,
    G_MEAN,
    G_MEAN_ERROR,
    PAIR_DENSITY_MEAN,
    PAIR_DENSITY_MEAN_ERROR,
    PAIRS_MEAN,
    FRAMES,
    BODIES,
    CELL_VOLUME,
    COLUMNS
};

static const struct column columns[COLUMNS] = {
    { "r", DIMENSION_LENGTH, "middle of the shell, (r_inner + r_outer) / 2" },
    { "r_inner", DIMENSION_LENGTH, "inner radius of the shell" },
    { "r_outer", DIMENSION_LENGTH, "outer radius of the shell; a pair at it counts outside" },
    { "shell_volume", DIMENSION_VOLUME, "4 pi / 3 (r_outer^3 - r_inner^3)" },
    { "pairs", DIMENSION_NONE,
      "n, pairs of bodies whose distance (to the nearest image in a periodic box) lies in the "
      "shell; each pair counts once" },
    { "g", DIMENSION_NONE,
      "g(r) = 2 n cell_volume / (bodies^2 shell_volume), OVITO's convention: both orders of a "
      "pair, N^2 rather than N (N - 1), no correction at edges; in open space its height is as "
      "arbitrary as cell_volume is, its shape is not" },
    { "g_error", DIMENSION_NONE,
      "counting error g / sqrt(n), as if pairs were independent; empty when n = 0" },
    { "pair_density", DIMENSION_PER_LENGTH,
      "probability density of the distance of a pair, 2 n / (N (N - 1) (r_outer - r_inner)); "
      "needs no cell, and its integral over all r is 1" },
    { "pair_density_error", DIMENSION_PER_LENGTH, "its counting error, pair_density / sqrt(n)" },
    { "g_mean", DIMENSION_NONE,
      "mean of g over the events so far from the time `average_after` on" },
    { "g_mean_error", DIMENSION_NONE,
      "standard error of g_mean by the scatter of the events, as if they were independent; if "
      "there is one event alone, its g_error" },
    { "pair_density_mean", DIMENSION_PER_LENGTH, "mean of pair_density over the same events" },
    { "pair_density_mean_error", DIMENSION_PER_LENGTH,
      "its standard error, found as g_mean_error" },
    { "pairs_mean", DIMENSION_NONE, "mean of n over the same events" },
    { "frames", DIMENSION_NONE, "number of these events" },
    { "bodies", DIMENSION_NONE, "N, bodies in the system, test bodies of zero mass included" },
    { "cell_volume", DIMENSION_VOLUME,
      "V, the same in all rows: `cell_volume` if given, or the volume of the periodic box, or in "
      "open space that of the first frame's cell in the trajectory: [-h, h]^3 with the least h of "
      "1, 2, 4, ... for which it holds all bodies of all systems at step 0; but V = 1 if all their "
      "coordinates lie between -0.51 and 0.51, or all between -0.01 and 1.01" },
};

/* The running mean, over the events, of the number of pairs in one bin (Welford 1962, Technometrics
 * 4, 419). */
struct bin {
    double mean, scatter; /* mean; sum of the squared deviations from it */
};

/* The values that all bins and systems of one event share. */
struct frame {
    double width, bodies, cell_volume; /* width of a bin; bodies of a system; V */
    bool counts;                       /* the event is one of those over which means are taken */
};

/* The first numbers of the state, which all systems share: r_max, and the volume of the cell at
 * step 0. */
enum { R_MAX, START_VOLUME, SHARED };

/* The diagnostic. Its state has the SHARED numbers and then, for every system, the number of events
 * in the means and a struct bin for each bin. */
struct radial {
    struct diagnostic base;
    size_t bins;
    double cell_volume;   /* V as given; NaN: the volume of the cell at step 0 */
    double average_after; /* time from which on events enter the means */
    uint64_t *counts;     /* [bins]: pairs of the system at hand */
    struct frame frame;   /* values of the present event */
};

enum { BIN_LENGTH = sizeof(struct bin) / sizeof(double) };

/* Returns the number of numbers in the state; SIZE_MAX if that overflows. */
static size_t state_count(const struct diagnostic *diagnostic, size_t systems)
{
    const size_t bins = ((const struct radial *)diagnostic)->bins;
    const size_t of_systems = memory_bytes(systems, 1 + bins * BIN_LENGTH);
    return of_systems < SIZE_MAX - SHARED ? of_systems + SHARED : SIZE_MAX;
}

static void clear(struct diagnostic *diagnostic)
{
    memory_free(((struct radial *)diagnostic)->counts);
}

static const double largest_reach = 1e150;

static enum status choose_reach(const struct section *section, const struct physics *physics,
                                double side, double *r_max, struct error *error)
{
    const double half = 0.5 * side;
    *r_max = section_has(section, "r_max") ? section_real(section, "r_max") : half;
    if (physics->boundary == BOUNDARY_PERIODIC && *r_max > half)
        return section_error(section, "r_max", error,
                             "must be at most half of physics.box_length, %g", half);
    if (*r_max > largest_reach)
        return section_error(
            section, "r_max", error,
            "must be at most %g: squares of larger distances overflow; the default is half "
            "of the cell",
            largest_reach);
    return STATUS_OK;
}

static enum status init(struct diagnostic *diagnostic, const struct section *section,
                        const struct moment *start, struct error *error)
{
    struct radial *radial = (struct radial *)diagnostic;
    const double side = cell_of(start->physics, start->bodies).side;
    diagnostic->row_count = radial->bins;
    diagnostic->state[START_VOLUME] = side * side * side;
    radial->counts = memory_array(radial->bins, sizeof *radial->counts, error);
    return radial->counts
               ? choose_reach(section, start->physics, side, &diagnostic->state[R_MAX], error)
               : error->status;
}

static void add_to_mean(struct bin *bin, double frames, double pairs)
{
    const double deviation = pairs - bin->mean;
    bin->mean += deviation / frames;
    bin->scatter += deviation * (pairs - bin->mean);
}

/* Returns the standard error of the mean number of pairs over `frames` events: by their scatter, or
 * for a single event by counting noise, sqrt(n); NaN if this has no pairs, or there is no event. */
static double error_of_mean(const struct bin *bin, double frames)
{
    if (frames > 1)
        return sqrt(bin->scatter / (frames * (frames - 1)));
    return frames == 1 && bin->mean > 0 ? sqrt(bin->mean) : NAN;
}

/* g is a multiple of the number of pairs, as the density of pairs is: so the means of both follow
 * from the mean number. */
static double g_of(const struct frame *frame, double shell_volume, double pairs)
{
    const double N = frame->bodies;
    return N > 1 ? 2.0 * pairs * frame->cell_volume / (N * N * shell_volume) : NAN;
}

static double density_of(const struct frame *frame, double pairs)
{
    const double N = frame->bodies;
    return N > 1 ? pairs / (0.5 * N * (N - 1) * frame->width) : NAN;
}

static void fill_row(const struct frame *frame, size_t k, double pairs, double frames,
                     const struct bin *bin, double row[COLUMNS])
{
    const double inner = frame->width * (double)k, outer = frame->width * (double)(k + 1);
    const double volume = 4.0 / 3.0 * M_PI * (outer * outer * outer - inner * inner * inner);
    const double mean = frames > 0 ? bin->mean : NAN, error = error_of_mean(bin, frames);
    row[R] = 0.5 * (inner + outer);
    row[R_INNER] = inner;
    row[R_OUTER] = outer;
    row[PAIRS] = pairs;
    row[SHELL_VOLUME] = volume;
    row[G] = g_of(frame, volume, pairs);
    row[G_ERROR] = pairs > 0 ? row[G] / sqrt(pairs) : NAN;
    row[PAIR_DENSITY] = density_of(frame, pairs);
    row[PAIR_DENSITY_ERROR] = pairs > 0 ? row[PAIR_DENSITY] / sqrt(pairs) : NAN;
    row[G_MEAN] = g_of(frame, volume, mean);
    row[G_MEAN_ERROR] = g_of(frame, volume, error);
    row[PAIR_DENSITY_MEAN] = density_of(frame, mean);
    row[PAIR_DENSITY_MEAN_ERROR] = density_of(frame, error);
    row[PAIRS_MEAN] = mean;
    row[FRAMES] = frames;
    row[BODIES] = frame->bodies;
    row[CELL_VOLUME] = frame->cell_volume;
}

static void prepare(struct diagnostic *diagnostic, const struct moment *now)
{
    struct radial *radial = (struct radial *)diagnostic;
    const double *state = diagnostic->state;
    const bool given = !isnan(radial->cell_volume);
    radial->frame =
        (struct frame){ .width = state[R_MAX] / (double)radial->bins,
                        .bodies = (double)now->bodies->count,
                        .cell_volume = given ? radial->cell_volume : state[START_VOLUME],
                        .counts = now->time >= radial->average_after };
}

static enum status measure_rows(struct diagnostic *diagnostic, const struct moment *now,
                                size_t system, const struct row_sink *sink, struct error *error)
{
    struct radial *radial = (struct radial *)diagnostic;
    const double r_max = diagnostic->state[R_MAX];
    double *state = diagnostic->state + SHARED + system * (1 + radial->bins * BIN_LENGTH);
    struct bin *bins = (struct bin *)(state + 1);
    memset(radial->counts, 0, radial->bins * sizeof *radial->counts);
    if (pairs_count(now->physics, now->bodies, system, r_max, radial->bins, PAIRS_AUTO,
                    now->threads, radial->counts, error))
        return error->status;
    if (radial->frame.counts)
        state[0] += 1;
    enum status status = STATUS_OK;
    for (size_t k = 0; k < radial->bins && !status; k++) {
        const double pairs = (double)radial->counts[k];
        double row[COLUMNS];
        if (radial->frame.counts)
            add_to_mean(&bins[k], state[0], pairs);
        fill_row(&radial->frame, k, pairs, state[0], &bins[k], row);
        status = sink->row(sink->context, system, row, error);
    }
    return status;
}

static const struct parameter parameters[] = {
    DIAGNOSTIC_EVERY(1000),
    { KEY(REAL, r_max), OPTIONAL, POSITIVE, .dimension = DIMENSION_LENGTH,
      .help = "Largest distance that is counted; unset: half the side of the box, or of the cell "
              "at step 0." },
    { BIND(INTEGER, struct radial, bins), BY_DEFAULT(INTEGER, 200), BETWEEN(1, 1000000),
      .help = "Shells of equal width between 0 and r_max." },
    { BIND(REAL, struct radial, cell_volume), OPTIONAL, POSITIVE, .dimension = DIMENSION_VOLUME,
      .help = "Volume that g(r) is normalised with; unset: that of the box, or in open space of "
              "the cell at step 0." },
    { BIND(REAL, struct radial, average_after), BY_DEFAULT(REAL, 0.0), .dimension = DIMENSION_TIME,
      .help = "Time from which on events enter the running means." },
};

static const struct drawing drawings[] = {
    { .name = "pair-density",
      .title = "Density of pairs",
      .y_label = "pair density",
      .scale = SCALE_BY_RANGE,
      .space = OPEN_SPACE,
      .curves = { { "pair_density" },
                  { "pair_density_mean", "mean of the frames" },
                  { "pair_density", .kind = CURVE_DASHED, .first = true } },
      .caption = "How the distances of the pairs of bodies are distributed: the probability "
                 "density of the distance, which needs no volume to compare with." },
    { .name = "radial-distribution",
      .title = "Radial distribution g(r)",
      .y_label = "g",
      .scale = SCALE_BY_RANGE,
      .space = PERIODIC_SPACE,
      .curves = { { "g" },
                  { "g_mean", "mean of the frames" },
                  { "g", .kind = CURVE_DASHED, .first = true } },
      .caption = "Pairs at a distance, over those of an ideal gas of as many bodies in the same "
                 "box." },
    { .name = "radial-distribution",
      .title = "Radial distribution g(r)",
      .y_label = "g",
      .scale = SCALE_BY_RANGE,
      .space = OPEN_SPACE,
      .curves = { { "g" },
                  { "g_mean", "mean of the frames" },
                  { "g", .kind = CURVE_DASHED, .first = true } },
      .caption = "Pairs at a distance, over those of an ideal gas of as many bodies in the volume "
                 "cell_volume. In open space the height is as arbitrary as that volume, the shape "
                 "is not." },
};

const struct diagnostic_class diagnostic_radial_distribution = {
    .variant = { "radial-distribution",
                 "g(r) in OVITO's convention, pair counts and pair density, with running means.",
                 parameters, COUNT_OF(parameters) },
    .size = sizeof(struct radial),
    .needs = NEED_STATE,
    .state_count = state_count,
    .init = init,
    .prepare = prepare,
    .measure_rows = measure_rows,
    .clear = clear,
    DIAGNOSTIC_COLUMNS(columns),
    DIAGNOSTIC_DRAWINGS(drawings),
    .table = true,
    .rows_key = "bins",
    .bin_columns = PAIRS,
    .body_bytes = PAIRS_BODY_BYTES,
    .thread_reals = PAIRS_THREAD_REALS,
    .pairwise = true,
    .system_reals = BIN_LENGTH + 1,
    .system_reals_key = "bins",
};
