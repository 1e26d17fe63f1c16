/* The physical dimension of a number: exponents of mass, length and time. */
#ifndef ORRERY_BASE_DIMENSION_H
#define ORRERY_BASE_DIMENSION_H

struct dimension {
    signed char mass, length, time;
};

/* clang-format off */
#define DIMENSION_NONE             { 0, 0, 0 }
#define DIMENSION_MASS             { 1, 0, 0 }
#define DIMENSION_LENGTH           { 0, 1, 0 }
#define DIMENSION_TIME             { 0, 0, 1 }
#define DIMENSION_VELOCITY         { 0, 1, -1 }
#define DIMENSION_ACCELERATION     { 0, 1, -2 }
#define DIMENSION_ENERGY           { 1, 2, -2 }
#define DIMENSION_POTENTIAL        { 0, 2, -2 } /* energy per mass */
#define DIMENSION_MOMENTUM         { 1, 1, -1 }
#define DIMENSION_ANGULAR_MOMENTUM { 1, 2, -1 }
#define DIMENSION_DENSITY          { 1, -3, 0 } /* mass density */
#define DIMENSION_SURFACE_DENSITY  { 1, -2, 0 } /* mass over area */
#define DIMENSION_NUMBER_DENSITY   { 0, -3, 0 }
#define DIMENSION_VOLUME           { 0, 3, 0 }
#define DIMENSION_PER_LENGTH       { 0, -1, 0 }
#define DIMENSION_G                { -1, 3, -2 } /* gravitational constant */
/* clang-format on */

#endif
