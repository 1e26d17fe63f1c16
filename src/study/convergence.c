#include "study/study.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "force/method.h"
#include "integrator/integrator.h"
#include "model/units.h"
#include "output/directory.h"
#include "report/result.h"
#include "space/time-scales.h"

/* The values of one diagnostic in the three runs (levels), with the indices and times of those rows
 * whose times all runs have. */
struct levels {
    struct series *series[CONVERGENCE_LEVELS];
    size_t *row[CONVERGENCE_LEVELS];
    double *times;
    size_t rows;
};

static void levels_free(struct levels *levels)
{
    for (size_t l = 0; l < CONVERGENCE_LEVELS; l++) {
        series_destroy(levels->series[l]);
        free(levels->row[l]);
    }
    free(levels->times);
}

/* Tells whether a column is no measurement and cannot converge: it says to which step, time, system
 * or file a row belongs, or how many systems count. */
static bool is_label(const char *name)
{
    static const char *const labels[] = { "step", "time", "system", "file", "systems", "left_out" };
    for (size_t i = 0; i < COUNT_OF(labels); i++)
        if (strcmp(labels[i], name) == 0)
            return true;
    return false;
}

/* Finds the rows whose times all runs have. Times are multiples of the smallest step; the equal
 * times of two runs may differ by rounding. */
static enum status match_rows(struct levels *levels, double smallest_step, struct error *error)
{
    const struct series_column *time[CONVERGENCE_LEVELS];
    size_t next[CONVERGENCE_LEVELS] = { 0 };
    const size_t most = levels->series[0]->rows;
    levels->times = calloc(most + 1, sizeof *levels->times);
    bool whole = levels->times;
    for (size_t l = 0; l < CONVERGENCE_LEVELS; l++) {
        levels->row[l] = calloc(most + 1, sizeof *levels->row[l]);
        time[l] = series_find(levels->series[l], "time");
        whole = whole && levels->row[l];
    }
    if (!whole)
        return error_memory(error);
    if (!time[0] || !time[1] || !time[2])
        return STATUS_OK;
    for (size_t i = 0; i < most; i++) {
        const double t = time[0]->values[i];
        bool found = true;
        for (size_t l = 0; l < CONVERGENCE_LEVELS; l++) {
            while (next[l] < levels->series[l]->rows &&
                   time[l]->values[next[l]] < t - 0.25 * smallest_step)
                next[l]++;
            found = found && next[l] < levels->series[l]->rows &&
                    fabs(time[l]->values[next[l]] - t) <= 1e-3 * smallest_step;
        }
        for (size_t l = 0; found && l < CONVERGENCE_LEVELS; l++)
            levels->row[l][levels->rows] = next[l];
        if (found)
            levels->times[levels->rows++] = t;
    }
    return STATUS_OK;
}

/* The properties of the runs, from the run.json of that with the smallest step. */
struct study_method {
    struct errorbar_method method; /* rounding and bias here relative to a number's size */
    struct scales scales;
    double mass, energy, smallest_step;
};

/* Returns the relative rounding error of one step: that of the state, which is in double, and that
 * by forces with the relative error `force_error`: this times step / dynamic time. */
static double rounding_of(double force_error, double step, double dynamic_time)
{
    const double forces = force_error * step / dynamic_time;
    return DBL_EPSILON + (isfinite(forces) ? forces : 0.0);
}

static void find_method(const struct result *finest, struct study_method *m)
{
    const struct integrator *integrator = result_integrator(finest);
    *m = (struct study_method){
        .mass = result_real(finest, FIELD_INITIAL_MASS),
        .smallest_step = result_real(finest, FIELD_CONFIG_TIME_STEP),
        .scales = { .length = result_real(finest, FIELD_SCALES_LENGTH),
                    .velocity = result_real(finest, FIELD_SCALES_VELOCITY),
                    .momentum = result_real(finest, FIELD_SCALES_MOMENTUM),
                    .angular_momentum = result_real(finest, FIELD_SCALES_ANGULAR_MOMENTUM) },
        .energy = result_real(finest, FIELD_INITIAL_KINETIC) +
                  fabs(result_real(finest, FIELD_INITIAL_POTENTIAL)),
    };
    m->method.order = integrator ? integrator->order : 1.0;
    m->method.steps = result_real(finest, FIELD_STEPS);
    m->method.dynamic_time = m->scales.length / m->scales.velocity;
    const double force_error = result_real(finest, FIELD_FORCE_ERROR_WHOLE);
    m->method.coarse_forces = force_error > 0.0;
    m->method.bias =
        m->method.coarse_forces ? fabs(result_real(finest, FIELD_FORCE_ERROR_BIAS)) : 0.0;
    m->method.rounding = rounding_of(force_error, m->smallest_step, m->method.dynamic_time);
}

