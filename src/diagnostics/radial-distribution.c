/*
 * The radial distribution function g(r): how many pairs there are at a distance, over how many an
 * ideal gas of the same density in the same cell would have. Raw counts, volumes and numbers stand
 * in every row, so that any other normalisation can be had from them.
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "diagnostics/pairs.h"
#include "diagnostics/table.h"
#include "model/cell.h"

enum {
    R,
    R_INNER,
    R_OUTER,
    PAIRS,
    SHELL_VOLUME,
    G,
    G_ERROR,
    PAIR_DENSITY,
    PAIR_DENSITY_ERROR,
    G_MEAN,
    G_MEAN_ERROR,
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
    { "pairs", DIMENSION_NONE,
      "n, pairs of bodies whose distance (to the nearest image in a periodic box) lies in the "
      "shell; each pair counts once" },
    { "shell_volume", DIMENSION_VOLUME, "4 pi / 3 (r_outer^3 - r_inner^3)" },
    { "g", DIMENSION_NONE,
      "g(r) = 2 n cell_volume / (bodies^2 shell_volume), OVITO's convention: both orders of a "
      "pair, N^2 rather than N (N - 1), no correction at edges" },
    { "g_error", DIMENSION_NONE,
      "counting error g / sqrt(n), as if pairs were independent; empty when n = 0" },
    { "pair_density", DIMENSION_PER_LENGTH,
      "probability density of the distance of a pair, n / (N (N - 1) / 2 (r_outer - r_inner)); "
      "needs no cell, and its integral over all r is 1" },
    { "pair_density_error", DIMENSION_PER_LENGTH, "its counting error, pair_density / sqrt(n)" },
    { "g_mean", DIMENSION_NONE, "mean of g over the events so far from `average_after` on" },
    { "g_mean_error", DIMENSION_NONE,
      "standard error of g_mean by the scatter of the events, as if they were independent; of one "
      "event alone, its g_error" },
    { "pairs_mean", DIMENSION_NONE, "mean of n over the same events" },
    { "frames", DIMENSION_NONE, "how many events these are" },
    { "bodies", DIMENSION_NONE, "N, bodies in the system, test bodies of zero mass included" },
    { "cell_volume", DIMENSION_VOLUME,
      "V: `cell_volume`, or the volume of the periodic box, or in open space that of the cell in "
      "the trajectory: [-h, h]^3 with h the least power of two that holds all bodies, the unit "
      "cube if that does" },
};

/* The running means of one bin (Welford 1962, Technometrics 4, 419). */
struct bin {
    double g_mean, g_scatter; /* the latter: sum of squared deviations */
    double pairs_mean;
};

/* What all bins and systems of an event share. */
struct frame {
    double width, bodies, cell_volume;
    bool counts; /* among the means */
};

/* memory: r_max; then for every system the number of frames and its bins. */
struct radial {
    struct diagnostic base;
    size_t bins;
    double cell_volume; /* NaN: of the frame */
    double average_after;
    uint64_t *counts;
    struct frame frame; /* of the present event */
};

enum { BIN_LENGTH = sizeof(struct bin) / sizeof(double) };

static void destroy(struct diagnostic *diagnostic)
{
    if (diagnostic)
        memory_free(((struct radial *)diagnostic)->counts);
    diagnostic_free(diagnostic);
}

static const double largest_reach = 1e150;

/* How far to count: as asked, or half of the box or cell. */
static enum status choose_reach(const struct section *section, const struct moment *start,
                                double *r_max, struct error *error)
{
    const struct physics *physics = start->physics;
    const double half =
        0.5 * (physics->boundary == BOUNDARY_PERIODIC ? physics->box_length
                                                      : cell_of(physics, start->bodies).side);
    *r_max = section_has(section, "r_max") ? section_real(section, "r_max") : half;
    if (physics->boundary == BOUNDARY_PERIODIC && *r_max > half)
        return section_error(section, "r_max", error,
                             "must be at most half of physics.box_length, %g", half);
    if (*r_max > largest_reach)
        return section_error(section, "r_max", error,
                             "must be at most %g: squares of larger distances overflow; it is half "
                             "of the cell where it is not given",
                             largest_reach);
    return STATUS_OK;
}

static enum status create(const struct section *section, const struct moment *start,
                          struct diagnostic **result, struct error *error)
{
    *result = NULL;
    double r_max;
    if (choose_reach(section, start, &r_max, error))
        return error->status;
    const size_t bins = (size_t)section_integer(section, "bins");
    const size_t of_systems = memory_bytes(start->bodies->systems, 1 + bins * BIN_LENGTH);
    /* Where that overflows, it stays too much. */
    struct diagnostic *diagnostic =
        diagnostic_allocate(&diagnostic_radial_distribution, sizeof(struct radial),
                            of_systems + (of_systems < SIZE_MAX), error);
    if (!diagnostic)
        return error->status;
    struct radial *radial = (struct radial *)diagnostic;
    diagnostic->needs = NEED_STATE;
    diagnostic->row_count = bins;
    diagnostic->memory[0] = r_max;
    radial->bins = bins;
    radial->cell_volume = section_real(section, "cell_volume");
    radial->average_after = section_real(section, "average_after");
    radial->counts = memory_array(bins, sizeof *radial->counts, error);
    if (!radial->counts) {
        destroy(diagnostic);
        return error->status;
    }
    *result = diagnostic;
    return STATUS_OK;
}

