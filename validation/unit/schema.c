/* The schema of an experiment: its rows are sound, its checks hold, its reference is committed. */
#include "config-case.h"

#include "base/memory.h"
#include "config/parameter-reference.h"
#include "config/section.h"
#include "initial/initial.h"
#include "model/units.h"
#include "run/schema.h"

/* --- every row -------------------------------------------------------------------------------- */

/* Letters, digits and _, so that it can stand in a path and before an equals sign. */
static void check_key(const char *key)
{
    if (!key[0] || key[strspn(key, "abcdefghijklmnopqrstuvwxyz0123456789_")])
        fail_msg("'%s' is no key", key);
}

static void check_row(const struct group *group, const struct parameter *row)
{
    check_key(row->key);
    if (!row->help || strlen(row->help) < 2)
        fail_msg("%s.%s has no help", group->name, row->key);
    if (row->type == PARAMETER_CHOICE && (!row->choices || !row->choices[0]))
        fail_msg("%s.%s has no choices", group->name, row->key);
    struct value value = { .parameter = row };
    bool good = value_default(&value);
    if (row->default_value.presence == PARAMETER_SET && row->type == PARAMETER_INTEGER)
        good = requirement_holds(row, (double)value.held.integer);
    if (row->default_value.presence == PARAMETER_SET && row->type == PARAMETER_REAL)
        good = requirement_holds(row, value.held.real);
    for (size_t i = 0; value.held.reals && row->type == PARAMETER_REALS && i < value.held.count;
         i++)
        good = good && requirement_holds(row, value.held.reals[i]);
    if (value.held.reals && row->type == PARAMETER_REALS && row->length)
        good = good && value.held.count == row->length;
    if (!good)
        fail_msg("%s.%s does not allow its own default", group->name, row->key);
}

/* Has the member the size of what is put there? */
static bool fits_its_member(const struct parameter *row)
{
    const size_t size = row->member.size;
    switch (row->type) {
    case PARAMETER_FLAG:
        return size == sizeof(bool);
    case PARAMETER_INTEGER:
        return size == sizeof(int) || size == sizeof(int64_t);
    case PARAMETER_CHOICE:
        return size == sizeof(int) || size == sizeof(char *);
    case PARAMETER_REAL:
        return size == sizeof(double);
    case PARAMETER_REALS:
        return row->length && size == row->length * sizeof(double);
    case PARAMETER_PATHS:
    case PARAMETER_VALUES:
        return false;
    default:
        return size == sizeof(char *);
    }
}

/* Rows that are bound; those of two tables would be to two structs. */
static size_t count_bound(const struct parameter *rows, size_t count)
{
    size_t bound = 0;
    for (size_t i = 0; i < count; i++) {
        bound += rows[i].member.size > 0;
        if (rows[i].member.size && !fits_its_member(&rows[i]))
            fail_msg("%s does not fit its member", rows[i].key);
    }
    return bound;
}

static void check_rows(const struct group *group, const struct parameter *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        check_row(group, &rows[i]);
        for (size_t k = 0; k < i; k++)
            if (strcmp(rows[i].key, rows[k].key) == 0)
                fail_msg("%s.%s stands there twice", group->name, rows[i].key);
    }
}

static void test_every_row_is_sound(void **state)
{
    (void)state;
    struct schema_room room;
    const struct schema *experiment = schema_experiment(&room);
    size_t variants = 0;
    for (size_t i = 0; i < experiment->group_count; i++) {
        const struct group *group = &experiment->groups[i];
        check_rows(group, group->parameters, group->parameter_count);
        count_bound(group->parameters, group->parameter_count);
        if (group->name[0])
            check_key(group->name);
        for (size_t k = 0; group->variant && group->variant(k); k++, variants++) {
            const struct variant *variant = group->variant(k);
            assert_true(strlen(variant->name) > 1 && strlen(variant->help) > 1);
            check_rows(group, variant->parameters, variant->parameter_count);
            assert_true(!count_bound(group->parameters, group->parameter_count) ||
                        !count_bound(variant->parameters, variant->parameter_count));
            for (size_t p = 0; p < variant->parameter_count; p++)
                assert_string_not_equal(variant->parameters[p].key, group->variant_key);
        }
    }
    /* 8 initial conditions, 5 integrators, 3 backends, 1 diagnostic, 1 output at the least. */
    assert_true(variants >= 18);
}

