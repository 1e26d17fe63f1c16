/* The choice of a setting: pilots that may do no more work are not taken for judgements. */
#include "unit.h"

#include <string.h>

#include "base/text.h"
#include "commands/chosen.h"
#include "estimate/search.h"
#include "run/schema.h"

static struct config *load(void)
{
    static struct error error;
    struct config *config;
    FILE *file = fopen("selection.cfg", "w");
    assert_non_null(file);
    fprintf(file, "bodies = { initial = \"plummer\"; count = 40; seed = 3; };\n"
                  "physics = { softening = 0.05; };\n"
                  "time = { energy_error = 1e-4; end = 4.0; };\n");
    fclose(file);
    error_clear(&error);
    if (schema_load("selection.cfg", NULL, 0, &config, &error) != STATUS_OK)
        fail_msg("%s", error.text);
    remove("selection.cfg");
    return config;
}

static void test_nothing_is_said_of_what_was_not_tried(void **state)
{
    (void)state;
    struct config *config = load();
    const struct search_limits limits = { 1.0, 0.0 };
    struct error error = { 0 };
    struct selection choice;
    assert_int_equal(search_setting(config, &limits, NULL, &choice, &error), STATUS_CONFIG);
    for (size_t k = 0; k < choice.count; k++)
        assert_false(choice.candidates[k].tried);
    assert_non_null(strstr(error.text, "was not tried, for its pilots would take too long"));
    assert_non_null(strstr(error.text, "give time.integrator and time.step"));
    assert_null(strstr(error.text, "loses"));
    assert_null(strstr(error.text, "reaches"));
    selection_destroy(&choice);
    config_free(config);
}

/* Work for pilots of the methods of fixed steps alone: these are the first. */
static void test_the_table_tells_what_was_not_tried(void **state)
{
    (void)state;
    struct config *config = load();
    const struct search_limits limits = { 3e4, 0.0 };
    struct error error = { 0 };
    struct selection choice;
    struct text table = { 0 };
    assert_int_equal(search_setting(config, &limits, NULL, &choice, &error), STATUS_OK);
    assert_true(choice.candidates[choice.chosen].tried);
    size_t untried = 0, told = 0;
    for (size_t k = 0; k < choice.count; k++)
        untried += !choice.candidates[k].tried;
    chosen_table(&choice, "", &table);
    for (const char *at = table.bytes; (at = strstr(at, "not tried\n")); at++)
        told++;
    assert_true(untried > 0);
    assert_int_equal(told, untried);
    assert_null(strstr(table.bytes, "misses it"));
    text_free(&table);
    selection_destroy(&choice);
    config_free(config);
}

/* A tenth of the run's work, where no other work is allowed, is enough to choose; and no more is
 * done but for what one pilot goes beyond its limit in a step. */
static void test_a_tenth_of_the_run_is_enough(void **state)
{
    (void)state;
    struct config *config = load();
    const struct search_limits limits = { 0.0, 0.1 };
    struct error error = { 0 };
    struct selection choice;
    assert_int_equal(search_setting(config, &limits, NULL, &choice, &error), STATUS_OK);
    assert_true(choice.candidates[choice.chosen].tried);
    assert_true(choice.pilots < 0.2 * choice.candidates[choice.chosen].cost);
    selection_destroy(&choice);
    config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_is_said_of_what_was_not_tried),
        cmocka_unit_test(test_the_table_tells_what_was_not_tried),
        cmocka_unit_test(test_a_tenth_of_the_run_is_enough),
    };
    return cmocka_run_group_tests_name("selection", tests, NULL, NULL);
}
