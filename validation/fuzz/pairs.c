/*
 * The counts of pairs behind g(r): an input is a space, a reach, a number of bins and the positions
 * of bodies. Cells must give the counts of all pairs, and take memory by the number of bodies and
 * bins, wherever the bodies are.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "fuzz.h"
#include "space/pairs.h"

const char fuzz_corpus[] = "pairs";

enum { MOST_BODIES = 700, MOST_BINS = 300, BYTES_EACH = 1024 };

static size_t most_bytes; /* of one array; 0: any */

/* The linker puts it in the place of memory_array(); the names are those that it asks for. */
/* NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
void *__real_memory_array(size_t count, size_t size, struct error *error);
void *__wrap_memory_array(size_t count, size_t size, struct error *error);
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */

void *__wrap_memory_array(size_t count, size_t size, struct error *error)
{
    size_t bytes;
    fuzz_demand(!__builtin_mul_overflow(count, size, &bytes), "sizes do not overflow");
    fuzz_demand(most_bytes == 0 || bytes <= most_bytes, "memory goes with bodies and bins");
    return __real_memory_array(count, size, error);
}

int LLVMFuzzerInitialize(int *count, char ***arguments)
{
    (void)count, (void)arguments;
    return 0;
}

/* The part of an input that has not been taken yet. */
struct input {
    const uint8_t *bytes;
    size_t length;
};

static uint8_t take_byte(struct input *input)
{
    if (input->length == 0)
        return 0;
    input->length--;
    return *input->bytes++;
}

static double take_number(struct input *input)
{
    uint8_t bytes[sizeof(double)];
    double number;
    for (size_t k = 0; k < sizeof bytes; k++)
        bytes[k] = take_byte(input);
    memcpy(&number, bytes, sizeof number);
    return number;
}

static double take_length(struct input *input)
{
    const double length = fabs(take_number(input));
    return isfinite(length) && length > 0.0 ? length : 1.0;
}

/* Any number, or a place on a lattice: there many separations are equal, and at edges of bins. */
static double take_coordinate(struct input *input, bool lattice, double step)
{
    return lattice ? step * (double)(int8_t)take_byte(input) : take_number(input);
}

static void count(const struct physics *physics, const struct bodies *bodies, double r_max,
                  size_t bins, enum pairs_method method, uint64_t *counts)
{
    struct error error = { 0 };
    memset(counts, 0, MOST_BINS * sizeof *counts);
    most_bytes = BYTES_EACH * (bodies->count + bins);
    fuzz_demand(pairs_count(physics, bodies, 0, r_max, bins, method, 1, counts, &error) ==
                    STATUS_OK,
                "pairs are counted");
    most_bytes = 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static uint64_t all[MOST_BINS], cells[MOST_BINS];
    struct input input = { bytes, length };
    struct error error = { 0 };
    struct bodies *bodies;
    const uint8_t kind = take_byte(&input);
    const bool lattice = kind & 2;
    const size_t bins = 1 + (take_byte(&input) + 256u * take_byte(&input)) % MOST_BINS;
    double r_max = take_length(&input);
    struct physics physics = { .gravitational_constant = 1, .box_length = take_length(&input) };
    if (kind & 1) {
        physics.boundary = BOUNDARY_PERIODIC;
        r_max = fmin(r_max, 0.5 * physics.box_length);
    }
    if (!(r_max > 0.0)) /* half of the smallest number */
        return -1;
    const double step = 0.25 * r_max;
    size_t n = input.length / (lattice ? 3 : 3 * sizeof(double));
    n = n < 1 ? 1 : n > MOST_BODIES ? MOST_BODIES : n;
    if (bodies_create(1, n, &bodies, &error))
        return -1;
    for (size_t i = 0; i < n; i++) {
        bodies->x[i] = take_coordinate(&input, lattice, step);
        bodies->y[i] = take_coordinate(&input, lattice, step);
        bodies->z[i] = take_coordinate(&input, lattice, step);
    }
    count(&physics, bodies, r_max, bins, PAIRS_ALL, all);
    count(&physics, bodies, r_max, bins, PAIRS_AUTO, cells);
    fuzz_demand(memcmp(all, cells, sizeof all) == 0, "cells give the counts of all pairs");
    bodies_destroy(bodies);
    return 0;
}