static void test_units_have_their_names(void **state)
{
    (void)state;
    for (size_t i = 0; units_names[i] || units_at(i); i++)
        assert_string_equal(units_names[i], units_at(i)->name);
}

/* --- reading ---------------------------------------------------------------------------------- */

#define PLUMMER                                                                                    \
    "bodies = { initial = \"plummer\"; count = 64; };\ntime = { step = 0.01; end = 1; };\n"

static struct config *read_experiment(const char *bytes, struct error *error)
{
    struct config *config;
    *error = (struct error){ 0 };
    put("run.cfg", bytes);
    schema_load("run.cfg", NULL, 0, &config, error);
    return config;
}

static void expect_refusal(const char *bytes, const char *message)
{
    struct error error;
    assert_null(read_experiment(bytes, &error));
    assert_string_equal(error.text, message);
    assert_int_equal(error.status, STATUS_CONFIG);
}

static void test_the_least_experiment(void **state)
{
    (void)state;
    struct error error;
    struct config *config = read_experiment(PLUMMER, &error);
    assert_string_equal(error.text, "");
    assert_string_equal(section_string(config_section(config, "physics"), "units"), "nbody");
    assert_false(section_has(config_section(config, "physics"), "gravitational_constant"));
    assert_string_equal(section_variant(config_section(config, "time"))->name, "velocity-verlet");
    assert_string_equal(section_variant(config_section(config, "compute"))->name, "auto");
    assert_int_equal(section_integer(config_section(config, "ensemble"), "systems"), 1);
    assert_int_equal(config_count(config, "diagnostics"), 0);
    assert_false(section_has(config_section(config, ""), "name"));
    struct text echo = { 0 };
    config_echo(config, &echo);
    struct config *again = read_experiment(echo.bytes, &error);
    assert_string_equal(error.text, "");
    config_free(config);
    config_free(again);
    text_free(&echo);
}

/* Whatever stands in it, the echo of an experiment is an experiment. */
static void test_the_echo_of_every_variant(void **state)
{
    (void)state;
    const char *const bodies[] = {
        "initial = \"cold-sphere\"; count = 8;",
        "initial = \"dehnen\"; count = 8; inner_slope = 0.5;",
        "initial = \"disc\"; count = 8;",
        "initial = \"encounter\"; pericenter = 1; separation = 8;",
        "initial = \"figure-eight\";",
        "initial = \"file\"; file = \"b.csv\";",
        "initial = \"galaxy\"; disc_count = 8;",
        ("initial = \"galaxy\"; disc_count = 8; halo_count = 9; halo_mass = 5.0; "
         "halo_scale_radius = 3.0; halo_cutoff_radius = 30.0; halo_profile = \"nfw\";"),
        "initial = \"hernquist\"; count = 8;",
        "initial = \"jaffe\"; count = 8; cutoff_radius = 2.5;",
        "initial = \"king\"; count = 8;",
        "initial = \"nfw\"; count = 8; cutoff_radius = 10.0;",
        "initial = \"orbits\"; masses = [0.1]; semi_major_axes = [1.0];",
        "initial = \"outer-solar-system\";",
        "initial = \"plummer\"; count = 8;",
        "initial = \"plummer\"; count = 8; cutoff_radius = 2.5;",
        "initial = \"pythagorean\";",
        "initial = \"two-body\";",
        "initial = \"uniform-cube\"; count = 8;",
        "initial = \"uniform-cube\"; count = 8; masses = \"equal\";",
        "initial = \"uniform-cube\"; count = 8; masses = \"random\";",
    };
    const struct variant *start;
    for (size_t k = 0; (start = initial_variant(k)); k++) {
        bool listed = false;
        char name[64];
        snprintf(name, sizeof name, "\"%s\"", start->name);
        for (size_t i = 0; i < COUNT_OF(bodies) && !listed; i++)
            listed = strstr(bodies[i], name) != NULL;
        if (!listed)
            fail_msg("the start \"%s\" is not in the list `bodies` of this test", start->name);
    }
    for (size_t i = 0; i < COUNT_OF(bodies); i++) {
        char text[512];
        struct error error;
        struct text first = { 0 }, second = { 0 };
        snprintf(
            text, sizeof text, "bodies = { %s };\ntime = { step = 1; end = 1; };\n%s", bodies[i],
            "diagnostics = ( { type = \"conservation\"; } );\noutputs = ( { type = \"xyz\"; } );");
        struct config *config = read_experiment(text, &error);
        assert_string_equal(error.text, "");
        config_echo(config, &first);
        struct config *again = read_experiment(first.bytes, &error);
        assert_string_equal(error.text, "");
        config_echo(again, &second);
        assert_string_equal(first.bytes, second.bytes);
        text_free(&first);
        text_free(&second);
        config_free(config);
        config_free(again);
    }
}

