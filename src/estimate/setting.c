#include "estimate/setting.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "accuracy/copies.h"
#include "base/document.h"
#include "base/memory.h"
#include "base/text.h"
#include "estimate/experiment.h"
#include "output/run-fields.h"

/* --- cadences --------------------------------------------------------------------------------- */

/* A cadence: a key of the config that is an interval in steps, such as "diagnostics.0.every"; not
 * watch.every. */
struct cadence {
    char path[64];
    int64_t every;
};

/* Puts the cadences into `all`, for which make_room() has room, and returns their number. */
static size_t find_cadences(const struct config *config, struct cadence *all)
{
    static const char *const lists[] = { "diagnostics", "outputs" };
    const struct {
        const char *group, *key;
        bool active;
    } single[] = { { "energy_budget", "every", copies_replayed(config) },
                   { "trust", "every", copies_shadowed(config) },
                   { "checkpoint", "every_steps",
                     section_has(config_section(config, "checkpoint"), "every_steps") } };
    size_t count = 0;
    for (size_t k = 0; k < COUNT_OF(lists); k++)
        for (size_t i = 0; i < config_count(config, lists[k]); i++, count++) {
            snprintf(all[count].path, sizeof all[count].path, "%s.%zu.every", lists[k], i);
            all[count].every = section_integer(config_item(config, lists[k], i), "every");
        }
    for (size_t k = 0; k < COUNT_OF(single); k++) {
        if (!single[k].active)
            continue;
        snprintf(all[count].path, sizeof all[count].path, "%s.%s", single[k].group, single[k].key);
        all[count++].every =
            section_integer(config_section(config, single[k].group), single[k].key);
    }
    return count;
}

static struct cadence *make_room(const struct config *config, struct error *error)
{
    const size_t most = config_count(config, "diagnostics") + config_count(config, "outputs") + 3;
    return memory_array(most, sizeof(struct cadence), error);
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b > 0) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

uint64_t setting_cadence(const struct config *config)
{
    struct cadence *all = make_room(config, &(struct error){ 0 });
    uint64_t divisor = 0;
    const size_t count = all ? find_cadences(config, all) : 0;
    for (size_t k = 0; k < count; k++)
        divisor = common_divisor((uint64_t)all[k].every, divisor);
    memory_free(all);
    return divisor;
}

/* --- settings --------------------------------------------------------------------------------- */

/* Rounds up to two digits: 123 becomes 130. */
static double round_up(double value)
{
    const double power = pow(10.0, fmax(0.0, floor(log10(value)) - 1.0));
    return ceil(value / power * (1.0 - 1e-12)) * power;
}

/* Returns how many thousandths of the run, 100 at most, one step may be long if the run has at
 * least `steps` steps and each cadence of the config is a multiple of the step. */
static uint64_t most_grid_steps(const struct config *config, double steps)
{
    const uint64_t grid = (uint64_t)EXPERIMENT_DEFAULT_GRID, cadence = setting_cadence(config);
    uint64_t most = 1;
    for (uint64_t over = 2; over <= grid / 10; over++)
        if (grid % over == 0 && cadence % over == 0 && (double)(grid / over) >= steps)
            most = over;
    return most;
}

static void find_limits(const struct integrator *integrator, double *least, double *most)
{
    const struct parameter *key = integrator_key(integrator);
    const double usual = key->default_value.real;
    const double coarsest = isfinite(key->maximum) ? key->maximum : 25.0 * usual;
    *least = 1.01 * pow(usual / coarsest, 1.0 / integrator->key_degree);
    /* Finer than with its default key, gauss-radau leaves little error but roundings. */
    *most = integrator->block_steps ? 64.0 : 4.0;
}

static double key_for(const struct integrator *integrator, double refinement)
{
    const double usual = integrator_key(integrator)->default_value.real;
    const double key = usual * pow(refinement, -integrator->key_degree);
    char text[32];
    snprintf(text, sizeof text, "%.1e", key);
    return strtod(text, NULL);
}