/* Returns the typical size of numbers of this unit in the run: energies or momenta at the start, or
 * the product of powers of mass, length and speed; 0 if it is not known. */
static double scale_of(const struct study_method *m, const char *unit)
{
    const struct {
        struct dimension dimension;
        double scale;
    } known[] = { { DIMENSION_ENERGY, m->energy },
                  { DIMENSION_MOMENTUM, m->scales.momentum },
                  { DIMENSION_ANGULAR_MOMENTUM, m->scales.angular_momentum } };
    struct unit parsed;
    if (!unit_parse(unit, &parsed))
        return 0.0;
    const struct dimension d = parsed.dimension;
    double scale = pow(m->mass, d.mass) * pow(m->scales.length, d.length + d.time) *
                   pow(m->scales.velocity, -d.time);
    for (size_t k = 0; k < COUNT_OF(known); k++)
        scale = memcmp(&d, &known[k].dimension, sizeof d) == 0 ? known[k].scale : scale;
    return isfinite(scale) ? scale : 0.0;
}

/* Returns the size of numbers to which the change by a bias of the forces is proportional:
 * scale_of(), but for lengths no more than the column's largest value. */
static double biased_scale(const struct study_method *m, const char *unit,
                           const struct errorbar_column *column)
{
    static const struct dimension length = DIMENSION_LENGTH;
    const double scale = scale_of(m, unit);
    struct unit parsed;
    double largest = 0.0;
    if (!unit_parse(unit, &parsed) || memcmp(&parsed.dimension, &length, sizeof length) != 0)
        return scale;
    for (size_t i = 0; i < column->rows; i++)
        largest = fmax(largest, fabs(column->values[CONVERGENCE_LEVELS - 1][i]));
    return fmin(scale, largest);
}

static enum status measure_column(const struct levels *levels, size_t column,
                                  const char *diagnostic, const struct study_method *m,
                                  struct convergence_row *row, struct error *error)
{
    const struct series_column *finest = &levels->series[CONVERGENCE_LEVELS - 1]->column[column];
    double *values = calloc(levels->rows + 1, CONVERGENCE_LEVELS * sizeof *values);
    if (!values)
        return error_memory(error);
    struct errorbar_column matched = { .times = levels->times, .rows = levels->rows };
    for (size_t l = 0; l < CONVERGENCE_LEVELS; l++) {
        double *const target = values + l * levels->rows;
        for (size_t i = 0; i < levels->rows; i++)
            target[i] = levels->series[l]->column[column].values[levels->row[l][i]];
        matched.values[l] = target;
    }
    snprintf(row->column, sizeof row->column, "%.60s.%.60s", diagnostic, finest->name);
    snprintf(row->unit, sizeof row->unit, "%s", finest->unit[0] ? finest->unit : "1");
    row->value = levels->rows > 0 ? matched.values[CONVERGENCE_LEVELS - 1][levels->rows - 1] : NAN;
    struct errorbar_method method = m->method;
    method.rounding *= scale_of(m, row->unit);
    method.bias *= biased_scale(m, row->unit, &matched);
    errorbar_measure(&matched, &method, &row->bar);
    free(values);
    return STATUS_OK;
}

/* Measures the columns of a diagnostic, unless they differ between the runs or have rows for the
 * single systems of an ensemble: statistics over these are a diagnostic of their own. */
