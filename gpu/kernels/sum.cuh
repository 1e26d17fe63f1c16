/*
 * The sums for some bodies over many others, in the order that kernels.h describes and that most
 * kernels share.
 */
#ifndef ORRERY_GPU_SUM_CUH
#define ORRERY_GPU_SUM_CUH

#include "pair.cuh"

/* A sum of the sums of chunks. For floats, and pairs of them, it is a pair of floats, with
 * practically no rounding, which costs less than fp64 on devices that have few units for fp64; for
 * doubles it is a plain sum. */
template <typename real> struct wide_sum : two_floats {
};

template <> struct wide_sum<double> {
    double high;

    __device__ __forceinline__ void add(double term)
    {
        high += term;
    }

    __device__ __forceinline__ double value() const
    {
        return high;
    }
};

/* BODIES bodies of one thread, and their sums within a segment. */
template <class terms, int BODIES> struct body_sums {
    typename terms::source body[BODIES];
    unsigned index[BODIES]; /* of the body in its system */
    typename terms::real chunk[BODIES][terms::SUMS];
    wide_sum<typename terms::real> segment[BODIES][terms::SUMS];

    __device__ __forceinline__ void start_chunk()
    {
#pragma unroll
        for (int b = 0; b < BODIES; b++)
#pragma unroll
            for (int c = 0; c < terms::SUMS; c++)
                chunk[b][c] = {};
    }

    __device__ __forceinline__ void start_segment()
    {
        start_chunk();
#pragma unroll
        for (int b = 0; b < BODIES; b++)
#pragma unroll
            for (int c = 0; c < terms::SUMS; c++)
                segment[b][c] = {};
    }

    __device__ __forceinline__ void end_chunk()
    {
#pragma unroll
        for (int b = 0; b < BODIES; b++)
#pragma unroll
            for (int c = 0; c < terms::SUMS; c++)
                segment[b][c].add(chunk[b][c]);
        start_chunk();
    }

    /* The inner loop of most force kernels: adds the terms of `length` bodies (a multiple of
     * GPU_GRANULE) at `others`, the first of which has index `first`, to the sums of the chunk. */
    __device__ __forceinline__ void add_run(const typename terms::source *others, unsigned first,
                                            unsigned length,
                                            const typename terms::settings &settings)
    {
        /* A round of the unrolled loop has 32 pairs in fp32 or 16 in fp64: enough to make the
         * loop's own instructions few, and not too many for the instruction cache. Bodies that take
         * two loads each are at most 16 in a round, for want of registers; those of source_floats,
         * whose pairs take ten times the instructions, are 4. */
        enum {
            PAIRS = sizeof(typename terms::real) == 8 ? 16 : 32,
            SIZE = sizeof(typename terms::source),
            MOST = SIZE > 32 ? 4 : 512 / SIZE,
            UNROLL = PAIRS / BODIES < MOST ? PAIRS / BODIES : MOST
        };
#pragma unroll 1
        for (unsigned k = 0; k < length; k += UNROLL) {
#pragma unroll
            for (unsigned u = 0; u < UNROLL; u++) {
                const typename terms::source j = others[k + u];
#pragma unroll
                for (int b = 0; b < BODIES; b++)
                    terms::pair(body[b], j, first + k + u == index[b], settings, chunk[b]);
            }
        }
    }

    /* Adds `length` bodies at `others`, the first of which has index `first`, and closes the chunk
     * after every GPU_CHUNK bodies of the segment, of which `done` were added before. With `last`
     * the segment ends here. */
    __device__ __forceinline__ void add_chunks(const typename terms::source *others, unsigned first,
                                               unsigned length, unsigned done, bool last,
                                               const typename terms::settings &settings)
    {
        for (unsigned k = 0; k < length;) {
            const unsigned room = GPU_CHUNK - (done + k) % GPU_CHUNK;
            const unsigned run = min(room, length - k);
            add_run(others + k, first + k, run, settings);
            k += run;
            if (run == room || (last && k == length))
                end_chunk();
        }
    }

    /* Adds bodies [begin, end) of a system, tile by tile through shared memory; all threads of a
     * block call it. */
    __device__ __forceinline__ void add_tiles(const typename terms::source *__restrict__ bodies,
                                              unsigned begin, unsigned end,
                                              typename terms::source *tile, unsigned tile_size,
                                              const typename terms::settings &settings)
    {
        for (unsigned first = begin; first < end; first += tile_size) {
            const unsigned length = min(tile_size, end - first);
            __syncthreads();
            for (unsigned k = threadIdx.x; k < length; k += blockDim.x)
                tile[k] = bodies[first + k];
            __syncthreads();
            add_chunks(tile, first, length, first - begin, first + length == end, settings);
        }
    }

    /* Writes the segment's sums of body b to a slot, whose components are `length` apart, or, with
     * `on_top`, adds them to the sums in the slot. */
    __device__ __forceinline__ void end_segment(int b, double *slot, size_t length,
                                                bool on_top) const
    {
#pragma unroll
        for (int c = 0; c < terms::SUMS; c++)
            slot[c * length] =
                on_top ? slot[c * length] + segment[b][c].value() : segment[b][c].value();
    }
};

#endif
