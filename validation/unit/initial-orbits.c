/* Few bodies: orbits, choreographies and the planets; and bodies from files. */
#include "initial-case.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct physics newton = { .gravitational_constant = 1.0 };
static const double k2 = 0.01720209895 * 0.01720209895; /* G in AU, days and solar masses */

/* --- two bodies ------------------------------------------------------------------------------- */

struct relative {
    double x[3], v[3];
};

static struct relative relative_state(const struct bodies *b, size_t from, size_t to)
{
    return (struct relative){
        { b->x[to] - b->x[from], b->y[to] - b->y[from], b->z[to] - b->z[from] },
        { b->vx[to] - b->vx[from], b->vy[to] - b->vy[from], b->vz[to] - b->vz[from] }
    };
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double c[3])
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

/* Elements from a state, in degrees: vis-viva, L and the eccentricity vector (v x L)/mu - r/|r|. */
struct elements {
    double a, e, inclination, node, argument, anomaly;
};

static double degrees(double sine, double cosine)
{
    return atan2(sine, cosine) * (180.0 / M_PI);
}

static struct elements find_elements(const struct relative *s, double mu)
{
    double L[3], toward[3], ascending[3], third[3], vL[3];
    const double r = sqrt(dot(s->x, s->x));
    struct elements found = { .a = 1 / (2 / r - dot(s->v, s->v) / mu) };
    cross(s->x, s->v, L);
    cross(s->v, L, vL);
    for (int k = 0; k < 3; k++)
        toward[k] = vL[k] / mu - s->x[k] / r;
    const double size = sqrt(dot(L, L));
    found.e = sqrt(dot(toward, toward));
    found.inclination = degrees(hypot(L[0], L[1]), L[2]);
    found.node = degrees(L[0], -L[1]);
    ascending[0] = -L[1], ascending[1] = L[0], ascending[2] = 0;
    cross(ascending, toward, third);
    found.argument = degrees(dot(third, L) / size, dot(ascending, toward));
    cross(toward, s->x, third);
    found.anomaly = degrees(dot(third, L) / size, dot(toward, s->x));
    return found;
}

static void test_elements_come_back(void **state)
{
    (void)state;
    static const struct elements orbits[] = { { 2.385, 0.6173, 33.7, 71.3, -128.9, 47.11 },
                                              { 0.731, 0.0173, 121.9, -8.1, 12.5, -93.7 },
                                              { 5.5, 0.9921, 1.3, 160.2, 101.0, 178.3 },
                                              { 1.75, 2.385, 52.1, -77.0, 19.1, 101.3 },
                                              { 0.9173, 1.0171, 88.3, 15.0, -161.7, -120.2 } };
    const struct physics physics = { .gravitational_constant = 0.8123 };
    for (size_t k = 0; k < COUNT_OF(orbits); k++) {
        const struct elements *o = &orbits[k];
        char keys[500];
        snprintf(keys, sizeof keys,
                 "initial = \"two-body\"; masses = [1.3, 0.45]; semi_major_axis = %g; "
                 "eccentricity = %g; inclination = %g; ascending_node = %g; "
                 "argument_of_pericenter = %g; true_anomaly = %g;",
                 o->a, o->e, o->inclination, o->node, o->argument, o->anomaly);
        struct bodies *b = make(keys, &physics);
        const struct relative s = relative_state(b, 0, 1);
        const struct elements found = find_elements(&s, 0.8123 * 1.75);
        assert_close(found.a, o->e > 1 ? -o->a : o->a, 1e-12 * o->a);
        assert_close(found.e, o->e, 1e-12);
        assert_close(found.inclination, o->inclination, 1e-12 * 180);
        assert_close(found.node, o->node, 1e-12 * 180);
        /* The angle of a small e vector: its rounding errors, over e. */
        assert_close(found.argument, o->argument, 1e-12 * 180 + 1e-13 / o->e);
        assert_close(found.anomaly, o->anomaly, 1e-12 * 180 + 1e-13 / o->e);
        const struct conserved c = measure(b, 0, &physics);
        for (int j = 0; j < 3; j++) {
            assert_close(c.center[j], 0, 1e-15);
            assert_close(c.momentum[j], 0, 1e-15);
        }
        bodies_destroy(b);
    }
}

