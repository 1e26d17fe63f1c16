/* Units: constants, labels, what files call them, and what is converted. */
#include "unit.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "file-case.h"
#include "formats/read.h"
#include "initial/initial.h"
#include "model/units.h"

static void near(double value, double reference, double tolerance)
{
    if (!(fabs(value / reference - 1.0) <= tolerance))
        fail_msg("%.17g, not %.17g", value, reference);
}

/* The gravitational constants of the literature, with the digits that are given there. */
static void test_gravitational_constants(void **state)
{
    (void)state;
    near(units_find("pc-msun-kms")->gravitational_constant, 4.30091e-3, 2e-6);
    near(units_find("pc-msun-myr")->gravitational_constant, 4.4985e-3, 1e-6);
    near(units_find("galactic")->gravitational_constant, 43009.1, 2e-6);
    near(units_find("astronomical")->gravitational_constant, 2.959122083e-4, 1e-9);
    near(units_find("si")->gravitational_constant, 6.67430e-11, 1e-15);
}

/* In SI, G of every system is the same, to what Msun and the kilogram are: GMsun of the Gaussian
 * constant is the nominal one within 3e-11 (1.32712440041e20 and 1.3271244e20 m^3 s^-2). */
static void test_systems_agree(void **state)
{
    (void)state;
    static const struct dimension dimension = DIMENSION_G;
    for (size_t i = 1; units_at(i); i++) {
        const struct units *units = units_at(i);
        const double si = units->gravitational_constant * units_unit(units, dimension).worth;
        near(si, CONSTANT_G, strcmp(units->name, "astronomical") == 0 ? 1e-9 : 1e-14);
    }
}

/* Each help names the G of its system. */
static void test_help_has_the_constants(void **state)
{
    (void)state;
    for (size_t i = 1; units_at(i); i++) {
        const char *G = strstr(units_help[i], "G = ");
        assert_non_null(G);
        near(strtod(G + 4, NULL), units_at(i)->gravitational_constant, 1e-15);
    }
}

static void test_labels(void **state)
{
    (void)state;
    static const struct {
        const char *system, *energy, *momentum, *time, *density, *G;
    } rows[] = {
        { "nbody", "M L^2 T^-2", "M L T^-1", "T", "M L^-3", "M^-1 L^3 T^-2" },
        { "astronomical", "Msun AU^2 d^-2", "Msun AU d^-1", "d", "Msun AU^-3",
          "Msun^-1 AU^3 d^-2" },
        { "galactic", "1e10Msun (km/s)^2", "1e10Msun km/s", "kpc (km/s)^-1", "1e10Msun kpc^-3",
          "(1e10Msun)^-1 kpc (km/s)^2" },
        { "si", "kg m^2 s^-2", "kg m s^-1", "s", "kg m^-3", "kg^-1 m^3 s^-2" },
        { "pc-msun-kms", "Msun (km/s)^2", "Msun km/s", "pc (km/s)^-1", "Msun pc^-3",
          "Msun^-1 pc (km/s)^2" },
        { "pc-msun-myr", "Msun pc^2 Myr^-2", "Msun pc Myr^-1", "Myr", "Msun pc^-3",
          "Msun^-1 pc^3 Myr^-2" },
    };
    static const struct dimension dimensions[] = { DIMENSION_ENERGY, DIMENSION_MOMENTUM,
                                                   DIMENSION_TIME, DIMENSION_DENSITY, DIMENSION_G };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const char *const labels[] = { rows[i].energy, rows[i].momentum, rows[i].time,
                                       rows[i].density, rows[i].G };
        const struct units *units = units_find(rows[i].system);
        for (size_t k = 0; k < COUNT_OF(labels); k++) {
            char label[UNITS_LABEL_SIZE];
            struct unit unit;
            assert_string_equal(units_label(units, dimensions[k], label), labels[k]);
            /* and back */
            assert_true(unit_parse(label, &unit));
            assert_memory_equal(&unit.dimension, &dimensions[k], sizeof unit.dimension);
            assert_true(units_factor(units, unit) == 1.0);
        }
    }
    assert_null(units_at(COUNT_OF(rows)));
}

