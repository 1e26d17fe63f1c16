/* Templates: values, sections and what HTML reserves. */
#include "unit.h"

#include <stdlib.h>

#include "base/memory.h"
#include "report/template.h"

static const char values[] =
    "{\"name\": \"<a> & \\\"b\\\"\", \"count\": 1234567, \"third\": 0.3333333333, \"none\": null,"
    " \"zero\": 0, \"yes\": true, \"no\": false, \"empty\": [], \"blank\": \"\","
    " \"deep\": {\"er\": {\"key\": \"found\"}, \"name\": \"inner\"},"
    " \"list\": [{\"n\": 1}, {\"n\": 2, \"count\": 7}], \"words\": [\"x\", \"y\"]}";

static void test_templates_are_filled(void **state)
{
    (void)state;
    static const struct {
        const char *template, *filled;
    } trials[] = {
        { "a {{name}} b", "a &lt;a&gt; &amp; &quot;b&quot; b" },
        { "{{{name}}}", "<a> & \"b\"" },
        { "{{count}} {{third}} {{third:3}} {{none}}{{nowhere}}.", "1234567 0.333333 0.333 –." },
        { "{{deep.er.key}} {{list.1.n}}", "found 2" },
        { "{{#yes}}1{{/yes}}{{#no}}2{{/no}}{{#zero}}3{{/zero}}{{#count}}4{{/count}}", "14" },
        { "{{#none}}1{{/none}}{{#blank}}2{{/blank}}{{#nowhere}}3{{/nowhere}}{{#name}}4{{/name}}",
          "4" },
        { "{{^yes}}1{{/yes}}{{^no}}2{{/no}}{{^empty}}3{{/empty}}{{^nowhere}}4{{/nowhere}}", "234" },
        { "{{?zero}}1{{/zero}}{{?none}}2{{/none}}{{?nowhere}}3{{/nowhere}}{{?empty}}4{{/empty}}",
          "14" },
        { "{{!zero}}1{{/zero}}{{!none}}2{{/none}}{{!nowhere}}3{{/nowhere}}", "23" },
        { "{{#list}}{{n}}/{{count}} {{/list}}", "1/1234567 2/7 " },
        { "{{#words}}[{{.}}{{#yes}}!{{/yes}}]{{/words}}", "[x!][y!]" },
        { "{{#deep}}{{name}} {{er.key}} {{third}}{{/deep}}", "inner found 0.333333" },
        { "a\n{{#yes}}\nb\n{{/yes}}\nc\n", "a\nb\nc\n" },
        { "{{outside}}{{#deep}}{{outside}}{{/deep}}", "outout" },
    };
    json_t *outer = json_pack("{s:s, s:s}", "outside", "out", "name", "not this");
    for (size_t i = 0; i < COUNT_OF(trials); i++) {
        struct text text = { 0 };
        template_render(&text, trials[i].template, json_loads(values, 0, NULL), outer);
        assert_false(text.failed);
        assert_string_equal(text.bytes, trials[i].filled);
        text_free(&text);
    }
    json_decref(outer);
}

static void test_without_values_it_has_failed(void **state)
{
    (void)state;
    struct text text = { 0 };
    template_fill(&text, "begin.html", NULL, NULL);
    assert_true(text.failed);
    text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_templates_are_filled),
        cmocka_unit_test(test_without_values_it_has_failed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
