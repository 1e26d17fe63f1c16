/* Figures by the hints of a diagnostic: of one that the report has never heard of, and of none. */
#include "unit.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "report/draw.h"

static char directory[] = "/tmp/orrery-drawing-XXXXXX";

static int make_directory(void **state)
{
    (void)state;
    return mkdtemp(directory) && chdir(directory) == 0 ? 0 : -1;
}

static int remove_directory(void **state)
{
    (void)state;
    unlink("tides.csv");
    return chdir("/") == 0 ? rmdir(directory) : -1;
}

/* --- a diagnostic of this test ---------------------------------------------------------------- */

static const struct column columns[] = {
    { "height", DIMENSION_LENGTH, "how high the tide stands" },
    { "width", DIMENSION_LENGTH, "how far it reaches" },
    { "phase", DIMENSION_NONE, "angle by which it lags" },
    { "pull_x", DIMENSION_ENERGY, "pull: x component" },
    { "pull_y", DIMENSION_ENERGY, "pull: y component" },
    { "pull_z", DIMENSION_ENERGY, "pull: z component" },
};

static const struct drawing drawings[] = {
    { .name = "divergence",
      .title = "Phase of the tide",
      .y_label = "phase",
      .curves = { { .column = "phase", .label = "lag", .value = DRAWN_MAGNITUDE } },
      .caption = "The lag." },
    { .name = "sizes",
      .title = "Sizes",
      .y_label = "size",
      .scale = SCALE_LOGARITHMIC,
      .curves = { { .column = "height", .label = "high" },
                  { .column = "wid*", .label = " wide", .kind = CURVE_DASHED } },
      .caption = "Both sizes." },
    { .name = "momentum",
      .title = "Pull",
      .y_label = "pull",
      .curves = { { .column = "pull",
                    .label = "|p|",
                    .value = DRAWN_CHANGE,
                    .relative = "|p|/p0" } },
      .caption = "Its change." },
    { .name = "box", .space = PERIODIC_SPACE, .curves = { { .column = "height", .label = "" } } },
};

static const struct diagnostic_class tides = { .variant = { .name = "tides" },
                                               .columns = columns,
                                               .column_count = COUNT_OF(columns),
                                               .drawings = drawings,
                                               .drawing_count = COUNT_OF(drawings) };

/* Rows of it: the pull begins at 5 = |(3, 4, 0)| and changes by 1. */
static const char rows[] =
    "step [1],time [T],height [L],width [L],phase [1],pull_x [M],pull_y [M],pull_z [M]\n"
    "0,0,0.5,1,-0.25,3,4,0\n"
    "10,1,0.75,2,0.5,3,4,1\n";

/* The figures of a diagnostic whose file holds `csv`. */
static struct figures draw(const struct diagnostic_class *class_, const char *name, const char *csv)
{
    struct figures figures = { 0 };
    struct error error = { 0 };
    struct series *series;
    struct result result = { .json =
                                 json_pack("{s:{s:{s:f}}}", "config", "trust", "tolerance", 0.25) };
    FILE *file = fopen("tides.csv", "w");
    assert_non_null(file);
    fputs(csv, file);
    assert_int_equal(fclose(file), 0);
    snprintf(result.path, sizeof result.path, "%s", directory);
    assert_int_equal(series_read("tides.csv", &series, &error), STATUS_OK);
    const struct measured measured = { &result, series, class_, "tides", name };
    assert_int_equal(draw_diagnostic(&measured, DRAW_PAGE, &figures, &error), STATUS_OK);
    series_destroy(series);
    result_close(&result);
    return figures;
}

static void check_curve(const struct curve *curve, const char *label, enum curve_kind kind,
                        const double y[2])
{
    assert_string_equal(curve->label, label);
    assert_int_equal(curve->kind, kind);
    assert_int_equal(curve->count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_close(curve->x[i], (double)i, 0.0);
        assert_close(curve->y[i], y[i], 1e-15);
    }
}

