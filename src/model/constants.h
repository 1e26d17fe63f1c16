/*
 * The values of the units of astronomy in SI. Masses follow from GM, which is known far better than
 * G and the kilogram. GMsun, GMearth, GMjupiter, Rsun, Rearth, Rjupiter: nominal values of IAU 2015
 * resolution B3; parsec: 648000/pi AU, IAU 2015 B2; AU: IAU 2012 B2; G: CODATA 2022; the year is
 * Julian.
 */
#ifndef ORRERY_MODEL_CONSTANTS_H
#define ORRERY_MODEL_CONSTANTS_H

#define CONSTANT_G 6.67430e-11                 /* m^3 kg^-1 s^-2 */
#define CONSTANT_GM_SUN 1.3271244e20           /* m^3 s^-2 */
#define CONSTANT_GM_EARTH 3.986004e14          /* m^3 s^-2 */
#define CONSTANT_GM_JUPITER 1.2668653e17       /* m^3 s^-2 */
#define CONSTANT_AU 149597870700.0             /* m */
#define CONSTANT_PARSEC 3.0856775814913673e16  /* m */
#define CONSTANT_LIGHT_YEAR 9460730472580800.0 /* m */
#define CONSTANT_R_SUN 6.957e8                 /* m */
#define CONSTANT_R_EARTH 6.3781e6              /* m, at the equator */
#define CONSTANT_R_JUPITER 7.1492e7            /* m, at the equator */
#define CONSTANT_DAY 86400.0                   /* s */
#define CONSTANT_YEAR (365.25 * CONSTANT_DAY)  /* s */

#endif