static enum status measure_diagnostic(struct levels *levels, const char *diagnostic,
                                      const struct study_method *m, struct convergence *convergence,
                                      struct error *error)
{
    const size_t columns = levels->series[0]->columns;
    for (size_t l = 0; l < CONVERGENCE_LEVELS; l++)
        if (levels->series[l]->columns != columns || levels->series[l]->systems > 1)
            return STATUS_OK;
    struct convergence_row *rows =
        realloc(convergence->rows, memory_bytes(convergence->count + columns + 1, sizeof *rows));
    if (!rows)
        return error_memory(error);
    convergence->rows = rows;
    enum status status = match_rows(levels, m->smallest_step, error);
    for (size_t k = 0; k < columns && !status; k++)
        if (!is_label(levels->series[0]->column[k].name))
            status = measure_column(levels, k, diagnostic, m, &rows[convergence->count++], error);
    return status;
}

static enum status measure_runs(const struct result results[CONVERGENCE_LEVELS],
                                struct convergence *convergence, struct error *error)
{
    const char *name;
    json_t *unused;
    enum status status = STATUS_OK;
    struct study_method method;
    find_method(&results[CONVERGENCE_LEVELS - 1], &method);
    json_object_foreach(result_find(&results[0], FIELD_DIAGNOSTICS), name, unused)
    {
        struct levels levels = { 0 };
        char file[256];
        snprintf(file, sizeof file, "%.200s.csv", name);
        bool whole = true;
        for (size_t l = 0; l < CONVERGENCE_LEVELS && !status; l++) {
            status = result_series(&results[l], file, &levels.series[l], error);
            whole = whole && levels.series[l];
        }
        if (!status && whole)
            status = measure_diagnostic(&levels, name, &method, convergence, error);
        levels_free(&levels);
        if (status)
            return status;
    }
    return STATUS_OK;
}

static void print_real(struct text *csv, double value)
{
    text_print(csv, ",");
    if (isfinite(value))
        text_print(csv, "%.17g", value);
}

static enum status write_csv(struct directory *directory, const struct convergence *convergence,
                             struct error *error)
{
    struct text csv = { 0 };
    text_print(&csv, "column,unit,value,order,error,limit\n");
    for (size_t i = 0; i < convergence->count; i++) {
        const struct convergence_row *row = &convergence->rows[i];
        text_cell(&csv, row->column);
        text_print(&csv, ",");
        text_cell(&csv, row->unit);
        print_real(&csv, row->value);
        print_real(&csv, row->bar.order);
        print_real(&csv, row->bar.error);
        text_print(&csv, ",%s\n", errorbar_limit_names[row->bar.limit]);
    }
    const enum status status = csv.failed ? error_memory(error)
                                          : directory_replace_file(directory, "convergence.csv",
                                                                   csv.bytes, csv.length, error);
    text_free(&csv);
    return status;
}

static enum status measure_study(struct directory *directory, struct convergence *convergence,
                                 struct error *error)
{
    struct result results[CONVERGENCE_LEVELS] = { 0 };
    size_t opened = 0;
    for (; opened < CONVERGENCE_LEVELS && !error->status; opened++) {
        char path[STUDY_PATH_SIZE];
        study_member_path(directory_path(directory), opened, path);
        result_open(path, &results[opened], error);
    }
    if (!error->status && !measure_runs(results, convergence, error))
        write_csv(directory, convergence, error);
    for (size_t l = 0; l < opened; l++)
        result_close(&results[l]);
    return error->status;
}

/* Locks the directory meanwhile, since other jobs of an array may end at the same moment. */
enum status convergence_measure(const char *path, struct convergence *convergence,
                                struct error *error)
{
    static const char *const name[] = { "convergence.csv" };
    struct directory *directory;
    *convergence = (struct convergence){ 0 };
    if (directory_open_kind(path, &directory_study, DIRECTORY_SHARED, &directory, error))
        return error->status;
    if (!directory_lock_files(directory, error) && !directory_check(directory, name, 1, error))
        measure_study(directory, convergence, error);
    directory_close(directory);
    return error->status;
}

void convergence_free(struct convergence *convergence)
{
    free(convergence->rows);
    *convergence = (struct convergence){ 0 };
}