static void test_hints_are_drawn(void **state)
{
    (void)state;
    struct figures figures = draw(&tides, "tides", rows);
    assert_int_equal(figures.count, 3);
    const struct figure *phase = &figures.figures[0], *sizes = phase + 1, *pull = phase + 2;
    assert_string_equal(phase->name, "divergence");
    assert_string_equal(phase->title, "Phase of the tide");
    assert_string_equal(phase->caption.bytes, "The lag.");
    assert_string_equal(phase->finding.bytes,
                        "When a line reaches 0.25 (trust.tolerance), single orbits mean nothing "
                        "any more; statistics over them may.");
    assert_string_equal(phase->x_label, "t [T]");
    assert_string_equal(phase->y_label, "phase");
    assert_int_equal(phase->curve_count, 1);
    assert_false(phase->y_log);
    check_curve(&phase->curves[0], "lag", CURVE_LINE, (const double[]){ 0.25, 0.5 });
    assert_true(sizes->y_log && !sizes->x_log);
    assert_string_equal(sizes->y_label, "size [L]");
    assert_int_equal(sizes->curve_count, 2);
    check_curve(&sizes->curves[0], "high", CURVE_LINE, (const double[]){ 0.5, 0.75 });
    check_curve(&sizes->curves[1], "th wide", CURVE_DASHED, (const double[]){ 1, 2 });
    assert_string_equal(pull->y_label, "|p|/p0");
    check_curve(&pull->curves[0], "|p|/p0", CURVE_LINE, (const double[]){ 0, 0.2 });
    assert_string_equal(pull->finding.bytes, "It changed by 20 % of |P₀|, which is an error of the "
                                             "integration: only round-off may change it.");
    figure_free_all(&figures);
}

static void test_names_of_the_config_tell_figures_apart(void **state)
{
    (void)state;
    struct figures figures = draw(&tides, "moon", rows);
    assert_string_equal(figures.figures[0].name, "moon-divergence");
    assert_string_equal(figures.figures[0].title, "Phase of the tide: moon");
    figure_free_all(&figures);
}

static void test_a_vector_from_nothing_is_not_relative(void **state)
{
    (void)state;
    struct figures figures = draw(&tides, "tides",
                                  "step [1],time [T],pull_x [M],pull_y [M],pull_z [M]\n"
                                  "0,0,1e-17,0,0\n10,1,3,4,0\n");
    assert_int_equal(figures.count, 1);
    assert_string_equal(figures.figures[0].y_label, "|p| [M]");
    check_curve(&figures.figures[0].curves[0], "|p|", CURVE_LINE, (const double[]){ 0, 5 });
    figure_free_all(&figures);
}

static void test_without_hints_every_column_is_drawn(void **state)
{
    (void)state;
    struct diagnostic_class plain = tides;
    plain.drawing_count = 0;
    struct figures figures = draw(&plain, "tides", rows);
    assert_int_equal(figures.count, 3); /* lengths, a pure number, energies */
    const struct figure *lengths = figures.figures, *phase = lengths + 1, *pull = lengths + 2;
    assert_string_equal(lengths->name, "tides-height");
    assert_string_equal(lengths->title, "Tides [L]");
    assert_string_equal(lengths->y_label, "value [L]");
    assert_string_equal(lengths->caption.bytes,
                        "height: how high the tide stands; width: how far it reaches.");
    assert_int_equal(lengths->curve_count, 2);
    check_curve(&lengths->curves[0], "height", CURVE_LINE, (const double[]){ 0.5, 0.75 });
    check_curve(&lengths->curves[1], "width", CURVE_LINE, (const double[]){ 1, 2 });
    assert_string_equal(phase->title, "Tides: phase");
    assert_string_equal(phase->y_label, "phase");
    check_curve(&phase->curves[0], "phase", CURVE_LINE, (const double[]){ -0.25, 0.5 });
    assert_int_equal(pull->curve_count, 3);
    figure_free_all(&figures);
}

