#include "base/document.h"
#include "config/section.h"

/* --- config syntax ---------------------------------------------------------------------------- */

static void echo_values(const struct section *section, const char *indent, struct text *text)
{
    for (size_t i = 0; i < section->value_count; i++) {
        const struct value *value = &section->values[i];
        if (value->held.presence != PARAMETER_SET)
            continue;
        text_print(text, "%s%s = ", indent, value->parameter->key);
        value_print(value, text);
        text_print(text, ";\n");
    }
}

static void echo_sections(const struct sections *sections, struct text *text)
{
    const struct group *group = sections->group;
    if (!*group->name) {
        echo_values(sections->items, "", text);
    } else if (!group->list) {
        text_print(text, "%s = {\n", group->name);
        echo_values(sections->items, "  ", text);
        text_print(text, "};\n");
    } else {
        text_print(text, "%s = (", group->name);
        for (size_t i = 0; i < sections->count; i++) {
            text_print(text, "%s\n  {\n", i ? "," : "");
            echo_values(&sections->items[i], "    ", text);
            text_print(text, "  }");
        }
        text_print(text, "%s);\n", sections->count ? "\n" : " ");
    }
}

void config_echo(const struct config *config, struct text *text)
{
    for (size_t i = 0; i < config->schema.group_count; i++)
        echo_sections(&config->sections[i], text);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static json_t *json_of_node(const struct node *node)
{
    json_t *array;
    switch (node->kind) {
    case NODE_FLAG:
        return json_boolean(node->flag);
    case NODE_INTEGER:
        return json_integer(node->integer);
    case NODE_REAL:
        return json_real(node->real);
    case NODE_LIST:
        array = json_array();
        for (size_t i = 0; i < node->count; i++)
            document_append(&array, json_of_node(node->children[i]));
        return array;
    default:
        return json_string(node->string);
    }
}

static json_t *json_of_value(const struct value *value)
{
    json_t *array;
    switch (value->parameter->type) {
    case PARAMETER_FLAG:
        return json_boolean(value->held.flag);
    case PARAMETER_INTEGER:
        return json_integer(value->held.integer);
    case PARAMETER_REAL:
        return json_real(value->held.real);
    case PARAMETER_REALS:
        array = json_array();
        for (size_t i = 0; i < value->held.count; i++)
            document_append(&array, json_real(value->held.reals[i]));
        return array;
    case PARAMETER_PATHS:
        array = json_array();
        for (size_t i = 0; i < value->held.count; i++)
            document_append(&array, json_string(value->held.values[i]));
        return array;
    case PARAMETER_VALUES:
        return json_of_node(value->node);
    default:
        return json_string(value->held.string);
    }
}

static void add_values(const struct section *section, json_t **object)
{
    for (size_t i = 0; i < section->value_count; i++) {
        const struct value *value = &section->values[i];
        if (value->held.presence == PARAMETER_SET)
            document_set(object, value->parameter->key, json_of_value(value));
    }
}

static json_t *json_of_section(const struct section *section)
{
    json_t *object = json_object();
    add_values(section, &object);
    return object;
}

static json_t *json_of_list(const struct sections *sections)
{
    json_t *array = json_array();
    for (size_t i = 0; i < sections->count; i++)
        document_append(&array, json_of_section(&sections->items[i]));
    return array;
}

json_t *config_json(const struct config *config)
{
    json_t *root = json_object();
    for (size_t i = 0; i < config->schema.group_count; i++) {
        const struct sections *sections = &config->sections[i];
        const struct group *group = sections->group;
        if (!*group->name)
            add_values(sections->items, &root);
        else
            document_set(&root, group->name,
                         group->list ? json_of_list(sections) : json_of_section(sections->items));
    }
    return root;
}
