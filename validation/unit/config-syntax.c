/* Bad input 1 and 11, and what libconfig does not report by itself. */
#include "config-case.h"

static void test_syntax_errors(void **state)
{
    (void)state;
    refused("bodies = {\n  initial \"plummer\";\n};\n", NULL,
            "run.cfg:2: bodies.initial: an equals sign is missing before '\"plummer\"'");
    refused("time = {\n  step =\n  end = 3;\n};\n", NULL,
            "run.cfg:3: time.step: a value is missing before 'end'");
    refused("time = { step = 0.1; ;\n};\n", NULL, "run.cfg:1: time: a key was expected before ';'");
    refused("bodies = {\n count = 10 000;\n};\n", NULL,
            "run.cfg:2: bodies.count: a semicolon was expected before '000'");
    refused("outputs = ( { every = 1; }\n { every = 2; } );\n", NULL,
            "run.cfg:2: outputs.0: a comma was expected before '{'");
    refused("outputs = (\n { every = 1; },\n);\n", NULL,
            "run.cfg:3: outputs.1: a value is missing before ')'");
    refused("outputs = ( { every = 1; ) };\n", NULL,
            "run.cfg:1: outputs.0: '}' was expected before ')'");
    refused("time = {\n step = 0.1; }; };\n", NULL, "run.cfg:2: nothing was opened before '}'");
    refused("name = \"a\";\ntime = {\n  step = 0.1;\nphysics = { softening = 0.1; };\n", NULL,
            "run.cfg:2: time: the '{' here is never closed by a '}'");
    refused("name = \"a\";\nstep", NULL, "run.cfg:2: step: a value is missing before the end");
    refused("true = 1;", NULL, "run.cfg:1: a key was expected before 'true'");
    refused("bodies = {\n file = data/b.csv; };", NULL,
            "run.cfg:2: bodies.file: unexpected '/'; a string needs quotation marks");
    refused("values = [ { a = 1; } ];", NULL,
            "run.cfg:1: values.0: an array holds only numbers and strings; use ( ... ) before '{'");
}

static void test_unterminated(void **state)
{
    (void)state;
    refused("\nname = \"plummer;\n" BODIES, NULL,
            "run.cfg:2: name: a string starts here and does not end on this line");
    refused("\n\n  /* a comment\n" BODIES, NULL,
            "run.cfg:3: a comment starts here and does not end");
}

static void test_binary(void **state)
{
    (void)state;
    struct config *config;
    struct error error;
    const char nul[] = "name = \"a\";\n\0" BODIES;
    put_bytes("run.cfg", nul, sizeof nul - 1);
    assert_int_equal(load(NULL, &config, &error), STATUS_CONFIG);
    assert_string_equal(error.text, "run.cfg:2: byte 0x00 is not text");

    refused("name = \"caf\xe9\";\n", NULL, "run.cfg:1: name: not UTF-8 text");
    refused("name = \"\xe0\x9f\xbf\";\n", NULL, "run.cfg:1: name: not UTF-8 text"); /* overlong */
    refused("name = \"a\\x00b\";\n", NULL, "run.cfg:1: name: only \\x20 to \\x7e are text");
    refused("\xff\xfe"
            "n",
            NULL, "run.cfg:1: unexpected byte 0xff; a string needs quotation marks");
}

static void test_twice(void **state)
{
    (void)state;
    refused(BODIES "time = {\n  step = 0.1;\n  step = 0.2;\n};\n", NULL,
            "run.cfg:4: time.step: given twice; first at run.cfg:3");
    refused(BODIES TIME BODIES, NULL, "run.cfg:3: bodies: given twice; first at run.cfg:1");
}

/* CR LF, LF and CR alone are each one end of a line. */
static void test_lines_are_counted(void **state)
{
    (void)state;
    static const char *const ends[] = { "\r\n", "\n", "\r" };
    for (size_t k = 0; k < sizeof ends / sizeof ends[0]; k++) {
        char text[256];
        snprintf(text, sizeof text, "# one%sname = \"a\";%s%sstep", ends[k], ends[k], ends[k]);
        refused(text, NULL, "run.cfg:4: step: a value is missing before the end");
    }
}

static void test_depth_is_limited(void **state)
{
    (void)state;
    char deep[4096] = "values = ";
    memset(deep + strlen(deep), '(', 2000);
    refused(
        deep, NULL,
        "run.cfg:1: values.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0: too "
        "many brackets inside each other before '('");
}

/* --- includes --------------------------------------------------------------------------------- */

static void test_includes(void **state)
{
    (void)state;
    assert_int_equal(mkdir("presets", 0700), 0);
    assert_int_equal(mkdir("part", 0700), 0);
    put("presets/soft.cfg", "softening = 0.125; # from a preset\n");
    put("part/time.cfg", "@include \"step.cfg\"\n");
    put("part/step.cfg", "time = { step = 0.5; end = 2; };");
    struct config *config = accepted(BODIES "  @include \"part/time.cfg\" // mine\n"
                                            "physics = {\n@include \"soft.cfg\"\n};\n",
                                     NULL);
    assert_true(section_real(config_section(config, "physics"), "softening") == 0.125);
    assert_true(section_real(config_section(config, "time"), "step") == 0.5);
    config_free(config);
}

