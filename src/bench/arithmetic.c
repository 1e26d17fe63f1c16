#include "config.h"

#include "bench/arithmetic.h"

#include <math.h>

#include "base/clock.h"
#include "base/memory.h"

/* The streams of the instruction sets, in the order of force_isa_row(). */
static const struct arithmetic *const arithmetics[] = {
#define ROW(family, set, registers, ...) FORCE_ISA_##family(&arithmetic_##set),
    FORCE_ISAS(ROW)
#undef ROW
};

const struct arithmetic *arithmetic_find(const char *isa)
{
    const int row = force_isa_row(isa);
    return row < 0 ? NULL : arithmetics[row];
}

/* --- the time of a stream --------------------------------------------------------------------- */

/* The least seconds of one measurement of a stream. */
static const double STREAM_SECONDS = 0.002;

double arithmetic_seconds(const struct stream *stream, int threads, uint64_t vectors)
{
    double start = 0, end = 0;
#pragma omp parallel num_threads(threads)
    {
#pragma omp barrier
#pragma omp master
        start = clock_seconds();
        stream->run(vectors);
#pragma omp barrier
#pragma omp master
        end = clock_seconds();
    }
    return end - start;
}

uint64_t arithmetic_length(const struct stream *stream, int threads)
{
    const uint64_t most = (uint64_t)1 << 40;
    uint64_t vectors = 256 * ARITHMETIC_UNROLLED;
    while (vectors < most && arithmetic_seconds(stream, threads, vectors) < STREAM_SECONDS)
        vectors *= 2;
    return vectors;
}

/* --- the rates of operations ------------------------------------------------------------------ */

/* Returns the numbers per second of a stream on all threads together: the best of some rounds, in
 * at most `seconds` if one is not longer. */
static double stream_rate(const struct stream *stream, int threads, double seconds)
{
    enum { ROUNDS = 20 };
    const uint64_t vectors = arithmetic_length(stream, threads);
    double least = INFINITY;
    const double end = clock_seconds() + seconds;
    for (int k = 0; k == 0 || (k < ROUNDS && clock_seconds() < end); k++)
        least = fmin(least, arithmetic_seconds(stream, threads, vectors));
    return (double)stream->lanes * threads / (least / (double)vectors);
}

void arithmetic_rates(void (*add)(void *context, const struct bench_rate *rate), void *context,
                      int threads, double seconds)
{
    for (size_t k = 1; force_isa_names[k]; k++) {
        const struct arithmetic *arithmetic = arithmetic_find(force_isa_names[k]);
        if (!arithmetic || !force_isa_suits(arithmetic->isa))
            continue;
        const struct {
            const char *operation, *type;
            const struct stream *stream;
        } table[] = { { "multiply-add", "float", &arithmetic->fused_float },
                      { "multiply-add", "double", &arithmetic->fused_double },
                      { "1/sqrt estimate", "float", &arithmetic->estimate_float },
                      { "1/sqrt estimate", "double", &arithmetic->estimate_double } };
        for (size_t row = 0; row < COUNT_OF(table); row++) {
            const struct bench_rate rate = { arithmetic->isa, table[row].operation, table[row].type,
                                             threads,
                                             stream_rate(table[row].stream, threads, seconds) };
            add(context, &rate);
        }
    }
}