static void test_boxes(void **state)
{
    (void)state;
    expect_refusal(PLUMMER "physics = { boundary = \"periodic\"; };\n",
                   "run.cfg:3: physics.box_length: must be given if boundary = \"periodic\": a "
                   "number greater than 0");
    expect_refusal(PLUMMER "physics = { box_length = 2.5; };\n",
                   "run.cfg:3: physics.box_length = 2.5: does not apply to boundary = \"open\"; it "
                   "belongs to periodic");
}

static void test_names_stay_in_their_directory(void **state)
{
    (void)state;
    const char *const names[] = { "../a", "a/b", "..", "", "-o", ".hidden", "/etc" };
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        char text[512], message[512];
        snprintf(text, sizeof text, PLUMMER "name = \"%s\";\n", names[i]);
        snprintf(message, sizeof message,
                 "run.cfg:3: name = \"%s\": must be a plain file name: not empty, no '/', not "
                 "starting with '.' or '-', no control characters",
                 names[i]);
        expect_refusal(text, message);
    }
    expect_refusal(
        PLUMMER "diagnostics = ( { type = \"conservation\"; name = \"../x\"; } );\n",
        "run.cfg:3: diagnostics.0.name = \"../x\": must be letters, digits, '-' and '_', at most "
        "100, and begin with a letter or a digit");
}

static void test_an_empty_sweep(void **state)
{
    (void)state;
    expect_refusal(PLUMMER "sweep = ( { key = \"time.step\"; values = []; } );\n",
                   "run.cfg:3: sweep.0.values = []: must have at least one value");
}

static void test_counts_beyond_any_memory(void **state)
{
    (void)state;
    expect_refusal("bodies = { initial = \"plummer\"; count = 12345678901234567890; };\n"
                   "time = { step = 1; end = 1; };\n",
                   "run.cfg:1: bodies.count = 12345678901234567890: too large a number; must be a "
                   "whole number at least 1 and at most 2147483647");
    expect_refusal("bodies = { initial = \"plummer\"; count = 0; };\n"
                   "time = { step = 1; end = 1; };\n",
                   "run.cfg:1: bodies.count = 0: must be at least 1 and at most 2147483647");
}

