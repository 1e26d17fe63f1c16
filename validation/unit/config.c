/* Values, defaults, overrides and the echo; bad input 2 to 5. */
#define _GNU_SOURCE
#include "config-case.h"

#include <dlfcn.h>

static void test_values_and_defaults(void **state)
{
    (void)state;
    struct config *config = accepted(
        BODIES TIME
        "outputs = ( { every = 20; fractions = [0.25, 1]; values = [1, 0.5, \"a\", true]; },\n"
        "            { between = (-1, 2.5); } );\n",
        NULL);
    const struct section *bodies = config_section(config, "bodies");
    assert_string_equal(section_variant(bodies)->name, "uniform-cube");
    assert_string_equal(section_string(bodies, "initial"), "uniform-cube");
    assert_int_equal(section_integer(bodies, "count"), 8);
    assert_int_equal(section_integer(bodies, "seed"), 42);
    assert_true(section_flag(bodies, "center"));
    assert_true(section_given(bodies, "count"));
    assert_false(section_given(bodies, "seed"));
    assert_true(section_has(bodies, "seed"));
    assert_false(section_has(bodies, "half_side"));
    assert_true(isnan(section_real(bodies, "half_side")));
    assert_string_equal(section_string(config_section(config, ""), "name"), "orrery");
    assert_int_equal(section_choice(config_section(config, "physics"), "boundary"), 0);
    assert_null(section_variant(config_section(config, "physics")));

    assert_int_equal(config_count(config, "outputs"), 2);
    size_t count;
    const double *reals = section_reals(config_item(config, "outputs", 0), "fractions", &count);
    assert_int_equal(count, 2);
    assert_true(reals[0] == 0.25 && reals[1] == 1.0);
    const char *const *values = section_values(config_item(config, "outputs", 0), "values", &count);
    assert_int_equal(count, 4);
    assert_string_equal(values[0], "1");
    assert_string_equal(values[1], "0.5");
    assert_string_equal(values[2], "\"a\"");
    assert_string_equal(values[3], "true");
    reals = section_reals(config_item(config, "outputs", 1), "between", &count);
    assert_int_equal(count, 2);
    assert_true(reals[0] == -1.0 && reals[1] == 2.5);
    assert_null(section_reals(config_item(config, "outputs", 0), "between", &count));
    assert_int_equal(count, 0);
    config_free(config);
}

/* --- rows that are bound to members ----------------------------------------------------------- */

struct bound {
    bool flag, unset_flag;
    int small;
    uint64_t large;
    double real, unset_real, pair[2], unset_pair[2];
    enum { FIRST, SECOND, THIRD } choice;
    const char *named, *string, *unset_string;
};

static const char *const bound_choices[] = { "first", "second", "third", NULL };
static const struct parameter bound_keys[] = {
    { BIND(FLAG, struct bound, flag), .help = "" },
    { .key = "free", .type = PARAMETER_REAL, .default_value = DEFAULT_REAL(2.385), .help = "" },
    { BIND(INTEGER, struct bound, small), .help = "" },
    { BIND(INTEGER, struct bound, large), .default_value = DEFAULT_INTEGER(1LL << 40), .help = "" },
    { BIND(REAL, struct bound, real), .default_value = DEFAULT_REAL(2.385), .help = "" },
    { BIND(REAL, struct bound, unset_real), .default_value = DEFAULT_UNSET, .help = "" },
    { BIND(REALS, struct bound, pair), .length = 2, .help = "" },
    { BIND(REALS, struct bound, unset_pair), .length = 2, .default_value = DEFAULT_UNSET },
    { BIND(CHOICE, struct bound, choice), .choices = bound_choices, .help = "" },
    { BIND(CHOICE, struct bound, named), .choices = bound_choices,
      .default_value = DEFAULT_STRING("third") },
    { BIND(STRING, struct bound, string), .default_value = DEFAULT_STRING("a"), .help = "" },
    { BIND(STRING, struct bound, unset_string), .default_value = DEFAULT_UNSET, .help = "" },
};