/* Pericentre and apocentre are at a (1 - e) and a (1 + e), exactly on the axis, v across it. */
static void test_turning_points(void **state)
{
    (void)state;
    struct bodies *b =
        make("initial = \"two-body\"; eccentricity = 0.75; center = false;", &newton);
    assert_true(b->x[1] == 0.25 && b->y[1] == 0 && b->z[1] == 0 && b->vx[1] == 0 && b->vz[1] == 0);
    assert_close(b->vy[1], sqrt(2.0 * (2 / 0.25 - 1)), 1e-15 * 4);
    bodies_destroy(b);
    b = make("initial = \"two-body\"; eccentricity = 0.75; center = false; true_anomaly = 180.0;",
             &newton);
    assert_true(b->x[1] == -1.75 && b->y[1] == 0 && b->vx[1] == 0);
    assert_close(b->vy[1], -sqrt(2.0 * (2 / 1.75 - 1)), 1e-15);
    bodies_destroy(b);
}

/*
 * A heavy body at rest at the origin, a light one at (L/2, 0, 0) that moves along z: the start of
 * experiments.md C4 with L = 10, at the apocentre of an ellipse with e = 0.5.
 */
static void test_a_light_body_around_one_at_rest(void **state)
{
    (void)state;
    struct bodies *b =
        make("initial = \"two-body\"; masses = [1000.0, 1.0]; center = false; "
             "semi_major_axis = 3.3333333333333335; eccentricity = 0.5; inclination = 90.0; "
             "argument_of_pericenter = 180.0; true_anomaly = 180.0;",
             &newton);
    for (size_t i = 0; i < 2; i++) {
        const double zero[] = { b->y[i], b->vx[i], b->vy[i], i ? 0 : b->x[i], b->z[i] };
        for (size_t k = 0; k < COUNT_OF(zero); k++)
            assert_true(zero[k] == 0);
    }
    assert_true(b->vz[0] == 0);
    assert_close(b->x[1], 5.0, 1e-15 * 5);
    assert_close(b->vz[1], sqrt(1001.0 * (2 / 5.0 - 0.3)), 1e-14 * 10);
    bodies_destroy(b);
}

/* Omega^2 = G M/(r^2 + eps^2)^(3/2): v^2/r is the acceleration that the reference kernel finds. */
static void test_softened_circular_orbit(void **state)
{
    (void)state;
    const struct physics soft = { .gravitational_constant = 1.3, .softening = 0.2385 };
    struct bodies *b = make("initial = \"two-body\"; masses = [3.0, 0.7]; semi_major_axis = 1.1; "
                            "inclination = 40.0; ascending_node = 17.0; true_anomaly = 61.0;",
                            &soft);
    const struct relative s = relative_state(b, 0, 1);
    reference_accelerations(&soft, b);
    const double a[3] = { b->ax[1] - b->ax[0], b->ay[1] - b->ay[0], b->az[1] - b->az[0] };
    assert_close(sqrt(dot(s.x, s.x)), 1.1, 1e-15);
    assert_close(dot(s.x, s.v), 0, 1e-15);
    assert_close(dot(s.v, s.v) / 1.1, sqrt(dot(a, a)), 1e-14);
    /* Period/Kepler's period = (1 + eps^2/r^2)^(3/4) */
    const double kepler = 2 * M_PI * sqrt(1.1 * 1.1 * 1.1 / (1.3 * 3.7));
    assert_close(2 * M_PI * 1.1 / sqrt(dot(s.v, s.v)),
                 kepler * pow(1 + 0.2385 * 0.2385 / 1.21, 0.75), 1e-14);
    bodies_destroy(b);
}

static void test_two_bodies_that_cannot_be(void **state)
{
    (void)state;
    refuse(
        "initial = \"two-body\"; eccentricity = 1.0; masses = [0.0, 0.0];", &newton, 1,
        STATUS_CONFIG,
        "run.cfg:1: bodies.masses = [0.0, 0.0]: at least one of them must be greater than 0\n"
        "run.cfg:1: bodies.eccentricity = 1.0: a parabola has no semi-major axis; take a value a "
        "little beside 1");
    refuse("initial = \"two-body\"; eccentricity = 2.0; true_anomaly = -120.5;", &newton, 1,
           STATUS_CONFIG,
           "run.cfg:1: bodies.true_anomaly = -120.5: beyond the asymptote of the hyperbola, 120 "
           "degrees from the pericentre");
    struct bodies *b = make("initial = \"two-body\"; masses = [0.0, 2.0];", &newton);
    assert_true(b->m[0] == 0 && b->x[1] == 0); /* the centre of mass is body 2 */
    bodies_destroy(b);
}

