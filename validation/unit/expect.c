/* Acceptance criteria: which rows count, which fail, which is the worst, and what they say. */
#include "unit.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "model/units.h"
#include "observation/criteria.h"
#include "run/schema.h"

/* --- a config and diagnostics of its own ------------------------------------------------------ */

static const struct column pair_columns[] = { { .name = "period" }, { .name = "radius" } };
static const struct column gas_columns[] = { { .name = "radius" }, { .name = "heat" } };
static const struct column curve_columns[] = { { .name = "radius" }, { .name = "density" } };
static const struct diagnostic_class one_row = { .table = false };
static const struct diagnostic_class a_table = { .table = true };
static const struct diagnostic pair = {
    .class_ = &one_row, .name = "pair", .columns = pair_columns, .column_count = 2
};
static const struct diagnostic gas = {
    .class_ = &one_row, .name = "gas", .columns = gas_columns, .column_count = 2
};
static const struct diagnostic curve = {
    .class_ = &a_table, .name = "curve", .columns = curve_columns, .column_count = 2
};
/* One that is not there, and a table, stand between them. */
static const struct diagnostic *const diagnostics[] = { &pair, NULL, &curve, &gas };
enum { PAIR = 0, CURVE = 2, GAS = 3 };

struct fixture {
    struct config *config;
    struct expectations expectations;
    struct error error;
};

/* The criteria of `list`, as the reader gives them from a file; free with leave(). */
static enum status enter(struct fixture *f, const char *group, const char *list)
{
    char path[] = "/tmp/orrery-expect-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *file = fdopen(fd, "w");
    assert_non_null(file);
    fprintf(file, "bodies = { initial = \"pythagorean\"; };\ntime = { step = 0.1; end = 1.0; };\n");
    fprintf(file, "%s = ( %s );\n", group, list);
    assert_int_equal(fclose(file), 0);
    *f = (struct fixture){ 0 };
    if (schema_load(path, NULL, 0, &f->config, &f->error))
        fail_msg("%s: %s", list, f->error.text);
    unlink(path);
    return expectations_create(f->config, group, units_find("nbody"), diagnostics,
                               COUNT_OF(diagnostics), &f->expectations, &f->error);
}

static void leave(struct fixture *f)
{
    expectations_destroy(&f->expectations);
    config_free(f->config);
}

/* --- judging ---------------------------------------------------------------------------------- */

enum { MOST_ROWS = 6 };

struct row {
    double time, radius;
};

/* A criterion on radius, rows, and what comes of them. */
struct judged {
    const char *criterion;
    size_t count;
    struct row rows[MOST_ROWS];
    double rows_counted, failures, worst, first_failure;
    bool holds;
};