static void test_members_are_filled(void **state)
{
    (void)state;
    const struct group bound_group = { .name = "bound",
                                       .parameters = bound_keys,
                                       .parameter_count = COUNT_OF(bound_keys) };
    const struct schema bound_schema = { &bound_group, 1 };
    const struct config_source source = { .path = "run.cfg" };
    struct config *config;
    struct error error = { 0 };
    put("run.cfg", "bound = { flag = true; small = -7; pair = [1, 2.5]; choice = \"second\"; };");
    assert_int_equal(config_load(&source, &bound_schema, &config, &error), STATUS_OK);
    struct bound bound;
    memset(&bound, 0x55, sizeof bound);
    bound.unset_flag = true;
    section_read(config_section(config, "bound"), &bound);
    assert_true(bound.flag && bound.unset_flag); /* the second one is nobody's */
    assert_int_equal(bound.small, -7);
    assert_int_equal(bound.large, 1LL << 40);
    assert_true(bound.real == 2.385 && isnan(bound.unset_real));
    assert_true(bound.pair[0] == 1.0 && bound.pair[1] == 2.5);
    assert_true(isnan(bound.unset_pair[0]) && isnan(bound.unset_pair[1]));
    assert_int_equal(bound.choice, SECOND);
    assert_string_equal(bound.named, "third");
    assert_string_equal(bound.string, "a");
    assert_null(bound.unset_string);
    config_free(config);
}

/* The echo gives every key; that must not make a difference. */
static void test_a_default_that_is_given(void **state)
{
    (void)state;
    struct config *config = accepted(
        "bodies = { initial = \"uniform-cube\"; count = 8; seed = 42; center = false; };\n" TIME
        "physics = { softening = 0; };\noutputs = ( { fractions = [0.1, 0.5]; } );\n",
        NULL);
    const struct section *bodies = config_section(config, "bodies");
    assert_false(section_given(bodies, "seed"));
    assert_true(section_given(bodies, "center"));
    assert_true(section_given(bodies, "count")); /* it has no default */
    assert_false(section_given(config_section(config, "physics"), "softening"));
    assert_false(section_given(config_item(config, "outputs", 0), "fractions"));
    config_free(config);
}

static void test_variants_replace_shared_rows(void **state)
{
    (void)state;
    struct config *config =
        accepted("bodies = { initial = \"file\"; file = \"b\"; };\n" TIME, NULL);
    assert_false(section_flag(config_section(config, "bodies"), "center"));
    struct text echo = { 0 };
    config_echo(config, &echo);
    assert_non_null(strstr(echo.bytes, "center = false;"));
    assert_null(strstr(echo.bytes, "center = true;"));
    text_free(&echo);
    config_free(config);
    config = accepted(BODIES TIME, NULL);
    assert_true(section_flag(config_section(config, "bodies"), "center"));
    config_free(config);
}

static void test_unknown_keys(void **state)
{
    (void)state;
    refused(BODIES "time = {\n  stpe = 0.1;\n  step = 0.1;\n};\n", NULL,
            "run.cfg:3: time.stpe = 0.1: unknown key; did you mean time.step?");
    refused(BODIES TIME "output = ();\n", NULL,
            "run.cfg:3: output = []: unknown key; did you mean outputs?");
    refused(BODIES TIME "softening = 0.1;\n", NULL,
            "run.cfg:3: softening = 0.1: unknown key; did you mean physics.softening?");
    refused(BODIES TIME "quux = { a = 1; };\n", NULL, "run.cfg:3: quux = { ... }: unknown key");
    refused(BODIES TIME "outputs = (\n  { every = 1; },\n  { evrey = 1; }\n);\n", NULL,
            "run.cfg:5: outputs.1.evrey = 1: unknown key; did you mean outputs.every?");
}

static void test_keys_of_other_variants(void **state)
{
    (void)state;
    refused(
        "bodies = { initial = \"file\"; file = \"b.csv\";\n half_side = 2.0; };\n" TIME, NULL,
        "run.cfg:2: bodies.half_side = 2.0: does not apply to initial = \"file\"; it belongs to "
        "uniform-cube");
    refused("bodies = { initial = \"file\"; file = \"b.csv\";\n count = 2; };\n" TIME, NULL,
            "run.cfg:2: bodies.count = 2: does not apply to initial = \"file\"; it belongs to "
            "uniform-cube, cold-sphere");
    /* A wrong choice is one error, not one more for each key that some choice has. */
    refused("bodies = { initial = \"uniform-cub\";\n count = 2; half_side = 1.0; };\n" TIME, NULL,
            "run.cfg:1: bodies.initial = \"uniform-cub\": must be one of uniform-cube, file, "
            "cold-sphere; did you mean uniform-cube?");
    /* A key that no choice has is wrong whatever was meant. */
    refused("bodies = { initial = \"uniform-cub\";\n cuont = 2; half_side = 1.0; };\n" TIME, NULL,
            "run.cfg:1: bodies.initial = \"uniform-cub\": must be one of uniform-cube, file, "
            "cold-sphere; did you mean uniform-cube?\n"
            "run.cfg:2: bodies.cuont = 2: unknown key; did you mean bodies.count?");
}