/* --- published starts ------------------------------------------------------------------------- */

static void test_figure_eight(void **state)
{
    (void)state;
    struct bodies *b = make("initial = \"figure-eight\";", &newton);
    const struct conserved c = measure(b, 0, &newton);
    assert_close(c.kinetic + c.potential, -1.287141992, 1e-9); /* published to ten digits */
    assert_close(c.potential, -2.5, 1e-8);
    for (int k = 0; k < 3; k++) {
        assert_close(c.angular_momentum[k], 0, 1e-15);
        assert_close(c.momentum[k], 0, 1e-15);
        assert_close(c.center[k], 0, 1e-15);
    }
    bodies_destroy(b);

    /* In other units: lengths by 3, masses by 0.5, E by G m^2/length. */
    const struct physics physics = { .gravitational_constant = 2.0 };
    b = make("initial = \"figure-eight\"; mass = 0.5; length = 3.0;", &physics);
    const struct conserved scaled = measure(b, 0, &physics);
    assert_close(scaled.kinetic + scaled.potential, (c.kinetic + c.potential) * 2.0 * 0.25 / 3.0,
                 1e-14);
    assert_close(scaled.kinetic / scaled.potential, c.kinetic / c.potential, 1e-14);
    bodies_destroy(b);
}

static void test_pythagorean(void **state)
{
    (void)state;
    struct bodies *b = make("initial = \"pythagorean\";", &newton);
    const struct conserved c = measure(b, 0, &newton);
    assert_true(c.kinetic == 0);
    assert_close(c.potential, -(3 * 4 / 5.0 + 3 * 5 / 4.0 + 4 * 5 / 3.0), 1e-14);
    assert_close(c.potential, -12.8166667, 5e-8);
    for (int k = 0; k < 3; k++)
        assert_true(c.center[k] == 0);
    bodies_destroy(b);
}

/*
 * Barycentric; bound; and periods from the osculating semi-major axes about the Sun. The periods of
 * physics.md are those of mean elements, from which the osculating ones differ by up to 1.1 %
 * (Uranus: Jupiter moves the Sun), so 1.5 % is allowed.
 */
static void test_outer_solar_system(void **state)
{
    (void)state;
    static const double periods[] = { 11.86, 29.46, 84.0, 164.8, 248.0 };
    const struct physics physics = { .gravitational_constant = k2 };
    struct bodies *b = make("initial = \"outer-solar-system\";", &physics);
    assert_int_equal(b->count, 6);
    const struct conserved c = measure(b, 0, &physics);
    assert_true(c.kinetic + c.potential < 0);
    for (int k = 0; k < 3; k++) {
        assert_close(c.center[k], 0, 1e-15); /* the table has 15 digits of positions up to 32 */
        assert_close(c.momentum[k], 0, 1e-18);
    }
    for (size_t i = 1; i < 6; i++) {
        const struct relative s = relative_state(b, 0, i);
        const double mu = k2 * (b->m[0] + b->m[i]);
        const struct elements found = find_elements(&s, mu);
        const double years = 2 * M_PI * sqrt(found.a * found.a * found.a / mu) / 365.25;
        assert_close(years, periods[i - 1], 0.015 * periods[i - 1]);
        assert_true(found.e < (i == 5 ? 0.26 : 0.1)); /* Pluto: 0.25 */
    }
    assert_true(b->m[5] == 0);
    bodies_destroy(b);
    refuse("initial = \"outer-solar-system\";", &newton, 1, STATUS_CONFIG,
           "run.cfg:1: bodies: \"outer-solar-system\" is in solar masses, AU and days, with G = "
           "0.000295912208, not 1: set physics.units = \"astronomical\"");
}

/* --- files ------------------------------------------------------------------------------------ */

#define HEADER "m,x,y,z,vx,vy,vz,id\n"
#define ROWS "1,0,0,0,0.5,0,0,7\n2,1,0,0,0,0,0.25,4\n"

