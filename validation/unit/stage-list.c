/* Integrators that a config spells out: the traits that the program finds for them. */
#include "unit.h"

#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "integrator/stage-list.h"
#include "integrator/stage-program.h"

/* Reads words with commas between them, NULL: refused. */
static const struct integrator *read(const char *words, struct integrator *room)
{
    const char *list[99];
    char copy[2048], *rest = NULL;
    size_t count = 0;
    snprintf(copy, sizeof copy, "%s", words);
    for (char *word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest))
        list[count++] = word;
    return stage_list_make(list, count, room) ? room : NULL;
}

/* Writes the stages of a row with all digits; false for one that has no such words. */
static bool spell(const struct integrator *row, char words[2048])
{
    static const char *const verbs[] = { "force", "kick", "drift", NULL };
    size_t length = 0;
    for (size_t k = 0; k < row->stage_count; k++) {
        const struct stage *const stage = &row->stages[k];
        if (!verbs[stage->verb])
            return false;
        length += (size_t)snprintf(words + length, 2048 - length, "%s%s", k ? ", " : "",
                                   verbs[stage->verb]);
        if (stage->verb != VERB_FORCE)
            length += (size_t)snprintf(words + length, 2048 - length, " %.17g", stage->coefficient);
    }
    return row->symplectic; /* explicit Euler kicks with old forces */
}

/* The traits of the table are those of the papers, and measured by validation/unit/motion.c; those
 * of the same words must be the same. The table has two digits of passage_steps, and counts a row
 * as right within 0.4 to 1.6 times the error: within 1.6^(1/order) of the steps. */
static void test_the_rows_of_the_table_are_found(void **state)
{
    (void)state;
    size_t checked = 0;
    for (size_t k = 0; integrator_has_stages(integrator_at(k)); k++) {
        const struct integrator *const row = integrator_at(k);
        struct integrator room;
        struct stage_program expected = { 0 }, got = { 0 };
        char words[2048];
        if (!spell(row, words))
            continue;
        const struct integrator *const found = read(words, &room);
        assert_non_null(found);
        printf("# %s: order %d, %g steps for %g\n", row->variant.name, found->order,
               found->passage_steps, row->passage_steps);
        assert_int_equal(found->order, row->order);
        assert_int_equal(found->reversible, row->reversible);
        assert_true(found->symplectic);
        assert_in_range(1e3 * found->passage_steps / row->passage_steps,
                        1e3 * pow(0.4, 1.0 / row->order) - 60,
                        1e3 * pow(1.6, 1.0 / row->order) + 60);
        stage_program_make(&expected, row, 0.0237);
        stage_program_make(&got, found, 0.0237);
        expected.integrator = got.integrator;
        assert_memory_equal(&got, &expected, sizeof got);
        checked++;
    }
    assert_int_equal(checked, 6);
}

/*
 * Methods that the table does not have, with the orders of their papers. Ruth's third order is that
 * of Ruth (1983, IEEE Trans. Nucl. Sci. 30, 2669); the one of McLachlan and Atela (1992,
 * Nonlinearity 5, 541) has order 4 for a force that is of the positions alone, which conditions for
 * any splitting would miss.
 */