static void test_wrong_types(void **state)
{
    (void)state;
    refused(BODIES "time = { step = \"0.1\"; };\n", NULL,
            "run.cfg:2: time.step = \"0.1\": must be a number greater than 0");
    refused(BODIES "time = { step = true; };\n", NULL,
            "run.cfg:2: time.step = true: must be a number greater than 0");
    refused(BODIES TIME "name = 5;\n", NULL,
            "run.cfg:3: name = 5: must be a string in quotation marks");
    refused(BODIES TIME "physics = { boundary = periodc; };\n", NULL,
            "run.cfg:3: physics.boundary = periodc: needs quotation marks; must be one of open, "
            "periodic");
    refused(BODIES TIME "physics = 1;\n", NULL,
            "run.cfg:3: physics: must be a group: physics = { ... }");
    refused(BODIES TIME "outputs = 1;\n", NULL,
            "run.cfg:3: outputs: must be a list of groups: outputs = ( { ... }, { ... } )");
    refused(BODIES TIME "outputs = { every = 1; };\n", NULL,
            "run.cfg:3: outputs: must be a list of groups: outputs = ( { ... }, { ... } )");
    refused(BODIES TIME "outputs = (\n1);\n", NULL,
            "run.cfg:3: outputs: must be a list of groups: outputs = ( { ... }, { ... } )");
    refused("bodies = { initial = \"uniform-cube\"; count = 8; center = 1; };\n" TIME, NULL,
            "run.cfg:1: bodies.center = 1: must be true or false");
    refused(BODIES TIME "outputs = ( { fractions = 0.5; } );\n", NULL,
            "run.cfg:3: outputs.0.fractions = 0.5: must be a list of numbers, each greater than 0 "
            "and at most 1");
    refused(
        BODIES TIME "outputs = ( { fractions = [0.5, \"a\"]; } );\n", NULL,
        "run.cfg:3: outputs.0.fractions = \"a\": must be a list of numbers, each greater than 0 "
        "and at most 1");
    refused(BODIES TIME "outputs = ( { between = [1, 2, 3]; } );\n", NULL,
            "run.cfg:3: outputs.0.between = [1, 2, 3]: must be a list of 2 numbers");
    refused(BODIES TIME "outputs = ( { values = ({ a = 1; }); } );\n", NULL,
            "run.cfg:3: outputs.0.values = { ... }: must be a list of values");
}

/* 240 bytes of the value would end within the second character of two bytes. */
static void test_long_values_are_cut(void **state)
{
    (void)state;
    enum { DIGITS = 236 };
    char name[DIGITS + 8], text[512], message[512];
    memset(name, '7', DIGITS);
    strcpy(name + DIGITS, "\xc3\xa9\xc3\xa9\xc3\xa9");
    snprintf(text, sizeof text, BODIES "time = { step = \"%s\"; };\n", name);
    name[DIGITS + 2] = '\0'; /* digits and one character; the quotation mark before makes 239 */
    snprintf(message, sizeof message,
             "run.cfg:2: time.step = \"%s...: must be a number greater than 0", name);
    refused(text, NULL, message);
}

