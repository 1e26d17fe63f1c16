/*
 * Sums of bodies that several threads of a block share: each thread takes a segment of the sum at a
 * time, and the first thread of a body adds the segments in their order.
 */
#ifndef ORRERY_GPU_SHARES_CUH
#define ORRERY_GPU_SHARES_CUH

#include "launch.cuh"
#include "sum.cuh"

/* The division of a block's threads: thread number part x threads + k has part `part` of the sums
 * for bodies k, k + threads and so on, as many as a thread of the kernel takes. */
struct share_grid {
    unsigned threads, parts;
};

struct share {
    unsigned part, body; /* the part of the sums; the first body of the thread */
    bool used, owner;    /* the thread has bodies; and it is of part 0, which moves them */
};

/* Adds up what the bodies of one segment do to the bodies of this thread; `bodies` are those of the
 * segment. */
template <class terms, int BODIES>
static __device__ __forceinline__ void
add_segment(body_sums<terms, BODIES> *sums, const struct gpu_shape &shape, unsigned segment,
            const typename terms::source *bodies, const typename terms::settings &settings)
{
    const unsigned begin = segment * shape.segment;
    sums->start_segment();
    sums->add_chunks(bodies, begin, min(shape.segment, shape_extent(shape) - begin), 0, true,
                     settings);
}

/* Computes the whole sums of the thread's bodies, in the order of segments; `total` is valid in the
 * thread that owns them. load(k, parts) returns, in shared memory, the bodies of segment k and the
 * following ones, `parts` in all. `shares`, in shared memory, too, takes the sums of all threads,
 * [component][part][body]; NULL, if each body has one thread: that thread adds its own. */
template <class terms, int BODIES, class Loader>
static __device__ __forceinline__ void
add_shares(double total[BODIES][3], body_sums<terms, BODIES> *sums, const struct gpu_shape &shape,
           const struct share_grid &grid, const struct share &own, double *shares,
           const typename terms::settings &settings, const Loader &load)
{
    const unsigned row = BODIES * grid.threads, pitch = grid.parts * row;
    for (unsigned round = 0; round < shape.segments; round += grid.parts) {
        const unsigned parts = min(grid.parts, shape.segments - round);
        const bool adds = own.used && own.part < parts;
        const typename terms::source *bodies = load(round, parts);
        if (adds)
            add_segment(sums, shape, round + own.part, bodies + own.part * shape.segment, settings);
        if (!shares) {
#pragma unroll
            for (int b = 0; b < BODIES; b++)
                for (int c = 0; c < 3; c++)
                    total[b][c] = round == 0 ? sums->segment[b][c].value()
                                             : total[b][c] + sums->segment[b][c].value();
            continue;
        }
#pragma unroll
        for (int b = 0; b < BODIES; b++)
            for (int c = 0; c < 3 && adds; c++)
                shares[c * pitch + own.part * row + b * grid.threads + own.body] =
                    sums->segment[b][c].value();
        __syncthreads();
        for (unsigned k = 0; k < parts && own.owner; k++)
#pragma unroll
            for (int b = 0; b < BODIES; b++)
                for (int c = 0; c < 3; c++) {
                    const double share = shares[c * pitch + k * row + b * grid.threads + own.body];
                    total[b][c] = round + k == 0 ? share : total[b][c] + share;
                }
        __syncthreads();
    }
}

#endif