static void add_to_means(struct bin *bin, double frames, double pairs, double g)
{
    const double deviation = g - bin->g_mean;
    bin->g_mean += deviation / frames;
    bin->g_scatter += deviation * (g - bin->g_mean);
    bin->pairs_mean += (pairs - bin->pairs_mean) / frames;
}

static void fill_row(const struct frame *frame, size_t k, double pairs, double frames,
                     struct bin *bin, double row[COLUMNS])
{
    const double inner = frame->width * (double)k, outer = frame->width * (double)(k + 1);
    const double N = frame->bodies;
    row[R] = 0.5 * (inner + outer);
    row[R_INNER] = inner;
    row[R_OUTER] = outer;
    row[PAIRS] = pairs;
    row[SHELL_VOLUME] = 4.0 / 3.0 * M_PI * (outer * outer * outer - inner * inner * inner);
    row[G] = N > 1 ? 2.0 * pairs * frame->cell_volume / (N * N * row[SHELL_VOLUME]) : NAN;
    row[G_ERROR] = pairs > 0 ? row[G] / sqrt(pairs) : NAN;
    row[PAIR_DENSITY] = N > 1 ? pairs / (0.5 * N * (N - 1) * frame->width) : NAN;
    row[PAIR_DENSITY_ERROR] = pairs > 0 ? row[PAIR_DENSITY] / sqrt(pairs) : NAN;
    if (frame->counts)
        add_to_means(bin, frames, pairs, row[G]);
    row[G_MEAN] = frames > 0 ? bin->g_mean : NAN;
    row[G_MEAN_ERROR] = frames > 1 ? sqrt(bin->g_scatter / (frames * (frames - 1))) : NAN;
    if (frames == 1 && frame->counts)
        row[G_MEAN_ERROR] = row[G_ERROR];
    row[PAIRS_MEAN] = frames > 0 ? bin->pairs_mean : NAN;
    row[FRAMES] = frames;
    row[BODIES] = N;
    row[CELL_VOLUME] = frame->cell_volume;
}

static void prepare(struct diagnostic *diagnostic, const struct moment *now)
{
    struct radial *radial = (struct radial *)diagnostic;
    const double side = cell_of(now->physics, now->bodies).side;
    const bool fixed = !isnan(radial->cell_volume);
    radial->frame = (struct frame){ .width = diagnostic->memory[0] / (double)radial->bins,
                                    .bodies = (double)now->bodies->count,
                                    .cell_volume = fixed ? radial->cell_volume : side * side * side,
                                    .counts = now->time >= radial->average_after };
}

static enum status measure_system(struct diagnostic *diagnostic, const struct moment *now,
                                  size_t system, const struct row_sink *sink, struct error *error)
{
    struct radial *radial = (struct radial *)diagnostic;
    const double r_max = diagnostic->memory[0];
    double *memory = diagnostic->memory + 1 + system * (1 + radial->bins * BIN_LENGTH);
    struct bin *bins = (struct bin *)(memory + 1);
    memset(radial->counts, 0, radial->bins * sizeof *radial->counts);
    if (pairs_count(now->physics, now->bodies, system, r_max, radial->bins, PAIRS_AUTO,
                    now->threads, radial->counts, error))
        return error->status;
    if (radial->frame.counts)
        memory[0] += 1;
    enum status status = STATUS_OK;
    for (size_t k = 0; k < radial->bins && !status; k++) {
        double row[COLUMNS];
        fill_row(&radial->frame, k, (double)radial->counts[k], memory[0], &bins[k], row);
        status = sink->row(sink->context, system, row, error);
    }
    return status;
}

static const struct parameter parameters[] = {
    DIAGNOSTIC_EVERY("1000"),
    { .key = "r_max",
      .type = PARAMETER_REAL,
      .standard = "",
      .maximum = INFINITY,
      .open = OPEN_MINIMUM,
      .dimension = DIMENSION_LENGTH,
      .help = "Largest distance that is counted; unset: half the side of the box, or of the cell "
              "at step 0." },
    { .key = "bins",
      .type = PARAMETER_INTEGER,
      .standard = "200",
      .minimum = 1,
      .maximum = 1000000,
      .help = "Shells of equal width between 0 and r_max." },
    { .key = "cell_volume",
      .type = PARAMETER_REAL,
      .standard = "",
      .maximum = INFINITY,
      .open = OPEN_MINIMUM,
      .dimension = DIMENSION_VOLUME,
      .help = "Volume that g(r) is normalised with; unset: that of the box, or of the frame's "
              "cell." },
    { .key = "average_after",
      .type = PARAMETER_REAL,
      .standard = "0",
      .dimension = DIMENSION_TIME,
      .help = "Time from which on events enter the running means." },
};

const struct diagnostic_class diagnostic_radial_distribution = {
    .variant = { "radial-distribution",
                 "g(r) in OVITO's convention, pair counts and pair density, with running means.",
                 parameters, COUNT_OF(parameters) },
    .create = create,
    .prepare = prepare,
    .measure_system = measure_system,
    .destroy = destroy,
    .columns = columns,
    .column_count = COLUMNS,
    .rows_per_event = 0,
    .body_bytes = PAIRS_BODY_BYTES,
    .meets_pairs = true,
    .system_reals = BIN_LENGTH + 1,
    .system_reals_key = "bins",
};
