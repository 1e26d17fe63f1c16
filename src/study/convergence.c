#include "study/convergence.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/text.h"
#include "output/directory.h"
#include "report/result.h"
#include "study/study.h"

/* The same diagnostic of the three runs. */
struct levels {
    struct series *series[CONVERGENCE_LEVELS];
};

/* The rms over the rows that both have of the difference between two columns. */
static double rms_difference(const struct series_column *a, const struct series_column *b,
                             size_t rows)
{
    double sum = 0.0;
    size_t count = 0;
    for (size_t i = 0; i < rows; i++) {
        const double difference = a->values[i] - b->values[i];
        if (!isfinite(difference))
            continue;
        sum += difference * difference;
        count++;
    }
    return count > 0 ? sqrt(sum / (double)count) : NAN;
}

static void measure_column(const struct levels *levels, size_t column, const char *diagnostic,
                           struct convergence_row *row)
{
    const struct series_column *at[CONVERGENCE_LEVELS];
    size_t rows = levels->series[0]->rows;
    for (size_t l = 0; l < CONVERGENCE_LEVELS; l++) {
        at[l] = &levels->series[l]->column[column];
        rows = levels->series[l]->rows < rows ? levels->series[l]->rows : rows;
    }
    const double coarse = rms_difference(at[0], at[1], rows);
    const double fine = rms_difference(at[1], at[2], rows);
    snprintf(row->column, sizeof row->column, "%.60s.%.60s", diagnostic, at[2]->name);
    snprintf(row->unit, sizeof row->unit, "%s", at[2]->unit[0] ? at[2]->unit : "1");
    row->value = rows > 0 ? at[2]->values[rows - 1] : NAN;
    row->order = coarse > 0.0 && fine > 0.0 ? log2(coarse / fine) : NAN;
    row->error = row->order > 0.0 ? fine / (exp2(row->order) - 1.0) : NAN;
    if (fine == 0.0)
        row->error = 0.0;
}

/* The columns behind step and time, if all levels have them. */
static enum status measure_diagnostic(const struct levels *levels, const char *diagnostic,
                                      struct convergence *convergence, struct error *error)
{
    enum { PREFIX_COLUMNS = 2 };
    const size_t columns = levels->series[0]->columns;
    struct convergence_row *rows =
        realloc(convergence->rows, memory_bytes(convergence->count + columns, sizeof *rows));
    if (!rows)
        return error_set(error, STATUS_MEMORY, "out of memory");
    convergence->rows = rows;
    for (size_t l = 1; l < CONVERGENCE_LEVELS; l++)
        if (levels->series[l]->columns != columns)
            return STATUS_OK;
    for (size_t k = PREFIX_COLUMNS; k < columns; k++)
        measure_column(levels, k, diagnostic, &rows[convergence->count++]);
    return STATUS_OK;
}

static enum status measure_runs(const struct result results[CONVERGENCE_LEVELS],
                                struct convergence *convergence, struct error *error)
{
    const char *name;
    json_t *unused;
    enum status status = STATUS_OK;
    json_object_foreach(result_find(&results[0], "diagnostics"), name, unused)
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
            status = measure_diagnostic(&levels, name, convergence, error);
        for (size_t l = 0; l < CONVERGENCE_LEVELS; l++)
            series_destroy(levels.series[l]);
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
    text_print(&csv, "column,unit,value,order,error\n");
    for (size_t i = 0; i < convergence->count; i++) {
        const struct convergence_row *row = &convergence->rows[i];
        text_cell(&csv, row->column);
        text_print(&csv, ",");
        text_cell(&csv, row->unit);
        print_real(&csv, row->value);
        print_real(&csv, row->order);
        print_real(&csv, row->error);
        text_print(&csv, "\n");
    }
    const enum status status = csv.failed ? error_set(error, STATUS_MEMORY, "out of memory")
                                          : directory_replace_file(directory, "convergence.csv",
                                                                   csv.bytes, csv.length, error);
    text_free(&csv);
    return status;
}

static enum status measure(struct directory *directory, struct convergence *convergence,
                           struct error *error)
{
    struct result results[CONVERGENCE_LEVELS] = { 0 };
    size_t opened = 0;
    enum status status = STATUS_OK;
    for (; opened < CONVERGENCE_LEVELS && !status; opened++) {
        char path[RESULT_PATH_SIZE], name[STUDY_NAME_SIZE];
        snprintf(path, sizeof path, "%s/%s", directory_path(directory),
                 study_member_name(opened, name));
        status = result_open(path, &results[opened], error);
    }
    if (!status)
        status = measure_runs(results, convergence, error);
    if (!status)
        status = write_csv(directory, convergence, error);
    for (size_t l = 0; l < opened; l++)
        result_close(&results[l]);
    return status;
}

/* Together with other jobs of an array, which may come to the same end at the same moment. */
enum status convergence_measure(const char *path, struct convergence *convergence,
                                struct error *error)
{
    static const char *const name[] = { "convergence.csv" };
    struct directory *directory;
    *convergence = (struct convergence){ 0 };
    if (directory_open_kind(path, &directory_study, DIRECTORY_SHARED, &directory, error))
        return error->status;
    enum status status = directory_lock_files(directory, error);
    if (!status)
        status = directory_check(directory, name, 1, error);
    if (!status)
        status = measure(directory, convergence, error);
    directory_close(directory);
    return status;
}

void convergence_free(struct convergence *convergence)
{
    free(convergence->rows);
    *convergence = (struct convergence){ 0 };
}
