#include "unit.h"

#include <string.h>

#include "base/memory.h"
#include "base/text.h"

static void test_reals_are_read_strictly(void **state)
{
    (void)state;
    double value;
    assert_true(text_parse_real(" -2.385e-3\r", &value));
    assert_true(value == -2.385e-3);
    const char *const bad[] = {
        "", " ", "1,5", "nan", "inf", "0x1p3", "1e999", "1.5x", "1 2", "-"
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        if (text_parse_real(bad[i], &value))
            fail_msg("'%s' was accepted as %g", bad[i], value);
}

static void test_integers_are_read_strictly(void **state)
{
    (void)state;
    int64_t value;
    assert_true(text_parse_integer("9223372036854775807", &value));
    assert_true(value == INT64_MAX);
    assert_false(text_parse_integer("9223372036854775808", &value));
    assert_false(text_parse_integer("1.0", &value));
    assert_false(text_parse_integer("", &value));
}

static void test_reals_are_written_shortest(void **state)
{
    (void)state;
    char buffer[TEXT_REAL_SIZE];
    assert_string_equal(text_real(buffer, 0.1), "0.1");
    assert_string_equal(text_real(buffer, 0.1 + 0.2), "0.30000000000000004");
    assert_string_equal(text_real(buffer, -1e300), "-1e+300");
    assert_string_equal(text_beside(buffer, 3, 1.0001, 1.0, 1.0), "1.0001");
    assert_string_equal(text_beside(buffer, 3, 1.0, 1.0, 1.0), "1");
    assert_string_equal(text_beside(buffer, 4, 0.99999999, -INFINITY, 1.0), "0.99999999");
    assert_string_equal(text_beside(buffer, 4, 1.4142135, 1.73205, 1.732052), "1.414");
    assert_string_equal(text_beside(buffer, 4, 1.7320508, 1.73205, 1.732052), "1.732051");
    assert_string_equal(text_factor(buffer, 1.2749, 3), "1.27");
    assert_string_equal(text_factor(buffer, 1754.2, 3), "1750");
    assert_string_equal(text_factor(buffer, 996000.0, 2), "1e+06");
    assert_string_equal(text_factor(buffer, 994999.0, 2), "990000");
}

static void test_nearest_word(void **state)
{
    (void)state;
    const char *const keys[] = { "softening", "boundary", "box_length" };
    assert_string_equal(text_nearest("softning", keys, 3), "softening");
    assert_string_equal(text_nearest("boxlength", keys, 3), "box_length");
    assert_null(text_nearest("quux", keys, 3));
    assert_int_equal(text_distance("step", "setp"), 1);
    assert_int_equal(text_distance("a word longer than those before", ""), 31);
}

static void test_text_grows(void **state)
{
    (void)state;
    struct text text = { 0 };
    for (int i = 0; i < 1000; i++)
        text_print(&text, "%d,", i);
    assert_false(text.failed);
    /* 10 one-digit, 90 two-digit and 900 three-digit numbers with a comma each. */
    assert_int_equal(text.length, 10 * 2 + 90 * 3 + 900 * 4);
    assert_int_equal(strlen(text.bytes), text.length);
    text_free(&text);
    assert_true(!text.bytes && text.length == 0); /* and can be used, or freed, again */
}

static void test_cells_are_quoted_where_they_need_it(void **state)
{
    (void)state;
    static const char *const cells[][2] = {
        { "plain", "plain" },
        { "", "" },
        { "two words", "two words" },
        { "a,b", "\"a,b\"" },
        { "say \"hi\"", "\"say \"\"hi\"\"\"" },
        { "\"", "\"\"\"\"" },
        { "a\nb", "\"a\nb\"" },
        { "a\rb", "\"a\rb\"" },
        { " a", "\" a\"" },
        { "a ", "\"a \"" },
        { "a;b\tc", "a;b\tc" },
        { "=1+1", "'=1+1" },
        { "@SUM(1)", "'@SUM(1)" },
        { "+x,y", "\"'+x,y\"" },
        { "-cmd|' /C x'!A0", "'-cmd|' /C x'!A0" },
        { "-0.5", "-0.5" },
        { "+1e3", "+1e3" },
    };
    for (size_t i = 0; i < COUNT_OF(cells); i++) {
        struct text text = { 0 };
        text_cell(&text, cells[i][0]);
        assert_string_equal(text.bytes ? text.bytes : "", cells[i][1]);
        text_free(&text);
    }
}

static void test_words_wrap(void **state)
{
    (void)state;
    struct text text = { 0 };
    text_print(&text, "first line\neps ");
    text_wrap(&text, "    ", 14, " softening  length of the\nPlummer form ");
    /* 14 columns: "eps softening" is 13 long; a multi-byte letter takes one. */
    assert_string_equal(text.bytes,
                        "first line\neps softening\n    length of\n    the\n    Plummer\n    form");
    text_print(&text, "\n");
    text_wrap(&text, "> ", 5, "a\xc3\xa9 bc longword x");
    assert_non_null(strstr(text.bytes, "\na\xc3\xa9 bc\n> longword\n> x"));
    text_free(&text);
}

static void test_systems_are_named(void **state)
{
    (void)state;
    char text[TEXT_SYSTEM_SIZE];
    assert_string_equal(text_system(text, 0.0, "ic.csv"), ""); /* a system alone */
    assert_string_equal(text_system(text, 3.0, NULL), " in system 3");
    assert_string_equal(text_system(text, 1e9, ""), " in system 1000000000");
    assert_string_equal(text_system(text, 2.0, "ic_2.csv"), " in system 2 (ic_2.csv)");
    char longest[400];
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_int_equal(strlen(text_system(text, 1e9, longest)), 21 + 2 + 100 + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_systems_are_named),
        cmocka_unit_test(test_words_wrap),
        cmocka_unit_test(test_reals_are_read_strictly),
        cmocka_unit_test(test_integers_are_read_strictly),
        cmocka_unit_test(test_reals_are_written_shortest),
        cmocka_unit_test(test_nearest_word),
        cmocka_unit_test(test_text_grows),
        cmocka_unit_test(test_cells_are_quoted_where_they_need_it),
    };
    return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