static void test_reals_out_of_range(void **state)
{
    (void)state;
    const struct {
        const char *value, *message;
    } cases[] = {
        { "-0.1", "-0.1: must be greater than 0" },
        { "0", "0: must be greater than 0" },
        { "0.0", "0.0: must be greater than 0" },
        { "1e999", "1e999: too large a number; must be a number greater than 0" },
        { "-1e999", "-1e999: too large a number; must be a number greater than 0" },
        { "nan", "nan: must be a number greater than 0" },
        { "NaN", "NaN: must be a number greater than 0" },
        { "inf", "inf: must be a number greater than 0" },
        { "-inf", "-inf: must be a number greater than 0" },
        { "0.1.2", "0.1.2: must be a number greater than 0" },
        { "1e", "1e: must be a number greater than 0" },
        { "0x1p3", "0x1p3: must be a number greater than 0" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[256], message[256];
        snprintf(text, sizeof text, BODIES "time = { step = %s; };\n", cases[i].value);
        snprintf(message, sizeof message, "run.cfg:2: time.step = %s", cases[i].message);
        refused(text, NULL, message);
    }
    refused(BODIES TIME "outputs = ( { fractions = [0.5, 0.0]; } );\n", NULL,
            "run.cfg:3: outputs.0.fractions = 0.0: must be greater than 0 and at most 1");
}

static void test_whole_numbers(void **state)
{
    (void)state;
    struct config *config = accepted(BODIES "time = { step = 1; };\n", NULL);
    assert_true(section_real(config_section(config, "time"), "step") == 1.0);
    config_free(config);

    const struct {
        const char *value;
        int64_t count;
    } good[] = { { "1e6", 1000000 }, { "12.0", 12 }, { "0x10", 16 }, { "7L", 7 } };
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        char text[256];
        snprintf(text, sizeof text, "bodies = { initial = \"uniform-cube\"; count = %s; };\n" TIME,
                 good[i].value);
        config = accepted(text, NULL);
        assert_int_equal(section_integer(config_section(config, "bodies"), "count"), good[i].count);
        config_free(config);
    }

    const struct {
        const char *value, *message;
    } bad[] = {
        { "1.9", "1.9: must be a whole number at least 1 and at most 1000000000" },
        { "0", "0: must be at least 1 and at most 1000000000" },
        { "-5", "-5: must be at least 1 and at most 1000000000" },
        /* 2^32 + 1 and 2^64 + 1, which wrap to 1 in 32 and in 64 bits. */
        { "0x100000001", "4294967297: must be at least 1 and at most 1000000000" },
        { "4294967297", "4294967297: must be at least 1 and at most 1000000000" },
        { "0x10000000000000001", "0x10000000000000001: too large a number; must be a whole number "
                                 "at least 1 and at most 1000000000" },
        { "12345678901234567890", "12345678901234567890: too large a number; must be a whole "
                                  "number at least 1 and at most 1000000000" },
        { "0xffffffffffffffff", "0xffffffffffffffff: too large a number; must be a whole number "
                                "at least 1 and at most 1000000000" },
        { "9223372036854775808.0", "9.223372036854776e+18: must be a whole number at least 1 and "
                                   "at most 1000000000" },
        { "1e300", "1e+300: must be a whole number at least 1 and at most 1000000000" },
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        char text[256], message[256];
        snprintf(text, sizeof text, "bodies = { initial = \"uniform-cube\";\ncount = %s; };\n" TIME,
                 bad[i].value);
        snprintf(message, sizeof message, "run.cfg:2: bodies.count = %s", bad[i].message);
        refused(text, NULL, message);
    }
}

static void test_64_bit_integers(void **state)
{
    (void)state;
    const struct {
        const char *value;
        int64_t seed;
    } cases[] = { { "9223372036854775807", INT64_MAX },
                  { "-9223372036854775808", INT64_MIN },
                  { "0xFFFFFFFF", 4294967295 },
                  { "0x7fffffffffffffffL", INT64_MAX },
                  { "2147483648", 2147483648 } };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "bodies = { initial = \"uniform-cube\"; count = 8; seed = %s; };\n" TIME,
                 cases[i].value);
        struct config *config = accepted(text, NULL);
        assert_int_equal(section_integer(config_section(config, "bodies"), "seed"), cases[i].seed);
        config_free(config);
    }
}

static void test_missing_keys(void **state)
{
    (void)state;
    refused("", NULL,
            "run.cfg:1: bodies.initial: must be given: one of uniform-cube, file, cold-sphere\n"
            "run.cfg:1: time.step: must be given: a number greater than 0");
    refused(TIME "\nbodies = {\n initial = \"file\";\n};\n", NULL,
            "run.cfg:3: bodies.file: must be given: the name of a file in quotation marks");
}