#define NOTHING NAN
static const struct judged table[] = {
    /* A bound belongs to what is allowed. */
    { "at_most = 2.5;", 1, { { 0, 2.5 } }, 1, 0, 2.5, NOTHING, true },
    { "at_least = 2.5;", 1, { { 0, 2.5 } }, 1, 0, 2.5, NOTHING, true },
    { "at_most = 2.5;", 1, { { 7, 2.5000000000000004 } }, 1, 1, 2.5000000000000004, 7, false },
    { "at_least = 2.5;", 1, { { 7, 2.4999999999999996 } }, 1, 1, 2.4999999999999996, 7, false },
    { "between = [-1.5, 2.5];", 2, { { 0, -1.5 }, { 1, 2.5 } }, 2, 0, -1.5, NOTHING, true },
    { "between = [-1.5, 2.5];", 2, { { 0, -1.25 }, { 1, 2.5 } }, 2, 0, 2.5, NOTHING, true },
    /* Both bounds break, and the one that is broken further is the worst. */
    { "between = [-1, 2];", 3, { { 0, 0 }, { 1, 3 }, { 2, -3 } }, 3, 2, -3, 1, false },
    { "between = [-1, 2];", 3, { { 0, -3 }, { 1, 5 }, { 2, 0 } }, 3, 2, 5, 0, false },
    { "at_least = -1; at_most = 2;", 3, { { 0, 1 }, { 1, -2 }, { 2, 3.5 } }, 3, 2, 3.5, 1, false },
    /* The narrower of two bounds counts. */
    { "at_most = 2; between = [0, 9];", 1, { { 3, 4 } }, 1, 1, 4, 3, false },
    { "at_most = 9; between = [0, 2];", 1, { { 3, 4 } }, 1, 1, 4, 3, false },
    { "at_least = 2; between = [0, 9];", 1, { { 3, 1 } }, 1, 1, 1, 3, false },
    { "at_least = 0; between = [2, 9];", 1, { { 3, 1 } }, 1, 1, 1, 3, false },
    /* The worst is the worst, wherever it comes; the first failure is the first. */
    { "at_most = 2;", 4, { { 1, 1 }, { 2, 9 }, { 3, 4 }, { 4, 0 } }, 4, 2, 9, 2, false },
    { "at_most = 2;", 4, { { 1, 3 }, { 2, 1 }, { 3, 8 }, { 4, 5 } }, 4, 3, 8, 1, false },
    { "at_most = 2;", 3, { { 0, -7 }, { 1, 1.75 }, { 2, 0 } }, 3, 0, 1.75, NOTHING, true },
    { "at_least = 2;", 3, { { 0, 7 }, { 1, 2.25 }, { 2, 9 } }, 3, 0, 2.25, NOTHING, true },
    /* A window includes its ends, and nothing beyond them. */
    { "at_most = 2; after = 1;", 3, { { 0.5, 9 }, { 1, 1 }, { 2, 0 } }, 2, 0, 1, NOTHING, true },
    { "at_most = 2; after = 1;", 3, { { 0.5, 9 }, { 1, 7 }, { 2, 0 } }, 2, 1, 7, 1, false },
    { "at_most = 2; before = 1;", 3, { { 0, 0 }, { 1, 1 }, { 1.5, 9 } }, 2, 0, 1, NOTHING, true },
    { "at_most = 2; before = 1;", 3, { { 0, 0 }, { 1, 7 }, { 1.5, 0 } }, 2, 1, 7, 1, false },
    { "at_most = 2; after = 1; before = 2;",
      5,
      { { 0.75, 9 }, { 1, 1 }, { 1.5, 1.5 }, { 2, 0 }, { 2.25, 9 } },
      3,
      0,
      1.5,
      NOTHING,
      true },
    /* Times are steps times their length: 3 steps of 0.1 are more than 0.3, 6 of 0.15 are less than
       0.9. */
    { "at_most = 2; before = 0.3;", 2, { { 0.1, 1 }, { 3 * 0.1, 9 } }, 2, 1, 9, 3 * 0.1, false },
    { "at_most = 2; after = 0.9;", 1, { { 6 * 0.15 - 0x1p-52, 1 } }, 1, 0, 1, NOTHING, true },
    { "at_most = 2; before = 0.3;", 2, { { 0.1, 1 }, { 0.30001, 9 } }, 1, 0, 1, NOTHING, true },
    { "at_most = 2; after = 1; before = 1;",
      3,
      { { 0, 9 }, { 1, 3 }, { 2, 9 } },
      1,
      1,
      3,
      1,
      false },
    /* No row that counts is no success. */
    { "at_most = 2;", 0, { { 0, 0 } }, 0, 0, NAN, NOTHING, false },
    { "at_most = 2; after = 5;", 2, { { 0, 1 }, { 4.75, 1 } }, 0, 0, NAN, NOTHING, false },
    { "at_most = 2; before = 5;", 1, { { 5.25, 1 } }, 0, 0, NAN, NOTHING, false },
    /* An undefined value fails, is the worst there is, and stays the worst. */
    { "at_most = 2;", 1, { { 3, NAN } }, 1, 1, NAN, 3, false },
    { "at_most = 2;", 3, { { 1, 1 }, { 2, NAN }, { 3, 1 } }, 3, 1, NAN, 2, false },
    { "at_most = 2;", 3, { { 1, NAN }, { 2, 99 }, { 3, 1 } }, 3, 2, NAN, 1, false },
    { "between = [0, 2];", 2, { { 1, 1 }, { 2, NAN } }, 2, 1, NAN, 2, false },
    { "at_most = 2; after = 2;", 2, { { 1, NAN }, { 2, 1 } }, 1, 0, 1, NOTHING, true },
    /* An infinite value does so too. */
    { "at_most = 2;", 2, { { 1, INFINITY }, { 2, 5 } }, 2, 2, INFINITY, 1, false },
    { "at_least = 2;", 2, { { 1, INFINITY }, { 2, -INFINITY } }, 2, 1, -INFINITY, 2, false },
};

