/*
 * Sums of bodies that several threads of a block share: each thread takes a segment of the sum at a
 * time, and the first thread of a body adds the segments in their order.
 */
#ifndef ORRERY_GPU_SHARES_CUH
#define ORRERY_GPU_SHARES_CUH

#include "launch.cuh"
#include "sum.cuh"

/* The division of a block's threads: each of `bodies` bodies has `parts` threads, and thread number
 * part x bodies + body has part `part` of the sum for that body. */
struct share_grid {
    unsigned bodies, parts;
};

struct share {
    unsigned part, body;
    bool used, owner; /* the thread has a body; and it is of part 0, which moves the body */
};

/* Adds up what the bodies of one segment do to the body of this thread; `bodies` are those of the
 * segment. */
template <class terms>
static __device__ __forceinline__ void
add_segment(body_sums<terms, 1> *sums, const struct gpu_shape &shape, unsigned segment,
            const typename terms::source *bodies, const typename terms::settings &settings)
{
    const unsigned begin = segment * shape.segment;
    sums->start_segment();
    sums->add_chunks(bodies, begin, min(shape.segment, shape_extent(shape) - begin), 0, true,
                     settings);
}

/* Computes the whole sum of a body, in the order of segments; `total` is valid in the thread that
 * owns the body. load(k, parts) returns, in shared memory, the bodies of segment k and the
 * following ones, `parts` in all. `shares`, in shared memory, too, takes the sums of the threads of
 * each body, [component][part][body]; NULL, if each body has one thread: that thread adds its own.
 */
template <class terms, class Loader>
static __device__ __forceinline__ void
add_shares(double total[3], body_sums<terms, 1> *sums, const struct gpu_shape &shape,
           const struct share_grid &grid, const struct share &own, double *shares,
           const typename terms::settings &settings, const Loader &load)
{
    const unsigned pitch = grid.parts * grid.bodies;
    for (unsigned round = 0; round < shape.segments; round += grid.parts) {
        const unsigned parts = min(grid.parts, shape.segments - round);
        const typename terms::source *bodies = load(round, parts);
        if (own.used && own.part < parts)
            add_segment(sums, shape, round + own.part, bodies + own.part * shape.segment, settings);
        if (!shares) {
            for (int c = 0; c < 3; c++)
                total[c] = round == 0 ? sums->segment[0][c].value()
                                      : total[c] + sums->segment[0][c].value();
            continue;
        }
        for (int c = 0; c < 3 && own.used && own.part < parts; c++)
            shares[c * pitch + own.part * grid.bodies + own.body] = sums->segment[0][c].value();
        __syncthreads();
        for (unsigned k = 0; k < parts && own.owner; k++)
            for (int c = 0; c < 3; c++) {
                const double share = shares[c * pitch + k * grid.bodies + own.body];
                total[c] = round + k == 0 ? share : total[c] + share;
            }
        __syncthreads();
    }
}

#endif
