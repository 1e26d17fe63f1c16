/* The executor's part of the tests where they run on a GPU: there is nothing to be set or counted.
 */
#include "executor.h"

const bool executor_is_a_gpu = true;
struct executor_settings executor_settings;

struct executor_counts executor_count(void)
{
    return (struct executor_counts){ 0 };
}

void executor_reset(void)
{
}