static void test_spellings(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        struct dimension dimension;
        double worth;
    } good[] = {
        { "km/s", DIMENSION_VELOCITY, 1e3 },
        { "km s^-1", DIMENSION_VELOCITY, 1e3 },
        { "km s-1", DIMENSION_VELOCITY, 1e3 },
        { "km*s**-1", DIMENSION_VELOCITY, 1e3 },
        { " km \u00b7 s^{-1} ", DIMENSION_VELOCITY, 1e3 },
        { "(km/s)^2", DIMENSION_POTENTIAL, 1e6 },
        { "AU/d", DIMENSION_VELOCITY, 149597870700.0 / 86400.0 },
        { "au day^-1", DIMENSION_VELOCITY, 149597870700.0 / 86400.0 },
        { "pc/Myr", DIMENSION_VELOCITY, 977.7922216807891 },
        { "10^10 M_sun", DIMENSION_MASS, 1e10 * 1.3271244e20 / 6.67430e-11 },
        { "1e10Msun", DIMENSION_MASS, 1e10 * 1.3271244e20 / 6.67430e-11 },
        { "M_\u2299", DIMENSION_MASS, 1.3271244e20 / 6.67430e-11 },
        { "1e33 g", DIMENSION_MASS, 1e30 },
        { "1000 km", DIMENSION_LENGTH, 1e6 },
        { "1", DIMENSION_NONE, 1.0 },
        { "L T^-1", DIMENSION_VELOCITY, 0.0 },
        /* Nominal values of the Sun, the Earth and Jupiter: IAU 2015 B3, with G of CODATA 2022;
         * years of 365.25 days; parsecs of 648000 / pi AU. */
        { "kg", DIMENSION_MASS, 1.0 },
        { "g", DIMENSION_MASS, 1e-3 },
        { "Msun", DIMENSION_MASS, 1.3271244e20 / 6.67430e-11 },
        { "Mearth", DIMENSION_MASS, 3.986004e14 / 6.67430e-11 },
        { "Mjup", DIMENSION_MASS, 1.2668653e17 / 6.67430e-11 },
        { "m", DIMENSION_LENGTH, 1.0 },
        { "cm", DIMENSION_LENGTH, 1e-2 },
        { "km", DIMENSION_LENGTH, 1e3 },
        { "AU", DIMENSION_LENGTH, 149597870700.0 },
        { "pc", DIMENSION_LENGTH, 149597870700.0 * 648000.0 / M_PI },
        { "kpc", DIMENSION_LENGTH, 149597870700.0 * 648000.0 / M_PI * 1e3 },
        { "Mpc", DIMENSION_LENGTH, 149597870700.0 * 648000.0 / M_PI * 1e6 },
        { "ly", DIMENSION_LENGTH, 299792458.0 * 365.25 * 86400.0 },
        { "Rsun", DIMENSION_LENGTH, 6.957e8 },
        { "Rearth", DIMENSION_LENGTH, 6.3781e6 },
        { "Rjup", DIMENSION_LENGTH, 7.1492e7 },
        { "s", DIMENSION_TIME, 1.0 },
        { "min", DIMENSION_TIME, 60.0 },
        { "hr", DIMENSION_TIME, 3600.0 },
        { "d", DIMENSION_TIME, 86400.0 },
        { "yr", DIMENSION_TIME, 365.25 * 86400.0 },
        { "kyr", DIMENSION_TIME, 365.25 * 86400.0 * 1e3 },
        { "Myr", DIMENSION_TIME, 365.25 * 86400.0 * 1e6 },
        { "Gyr", DIMENSION_TIME, 365.25 * 86400.0 * 1e9 },
    };
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        struct unit unit;
        if (!unit_parse(good[i].text, &unit))
            fail_msg("%s", good[i].text);
        assert_memory_equal(&unit.dimension, &good[i].dimension, sizeof unit.dimension);
        if (good[i].worth > 0.0)
            near(unit.worth, good[i].worth, 1e-15);
        else
            assert_true(unit.worth == 0.0);
    }
    static const char *const bad[] = { "",        " ",        "parrot", "kpc/h",   "km/",  "/",
                                       "km//s",   "s^",       "s^0",    "s^10",    "s^x",  "(km",
                                       "km)",     "0 km",     "0x10 m", "1e999 m", "M pc", "2 M",
                                       "((((((m", "km s^{-1", "nan m",  "-1 m",    "m\x80" };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct unit unit;
        if (unit_parse(bad[i], &unit))
            fail_msg("'%s' is taken for a unit", bad[i]);
    }
}