static bool same(double a, double b)
{
    return isnan(a) ? isnan(b) : a == b;
}

static void test_rows_are_judged(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        const struct judged *t = &table[i];
        char list[256];
        struct fixture f;
        snprintf(list, sizeof list, "{ quantity = \"pair.radius\"; %s }", t->criterion);
        if (enter(&f, "expect", list))
            fail_msg("%s: %s", list, f.error.text);
        for (size_t k = 0; k < t->count; k++) {
            /* Values of other columns and diagnostics would fail every criterion. */
            const double row[] = { -1e9, t->rows[k].radius }, other[] = { 1e9, 1e9 };
            expectations_row(&f.expectations, GAS, 0, t->rows[k].time, other, 0.0);
            expectations_row(&f.expectations, PAIR, 0, t->rows[k].time, row, 0.0);
        }
        const struct criterion *c = f.expectations.criteria;
        if (!same(c->rows, t->rows_counted) || !same(c->failures, t->failures) ||
            !same(c->worst, t->worst) || !same(c->first_failure, t->first_failure) ||
            criterion_holds(c) != t->holds || expectations_hold(&f.expectations) != t->holds)
            fail_msg("row %zu, %s: %g rows, %g failures, worst %.17g, first at %g, %s", i,
                     t->criterion, c->rows, c->failures, c->worst, c->first_failure,
                     criterion_holds(c) ? "holds" : "fails");
        leave(&f);
    }
}

static void test_all_must_hold(void **state)
{
    (void)state;
    struct fixture f;
    assert_int_equal(enter(&f, "expect",
                           "{ quantity = \"period\"; at_most = 3; }, "
                           "{ quantity = \"heat\"; at_least = 1; }, "
                           "{ quantity = \"gas.radius\"; at_most = 5; }"),
                     STATUS_OK);
    const double first[] = { 2, 99 }, second[] = { 4, 8 };
    expectations_row(&f.expectations, PAIR, 0, 0, first, 0.0);
    assert_false(expectations_hold(&f.expectations)); /* the others have no row yet */
    expectations_row(&f.expectations, GAS, 0, 0, second, 0.0);
    assert_true(expectations_hold(&f.expectations));
    expectations_row(&f.expectations, CURVE, 0, 0, first, 0.0); /* nobody's */
    assert_true(expectations_hold(&f.expectations));
    const double bad[] = { 9, 8 };
    expectations_row(&f.expectations, GAS, 0, 1, bad, 0.0);
    assert_false(expectations_hold(&f.expectations));
    const bool held[] = { true, true, false };
    for (size_t i = 0; i < COUNT_OF(held); i++) {
        assert_int_equal(criterion_holds(&f.expectations.criteria[i]), held[i]);
        assert_true(f.expectations.criteria[i].rows == (i == 0 ? 1 : 2));
    }
    leave(&f);
    assert_int_equal(enter(&f, "expect", ""), STATUS_OK);
    assert_true(expectations_hold(&f.expectations)); /* nothing was expected */
    leave(&f);
}

/* Each row of a table is judged: one bin out of bounds is enough. */
static void test_a_table(void **state)
{
    (void)state;
    struct fixture f;
    assert_int_equal(
        enter(&f, "expect", "{ quantity = \"curve.density\"; between = [1, 3]; after = 5; }"),
        STATUS_OK);
    const double early[] = { 0.5, 9 }, one[] = { 0.5, 2 }, other[] = { 1.5, 4 };
    expectations_row(&f.expectations, CURVE, 0, 0, early, 0.0);
    assert_false(expectations_hold(&f.expectations)); /* no row has counted */
    expectations_row(&f.expectations, CURVE, 0, 5, one, 0.0);
    assert_true(expectations_hold(&f.expectations));
    expectations_row(&f.expectations, CURVE, 0, 5, other, 0.0);
    assert_false(expectations_hold(&f.expectations));
    assert_true(f.expectations.criteria->rows == 2 && f.expectations.criteria->worst == 4);
    leave(&f);
}

