#include "output/output.h"

#include "base/memory.h"

extern const struct output_class output_gadget;
extern const struct output_class output_xyz;

static const struct output_class *const table[] = {
    &output_gadget,
    &output_xyz,
};

const struct output_class *output_at(size_t index)
{
    return index < COUNT_OF(table) ? table[index] : NULL;
}

const struct variant *output_variant(size_t index)
{
    const struct output_class *class_ = output_at(index);
    return class_ ? &class_->variant : NULL;
}

const struct output_class *output_find(const struct section *section)
{
    for (size_t i = 0; i < COUNT_OF(table); i++)
        if (&table[i]->variant == section_variant(section))
            return table[i];
    return NULL;
}

const struct parameter output_parameters[] = {
    { .key = "every",
      .type = PARAMETER_INTEGER,
      .standard = "100",
      .minimum = 1,
      .maximum = 9e18,
      .help = "Write at step 0, at every so many steps, and at the last one." },
};
const size_t output_parameter_count = COUNT_OF(output_parameters);