/* --- files ------------------------------------------------------------------------------------ */

/* The one body of file "f" in the units of the system. */
static enum status read_body(const struct read_format *format, const struct read_wish *wish,
                             double values[7], struct read_about *about, struct error *error)
{
    const struct read_request request = { .path = "f", .frame = -1, .wish = *wish, .about = about };
    struct bodies *b;
    error_clear(error);
    assert_int_equal(bodies_create(1, 1, &b, error), STATUS_OK);
    const enum status status = format->read(format, &request, b, error);
    const double found[] = { *b->m, *b->x, *b->y, *b->z, *b->vx, *b->vy, *b->vz };
    memcpy(values, found, sizeof found);
    bodies_destroy(b);
    return status;
}

/* The Earth's speed around the Sun, 29.8 km/s = 0.0172 AU/d, and the like: the same body in many
 * units, of which each format writes some. */
static const struct {
    const struct read_format *format;
    const char *text;
} same_body[] = {
    { &read_csv, "m [Msun],x [AU],y [AU],z [AU],vx [AU/d],vy [AU/d],vz [AU/d]\n"
                 "2.5,1.5,-2.25,0.125,0.01,-0.02,0.03\n" },
    { &read_csv, "vz [km/s],m [kg],x [m],y [km],z [AU],vx [m/s],vy [pc/Myr]\n"
                 "51.943705104166669,4.9710246767451268e+30,224396806050,-336595209.07499999,0.125,"
                 "17314.568368055555,-35.41563940505161\n" },
    { &read_plain, "# a comment\n# m [Msun] x [AU] y [AU] z [AU] vx [AU d^-1] vy [AU d^-1] vz [AU "
                   "d^-1]\n2.5 1.5 -2.25 0.125 0.01 -0.02 0.03\n" },
    { &read_plain,
      "# masses and places\n# columns: Mass (Msun), x (AU), y (AU), z (AU), VX (AU d^-1), "
      "VY (AU/d), VZ (AU/d)\n2.5 1.5 -2.25 0.125 0.01 -0.02 0.03\n" },
    { &read_xyz,
      "1\nProperties=mass:R:1:pos:R:3:velo:R:3 Time=3155760 mass_unit=\"Msun\" "
      "length_unit=AU velocity_unit=\"AU d^-1\" time_unit=s Lattice=\"2 0 0 0 2 0 0 0 2\" "
      "pbc=\"T T T\"\n2.5 1.5 -2.25 0.125 0.01 -0.02 0.03\n" },
};