/* --- ending a run ----------------------------------------------------------------------------- */

static void test_a_row_by_itself(void **state)
{
    (void)state;
    static const struct {
        double time, radius, heat;
        int met;                     /* the first condition, or -1 */
    } rows[] = { { 0.75, 5, 9, -1 }, /* before the first window; the second wants more */
                 { 1, 5, 9, 0 },     { 2, 5, 9, 0 },     { 2.25, 5, 9, -1 }, { 1, 4.75, 9, -1 },
                 { 1, 5, 10, 0 },    { 3, 5, 10, 1 },    { 1, NAN, 9, -1 },  { 1, NAN, 10, 1 },
                 { 3, 5, NAN, -1 },  { 1, 5.25, NAN, 0 } };
    struct fixture f;
    assert_int_equal(enter(&f, "stop_when",
                           "{ quantity = \"gas.radius\"; at_least = 5; after = 1; before = 2; }, "
                           "{ quantity = \"heat\"; between = [10, 11]; }"),
                     STATUS_OK);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const double values[] = { rows[i].radius, rows[i].heat };
        const struct criterion *met =
            expectations_met(&f.expectations, GAS, rows[i].time, values, 0.0);
        const int index = met ? (int)(met - f.expectations.criteria) : -1;
        if (index != rows[i].met)
            fail_msg("row %zu meets %d, not %d", i, index, rows[i].met);
        assert_null(expectations_met(&f.expectations, PAIR, rows[i].time, values, 0.0));
    }
    assert_true(f.expectations.criteria[0].rows == 0); /* no row was judged */
    leave(&f);
}

/* --- reading ---------------------------------------------------------------------------------- */

static void test_quantities(void **state)
{
    (void)state;
    static const struct {
        const char *quantity;
        size_t diagnostic, column;
    } found[] = { { "period", PAIR, 0 },        { "heat", GAS, 1 },
                  { "pair.radius", PAIR, 1 },   { "gas.radius", GAS, 0 },
                  { "curve.radius", CURVE, 0 }, { "curve.density", CURVE, 1 },
                  { "pair.period", PAIR, 0 } };
    static const struct {
        const char *quantity, *message;
    } refused[] = {
        { "radius", "2 diagnostics have such a column; write diagnostic.column" },
        { "curve.heat", "the nearest is" },
        { "density", "the nearest is curve.density" }, /* many tables may have such a column */
        { "radial-distribution.g", "add { type = \"radial-distribution\"; } to `diagnostics`" },
        { "peri", "the nearest is period" },
        { "gas.period", "no diagnostic of this run has such a column" },
        { "pai.period", "no diagnostic of this run has such a column" },
        { "semi_major_axis", "add { type = \"orbit\"; } to `diagnostics`" },
    };
    for (size_t i = 0; i < COUNT_OF(found); i++) {
        char list[128];
        struct fixture f;
        snprintf(list, sizeof list, "{ quantity = \"%s\"; at_most = 1; }", found[i].quantity);
        if (enter(&f, "expect", list))
            fail_msg("%s: %s", found[i].quantity, f.error.text);
        assert_int_equal(f.expectations.criteria->diagnostic, found[i].diagnostic);
        assert_int_equal(f.expectations.criteria->column, found[i].column);
        leave(&f);
    }
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        char list[128];
        struct fixture f;
        snprintf(list, sizeof list, "{ quantity = \"%s\"; at_most = 1; }", refused[i].quantity);
        assert_int_equal(enter(&f, "expect", list), STATUS_CONFIG);
        if (!strstr(f.error.text, refused[i].message))
            fail_msg("%s: %s", refused[i].quantity, f.error.text);
        leave(&f);
    }
}