/* Values over more than two decades ask for a logarithmic axis, unless one has a sign. */
static void test_scales_follow_the_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *first, *last;
        bool logarithmic;
    } trials[] = { { "1", "99", false }, { "1", "1001", true }, { "-1", "1001", false } };
    for (size_t i = 0; i < COUNT_OF(trials); i++) {
        char csv[200];
        snprintf(csv, sizeof csv, "step [1],time [T],height [L]\n0,0,%s\n1,1,1\n2,2,2\n3,3,%s\n",
                 trials[i].first, trials[i].last);
        struct figures figures = draw(NULL, "tides", csv);
        assert_int_equal(figures.count, 1);
        assert_int_equal(figures.figures[0].y_log, trials[i].logarithmic);
        assert_int_equal(figures.figures[0].curves[0].count, 4);
        figure_free_all(&figures);
    }
}

/* Ten lines go into a figure, and what is left into another one. */
static void test_no_column_is_too_many(void **state)
{
    (void)state;
    struct text csv = { 0 };
    text_print(&csv, "step [1],time [T]");
    for (int k = 0; k < 23; k++)
        text_print(&csv, ",c%d [L]", k);
    for (int row = 0; row < 2; row++) {
        text_print(&csv, "\n%d,%d", row, row);
        for (int k = 0; k < 23; k++)
            text_print(&csv, ",%d", k + row);
    }
    text_print(&csv, "\n");
    struct figures figures = draw(NULL, "tides", csv.bytes);
    assert_int_equal(figures.count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(figures.figures[i].curve_count, i < 2 ? 10 : 3);
    assert_string_equal(figures.figures[2].curves[2].label, "c22");
    assert_string_equal(figures.figures[2].name, "tides-c20");
    figure_free_all(&figures);
    text_free(&csv);
}

/* A table at each event: the last one over its first column. */
static void test_tables_are_drawn_over_their_first_column(void **state)
{
    (void)state;
    struct figures figures = draw(NULL, "tides",
                                  "step [1],time [T],r [L],height [M]\n"
                                  "0,0,0,7\n0,0,1,8\n10,1,0,3\n10,1,1,4\n");
    assert_int_equal(figures.count, 1);
    assert_string_equal(figures.figures[0].x_label, "r [L]");
    assert_string_equal(figures.figures[0].caption.bytes, "height, at the last event.");
    check_curve(&figures.figures[0].curves[0], "height", CURVE_LINE, (const double[]){ 3, 4 });
    figure_free_all(&figures);
}

static bool has_column(const struct diagnostic_class *class_, const char *name, const char *end)
{
    char full[128];
    snprintf(full, sizeof full, "%s%s", name, end);
    const size_t stem = strcspn(full, "*");
    for (size_t i = 0; i < class_->column_count; i++)
        if (strncmp(class_->columns[i].name, full, stem) == 0 &&
            (full[stem] == '*' || class_->columns[i].name[stem] == '\0'))
            return true;
    return false;
}

static void test_hints_name_columns(void **state)
{
    (void)state;
    size_t curves = 0;
    const struct diagnostic_class *class_;
    for (size_t i = 0; (class_ = diagnostic_measured(i)); i++)
        for (size_t d = 0; d < class_->drawing_count; d++)
            for (size_t k = 0; k < DRAWING_CURVES; k++) {
                const struct drawn_curve *curve = &class_->drawings[d].curves[k];
                if (!curve->column)
                    break;
                curves++;
                assert_true(
                    has_column(class_, curve->column, curve->value == DRAWN_CHANGE ? "_z" : ""));
                assert_true(!curve->x || has_column(class_, curve->x, ""));
            }
    assert_true(curves > 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hints_are_drawn),
        cmocka_unit_test(test_names_of_the_config_tell_figures_apart),
        cmocka_unit_test(test_a_vector_from_nothing_is_not_relative),
        cmocka_unit_test(test_without_hints_every_column_is_drawn),
        cmocka_unit_test(test_scales_follow_the_numbers),
        cmocka_unit_test(test_no_column_is_too_many),
        cmocka_unit_test(test_tables_are_drawn_over_their_first_column),
        cmocka_unit_test(test_hints_name_columns),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