static void test_errors_name_the_included_file(void **state)
{
    (void)state;
    assert_int_equal(mkdir("part", 0700), 0);
    put("part/time.cfg", "time = {\n  step = -1;\n};");
    refused("@include \"part/time.cfg\"\n" BODIES "\nfoo = 1;", NULL,
            "run.cfg:4: foo = 1: unknown key\n"
            "part/time.cfg:2: time.step = -1: must be greater than 0");
    put("part/time.cfg", "time = {\n  step = 1 2;\n};");
    refused("@include \"part/time.cfg\"\n", NULL,
            "part/time.cfg:2: time.step: a semicolon was expected before '2'");
    /* A key given twice, each in its file. */
    put("part/time.cfg", TIME);
    refused(TIME "@include \"part/time.cfg\"\n", NULL,
            "part/time.cfg:1: time: given twice; first at run.cfg:1");
}

static void test_missing_include(void **state)
{
    (void)state;
    refused(BODIES "@include \"units.cfg\"\n", NULL,
            "run.cfg:2: @include \"units.cfg\": no such file beside this one or among the presets");
    refused(BODIES "@include units.cfg\n", NULL, "run.cfg:2: must be @include \"name\"");
    refused(BODIES "name = \"a\"; @include \"b\"\n", NULL,
            "run.cfg:2: @include must stand at the start of a line");
}

static void test_looping_include(void **state)
{
    (void)state;
    put("b.cfg", "\n@include \"./run.cfg\"\n");
    refused(BODIES "@include \"b.cfg\"\n", NULL,
            "b.cfg:2: @include \"./run.cfg\": includes itself");
    refused("@include \"run.cfg\"\n", NULL, "run.cfg:1: @include \"run.cfg\": includes itself");
}

/* Two files that include the next one twice each: 2^n of them. */
static void test_explosive_include(void **state)
{
    (void)state;
    for (int i = 0; i < 12; i++) {
        char name[32], text[64];
        snprintf(name, sizeof name, "%d.cfg", i);
        snprintf(text, sizeof text, "@include \"%d.cfg\"\n@include \"%d.cfg\"\n", i + 1, i + 1);
        put(name, text);
    }
    put("12.cfg", "# nothing\n");
    struct config *config;
    struct error error;
    put("run.cfg", "@include \"0.cfg\"\n");
    assert_int_equal(load(NULL, &config, &error), STATUS_CONFIG);
    assert_non_null(strstr(error.text, ": more than 256 includes"));
}

/* --- files ------------------------------------------------------------------------------------ */

static void test_missing_file(void **state)
{
    (void)state;
    struct config *config;
    struct error error;
    assert_int_equal(load(NULL, &config, &error), STATUS_NO_INPUT);
    assert_string_equal(error.text, "run.cfg: No such file or directory");
    assert_int_equal(mkdir("run.cfg", 0700), 0);
    assert_int_equal(load(NULL, &config, &error), STATUS_NO_INPUT);
    assert_string_equal(error.text, "run.cfg: Is a directory");
}

static void test_too_long_a_file(void **state)
{
    (void)state;
    const size_t length = (4 << 20) + 1;
    char *blanks = malloc(length);
    memset(blanks, ' ', length);
    put_bytes("run.cfg", blanks, length);
    free(blanks);
    struct config *config;
    struct error error;
    assert_int_equal(load(NULL, &config, &error), STATUS_CONFIG);
    assert_string_equal(error.text, "run.cfg: longer than 4194304 bytes, no configuration");
}

static void test_line_ends_and_marks(void **state)
{
    (void)state;
    const char *const variants[] = {
        "bodies = { initial = \"uniform-cube\"; count = 8; };\ntime = {\n\tstep = 0.25;\n};\n",
        "bodies = { initial = \"uniform-cube\"; count = 8; };\r\ntime = {\r\n\tstep = "
        "0.25;\r\n};\r\n",
        "\xef\xbb\xbf"
        "bodies={initial=\"uniform-cube\",count:8}\rtime={\r//x\rstep=.25}",
    };
    for (size_t i = 0; i < COUNT_OF(variants); i++) {
        struct config *config = accepted(variants[i], NULL);
        assert_true(section_real(config_section(config, "time"), "step") == 0.25);
        assert_int_equal(section_integer(config_section(config, "bodies"), "count"), 8);
        config_free(config);
    }
    refused("\xef\xbb\xbf" BODIES "time = {\r\n\r\n  step = 0;\r\n};", NULL,
            "run.cfg:4: time.step = 0: must be greater than 0");
}

static void test_lines_beyond_16_bits(void **state)
{
    (void)state;
    struct text text = { 0 };
    text_print(&text, BODIES "time = {\n");
    for (int i = 3; i < 70000; i++)
        text_append(&text, "\n", 1);
    text_print(&text, "step = 0; };");
    refused(text.bytes, NULL, "run.cfg:70000: time.step = 0: must be greater than 0");
    text_free(&text);
}

static void test_standard_input(void **state)
{
    (void)state;
    put("in", BODIES TIME "x = 1;");
    assert_non_null(freopen("in", "r", stdin));
    const struct config_source source = { .path = "-" };
    struct config *config;
    struct error error = { 0 };
    assert_int_equal(config_load(&source, &schema, &config, &error), STATUS_CONFIG);
    assert_string_equal(error.text, "<stdin>:3: x = 1: unknown key");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        config_test(test_syntax_errors),
        config_test(test_unterminated),
        config_test(test_binary),
        config_test(test_twice),
        config_test(test_lines_are_counted),
        config_test(test_depth_is_limited),
        config_test(test_includes),
        config_test(test_errors_name_the_included_file),
        config_test(test_missing_include),
        config_test(test_looping_include),
        config_test(test_explosive_include),
        config_test(test_missing_file),
        config_test(test_too_long_a_file),
        config_test(test_line_ends_and_marks),
        config_test(test_lines_beyond_16_bits),
        config_test(test_standard_input),
    };
    return cmocka_run_group_tests_name("config syntax", tests, NULL, NULL);
}