static void test_files_are_converted(void **state)
{
    (void)state;
    static const double au[7] = { 2.5, 1.5, -2.25, 0.125, 0.01, -0.02, 0.03 };
    const double PC = CONSTANT_PARSEC, AU = CONSTANT_AU, kms = AU / CONSTANT_DAY / 1e3;
    const double myr = kms * 1e3 / PC * 1e6 * CONSTANT_YEAR;
    const struct {
        const char *system;
        double mass, length, velocity;
    } systems[] = {
        { "astronomical", 1.0, 1.0, 1.0 },
        { "si", 1.3271244e20 / 6.67430e-11, AU, kms * 1e3 },
        { "galactic", 1e-10, AU / PC / 1e3, kms },
        { "pc-msun-kms", 1.0, AU / PC, kms },
        { "pc-msun-myr", 1.0, AU / PC, myr },
    };
    for (size_t f = 0; f < COUNT_OF(same_body); f++)
        for (size_t s = 0; s < COUNT_OF(systems); s++) {
            double found[7];
            struct error error = { 0 };
            struct read_about about;
            const struct read_wish wish = { .units = units_find(systems[s].system) };
            write_file(same_body[f].text);
            if (read_body(same_body[f].format, &wish, found, &about, &error))
                fail_msg("%s", error.text);
            for (int k = 0; k < 7; k++)
                near(found[k],
                     au[k] * (k == 0  ? systems[s].mass
                              : k < 4 ? systems[s].length
                                      : systems[s].velocity),
                     4e-15);
            if (same_body[f].format == &read_xyz) { /* 36.525 days */
                near(about.time * wish.units->seconds, 3155760.0, 1e-14);
                near(about.box_length, 2.0 * systems[s].length, 1e-14);
            }
        }
}

/* In its own units a file keeps its bits, and one without units always does. */
static void test_bits_stay(void **state)
{
    (void)state;
    static const char row[] = "0.1,0.30000000000000004,1e-17,-3.3e5,7.7,0.1,123456.78900000001\n";
    static const double expected[7] = { 0.1, 0.30000000000000004, 1e-17, -3.3e5, 7.7,
                                        0.1, 123456.78900000001 };
    static const struct dimension dimensions[3] = { DIMENSION_MASS, DIMENSION_LENGTH,
                                                    DIMENSION_VELOCITY };
    for (size_t i = 0; units_at(i); i++)
        for (int named = 0; named < 2; named++) {
            static const char *const names[] = { "m", "x", "y", "z", "vx", "vy", "vz" };
            char text[1000] = "", label[UNITS_LABEL_SIZE];
            for (int k = 0; k < 7; k++) {
                char *end = text + strlen(text);
                units_label(units_at(i), dimensions[(k > 0) + (k > 3)], label);
                sprintf(end, named ? "%s%s [%s]" : "%s%s", k ? "," : "", names[k], label);
            }
            write_file(strcat(strcat(text, "\n"), row));
            double found[7];
            struct error error = { 0 };
            const struct read_wish wish = { .units = units_at(i) };
            assert_int_equal(read_body(&read_csv, &wish, found, NULL, &error), STATUS_OK);
            assert_memory_equal(found, expected, sizeof found);
        }
}

static void test_units_that_the_config_names(void **state)
{
    (void)state;
    double found[7];
    struct error error = { 0 };
    write_file("1 1 2 3 10 20 30\n");
    struct read_wish wish = { .units = units_find("si"), .file_units = units_find("pc-msun-kms") };
    assert_int_equal(read_body(&read_plain, &wish, found, NULL, &error), STATUS_OK);
    near(found[0], 1.988409870698051e30, 1e-15);
    near(found[2], 2 * 3.0856775814913673e16, 1e-15);
    near(found[6], 30e3, 1e-15);
    /* The statements of the file must agree too; or do not count. */
    write_file("# m[Msun] x[kpc] y[kpc] z[kpc] vx[km/s] vy[km/s] vz[km/s]\n1 1 2 3 10 20 30\n");
    assert_int_equal(read_body(&read_plain, &wish, found, NULL, &error), STATUS_CONFIG);
    assert_string_equal(error.text,
                        "f:1: its numbers are in Msun, kpc and km/s, which are not the units of "
                        "bodies.file_units = \"pc-msun-kms\"; leave that away, or set it to "
                        "\"as-is\" to take them as they stand");
    wish = (struct read_wish){ .units = units_find("si"), .as_is = true };
    assert_int_equal(read_body(&read_plain, &wish, found, NULL, &error), STATUS_OK);
    assert_true(found[0] == 1 && found[6] == 30);
}