static void test_files_of_any_format(void **state)
{
    (void)state;
    write_file("b.csv", HEADER ROWS);
    write_file("b.dat", "# a comment, with a comma\n1 0 0 0 0.5 0 0\n2 1 0 0 0 0 0.25\n");
    write_file("b.xyz", "1\nProperties=mass:R:1:pos:R:3:velo:R:3:id:I:1\n9 9 9 9 9 9 9 9\n"
                        "2\nProperties=mass:R:1:pos:R:3:velo:R:3:id:I:1\n"
                        "1 0 0 0 0.5 0 0 7\n2 1 0 0 0 0 0.25 4\n");
    static const char *const starts[] = {
        "file = \"b.csv\";", "file = \"b.csv\"; format = \"csv\"; count = 2;",
        "file = \"b.dat\";", "file = \"b.dat\"; format = \"plain\";",
        "file = \"b.xyz\";", "file = \"b.xyz\"; format = \"xyz\"; frame = 1;"
    };
    for (size_t k = 0; k < COUNT_OF(starts); k++) {
        char keys[200];
        snprintf(keys, sizeof keys, "initial = \"file\"; %s", starts[k]);
        struct bodies *b = make(keys, &newton);
        assert_int_equal(b->count, 2);
        assert_true(b->m[1] == 2 && b->x[1] == 1 && b->vx[0] == 0.5 && b->vz[1] == 0.25);
        const bool ids = strstr(starts[k], "dat") == NULL;
        assert_true(b->id[0] == (ids ? 7 : 1) && b->id[1] == (ids ? 4 : 2));
        bodies_destroy(b);
    }
    struct bodies *b = make("initial = \"file\"; file = \"b.csv\"; center = true;", &newton);
    assert_close(b->x[0], -2.0 / 3, 1e-15);
    bodies_destroy(b);
}

/* A path is reported at its key, and as it was found: relative to the config. */
static void refuse_path(const char *name, const char *reason)
{
    char here[PATH_MAX], keys[64], message[PATH_MAX + 128];
    assert_non_null(getcwd(here, sizeof here));
    snprintf(keys, sizeof keys, "initial = \"file\"; file = \"%s\";", name);
    snprintf(message, sizeof message, "run.cfg:1: bodies.file = \"%s/%s\": %s", here, name, reason);
    refuse(keys, &newton, 1, STATUS_NO_INPUT, message);
}

static void test_bad_files(void **state)
{
    (void)state;
    struct bodies *b;
    struct error error = { 0 };
    struct initial_warnings warnings;
    refuse_path("nowhere", "No such file or directory");
    assert_int_equal(mkdir("folder", 0700), 0);
    refuse_path("folder", "Is a directory");
    write_file("b.csv", HEADER ROWS);
    refuse("initial = \"file\"; file = \"b.csv\"; count = 3;", &newton, 1, STATUS_DATA,
           "b.csv:3: the file has 2 bodies here, but bodies.count = 3");
    write_file("b.csv", HEADER ROWS "1,5,5,5,0,0,0,7\n");
    refuse("initial = \"file\"; file = \"b.csv\";", &newton, 1, STATUS_DATA,
           "b.csv: two bodies have the id 7: number 1 and number 3 (several systems in one file "
           "need a column cluster or system)");
    write_file("b.csv", HEADER ROWS "1,1,0,0,0,0,0,5\n");
    refuse("initial = \"file\"; file = \"b.csv\";", &newton, 1, STATUS_DATA,
           "b.csv: bodies 4 and 5 are both at (1, 0, 0), where the force between them is infinite; "
           "physics.softening > 0 allows it");
    const struct physics soft = { .gravitational_constant = 1.0, .softening = 1e-3 };
    assert_int_equal(
        create("initial = \"file\"; file = \"b.csv\";", &soft, 1, &b, &warnings, &error),
        STATUS_OK);
    assert_int_equal(warnings.coincident, 1);
    bodies_destroy(b);
    write_file("b.csv", HEADER "0,0,0,0,0.5,0,0,7\n");
    refuse("initial = \"file\"; file = \"b.csv\";", &newton, 1, STATUS_DATA,
           "b.csv: no body has any mass");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elements_come_back),
        cmocka_unit_test(test_turning_points),
        cmocka_unit_test(test_a_light_body_around_one_at_rest),
        cmocka_unit_test(test_softened_circular_orbit),
        cmocka_unit_test(test_two_bodies_that_cannot_be),
        cmocka_unit_test(test_figure_eight),
        cmocka_unit_test(test_pythagorean),
        cmocka_unit_test(test_outer_solar_system),
        cmocka_unit_test(test_files_of_any_format),
        cmocka_unit_test(test_bad_files),
    };
    return cmocka_run_group_tests_name("initial-orbits", tests, make_directory, remove_directory);
}