static void test_all_errors_at_once(void **state)
{
    (void)state;
    refused("bodies = {\n  initial = \"uniform-cube\";\n  count = 0;\n  seed = 1.5;\n};\n"
            "physics = { softning = 0.1; softening = -1; };\n"
            "time = { step = 1e999; ende = 4; };\n",
            NULL,
            "run.cfg:3: bodies.count = 0: must be at least 1 and at most 1000000000\n"
            "run.cfg:4: bodies.seed = 1.5: must be a whole number\n"
            "run.cfg:6: physics.softning = 0.1: unknown key; did you mean physics.softening?\n"
            "run.cfg:6: physics.softening = -1: must be at least 0\n"
            "run.cfg:7: time.step = 1e999: too large a number; must be a number greater than 0\n"
            "run.cfg:7: time.ende = 4: unknown key; did you mean time.end?");
}

static void test_check_of_a_group(void **state)
{
    (void)state;
    refused(BODIES TIME "physics = {\n  boundary = \"periodic\"; };\n", NULL,
            "run.cfg:4: physics.boundary = \"periodic\": needs a box_length");
    /* Not asked while a value of the group is wrong. */
    refused(BODIES TIME "physics = { boundary = \"periodic\"; box_length = -1; };\n", NULL,
            "run.cfg:3: physics.box_length = -1: must be greater than 0");
}

/* --- overrides -------------------------------------------------------------------------------- */

static void test_overrides(void **state)
{
    (void)state;
    struct config *config = accepted(BODIES TIME, "time.step=1e-2");
    assert_true(section_real(config_section(config, "time"), "step") == 0.01);
    config_free(config);

    config = accepted(BODIES TIME, "physics.boundary=open");
    assert_true(section_written(config_section(config, "physics"), "boundary"));
    config_free(config);

    config = accepted(BODIES TIME, "name=2026-11-21");
    assert_string_equal(section_string(config_section(config, ""), "name"), "2026-11-21");
    config_free(config);
    config = accepted(BODIES TIME, "name=2026");
    assert_string_equal(section_string(config_section(config, ""), "name"), "2026");
    config_free(config);
    config = accepted(BODIES TIME, "name= \"a b\" ");
    assert_string_equal(section_string(config_section(config, ""), "name"), "a b");
    config_free(config);

    size_t count;
    config = accepted(BODIES TIME "outputs = ( { every = 1; }, { every = 2; } );",
                      "outputs.1.fractions=[0.5, 1]");
    assert_true(section_reals(config_item(config, "outputs", 1), "fractions", &count)[0] == 0.5);
    assert_int_equal(section_integer(config_item(config, "outputs", 1), "every"), 2);
    config_free(config);

    config = accepted(BODIES TIME "outputs = ( { fractions = [0.5, 1]; } );",
                      "outputs.0.fractions.1=0.75");
    assert_true(section_reals(config_item(config, "outputs", 0), "fractions", &count)[1] == 0.75);
    config_free(config);

    config = accepted(BODIES TIME, "outputs.0.every=5"); /* appends */
    assert_int_equal(config_count(config, "outputs"), 1);
    assert_int_equal(section_integer(config_item(config, "outputs", 0), "every"), 5);
    config_free(config);
}

/* Stands before that of libconfig. */
static size_t parses;
struct config_t;
int config_read_string(struct config_t *config, const char *text);
int config_read_string(struct config_t *config, const char *text)
{
    int (*next)(struct config_t *, const char *);
    *(void **)&next = dlsym(RTLD_NEXT, "config_read_string");
    parses++;
    return next(config, text);
}

/* However many defaults and overrides there are. */
static void test_a_load_is_one_parse(void **state)
{
    (void)state;
    const char *const overrides[] = { "time.step=0.5", "bodies.seed=7", "outputs.0.every=3" };
    const struct config_source source = { .path = "run.cfg",
                                          .overrides = overrides,
                                          .override_count = COUNT_OF(overrides) };
    struct config *config;
    struct error error = { 0 };
    put("run.cfg", BODIES TIME);
    parses = 0;
    assert_int_equal(config_load(&source, &schema, &config, &error), STATUS_OK);
    assert_int_equal(parses, 1);
    assert_true(section_real(config_section(config, "time"), "step") == 0.5);
    assert_int_equal(section_integer(config_item(config, "outputs", 0), "every"), 3);
    config_free(config);
}

/* A configuration that is varied is what its file and all overrides together give, and the tree
 * that it was made from stays as it is. */
