#include "accuracy/copies.h"

#include "force/method.h"

bool copies_shadowed(const struct config *config)
{
    return section_flag(config_section(config, "trust"), "shadow");
}

bool copies_shadow(const struct config *config, enum trust_shadow kind)
{
    return copies_shadowed(config) &&
           (kind == TRUST_TWIN || section_flag(config_section(config, "trust"), "half_step"));
}

bool copies_replayed(const struct config *config)
{
    return section_flag(config_section(config, "energy_budget"), "measure");
}

bool copies_exact(const struct config *config)
{
    const struct force_options options = force_options_of(config_section(config, "compute"));
    const struct force_traits traits = force_traits(&options);
    return traits.rounding == 0.0 && traits.truncation == 0.0;
}

size_t copies_count(const struct config *config)
{
    size_t count = copies_replayed(config);
    for (int k = 0; k < TRUST_SHADOWS; k++)
        count += copies_shadow(config, (enum trust_shadow)k);
    return count;
}

double copies_work(const struct config *config)
{
    double work = !copies_replayed(config) ? 0.0 : copies_exact(config) ? 2.0 : 3.0;
    for (int k = 0; k < TRUST_SHADOWS; k++)
        if (copies_shadow(config, (enum trust_shadow)k))
            work += trust_steps[k];
    return work;
}
