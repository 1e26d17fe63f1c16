/* The numbers of instructions that the kernels' inner loops issue for one ordered pair of bodies,
 * counted in the machine code for compute capability 9.0; validation/gpu/code.py counts them again
 * and fails if they differ. A name ends with the number of bodies per thread where that matters. */
#ifndef ORRERY_GPU_INSTRUCTIONS_H
#define ORRERY_GPU_INSTRUCTIONS_H

#define GPU_INSTRUCTIONS_TEXTBOOK_STRUCTURES 43.28
#define GPU_INSTRUCTIONS_TEXTBOOK_ROOT 40.75
#define GPU_INSTRUCTIONS_TEXTBOOK_SIMT 17.28
#define GPU_INSTRUCTIONS_TEXTBOOK_TILE_1 21.0
#define GPU_INSTRUCTIONS_TEXTBOOK_TILE_2 19.0
#define GPU_INSTRUCTIONS_TEXTBOOK_TILE_4 18.0
#define GPU_INSTRUCTIONS_TEXTBOOK_TILE_8 17.5
#define GPU_INSTRUCTIONS_TEXTBOOK_TILE_16 17.25
#define GPU_INSTRUCTIONS_TEXTBOOK_TILED 17.28
#define GPU_INSTRUCTIONS_SIMT 14.28
#define GPU_INSTRUCTIONS_TILED 14.19
#define GPU_INSTRUCTIONS_BLOCKED_2 13.69
#define GPU_INSTRUCTIONS_BLOCKED_4 13.41
#define GPU_INSTRUCTIONS_EQUAL_4 12.41
#define GPU_INSTRUCTIONS_POTENTIAL_4 14.44
#define GPU_INSTRUCTIONS_MIXED_4 19.75
#define GPU_INSTRUCTIONS_SYMMETRIC 8.81
#define GPU_INSTRUCTIONS_SYMMETRIC_EQUAL 7.81
#define GPU_INSTRUCTIONS_SYMMETRIC_MIXED 11.88
/* In fp64 only the instructions of the fp64 unit are counted. */
#define GPU_INSTRUCTIONS_DOUBLE_2 16.0
#define GPU_INSTRUCTIONS_SYMMETRIC_DOUBLE 10.0

#endif