static void test_a_variation_is_a_load_with_more_overrides(void **state)
{
    (void)state;
    const char *const overrides[] = { "time.step=0.5", "bodies.seed=7", "outputs.0.fractions.1=1",
                                      "outputs.1.every=3", "name=other" };
    const size_t given = 2;
    const struct config_source all = { "run.cfg", overrides, COUNT_OF(overrides), NULL, NULL, 0 };
    const struct config_source first = { "run.cfg", overrides, given, NULL, NULL, 0 };
    struct config_overrides further = { 0 }, nothing = { 0 };
    enum { LOADED, VARIED, BASE, SAME, CONFIGS };
    struct config *configs[CONFIGS];
    struct text echoes[CONFIGS] = { { 0 } };
    struct error error = { 0 };
    put("run.cfg", BODIES TIME "outputs = ( { every = 2; fractions = [0.5, 0.75]; } );");
    assert_int_equal(config_load(&all, &schema, &configs[LOADED], &error), STATUS_OK);
    assert_int_equal(config_load(&first, &schema, &configs[BASE], &error), STATUS_OK);
    assert_int_equal(unlink("run.cfg"), 0); /* it is not read again */
    config_override(&further, NULL, "outputs.0.fractions.1", "1");
    config_override(&further, NULL, "outputs.1.every", "3");
    config_override(&further, NULL, "name", "other");
    assert_int_equal(config_vary(configs[BASE], &further, &configs[VARIED], &error), STATUS_OK);
    assert_int_equal(config_vary(configs[BASE], &nothing, &configs[SAME], &error), STATUS_OK);
    for (size_t i = 0; i < CONFIGS; i++)
        config_echo(configs[i], &echoes[i]);
    assert_string_equal(echoes[VARIED].bytes, echoes[LOADED].bytes);
    assert_string_equal(echoes[SAME].bytes, echoes[BASE].bytes);
    assert_string_equal(config_path(configs[VARIED]), "run.cfg");
    const size_t order[] = { LOADED, VARIED, SAME, BASE }; /* what others come from goes last */
    for (size_t i = 0; i < CONFIGS; i++) {
        text_free(&echoes[i]);
        config_free(configs[order[i]]);
    }
}

static void test_later_overrides_win(void **state)
{
    (void)state;
    const char *const overrides[] = { "time.step=1", "time.step=2", "bodies={initial=\"file\";}",
                                      "bodies.file=sub/b.csv" };
    const struct config_source source = { .path = "run.cfg",
                                          .overrides = overrides,
                                          .override_count = COUNT_OF(overrides) };
    struct config *config;
    struct error error = { 0 };
    put("run.cfg", BODIES TIME);
    assert_int_equal(config_load(&source, &schema, &config, &error), STATUS_OK);
    assert_true(section_real(config_section(config, "time"), "step") == 2.0);
    assert_string_equal(section_string(config_section(config, "bodies"), "file"), "sub/b.csv");
    config_free(config);
}

static void test_wrong_overrides(void **state)
{
    (void)state;
    refused(BODIES TIME, "time.step=-0.5", "-P time.step=-0.5: must be greater than 0");
    refused(BODIES TIME, "time.step=nan", "-P time.step=nan: must be a number greater than 0");
    refused(BODIES TIME, "time.step=", "-P time.step=: must be a number greater than 0");
    refused(BODIES TIME, "time.step=1e999",
            "-P time.step=1e999: too large a number; must be a number greater than 0");
    refused(BODIES TIME, "time.stpe=1", "-P time.stpe=1: unknown key; did you mean time.step?");
    refused(BODIES TIME, "time={step=0;}",
            "-P time={step=0;}: time.step = 0: must be greater than 0");
    refused(BODIES TIME, "bodies.initial=file",
            "run.cfg:1: bodies.count = 8: does not apply to initial = \"file\"; it belongs to "
            "uniform-cube, cold-sphere\n"
            "run.cfg:1: bodies.file: must be given: the name of a file in quotation marks");
    refused(BODIES TIME, "outputs.1.every=2", "-P outputs.1.every=2: the list has only 0 elements");
    refused(BODIES TIME "outputs = ();", "outputs.x.every=2",
            "-P outputs.x.every=2: 'x' must be the number of an element");
    refused(BODIES TIME, "time.step.x=2",
            "-P time.step.x=2: there is no group or list to hold 'x'");
    refused(BODIES TIME, "outputs=[1,",
            "-P outputs=[1,: outputs.1: a value is missing before the end");
    refused(BODIES TIME, "outputs=[1", "-P outputs=[1: the '[' here is never closed by a ']'");
    refused(BODIES TIME, "time={step=1;};name=\"a\"",
            "-P time={step=1;};name=\"a\": must be one value, which ends before 'name'");
    struct config *config;
    struct error error;
    assert_int_equal(load("time.step", &config, &error), STATUS_USAGE);
    assert_string_equal(error.text, "-P time.step: must be key.path=value");
    assert_int_equal(load("=3", &config, &error), STATUS_USAGE);
}

