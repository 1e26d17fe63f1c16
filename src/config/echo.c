#include <string.h>

#include "config/section.h"

/* --- config syntax ------------------------------------------------------------------------------
 */

static void echo_values(const struct section *section, const char *indent, struct text *text)
{
    for (size_t i = 0; i < section->value_count; i++) {
        const struct value *value = &section->values[i];
        if (!value->node)
            continue;
        text_print(text, "%s%s = ", indent, value->parameter->key);
        value_print(value, text);
        text_print(text, ";\n");
    }
}

static void echo_chapter(const struct chapter *chapter, struct text *text)
{
    const struct group *group = chapter->group;
    if (!*group->name) {
        echo_values(chapter->sections, "", text);
    } else if (!group->list) {
        text_print(text, "%s = {\n", group->name);
        echo_values(chapter->sections, "  ", text);
        text_print(text, "};\n");
    } else {
        text_print(text, "%s = (", group->name);
        for (size_t i = 0; i < chapter->count; i++) {
            text_print(text, "%s\n  {\n", i ? "," : "");
            echo_values(&chapter->sections[i], "    ", text);
            text_print(text, "  }");
        }
        text_print(text, "%s);\n", chapter->count ? "\n" : " ");
    }
}

void config_echo(const struct config *config, struct text *text)
{
    for (size_t i = 0; i < config->schema.group_count; i++)
        echo_chapter(&config->chapters[i], text);
}

/* --- JSON ---------------------------------------------------------------------------------------
 */

static json_t *json_of_node(const struct node *node)
{
    switch (node->kind) {
    case NODE_FLAG:
        return json_boolean(node->flag);
    case NODE_INTEGER:
        return json_integer(node->integer);
    case NODE_REAL:
        return json_real(node->real);
    case NODE_LIST: {
        json_t *array = json_array();
        for (size_t i = 0; array && i < node->count; i++)
            if (json_array_append_new(array, json_of_node(node->children[i]))) {
                json_decref(array);
                array = NULL;
            }
        return array;
    }
    default:
        return json_string(node->string);
    }
}

static json_t *json_of_reals(const struct value *value)
{
    json_t *array = json_array();
    for (size_t i = 0; array && i < value->count; i++)
        if (json_array_append_new(array, json_real(value->reals[i]))) {
            json_decref(array);
            array = NULL;
        }
    return array;
}

static json_t *json_of_value(const struct value *value)
{
    switch (value->parameter->type) {
    case PARAMETER_INTEGER:
        return json_integer(value->integer);
    case PARAMETER_REAL:
        return json_real(value->real);
    case PARAMETER_STRING:
    case PARAMETER_CHOICE:
    case PARAMETER_PATH:
        return json_string(value->string);
    case PARAMETER_REALS:
        return json_of_reals(value);
    default:
        return json_of_node(value->node);
    }
}

/* Adds the values to `object`; false when memory is exhausted. */
static bool json_add_values(const struct section *section, json_t *object)
{
    for (size_t i = 0; i < section->value_count; i++) {
        const struct value *value = &section->values[i];
        if (value->node &&
            json_object_set_new(object, value->parameter->key, json_of_value(value)) != 0)
            return false;
    }
    return true;
}

static json_t *json_of_section(const struct section *section)
{
    json_t *object = json_object();
    if (object && !json_add_values(section, object)) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static bool json_add_chapter(const struct chapter *chapter, json_t *root)
{
    const struct group *group = chapter->group;
    if (!*group->name)
        return json_add_values(chapter->sections, root);
    if (!group->list)
        return json_object_set_new(root, group->name, json_of_section(chapter->sections)) == 0;
    json_t *array = json_array();
    for (size_t i = 0; array && i < chapter->count; i++)
        if (json_array_append_new(array, json_of_section(&chapter->sections[i])) != 0) {
            json_decref(array);
            return false;
        }
    return json_object_set_new(root, group->name, array) == 0;
}

json_t *config_json(const struct config *config)
{
    json_t *root = json_object();
    for (size_t i = 0; root && i < config->schema.group_count; i++)
        if (!json_add_chapter(&config->chapters[i], root)) {
            json_decref(root);
            root = NULL;
        }
    return root;
}
