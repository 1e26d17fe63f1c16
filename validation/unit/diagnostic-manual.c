/* docs/manual/diagnostics.md holds the definition of every column, word for word. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "diagnostics/diagnostic.h"

static char *read_manual(void)
{
    char path[1024];
    const char *source = getenv("ORRERY_SOURCE");
    snprintf(path, sizeof path, "%s/docs/manual/diagnostics.md", source ? source : ".");
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("%s cannot be read", path);
    enum { SIZE = 1 << 18 };
    char *text = calloc(1, SIZE);
    assert_true(text && fread(text, 1, SIZE - 1, file) > 0);
    fclose(file);
    return text;
}

/* "| `name` | definition |", with | escaped as Markdown wants it in a table. */
static void print_row(struct text *row, const struct column *column)
{
    text_print(row, "\n| `%s` | ", column->name);
    for (const char *c = column->help; *c; c++)
        text_print(row, *c == '|' ? "\\|" : "%c", *c);
    text_print(row, " |\n");
}

static void test_every_column_is_defined(void **state)
{
    (void)state;
    char *manual = read_manual();
    size_t checked = 0;
    for (const struct diagnostic_class *c; (c = diagnostic_at(checked)); checked++) {
        char heading[64];
        snprintf(heading, sizeof heading, "\n## %s\n", c->variant.name);
        const char *part = strstr(manual, heading);
        if (!part)
            fail_msg("no heading '%s'", c->variant.name);
        const char *end = strstr(part + 1, "\n## ");
        for (size_t k = 0; k < c->column_count; k++) {
            struct text row = { 0 };
            print_row(&row, &c->columns[k]);
            const char *found = strstr(part, row.bytes);
            if (!found || (end && found > end))
                fail_msg("under %s there is no row%s", c->variant.name, row.bytes);
            text_free(&row);
        }
    }
    assert_true(checked > 5);
    free(manual);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_column_is_defined),
    };
    return cmocka_run_group_tests_name("diagnostic-manual", tests, NULL, NULL);
}