/* --- paths, echo, JSON ------------------------------------------------------------------------ */

static void test_paths(void **state)
{
    (void)state;
    assert_int_equal(mkdir("part", 0700), 0);
    put("part/bodies.cfg", "bodies = { initial = \"file\"; file = \"b.csv\"; };\n");
    struct config *config = accepted("@include \"part/bodies.cfg\"\n" TIME, NULL);
    assert_string_equal(section_string(config_section(config, "bodies"), "file"), "part/b.csv");
    config_free(config);
    config = accepted("@include \"part/bodies.cfg\"\n" TIME, "bodies.file=c.csv");
    assert_string_equal(section_string(config_section(config, "bodies"), "file"), "c.csv");
    config_free(config);
    config = accepted("@include \"part/bodies.cfg\"\n" TIME, "bodies.file=/d.csv");
    assert_string_equal(section_string(config_section(config, "bodies"), "file"), "/d.csv");
    config_free(config);
}

/* Numbers with all 53 bits, the smallest and largest, 64-bit integers, strings with every escape.
 */
static const char difficult[] =
    "name = \"a \\\"b\\\" \\\\ \\t \\n\\r\\f \xc3\xa9 \\x41\" \"cd\";\n"
    "bodies = { initial = \"uniform-cube\"; count = 8; seed = -9223372036854775808; "
    "half_side = 0.30000000000000004; };\n"
    "time = { step = 5e-324; end = 1.7976931348623157e308; };\n"
    "outputs = ( { fractions = [0.1, 0.33333333333333331, 1]; values = (1, -2.5e-7, \"x\", "
    "9223372036854775807, true, [1, 0.1]); }, { every = 3; } );\n";

static void test_echo_reads_back(void **state)
{
    (void)state;
    struct config *config = accepted(difficult, NULL);
    struct text first = { 0 }, second = { 0 };
    config_echo(config, &first);
    struct config *again = accepted(first.bytes, NULL);
    config_echo(again, &second);
    assert_string_equal(first.bytes, second.bytes);
    assert_string_equal(section_string(config_section(config, ""), "name"),
                        section_string(config_section(again, ""), "name"));
    assert_string_equal(section_string(config_section(again, ""), "name"),
                        "a \"b\" \\ \t \n\r\f \xc3\xa9 Acd");
    const char *const groups_of_reals[][2] = {
        { "bodies", "half_side" }, { "time", "step" }, { "time", "end" }, { "physics", "softening" }
    };
    for (size_t i = 0; i < COUNT_OF(groups_of_reals); i++)
        assert_true(
            section_real(config_section(config, groups_of_reals[i][0]), groups_of_reals[i][1]) ==
            section_real(config_section(again, groups_of_reals[i][0]), groups_of_reals[i][1]));
    assert_true(section_real(config_section(again, "time"), "step") == 5e-324);
    json_t *json = config_json(config), *json_again = config_json(again);
    assert_non_null(json);
    assert_true(json_equal(json, json_again));
    json_decref(json);
    json_decref(json_again);
    text_free(&first);
    text_free(&second);
    config_free(config);
    config_free(again);
}