static void test_bounds_that_nothing_meets(void **state)
{
    (void)state;
    static const struct {
        const char *bounds, *message;
    } refused[] = {
        { "", "needs one of at_most, at_least, between" },
        { "after = 1;", "needs one of at_most, at_least, between" },
        { "at_least = 2; at_most = 1;", "no value lies between 2 and 1" },
        { "between = [3, 1];", "no value lies between 3 and 1" },
        { "at_least = 5; between = [0, 4];", "no value lies between 5 and 4" },
        { "at_most = -1; between = [0, 4];", "no value lies between 0 and -1" },
    };
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        char list[128];
        struct fixture f;
        snprintf(list, sizeof list, "{ quantity = \"heat\"; %s }", refused[i].bounds);
        assert_int_equal(enter(&f, "expect", list), STATUS_CONFIG);
        if (!strstr(f.error.text, refused[i].message))
            fail_msg("%s: %s", refused[i].bounds, f.error.text);
        leave(&f);
    }
    struct fixture f;
    assert_int_equal(enter(&f, "expect", "{ quantity = \"heat\"; at_least = 2; at_most = 2; }"),
                     STATUS_OK); /* one value does */
    leave(&f);
    /* Everything that is wrong is said at once. */
    assert_int_equal(
        enter(&f, "expect", "{ quantity = \"none\"; at_most = 1; }, { quantity = \"heat\"; }"),
        STATUS_CONFIG);
    assert_int_equal(f.error.lines, 2);
    leave(&f);
}

/* --- telling ---------------------------------------------------------------------------------- */

static void test_what_is_said(void **state)
{
    (void)state;
    static const struct {
        const char *bounds, *text;
    } said[] = {
        { "at_most = 0.25;", "heat <= 0.25" },
        { "at_least = -3;", "heat >= -3" },
        { "between = [1, 2];", "heat in [1, 2]" },
        { "between = [1.732050, 1.732052];", "heat in [1.73205, 1.732052]" },
        { "at_least = 1e9;", "heat >= 1e+09" },
        { "at_most = 1; after = 4;", "heat <= 1 after t = 4" },
        { "at_most = 1; before = 6;", "heat <= 1 before t = 6" },
        { "at_most = 1; after = 4; before = 6;", "heat <= 1 for t in [4, 6]" },
    };
    for (size_t i = 0; i < COUNT_OF(said); i++) {
        char list[128], text[CRITERION_TEXT_SIZE];
        struct fixture f;
        snprintf(list, sizeof list, "{ quantity = \"heat\"; %s }", said[i].bounds);
        assert_int_equal(enter(&f, "expect", list), STATUS_OK);
        assert_string_equal(criterion_text(f.expectations.criteria, text), said[i].text);
        leave(&f);
    }
}

/* Rows of the start, however many, say nothing of a run, unless they fail. */
static void test_the_start_judges_nothing(void **state)
{
    (void)state;
    const double row[] = { 1.5, 1.5 };
    struct fixture f;
    assert_int_equal(enter(&f, "expect",
                           "{ quantity = \"pair.radius\"; at_most = 2; }, "
                           "{ quantity = \"period\"; at_most = 1; }"),
                     STATUS_OK);
    const struct criterion *criteria = f.expectations.criteria;
    for (size_t system = 1; system <= 3; system++)
        expectations_row(&f.expectations, PAIR, system, 0.0, row, 0.0);
    assert_false(criterion_is_judged(&criteria[0]));
    assert_true(criterion_is_judged(&criteria[1]));
    expectations_row(&f.expectations, PAIR, 1, 0.5, row, 0.0);
    assert_true(criterion_is_judged(&criteria[0]));
    leave(&f);
}