static void test_presets_are_found(void **state)
{
    (void)state;
    struct error error;
    assert_int_equal(mkdir("presets", 0700), 0);
    put("presets/box.cfg", "physics = { boundary = \"periodic\"; box_length = 2.5; };\n");
    assert_int_equal(setenv("ORRERY_DATA", "presets", 1), 0);
    struct config *config = read_experiment(PLUMMER "@include \"box.cfg\"\n", &error);
    assert_string_equal(error.text, "");
    assert_true(section_real(config_section(config, "physics"), "box_length") == 2.5);
    config_free(config);
    assert_int_equal(unsetenv("ORRERY_DATA"), 0);
    expect_refusal(PLUMMER "@include \"box.cfg\"\n",
                   "run.cfg:3: @include \"box.cfg\": no such file beside this one or among the "
                   "presets");
}

/* --- the committed reference ------------------------------------------------------------------ */

/* The committed file, byte for byte. With ORRERY_UPDATE set, it is written anew. */
static void test_defaults_are_committed(void **state)
{
    (void)state;
    struct schema_room room;
    struct text text = { 0 };
    char path[4096], *bytes = NULL;
    size_t length = 0;
    reference_defaults(schema_experiment(&room), &text);
    snprintf(path, sizeof path, "%s/config/defaults.cfg", getenv("ORRERY_SOURCE"));
    if (getenv("ORRERY_UPDATE"))
        put_bytes(path, text.bytes, text.length);
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    length = (size_t)getdelim(&bytes, &length, EOF, stream);
    fclose(stream);
    if (length != text.length || memcmp(bytes, text.bytes, length) != 0)
        fail_msg("config/defaults.cfg does not say what the tables do; write it anew with\n"
                 "    ORRERY_UPDATE=1 make -s try TRY=validation/unit/schema");
    free(bytes);
    text_free(&text);
}

static void expect_keys(const char *manual, const struct parameter *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char line[128];
        snprintf(line, sizeof line, ".TP\n.B %s\n", rows[i].key);
        if (!strstr(manual, line))
            fail_msg("the man page lacks %s", rows[i].key);
    }
}

static void test_the_man_page_has_every_key(void **state)
{
    (void)state;
    struct schema_room room;
    struct text text = { 0 };
    const struct schema *experiment = schema_experiment(&room);
    reference_manual(experiment, &text);
    for (size_t i = 0; i < experiment->group_count; i++) {
        const struct group *group = &experiment->groups[i];
        expect_keys(text.bytes, group->parameters, group->parameter_count);
        for (size_t k = 0; group->variant && group->variant(k); k++)
            expect_keys(text.bytes, group->variant(k)->parameters,
                        group->variant(k)->parameter_count);
    }
    text_free(&text);
}

/* Included, it sets nothing: all that is missing is still missing, and nothing else is wrong. */
static void test_defaults_can_be_read(void **state)
{
    (void)state;
    struct schema_room room;
    struct text text = { 0 };
    reference_defaults(schema_experiment(&room), &text);
    struct error error;
    assert_null(read_experiment(text.bytes, &error));
    assert_non_null(strstr(error.text, "bodies.initial: must be given"));
    assert_non_null(strstr(error.text, "time.step: must be given: a number greater than 0; or give "
                                       "time.energy_error, the largest energy error that you "
                                       "accept, such as 1e-6: the program then chooses the step"));
    assert_non_null(strstr(error.text, "time.end: must be given"));
    assert_int_equal(error.lines, 3);
    text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        config_test(test_every_row_is_sound),
        config_test(test_units_have_their_names),
        config_test(test_the_least_experiment),
        config_test(test_the_echo_of_every_variant),
        config_test(test_boxes),
        config_test(test_names_stay_in_their_directory),
        config_test(test_an_empty_sweep),
        config_test(test_counts_beyond_any_memory),
        config_test(test_presets_are_found),
        config_test(test_defaults_are_committed),
        config_test(test_the_man_page_has_every_key),
        config_test(test_defaults_can_be_read),
    };
    return cmocka_run_group_tests_name("schema", tests, NULL, NULL);
}