static void test_echo_has_every_key(void **state)
{
    (void)state;
    struct config *config = accepted(BODIES TIME "outputs = ( { } );", NULL);
    struct text echo = { 0 };
    config_echo(config, &echo);
    assert_string_equal(echo.bytes, "name = \"orrery\";\n"
                                    "bodies = {\n"
                                    "  initial = \"uniform-cube\";\n"
                                    "  seed = 42;\n"
                                    "  center = true;\n"
                                    "  count = 8;\n"
                                    "};\n"
                                    "physics = {\n"
                                    "  softening = 0.0;\n"
                                    "  boundary = \"open\";\n"
                                    "};\n"
                                    "time = {\n"
                                    "  step = 0.25;\n"
                                    "  end = 1.0;\n"
                                    "};\n"
                                    "outputs = (\n"
                                    "  {\n"
                                    "    every = 1;\n"
                                    "    fractions = [0.1, 0.5];\n"
                                    "  }\n"
                                    ");\n");
    text_free(&echo);
    config_free(config);
}

static void test_echo_finds_the_same_file(void **state)
{
    char expected[512];
    snprintf(expected, sizeof expected, "%s/part/b.csv", (char *)*state);
    assert_int_equal(mkdir("part", 0700), 0);
    put("part/bodies.cfg", "bodies = { initial = \"file\"; file = \"b.csv\"; };\n");
    struct config *config = accepted("@include \"part/bodies.cfg\"\n" TIME, NULL);
    struct text echo = { 0 };
    config_echo(config, &echo);
    assert_int_equal(mkdir("elsewhere", 0700), 0);
    assert_int_equal(chdir("elsewhere"), 0);
    struct config *again = accepted(echo.bytes, NULL);
    assert_string_equal(section_string(config_section(again, "bodies"), "file"), expected);
    text_free(&echo);
    config_free(config);
    config_free(again);
}

static void test_json(void **state)
{
    (void)state;
    struct config *config = accepted(
        BODIES TIME "outputs = ( { values = [1, 0.5, \"a\", true]; between = [0, 1]; } );", NULL);
    json_t *json = config_json(config);
    char *text = json_dumps(json, JSON_COMPACT | JSON_SORT_KEYS);
    assert_string_equal(
        text, "{\"bodies\":{\"center\":true,\"count\":8,\"initial\":\"uniform-cube\",\"seed\":42},"
              "\"name\":\"orrery\","
              "\"outputs\":[{\"between\":[0.0,1.0],\"every\":1,"
              "\"fractions\":[0.10000000000000001,0.5],\"values\":[1,0.5,\"a\",true]}],"
              "\"physics\":{\"boundary\":\"open\",\"softening\":0.0},"
              "\"time\":{\"end\":1.0,\"step\":0.25}}");
    free(text);
    json_decref(json);
    config_free(config);
}

static void test_errors_from_higher_floors(void **state)
{
    (void)state;
    struct config *config = accepted(BODIES "time = {\n  step = 0.25; };\noutputs = ({});", NULL);
    struct error error = { 0 };
    const struct section *time = config_section(config, "time");
    assert_int_equal(section_error(time, "step", &error, "too %s", "long"), STATUS_CONFIG);
    section_error(time, "end", &error, "too early");
    section_error(config_item(config, "outputs", 0), NULL, &error, "no room");
    section_error(config_section(config, "physics"), "box_length", &error, "no box");
    assert_string_equal(error.text, "run.cfg:3: time.step = 0.25: too long\n"
                                    "run.cfg:2: time.end = 1.0: too early\n"
                                    "run.cfg:4: outputs.0: no room\n"
                                    "run.cfg:1: physics.box_length: no box");
    config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        config_test(test_values_and_defaults),
        config_test(test_members_are_filled),
        config_test(test_a_default_that_is_given),
        config_test(test_variants_replace_shared_rows),
        config_test(test_unknown_keys),
        config_test(test_keys_of_other_variants),
        config_test(test_wrong_types),
        config_test(test_long_values_are_cut),
        config_test(test_reals_out_of_range),
        config_test(test_whole_numbers),
        config_test(test_64_bit_integers),
        config_test(test_missing_keys),
        config_test(test_all_errors_at_once),
        config_test(test_check_of_a_group),
        config_test(test_overrides),
        config_test(test_a_load_is_one_parse),
        config_test(test_a_variation_is_a_load_with_more_overrides),
        config_test(test_later_overrides_win),
        config_test(test_wrong_overrides),
        config_test(test_paths),
        config_test(test_echo_reads_back),
        config_test(test_echo_has_every_key),
        config_test(test_echo_finds_the_same_file),
        config_test(test_json),
        config_test(test_errors_from_higher_floors),
    };
    return cmocka_run_group_tests_name("config", tests, NULL, NULL);
}
