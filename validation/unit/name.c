/* Names of others: what may be one, what a terminal and gnuplot are given of it, and hashes. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/name.h"
#include "base/sha256.h"
#include "base/text.h"
#include "report/plot.h"

static void test_what_may_be_a_name(void **state)
{
    (void)state;
    static const char *const words[] = { "energy", "radius_99.9", "lagrangian-radii", "2K", "A" };
    static const char *const no_words[] = { "",    "-d",  ".x",   "_x", "a b",      "a/b", "a\nb",
                                            "a`b", "a'b", "a\"b", "a!", "\xc3\xa9", "a\\", "a@" };
    static const char *const units[] = { "", "1", "M L^2 T^-2", "(km/s)^2 pc", "1e10Msun" };
    static const char *const no_units[] = { "a\n", "'", "a]", "a,b", "`x`", "\xc2\xb5m", "!" };
    static const char *const files[] = { "trajectory.xyz", "a b", "\xc3\xa9.csv", "javascript:x" };
    static const char *const no_files[] = { "",     ".",        "..",         ".x",    "a/b",
                                            "a\nb", "a\x1b[0m", "a\302\2331", "a\x7f", "-rf" };
    for (size_t i = 0; i < COUNT_OF(words); i++)
        assert_true(name_is_word(words[i]));
    for (size_t i = 0; i < COUNT_OF(no_words); i++)
        assert_false(name_is_word(no_words[i]));
    for (size_t i = 0; i < COUNT_OF(units); i++)
        assert_true(name_is_unit(units[i]));
    for (size_t i = 0; i < COUNT_OF(no_units); i++)
        assert_false(name_is_unit(no_units[i]));
    for (size_t i = 0; i < COUNT_OF(files); i++)
        assert_true(name_is_file(files[i]));
    for (size_t i = 0; i < COUNT_OF(no_files); i++)
        assert_false(name_is_file(no_files[i]));
    char longest[NAME_FILE_LONGEST + 2];
    memset(longest, 'a', sizeof longest - 1);
    longest[NAME_FILE_LONGEST + 1] = '\0';
    assert_false(name_is_file(longest));
    longest[NAME_FILE_LONGEST] = '\0';
    assert_true(name_is_file(longest));
    assert_false(name_is_word(longest));
    longest[NAME_LONGEST + 1] = '\0';
    assert_false(name_is_word(longest));
    assert_false(name_is_unit(longest));
    longest[NAME_LONGEST] = '\0';
    assert_true(name_is_word(longest));
    assert_true(name_is_unit(longest));
}

static void test_a_terminal_obeys_nothing(void **state)
{
    (void)state;
    static const char *const trials[][2] = {
        { "plain \xce\x94\xc3\xa9\n\tline", "plain \xce\x94\xc3\xa9\n\tline" },
        { "\x1b[2J", "?[2J" },
        { "a\rb\x07\x7f", "a?b??" },
        { "\xc2\x9b"
          "31m \xc2\xa0",
          "??31m \xc2\xa0" },
        { "\xe2\x80\xae"
          "cod \xe2\x81\xa6 \xe2\x80\x93",
          "???cod ??? \xe2\x80\x93" },
        { "\xe2", "\xe2" },
        { "\xe2\x80", "\xe2\x80" },
        { "\xc2", "\xc2" },
    };
    for (size_t i = 0; i < COUNT_OF(trials); i++) {
        char words[64];
        snprintf(words, sizeof words, "%s", trials[i][0]);
        name_neutralise(words);
        assert_string_equal(words, trials[i][1]);
    }
}

/* gnuplot ends a string at its quote, expands `...` and @macro in a line, and reads \ooo. */
static void test_words_in_a_script(void **state)
{
    (void)state;
    static const char *const trials[][2] = {
        { "energy [M L\xc2\xb2]", "\"energy [M L\xc2\xb2]\"" },
        { "a\"b''c", "\"a\\042b\\047\\047c\"" },
        { "`ls` @x \\ ! # {", "\"\\140ls\\140 \\100x \\134 \\041 \\043 \\173\"" },
        { "a\nb\tc", "\"a b c\"" },
        { "", "\"\"" },
    };
    for (size_t i = 0; i < COUNT_OF(trials); i++) {
        struct text text = { 0 };
        script_quote(&text, trials[i][0]);
        assert_string_equal(text.bytes, trials[i][1]);
        text_free(&text);
    }
    for (int c = 1; c < 128; c++) { /* none of them ends the string, or begins a \ of its own */
        const char word[] = { (char)c, '\0' };
        struct text text = { 0 };
        script_quote(&text, word);
        assert_true(text.length == 3 ? !strchr("\"'`@\\!$\n", text.bytes[1])
                                     : text.length == 6 && text.bytes[1] == '\\');
        text_free(&text);
    }
}

/* The examples of FIPS 180-2, appendix B. */
static void test_hashes(void **state)
{
    (void)state;
    char hash[SHA256_TEXT_SIZE];
    assert_string_equal(sha256_text("abc", 3, hash),
                        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    static const char two[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    assert_string_equal(sha256_text(two, strlen(two), hash),
                        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    char *const million = malloc(1000000);
    assert_non_null(million);
    memset(million, 'a', 1000000);
    assert_string_equal(sha256_text(million, 1000000, hash),
                        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    free(million);
    struct text text = { 0 };
    text_base64(&text, "fooba", 5); /* RFC 4648, 10 */
    assert_string_equal(text.bytes, "Zm9vYmE=");
    text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_may_be_a_name),
        cmocka_unit_test(test_a_terminal_obeys_nothing),
        cmocka_unit_test(test_words_in_a_script),
        cmocka_unit_test(test_hashes),
    };
    return cmocka_run_group_tests_name("name", tests, NULL, NULL);
}
