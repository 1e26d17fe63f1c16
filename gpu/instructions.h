/* Instructions that the inner loops issue for one ordered pair of bodies, counted in the code for
 * compute capability 9.0; validation/gpu/code.py counts them again and fails where they differ. */
#ifndef ORRERY_GPU_INSTRUCTIONS_H
#define ORRERY_GPU_INSTRUCTIONS_H

#define GPU_INSTRUCTIONS_TEXTBOOK_SIMT 17.28
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
/* Instructions of the fp64 unit alone. */
#define GPU_INSTRUCTIONS_DOUBLE_2 16.0
#define GPU_INSTRUCTIONS_SYMMETRIC_DOUBLE 10.0

#endif