static void test_orders_of_other_methods(void **state)
{
    (void)state;
    static const struct {
        const char *words;
        int order, reversible;
    } methods[] = {
        { "force, kick 7/24, drift 2/3, force, kick 3/4, drift -2/3, force, kick -1/24, drift 1", 3,
          0 },
        { "drift 1, force, kick -1/24, drift -2/3, force, kick 3/4, drift 2/3, force, kick 7/24", 3,
          0 },
        { "force, kick 7/24, drift 2/3, force, kick 2/3, drift -2/3, force, kick 1/24, drift 1", 1,
          0 },
        { "force, kick 0.1344961992774310892, drift 0.5153528374311229364, "
          "force, kick -0.2248198030794208058, drift -0.085782019412973646, "
          "force, kick 0.7563200005156682911, drift 0.4415830236164665242, "
          "force, kick 0.3340036032863214255, drift 0.1288461583653841854",
          4, 0 },
        { "force, kick 1, drift 1", 1, 0 },
        { "kick 1, drift 1, force", 1, 0 },
        { "drift 0.5, force, kick 1, drift 0.5", 2, 1 },
        { "drift 0.3, force, kick 0.5, drift 0.4, force, kick 0.5, drift 0.3", 2, 1 },
        { "drift 0.2, force, kick 0.5, drift 0.4, force, kick 0.5, drift 0.4", 1, 0 },
        { "drift 1/(2-2^(1/3))/2, force, kick 1/(2-2^(1/3)), drift (1-1/(2-2^(1/3)))/2, force, "
          "kick 1-2/(2-2^(1/3)), drift (1-1/(2-2^(1/3)))/2, force, kick 1/(2-2^(1/3)), "
          "drift 1/(2-2^(1/3))/2",
          4, 1 },
    };
    for (size_t k = 0; k < COUNT_OF(methods); k++) {
        struct integrator room;
        const struct integrator *const found = read(methods[k].words, &room);
        assert_non_null(found);
        printf("# order %d, %g steps: %s\n", found->order, found->passage_steps, methods[k].words);
        assert_int_equal(found->order, methods[k].order);
        assert_int_equal(found->reversible, methods[k].reversible);
    }
}

/* Ten digits of a coefficient are enough for an order, and eight are not: of the second one, the
 * time at which the second kick is, an error of 3e-9 is left. */
static void test_orders_need_ten_digits(void **state)
{
    (void)state;
    struct integrator room;
    for (int digits = 8; digits <= 10; digits += 2) {
        char words[256];
        snprintf(words, sizeof words,
                 "force, kick 7/24, drift %.*f, force, kick 3/4, drift -%.*f, force, kick -1/24, "
                 "drift 1",
                 digits, 2.0 / 3, digits, 2.0 / 3);
        assert_int_equal(read(words, &room)->order, digits == 10 ? 3 : 1);
    }
}

/* Lists that no step could be made of; the messages are tested by validation/cli/stages.py. */
static void test_lists_that_are_none(void **state)
{
    (void)state;
    static const char *const lists[] = {
        "",
        "kick 1",
        "drift 1",
        "force",
        "kick 1, drift 1",
        "force, drift 1, kick 1",
        "kick 0.5, drift 1, kick 0.5",
        "force, kick 0.5, drift 1, force, kick 0.5",
        "kick 0.5, drift 1, force, force, kick 0.5",
        "kick 0.5, drift 0.5, force, drift 0.5, force, kick 0.5",
        "kick 0.5, drift 0.5, drift 0.5, force, kick 0.5",
        "kick 0.5, drift 1, force, kick 0.25, kick 0.25",
        "kick 0.5, drift 1, force, kick 0.5, drift 0",
        "kick 0.5, drift 1, force, kick 0.4",
        "kick 0.5, drift 1.00000000001, force, kick 0.5",
        "kick nan, drift 1, force, kick 0.5",
        "kick 1e999, drift 1, force, kick 0.5",
        "kick 1/0, drift 1, force, kick 0.5",
        "kick, drift 1, force, kick 0.5",
        "kick 0.5, drift 1, force 1, kick 0.5",
        "kick 0.5 1, drift 1, force, kick 0.5",
        "Kick 0.5, drift 1, force, kick 0.5",
        "kicks 0.5, drift 1, force, kick 0.5",
        "push 0.5, drift 1, force, kick 0.5",
    };
    struct integrator room;
    for (size_t k = 0; k < COUNT_OF(lists); k++)
        if (read(lists[k], &room))
            fail_msg("taken: %s", lists[k]);
    assert_non_null(read("kick 0.5, drift 1, force, kick 0.5", &room));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_rows_of_the_table_are_found),
        cmocka_unit_test(test_orders_of_other_methods),
        cmocka_unit_test(test_orders_need_ten_digits),
        cmocka_unit_test(test_lists_that_are_none),
    };
    return cmocka_run_group_tests_name("stage-list", tests, NULL, NULL);
}