/* One that failed, one that holds, and one that never saw a row. */
static void test_json(void **state)
{
    (void)state;
    static const char expected[] =
        "[{\"criterion\": \"pair.radius <= 2\", \"failures\": 1, \"first_failure_system\": "
        "null, \"first_failure_time\": 1.5, \"holds\": false, \"judged\": true, \"quantity\": "
        "\"pair.radius\", "
        "\"rows\": 3, \"unit\": \"\", \"why_undefined\": \"\", \"worst\": 4.5, \"worst_system\": "
        "null}, {\"criterion\": "
        "\"period >= 1\", \"failures\": 0, \"first_failure_system\": null, "
        "\"first_failure_time\": null, \"holds\": true, \"judged\": true, \"quantity\": "
        "\"period\", \"rows\": 3, "
        "\"unit\": \"\", \"why_undefined\": \"\", \"worst\": 1.25, \"worst_system\": null}, "
        "{\"criterion\": \"heat <= "
        "9\", \"failures\": 0, \"first_failure_system\": null, \"first_failure_time\": null, "
        "\"holds\": false, \"judged\": false, \"quantity\": \"heat\", \"rows\": 0, \"unit\": \"\", "
        "\"why_undefined\": \"\", "
        "\"worst\": "
        "null, \"worst_system\": null}]";
    static const double rows[][2] = { { 2, 1 }, { 1.25, 4.5 }, { 3, 2 } };
    struct fixture f;
    assert_int_equal(enter(&f, "expect",
                           "{ quantity = \"pair.radius\"; at_most = 2; }, "
                           "{ quantity = \"period\"; at_least = 1; }, "
                           "{ quantity = \"heat\"; at_most = 9; }"),
                     STATUS_OK);
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        expectations_row(&f.expectations, PAIR, 0, 1.5 * (double)i, rows[i], 0.0);
    json_t *json = expectations_json(&f.expectations, true);
    char *text = json_dumps(json, JSON_SORT_KEYS);
    assert_non_null(text);
    assert_string_equal(text, expected);
    free(text);
    json_decref(json);
    leave(&f);
}

/* The table of findings has the nearer of two bounds, the systems, and what is not known yet. */
static void test_findings(void **state)
{
    (void)state;
    static const double rows[][2] = { { 4, 1 }, { 1.25, 4.5 }, { 3, 2 } };
    struct fixture f;
    assert_int_equal(enter(&f, "expect",
                           "{ quantity = \"pair.radius\"; at_most = 2; }, "
                           "{ quantity = \"period\"; between = [1, 9]; }, "
                           "{ quantity = \"pair.radius\"; at_least = 1.5; }, "
                           "{ quantity = \"heat\"; at_most = 9; }"),
                     STATUS_OK);
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        expectations_row(&f.expectations, PAIR, i + 1, 1.5 * (double)i, rows[i], 0.0);
    static const struct {
        double value, bound, since;
        size_t system, since_system;
        bool from_below;
        enum finding_severity ended, open;
    } expected[] = {
        { 4.5, 2, 1.5, 2, 2, false, FINDING_FAILURE, FINDING_FAILURE },
        { 1.25, 1, NAN, 2, 0, true, FINDING_HELD, FINDING_HELD },
        { 1, 1.5, 0, 1, 1, true, FINDING_FAILURE, FINDING_FAILURE },
        { NAN, 9, NAN, 0, 0, false, FINDING_FAILURE, FINDING_OPEN },
    };
    for (int ended = 0; ended < 2; ended++) {
        struct findings found = { 0 };
        expectations_findings(&f.expectations, ended, &found);
        assert_int_equal(found.count, COUNT_OF(expected));
        for (size_t i = 0; i < found.count; i++) {
            const struct finding *row = &found.rows[i];
            if (!same(row->value, expected[i].value) || !same(row->bound, expected[i].bound) ||
                !same(row->since, expected[i].since) || row->system != expected[i].system ||
                row->since_system != expected[i].since_system ||
                row->from_below != expected[i].from_below || row->unseen != (i == 3) ||
                row->severity != (ended ? expected[i].ended : expected[i].open))
                fail_msg("row %zu, ended %d: %g, bound %g, since %g, of systems %zu and %zu, %d", i,
                         ended, row->value, row->bound, row->since, row->system, row->since_system,
                         row->severity);
        }
        /* 4.5 of 2 is 2.25 times; what is undefined is worse than any number. */
        const struct finding *worst = findings_worst(&found, FINDING_OF_ROWS);
        assert_ptr_equal(worst, &found.rows[ended ? 3 : 0]);
        assert_null(findings_worst(&found, FINDING_OF_ENERGY));
        findings_free(&found);
    }
    leave(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_are_judged),
        cmocka_unit_test(test_all_must_hold),
        cmocka_unit_test(test_a_table),
        cmocka_unit_test(test_a_row_by_itself),
        cmocka_unit_test(test_quantities),
        cmocka_unit_test(test_bounds_that_nothing_meets),
        cmocka_unit_test(test_what_is_said),
        cmocka_unit_test(test_the_start_judges_nothing),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_findings),
    };
    return cmocka_run_group_tests_name("expect", tests, NULL, NULL);
}