static void refuse(const struct read_format *format, const char *text, const char *system,
                   enum status status, const char *message)
{
    double found[7];
    struct error error = { 0 };
    const struct read_wish wish = { .units = units_find(system) };
    write_file(text);
    const enum status result = read_body(format, &wish, found, NULL, &error);
    assert_string_equal(error.text, message);
    assert_int_equal(result, status);
}

#define KNOWN                                                                                      \
    "units are made of kg, g, Msun, Mearth, Mjup; m, cm, km, AU, pc, kpc, Mpc, ly, Rsun, Rearth, " \
    "Rjup; s, min, hr, d, yr, kyr, Myr, Gyr, as in km/s or AU d^-1"

static void test_contradictions(void **state)
{
    (void)state;
    refuse(&read_csv,
           "m [Msun],x [pc],y [pc],z [pc],vx [km/s],vy [km/s],vz [km/s]\n1,0,0,0,0,0,0\n", "nbody",
           STATUS_CONFIG,
           "f:1: its numbers are in Msun, pc and km/s, which cannot become N-body units: set "
           "physics.units = \"pc-msun-kms\", or bodies.file_units = \"as-is\" to take them as they "
           "stand");
    refuse(&read_csv, "m [kg],x [pc],y [pc],z [pc],vx [km/s],vy [km/s],vz [km/s]\n1,0,0,0,0,0,0\n",
           "nbody", STATUS_CONFIG,
           "f:1: its numbers are in kg, pc and km/s, which cannot become N-body units: set "
           "physics.units to one of astronomical, galactic, si, pc-msun-kms, pc-msun-myr, or "
           "bodies.file_units = \"as-is\" to take them as they stand");
    refuse(&read_csv, "m [M],x [L],y [L],z [L],vx [L T^-1],vy [L/T],vz [1]\n1,0,0,0,0,0,0\n",
           "galactic", STATUS_CONFIG,
           "f:1: its numbers are in N-body units, which cannot become those of \"galactic\"; if "
           "they are in these, set bodies.file_units = \"as-is\"");
    /* All that is wrong with a header at once. */
    refuse(&read_csv, "m [stone],x [km/s],y [pc],z,vx [km/s],vy [km],vz [kpc/h]\n1,0,0,0,0,0,0\n",
           "si", STATUS_DATA,
           "f:1: column 1 (mass): 'stone' is no unit that is known here; " KNOWN "\n"
           "f:1: column 2 (x): 'km/s' is no unit of length\n"
           "f:1: column 6 (vy): 'km' is no unit of velocity\n"
           "f:1: column 7 (vz): 'kpc/h' is no unit that is known here; " KNOWN "\n"
           "f:1: column 4 (z) has no unit, but others have: name those of mass, positions and "
           "velocities, or none");
    refuse(&read_xyz,
           "1\nProperties=mass:R:1:pos:R:3:velo:R:3 mass_unit=Msun length_unit=d\n1 0 0 0 0 0 0\n",
           "si", STATUS_DATA,
           "f:2: column 2 (x): 'd' is no unit of length\nf:2: column 3 (y): 'd' is no unit of "
           "length\nf:2: column 4 (z): 'd' is no unit of length\n"
           "f:2: column 5 (vx) has no unit, but others have: name those of mass, positions and "
           "velocities, or none");
    static const char *const systems[] = { "nbody", "si" };
    for (size_t k = 0; k < COUNT_OF(systems); k++) {
        refuse(&read_csv,
               "m [M],x [pc],y [pc],z [pc],vx [km/s],vy [km/s],vz [km/s]\n0,1,0,0,0,0,0\n",
               systems[k], STATUS_DATA,
               "f:1: column 1 (mass) is in N-body units and column 2 (x) is not; these do not mix");
        refuse(&read_plain, "# m [Msun] x [pc] y [1] z [pc] vx [1] vy [1] vz [1]\n1 0 0 0 0 0 0\n",
               systems[k], STATUS_DATA,
               "f:1: column 3 (y) is in N-body units and column 1 (mass) is not; these do not mix");
    }
    refuse(&read_csv,
           "m [Msun],x [m],y [m],z [m],vx [km/s],vy [km/s],vz [km/s],id\n1,0,0,0,0,0,0,7\n"
           "1e300,1,0,0,0,0,0,8\n",
           "si", STATUS_DATA,
           "f:3: column 1 (mass) of body 8: 1e+300 is too large a number in the units of the run");
    refuse(&read_xyz,
           "1\nProperties=mass:R:1:pos:R:3:velo:R:3 mass_unit=g length_unit=m velocity_unit=m/s "
           "time_unit=kg\n1 0 0 0 0 0 0\n",
           "si", STATUS_DATA, "f:2: time_unit: 'kg' is no unit of time");
}

