#include "force/origin.h"

/* The shortest networks of comparators that bring the median of 1, 3, 5, 7 or 9 numbers to the
 * middle (Paeth 1990; Smith 1996). */
/* clang-format off */
static const struct origin_network networks[] = {
    { 1, 0, { { 0, 0 } } },
    { 3, 3, { { 0, 1 }, { 1, 2 }, { 0, 1 } } },
    { 5, 7, { { 0, 1 }, { 3, 4 }, { 0, 3 }, { 1, 4 }, { 1, 2 }, { 2, 3 }, { 1, 2 } } },
    { 7, 13, { { 0, 5 }, { 0, 3 }, { 1, 6 }, { 2, 4 }, { 0, 1 }, { 3, 5 }, { 2, 6 }, { 2, 3 },
               { 3, 6 }, { 4, 5 }, { 1, 4 }, { 1, 3 }, { 3, 4 } } },
    { 9, 19, { { 1, 2 }, { 4, 5 }, { 7, 8 }, { 0, 1 }, { 3, 4 }, { 6, 7 }, { 1, 2 }, { 4, 5 },
               { 7, 8 }, { 0, 3 }, { 5, 8 }, { 4, 7 }, { 3, 6 }, { 1, 4 }, { 2, 5 }, { 4, 7 },
               { 4, 2 }, { 6, 4 }, { 4, 2 } } },
};
/* clang-format on */

const struct origin_network *origin_network(size_t count)
{
    return &networks[(count < ORIGIN_SAMPLE ? count - 1 : ORIGIN_SAMPLE - 1) / 2];
}

/* The three coordinates of a body, or medians of such coordinates; a fourth number fills the
 * vector. */
enum { AXES = 3, ROW = 4 };
struct row {
    double x[ROW];
};

static struct row median_of(const struct origin_network *network, struct row *sample)
{
    for (size_t n = 0; n < network->comparators; n++) {
        struct row *const low = &sample[network->comparator[n].low];
        struct row *const high = &sample[network->comparator[n].high];
        const struct row a = *low, b = *high;
        for (size_t k = 0; k < ROW; k++)
            low->x[k] = a.x[k] < b.x[k] ? a.x[k] : b.x[k];
        for (size_t k = 0; k < ROW; k++)
            high->x[k] = a.x[k] > b.x[k] ? a.x[k] : b.x[k];
    }
    return sample[network->size / 2];
}

/* Returns the median of the bodies number first, first + step, ... of the `size` bodies that stand
 * for all `count`. If these are more than one sample, it is the median of the medians of nine parts
 * of them, each part spread evenly over all. */
static struct row median_of_part(const double *const x[AXES], size_t count, size_t size,
                                 size_t first, size_t step)
{
    if (step == size) {
        const size_t i = origin_body(count, size, first);
        return (struct row){ { x[0][i], x[1][i], x[2][i], 0 } };
    }
    const struct origin_network *const network = origin_network(size);
    struct row sample[ORIGIN_SAMPLE];
    for (size_t k = 0; k < network->size; k++)
        sample[k] = median_of_part(x, count, size, first + k * step, step * network->size);
    return median_of(network, sample);
}

void origin_find(const double *const x[3], size_t count, double origin[3])
{
    enum { TWO_SAMPLES = 16384, SIZE_2 = ORIGIN_SAMPLE * ORIGIN_SAMPLE };
    const size_t size = count <= ORIGIN_ONE_SAMPLE ? origin_network(count)->size
                        : count <= TWO_SAMPLES     ? (size_t)SIZE_2
                                                   : (size_t)SIZE_2 * ORIGIN_SAMPLE;
    const struct row row = median_of_part(x, count, size, 0, 1);
    for (size_t k = 0; k < AXES; k++)
        origin[k] = row.x[k];
}