struct setting setting_of(const struct config *config, const struct integrator *integrator,
                          double refinement)
{
    const struct section *time = config_section(config, "time");
    const double end = section_real(time, "end"), grid = end / EXPERIMENT_DEFAULT_GRID;
    const bool given = section_has(time, "step");
    struct setting setting = { .integrator = integrator,
                               .step = given ? section_real(time, "step") : grid,
                               .key = NAN,
                               .times = 1,
                               .over = 1 };
    if (integrator_chooses_steps(integrator)) {
        double least, most;
        const struct parameter *const key = integrator_key(integrator);
        const bool own =
            integrator == experiment_integrator(config) && section_written(time, key->key);
        find_limits(integrator, &least, &most);
        setting.key = own ? section_real(time, key->key)
                          : key_for(integrator, fmin(most, fmax(least, refinement)));
        setting.refinement =
            pow(key->default_value.real / setting.key, 1.0 / integrator->key_degree);
        return setting;
    }
    if (given) {
        setting.refinement = end / setting.step;
        return setting;
    }
    /* More steps than any run can take, even an infinite number of them, become 1e18. */
    setting.times = (uint64_t)fmax(1.0, round_up(fmin(1e15, refinement / EXPERIMENT_DEFAULT_GRID)));
    setting.over = most_grid_steps(config, refinement);
    setting.refinement = EXPERIMENT_DEFAULT_GRID * (double)setting.times / (double)setting.over;
    setting.step = end / setting.refinement;
    return setting;
}

/* --- into a config ---------------------------------------------------------------------------- */

enum status setting_apply(const struct config *config, const struct setting *setting,
                          struct config **applied, struct error *error)
{
    struct cadence *cadences = make_room(config, error);
    const size_t count = cadences ? find_cadences(config, cadences) : 0;
    struct config_overrides all = { .failed = !cadences };
    char value[TEXT_REAL_SIZE];
    config_override(&all, NULL, "time.integrator", setting->integrator->variant.name);
    config_override(&all, NULL, "time.step", text_real(value, setting->step));
    if (!isnan(setting->key)) {
        char key[64];
        snprintf(key, sizeof key, "time.%s", integrator_key(setting->integrator)->key);
        config_override(&all, NULL, key, text_real(value, setting->key));
    }
    for (size_t k = 0; k < count && setting->times != setting->over; k++) {
        const double every =
            (double)cadences[k].every * (double)setting->times / (double)setting->over;
        snprintf(value, sizeof value, "%" PRId64, every < 9e15 ? (int64_t)every : INT64_MAX);
        config_override(&all, NULL, cadences[k].path, value);
    }
    memory_free(cadences);
    return config_vary(config, &all, applied, error);
}

/* --- text ------------------------------------------------------------------------------------- */

const char *setting_text(const struct setting *setting, char buffer[SETTING_TEXT_SIZE])
{
    const char *name = setting->integrator->variant.name;
    if (isnan(setting->key))
        snprintf(buffer, SETTING_TEXT_SIZE, "%s, step %.4g", name, setting->step);
    else
        snprintf(buffer, SETTING_TEXT_SIZE, "%s, %s %.2g", name,
                 integrator_key(setting->integrator)->key, setting->key);
    return buffer;
}

json_t *setting_json(const struct setting *setting)
{
    return DOCUMENT({ "integrator", json_string(setting->integrator->variant.name) },
                    { "fineness", document_number(setting->refinement) },
                    { "step", document_number(setting->step) },
                    { "key", document_number(setting->key) },
                    { "times", json_integer((json_int_t)setting->times) },
                    { "over", json_integer((json_int_t)setting->over) });
}

struct setting setting_of_json(const json_t *json)
{
    const json_int_t times = json_integer_value(run_field(json, FIELD_SETTING_TIMES)),
                     over = json_integer_value(run_field(json, FIELD_SETTING_OVER));
    struct setting setting = { .integrator = integrator_find(
                                   run_field_string(json, FIELD_SETTING_INTEGRATOR)),
                               .refinement = run_field_real(json, FIELD_SETTING_FINENESS),
                               .step = run_field_real(json, FIELD_SETTING_STEP),
                               .key = run_field_real(json, FIELD_SETTING_KEY),
                               .times = (uint64_t)times,
                               .over = (uint64_t)over };
    const bool good = setting.integrator && setting.step > 0.0 && times > 0 && over > 0 &&
                      integrator_chooses_steps(setting.integrator) == (setting.key > 0.0);
    if (!good)
        setting.step = 0.0;
    return setting;
}