/* The unit of a frame's time must go with those of the bodies: a time that is lost, or taken to be
 * in other units, would be so without a word. */
static void test_units_of_time(void **state)
{
    (void)state;
    static const char row[] = "\n1 0 0 0 0 0 0\n";
    static const char physical[] = " mass_unit=Msun length_unit=pc velocity_unit=km/s",
                      nbody[] = " mass_unit=M length_unit=L velocity_unit=L/T";
    static const struct {
        const char *bodies, *time, *message;
    } bad[] = {
        { physical, "T", "is an N-body unit, but those of mass, length and velocity are not" },
        { physical, "1", "is an N-body unit, but those of mass, length and velocity are not" },
        { nbody, "Myr", "is no N-body unit, but those of mass, length and velocity are" },
        { "", "Myr", "is the only unit; name those of mass, length and velocity too, or none" },
        { "", "T", "is the only unit; name those of mass, length and velocity too, or none" },
    };
    static const char *const systems[] = { "nbody", "pc-msun-kms" };
    char text[256], message[256];
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        for (size_t k = 0; k < COUNT_OF(systems); k++) {
            snprintf(text, sizeof text,
                     "1\nProperties=mass:R:1:pos:R:3:velo:R:3 Time=3%s time_unit=%s%s",
                     bad[i].bodies, bad[i].time, row);
            snprintf(message, sizeof message, "f:2: time_unit: '%s' %s", bad[i].time,
                     bad[i].message);
            refuse(&read_xyz, text, systems[k], STATUS_DATA, message);
        }
    static const char *const good[] = { "T", "1" };
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        double found[7];
        struct error error = { 0 };
        struct read_about about;
        const struct read_wish wish = { .units = units_find("nbody") };
        snprintf(text, sizeof text,
                 "1\nProperties=mass:R:1:pos:R:3:velo:R:3 Time=3%s time_unit=%s%s", nbody, good[i],
                 row);
        write_file(text);
        if (read_body(&read_xyz, &wish, found, &about, &error))
            fail_msg("%s", error.text);
        assert_true(about.time == 3);
    }
}

/* bodies.file_units names every unit system, behind what is none. */
static void test_files_may_be_in_every_system(void **state)
{
    (void)state;
    const struct variant *file = &initial_file.variant;
    const char *const *choices = NULL;
    for (size_t k = 0; k < file->parameter_count; k++)
        if (strcmp(file->parameters[k].key, "file_units") == 0)
            choices = file->parameters[k].choices;
    assert_non_null(choices);
    assert_string_equal(choices[0], "auto");
    assert_string_equal(choices[1], "as-is");
    size_t k = 0;
    for (; units_names[k]; k++)
        assert_string_equal(choices[2 + k], units_names[k]);
    assert_null(choices[2 + k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gravitational_constants),
        cmocka_unit_test(test_systems_agree),
        cmocka_unit_test(test_help_has_the_constants),
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_spellings),
        cmocka_unit_test(test_units_of_time),
        cmocka_unit_test(test_files_may_be_in_every_system),
        cmocka_unit_test(test_files_are_converted),
        cmocka_unit_test(test_bits_stay),
        cmocka_unit_test(test_units_that_the_config_names),
        cmocka_unit_test(test_contradictions),
    };
    return cmocka_run_group_tests_name("units", tests, make_directory, remove_directory);
}
