/* Clusters drawn at random and the keys that all initial conditions share. */
#include "initial-case.h"

#include "initial/cusp.h"

static const struct physics newton = { .gravitational_constant = 1.0 };
static const struct physics soft = { .gravitational_constant = 1.0, .softening = 0.1 };
static const struct physics box = { .gravitational_constant = 1.0,
                                    .softening = 0.1,
                                    .boundary = BOUNDARY_PERIODIC,
                                    .box_length = 5.0 };

/* --- what all share --------------------------------------------------------------------------- */

static void test_the_seed_decides_every_bit(void **state)
{
    (void)state;
    static const char *const starts[] = {
        "initial = \"uniform-cube\"; count = 100; masses = \"random\"; seed = %d;",
        "initial = \"plummer\"; count = 100; seed = %d;",
        "initial = \"cold-sphere\"; count = 100; virial_ratio = 0.5; seed = %d;",
    };
    for (size_t k = 0; k < COUNT_OF(starts); k++) {
        char one[200], other[200];
        snprintf(one, sizeof one, starts[k], 7);
        snprintf(other, sizeof other, starts[k], 8);
        struct bodies *a = make(one, &soft), *b = make(one, &soft), *c = make(other, &soft);
        assert_true(same_bodies(a, b));
        assert_false(same_bodies(a, c));
        for (size_t i = 0; i < 100; i++)
            assert_true(a->x[i] != c->x[i]);

        /* An ensemble takes consecutive seeds. */
        struct bodies *both = make_systems(one, &soft, 2);
        assert_memory_equal(both->x, a->x, 100 * sizeof(double));
        assert_memory_equal(both->x + both->stride, c->x, 100 * sizeof(double));
        assert_memory_equal(both->vz + both->stride, c->vz, 100 * sizeof(double));
        assert_memory_equal(both->m + both->stride, c->m, 100 * sizeof(double));
        assert_true(both->id[both->stride + 99] == 100);
        bodies_destroy(a);
        bodies_destroy(b);
        bodies_destroy(c);
        bodies_destroy(both);
    }
}

static void test_seeds_and_sizes_that_cannot_be(void **state)
{
    (void)state;
    refuse("initial = \"plummer\"; count = 3; seed = 4294967290;", &newton, 7, STATUS_CONFIG,
           "run.cfg:1: bodies.seed = 4294967290: 7 seeds are taken from here on; the "
           "last one is 4294967295");
    bodies_destroy(
        make_systems("initial = \"plummer\"; count = 3; seed = 4294967290;", &newton, 6));
    refuse("initial = \"plummer\"; count = 2147483647;", &newton, (size_t)1 << 40, STATUS_CONFIG,
           "run.cfg:1: bodies: 1099511627776 systems of 2147483647 bodies are more than memory can "
           "address");
    struct error error = { 0 };
    struct bodies *bodies;
    struct initial_warnings warnings;
    static const char *const counts[] = {
        "0", "-1", "1.9", "2147483648", "99999999999999999999", "0xffffffffffffffff"
    };
    for (size_t k = 0; k < COUNT_OF(counts); k++) {
        char keys[200];
        snprintf(keys, sizeof keys, "initial = \"plummer\"; count = %s;", counts[k]);
        assert_int_equal(create(keys, &newton, 1, &bodies, &warnings, &error), STATUS_CONFIG);
        assert_non_null(strstr(error.text, "run.cfg:1: bodies.count = "));
    }
}

static void test_one_body(void **state)
{
    (void)state;
    static const char *const starts[] = { "uniform-cube", "plummer", "cold-sphere" };
    for (size_t k = 0; k < COUNT_OF(starts); k++) {
        char keys[200];
        snprintf(keys, sizeof keys, "initial = \"%s\"; count = 1; center = true;", starts[k]);
        struct bodies *b = make(keys, &newton);
        assert_int_equal(b->count, 1);
        assert_true(b->m[0] == 1.0 && b->x[0] == 0.0 && b->vy[0] == 0.0);
        bodies_destroy(b);
    }
}

static void test_virial_ratio(void **state)
{
    (void)state;
    static const char *const starts[] = {
        "initial = \"uniform-cube\"; half_side = 2.0; count = 300",
        "initial = \"plummer\"; count = 300", "initial = \"cold-sphere\"; count = 300",
        "initial = \"two-body\"; eccentricity = 0.5"
    };
    const struct physics *const all_physics[] = { &newton, &soft, &box };
    for (size_t k = 0; k < COUNT_OF(starts); k++)
        for (size_t l = 0; l < COUNT_OF(all_physics); l++) {
            char keys[200];
            snprintf(keys, sizeof keys, "%s; virial_ratio = 0.6180;", starts[k]);
            struct bodies *b = make(keys, all_physics[l]);
            const struct conserved c = measure(b, 0, all_physics[l]);
            assert_close(2 * c.internal / fabs(c.virial), 0.618, 1e-13);
            bodies_destroy(b);
        }
    struct bodies *b = make("initial = \"plummer\"; count = 10; virial_ratio = 0.0;", &newton);
    assert_true(measure(b, 0, &newton).kinetic == 0);
    bodies_destroy(b);
    refuse("initial = \"pythagorean\"; virial_ratio = 1.0;", &newton, 1, STATUS_CONFIG,
           "run.cfg:1: bodies.virial_ratio = 1.0: all bodies are at rest or move alike: there "
           "are no velocities to rescale");
    refuse("initial = \"uniform-cube\"; count = 1; virial_ratio = 1.0;", &newton, 1, STATUS_CONFIG,
           "run.cfg:1: bodies.virial_ratio = 1.0: undefined: no two bodies with mass attract each "
           "other");
}

/* --- uniform cube ----------------------------------------------------------------------------- */

/* The mean of f over n bodies is allowed five standard errors of a uniform number on [-s, s]:
 * mean 0 with variance s^2/3, mean square s^2/3 with variance 4 s^4/45. */
/* The model, at rest about the origin, and both shifts: their sum to the bit, in every system. */
static void test_origin(void **state)
{
    (void)state;
    static const double x[3] = { 30.25, -2.385, 0.0731 }, v[3] = { 0.125, -1.75, 4.3 };
    struct bodies *at_rest =
        make_systems("initial = \"plummer\"; count = 20; virial_ratio = 0.9;", &newton, 2);
    struct bodies *moving =
        make_systems("initial = \"plummer\"; count = 20; virial_ratio = 0.9; "
                     "origin = [30.25, -2.385, 0.0731]; origin_velocity = [0.125, -1.75, 4.3];",
                     &newton, 2);
    for (size_t s = 0; s < 2; s++)
        for (size_t i = s * moving->stride; i < s * moving->stride + 20; i++) {
            assert_true(moving->x[i] == at_rest->x[i] + x[0]);
            assert_true(moving->y[i] == at_rest->y[i] + x[1]);
            assert_true(moving->z[i] == at_rest->z[i] + x[2]);
            assert_true(moving->vx[i] == at_rest->vx[i] + v[0]);
            assert_true(moving->vy[i] == at_rest->vy[i] + v[1]);
            assert_true(moving->vz[i] == at_rest->vz[i] + v[2]);
        }
    bodies_destroy(at_rest);
    bodies_destroy(moving);
    refuse("initial = \"plummer\"; count = 20; origin = [1.0, 2.0];", &newton, 1, STATUS_CONFIG,
           "run.cfg:1: bodies.origin = [1.0, 2.0]: must be a list of 3 numbers");
}

static void test_uniform_cube(void **state)
{
    (void)state;
    enum { N = 8192 };
    struct bodies *b = make("initial = \"uniform-cube\"; count = 8192;", &newton);
    const double s = 20.0; /* 10 (8192/1024)^(1/3) */
    const struct {
        const double *values;
        double limit;
    } columns[] = { { b->x, s },    { b->y, s },    { b->z, s },
                    { b->vx, 1.0 }, { b->vy, 1.0 }, { b->vz, 1.0 } };
    for (size_t k = 0; k < COUNT_OF(columns); k++) {
        double mean = 0, square = 0, largest = 0;
        for (size_t i = 0; i < N; i++) {
            const double u = columns[k].values[i] / columns[k].limit;
            mean += u / N;
            square += u * u / N;
            largest = fmax(largest, fabs(u));
        }
        assert_close(mean, 0.0, 5 * sqrt(1.0 / 3.0 / N));
        assert_close(square, 1.0 / 3.0, 5 * sqrt(4.0 / 45.0 / N));
        assert_true(largest <= 1.0);
        assert_true(largest > 1.0 - 20.0 / N); /* missed with probability e^-20 */
    }
    for (size_t i = 0; i < N; i++)
        assert_true(b->m[i] == 1.0 && b->id[i] == (int64_t)i + 1);
    bodies_destroy(b);
}

static void test_uniform_cube_choices(void **state)
{
    (void)state;
    struct bodies *unit = make("initial = \"uniform-cube\"; count = 1000;", &box);
    struct bodies *equal = make("initial = \"uniform-cube\"; count = 1000; masses = \"equal\"; "
                                "mass = 2.5; half_side = 5.0; velocity = 3.0;",
                                &newton);
    struct bodies *random = make("initial = \"uniform-cube\"; count = 1000; masses = \"random\"; "
                                 "mass_range = [0.25, 0.75]; half_side = 5; velocity = 0.0;",
                                 &newton);
    double mean = 0;
    for (size_t i = 0; i < 1000; i++) {
        assert_true(equal->m[i] == 2.5 / 1000);
        assert_close(equal->x[i], 2.0 * unit->x[i], 1e-15); /* half of the box is 2.5 */
        assert_close(equal->vz[i], 3.0 * unit->vz[i], 1e-15);
        assert_true(equal->y[i] == random->y[i]);
        assert_true(random->m[i] >= 0.25 && random->m[i] <= 0.75 && random->vx[i] == 0.0);
        mean += random->m[i] / 1000;
    }
    assert_close(mean, 0.5, 5 * sqrt(0.25 / 12 / 1000));
    bodies_destroy(unit);
    bodies_destroy(equal);
    bodies_destroy(random);

    refuse("initial = \"uniform-cube\"; mass = 2.0; mass_range = [2.0, 1.0];", &newton, 1,
           STATUS_CONFIG,
           "run.cfg:1: bodies.mass = 2.0: applies only to masses = \"equal\"\n"
           "run.cfg:1: bodies.mass_range = [2.0, 1.0]: applies only to masses = \"random\"\n"
           "run.cfg:1: bodies.mass_range = [2.0, 1.0]: must be two masses, not both 0, the smaller "
           "one first");
}

/* --- Plummer sphere --------------------------------------------------------------------------- */

static void test_plummer_energy_and_center(void **state)
{
    (void)state;
    static const char *const starts[] = { "count = 2;", "count = 3; seed = 5;", "count = 100;",
                                          "count = 1000; cutoff = 0.8;",
                                          "count = 1000; cutoff_radius = 2.5;" };
    for (size_t k = 0; k < COUNT_OF(starts); k++) {
        char keys[200];
        snprintf(keys, sizeof keys, "initial = \"plummer\"; %s", starts[k]);
        struct bodies *b = make(keys, &soft); /* the energy is that without softening */
        const struct conserved c = measure(b, 0, &newton);
        assert_close(c.mass, 1.0, 1e-14);
        assert_close(c.kinetic + c.potential, -0.25, 1e-12);
        for (int j = 0; j < 3; j++) {
            assert_close(c.center[j], 0.0, 1e-15);
            assert_close(c.momentum[j], 0.0, 1e-15);
        }
        bodies_destroy(b);
    }
}

/*
 * Lagrangian radii r(f) = a / sqrt(f^(-2/3) - 1) of physics.md, within five of its standard errors
 * sqrt(f (1 - f) / N) / (dM/dr); the truncation at 0.999 adds at most 0.001 f to f.
 */
static void test_plummer_lagrangian_radii(void **state)
{
    (void)state;
    enum { N = 20000 };
    static const struct {
        double f, r;
    } expected[] = { { 0.01, 0.12996 }, { 0.10, 0.30868 }, { 0.25, 0.47781 },
                     { 0.50, 0.76857 }, { 0.75, 1.2811 },  { 0.90, 2.18367 } };
    const double a = 3 * M_PI / 16;
    struct bodies *b = make("initial = \"plummer\"; count = 20000;", &newton);
    double *r = sorted_radii(b);
    for (size_t k = 0; k < COUNT_OF(expected); k++) {
        const double f = expected[k].f, u = expected[k].r / a;
        const double slope = 3 * u * u / pow(1 + u * u, 2.5) / a; /* dM/dr */
        const double spread = sqrt(f * (1 - f) / N);
        assert_close(r[(size_t)(f * N)], expected[k].r, (5 * spread + 0.001 * f) / slope);
    }
    free(r);
    bodies_destroy(b);
}

/* With U = -G m^2 sum i / r_i over the bodies from the inside, the energy is exact. */
static void test_plummer_shells(void **state)
{
    (void)state;
    enum { N = 7 };
    struct bodies *b = make("initial = \"plummer\"; count = 7; rescale = \"shells\"; "
                            "center = false;",
                            &newton);
    double *r = sorted_radii(b), potential = 0;
    for (size_t i = 0; i < N; i++)
        potential -= (double)i / r[i] / (N * N);
    assert_close(measure(b, 0, &newton).kinetic + potential, -0.25, 1e-14);
    free(r);
    bodies_destroy(b);
}

/* Tests the difference that shells leave in the energy of all pairs; it was measured as 1.1 to 2
 * sum m^2 / M^2 in the root mean square, for each mass function and both models; a few heavy bodies
 * make it much more than 2/N. */
static void test_shells_of_unequal_masses(void **state)
{
    (void)state;
    enum { N = 800, SYSTEMS = 16 };
    struct bodies *b = make_systems("initial = \"plummer\"; count = 800; rescale = \"shells\"; "
                                    "masses = \"kroupa\"; mass = 1.0;",
                                    &newton, SYSTEMS);
    double squares = 0, expected = 0;
    for (size_t s = 0; s < SYSTEMS; s++) {
        const struct conserved c = measure(b, s, &newton);
        squares += pow((c.kinetic + c.potential) / -0.25 - 1, 2) / SYSTEMS;
        double share = 0;
        for (size_t i = 0; i < N; i++)
            share += pow(b->m[s * b->stride + i], 2);
        expected += pow(2 * share, 2) / SYSTEMS;
    }
    assert_true(expected > 4 * pow(2.0 / N, 2));
    assert_true(squares < expected && squares > expected / 16);
    bodies_destroy(b);
}

/*
 * 2K/|W| of a sample: K is a mean of N values whose relative spread is below 1, so five standard
 * errors are 5/sqrt(N). The central dispersion 0.53192 is that of bodies within 0.1 a, where
 * sigma^2 = 1/6 (1 + r^2)^(-1/2) (G = M = a = 1) differs by less than 0.3 %.
 */
static void test_plummer_velocities(void **state)
{
    (void)state;
    enum { N = 20000 };
    struct bodies *b = make("initial = \"plummer\"; count = 20000; rescale = \"shells\";", &newton);
    const struct conserved c = measure(b, 0, &newton);
    assert_close(2 * c.kinetic / fabs(c.virial), 1.0, 5 / sqrt(N));
    assert_close(c.kinetic + c.potential, -0.25, 0.25 * 10 / N); /* shells: about 2/N, measured */
    double square[3] = { 0 }, radial = 0, total = 0, central = 0;
    size_t inside = 0;
    for (size_t i = 0; i < N; i++) {
        const double v[3] = { b->vx[i], b->vy[i], b->vz[i] }, r = radius(b, i);
        const double vr = (b->x[i] * v[0] + b->y[i] * v[1] + b->z[i] * v[2]) / r;
        const double v2 = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
        for (int k = 0; k < 3; k++)
            square[k] += v[k] * v[k];
        radial += vr * vr;
        total += v2;
        if (r < 0.1 * 0.589049) {
            central += v2 / 3;
            inside++;
        }
        /* Bound in the model, but for the rescaling: v < v_escape = sqrt(2 |phi|). */
        assert_true(v2 < 2.02 / sqrt(r * r + 0.589049 * 0.589049));
    }
    /* Isotropy: each component, and the radial one, has a third; var(cos^2) = 4/45 at most doubles
     * by the spread of v^2. */
    for (int k = 0; k < 3; k++)
        assert_close(square[k] / total, 1.0 / 3, 5 * sqrt(2 * 4.0 / 45 / N));
    assert_close(radial / total, 1.0 / 3, 5 * sqrt(2 * 4.0 / 45 / N));
    /* A variance from 3 n components has a relative standard error of at most sqrt(2 / 3n). */
    assert_true(inside > 10);
    assert_close(central / (double)inside, 0.53192 * 0.53192,
                 0.53192 * 0.53192 * (5 * sqrt(2.0 / (3.0 * (double)inside)) + 0.01));
    bodies_destroy(b);
}

/* In other units the same sphere: lengths by a, speeds by sqrt(G M / a). */
static void test_plummer_in_other_units(void **state)
{
    (void)state;
    const struct physics galactic = { .gravitational_constant = 43007.1 };
    struct bodies *henon = make("initial = \"plummer\"; count = 500;", &newton);
    struct bodies *other =
        make("initial = \"plummer\"; count = 500; mass = 2.5; scale_radius = 3.0;", &galactic);
    const double length = 3.0 / (3 * M_PI / 16), speed = sqrt(43007.1 * 2.5 / length);
    for (size_t i = 0; i < 500; i++) {
        assert_close(other->m[i], 2.5 * henon->m[i], 1e-15);
        assert_close(other->x[i], length * henon->x[i], 1e-11 * fabs(other->x[i]) + 1e-13);
        assert_close(other->vz[i], speed * henon->vz[i], 1e-11 * fabs(other->vz[i]) + 1e-11);
    }
    bodies_destroy(henon);
    bodies_destroy(other);
}

static void test_plummer_cutoff(void **state)
{
    (void)state;
    struct bodies *b = make("initial = \"plummer\"; count = 5000; scale_radius = 1.0; "
                            "cutoff_radius = 2.0; rescale = \"none\"; center = false;",
                            &newton);
    double *r = sorted_radii(b);
    assert_true(r[4999] <= 2.0 && r[4999] > 1.98);
    free(r);
    bodies_destroy(b);
    /* Half of the mass is inside 1.3048 a. */
    b = make("initial = \"plummer\"; count = 5000; scale_radius = 1.0; cutoff = 0.5; "
             "rescale = \"none\"; center = false;",
             &newton);
    r = sorted_radii(b);
    assert_true(r[4999] <= 1.3048 && r[4999] > 1.3);
    free(r);
    bodies_destroy(b);
    refuse("initial = \"plummer\"; count = 9; cutoff = 0.5; cutoff_radius = 1.0;", &newton, 1,
           STATUS_CONFIG, "run.cfg:1: bodies.cutoff_radius = 1.0: give this or cutoff, not both");
}

/* --- spheres with a cusp ---------------------------------------------------------------------- */

/* Returns Hernquist's f(E), but for a constant: 1990, ApJ 356, 359, eq. 17, where q^2 = E. */
static double hernquist(double E)
{
    const double q = sqrt(E), sum = 3.0 * asin(q) + q * sqrt(1.0 - E) * (1.0 - 2.0 * E) *
                                                        (8.0 * E * E - 8.0 * E - 3.0);
    return sum / pow(1.0 - E, 2.5);
}

/* The largest error measured is 2.2e-5. */
static void test_a_distribution_function(void **state)
{
    (void)state;
    struct error error = { 0 };
    struct cusp *sphere;
    const struct cusp_shape shape = { .inner = 1.0, .outer = 4.0, .cutoff = INFINITY };
    assert_int_equal(cusp_create(shape, NULL, &sphere, &error), STATUS_OK);
    /* The unit of mass is such that Psi = 1/2 at the centre. */
    const double middle = cusp_distribution(sphere, -0.25) / hernquist(0.5);
    double worst = 0;
    for (double r = 1e-3; r < 1e3; r *= 1.37) {
        const double E = 1.0 / (1.0 + r);
        const double ratio = cusp_distribution(sphere, -0.5 * E) / (middle * hernquist(E));
        worst = fmax(worst, fabs(ratio - 1.0));
    }
    assert_true(worst < 5e-5);
    cusp_destroy(sphere);
}

/* A sphere with the parts around it, and all their masses within r: in units of the sphere. */
struct mixture {
    const struct cusp *sphere;
    size_t count;
    const struct cusp_part *parts;
    struct cusp *alone[2]; /* the parts */
};

static double mass_within(const struct mixture *mixture, double r)
{
    double mass = cusp_mass_within(mixture->sphere, r);
    for (size_t k = 0; k < mixture->count; k++)
        mass += mixture->parts[k].mass *
                cusp_mass_within(mixture->alone[k], r / mixture->parts[k].scale);
    return mass;
}

/* Returns Psi(r) = int M/s^2 ds from r outwards, by Simpson's rule in ln s up to 1e10, where all of
 * the mass is within. */
static double psi_at(const struct mixture *mixture, double r)
{
    enum { INTERVALS = 4000 };
    const double first = log(r), step = (log(1e10) - first) / INTERVALS;
    double sum = 0;
    for (int k = 0; k <= INTERVALS; k++) {
        const double s = exp(first + step * k);
        sum += (k == 0 || k == INTERVALS ? 1 : k % 2 ? 4 : 2) * mass_within(mixture, s) / s;
    }
    return sum * step / 3 + mass_within(mixture, 1e10) / 1e10;
}

/* Returns int f(E) sqrt(Psi - E) dE from 0 to Psi with E = Psi cos^2 t, by Simpson's rule: the
 * density, but for a constant. Bodies of less than `least` are too few to count. */
static double density_of(const struct cusp *sphere, double psi, double least)
{
    enum { INTERVALS = 2000 };
    const double most = acos(sqrt(least / psi)), step = most / INTERVALS;
    double sum = 0;
    for (int k = 0; k <= INTERVALS; k++) {
        const double c = cos(step * k), s = sin(step * k);
        sum += (k == 0 || k == INTERVALS ? 1
                : k % 2                  ? 4
                                         : 2) *
               cusp_distribution(sphere, -psi * c * c) * 2 * c * s * s;
    }
    return sum * step / 3 * pow(psi, 1.5);
}

/* Tests that f makes the density that it was made from, in the potential of all that is there: the
 * ratio is the same at every radius. The largest errors measured are 1.0e-5, and 3.2e-4 with parts
 * that reach beyond the last radius of the sphere's table. */
static void test_distribution_functions_make_their_density(void **state)
{
    (void)state;
    struct error error = { 0 };
    const struct cusp_part parts[] = {
        { { .inner = 1, .outer = 3, .cutoff = 8 }, 12.0, 0.03 },
        { { .inner = 0, .outer = 4, .cutoff = INFINITY }, 0.3, 40.0 },
    };
    const struct {
        struct cusp_shape shape;
        size_t parts;
    } cases[] = {
        { { .inner = 1, .outer = 3, .cutoff = 10 }, 0 },
        { { .inner = 1, .outer = 4, .cutoff = 3 }, 0 },
        { { .inner = 0.5, .outer = 4, .cutoff = INFINITY }, 0 },
        { { .inner = 1, .outer = 4, .cutoff = 4 }, 2 },
    };
    for (size_t n = 0; n < COUNT_OF(cases); n++) {
        const struct cusp_shape *const s = &cases[n].shape;
        const struct cusp_surroundings around = { .count = cases[n].parts, .parts = parts };
        struct cusp *sphere;
        assert_int_equal(cusp_create(*s, &around, &sphere, &error), STATUS_OK);
        struct mixture mixture = { sphere, around.count, parts, { NULL, NULL } };
        for (size_t k = 0; k < around.count; k++)
            assert_int_equal(cusp_create(parts[k].shape, NULL, &mixture.alone[k], &error),
                             STATUS_OK);
        const double radii[] = { 0.03, 0.2, 1, 3, 6 };
        const double far = isfinite(s->cutoff) ? 25 * s->cutoff : 1e8;
        const double least = psi_at(&mixture, far);
        double first = NAN;
        for (size_t k = 0; k < COUNT_OF(radii); k++) {
            const double r = radii[k], x = isfinite(s->cutoff) ? r / s->cutoff : 0;
            const double rho = pow(r, -s->inner) * pow(1 + r, s->inner - s->outer) / cosh(x);
            const double ratio = density_of(sphere, psi_at(&mixture, r), least) / rho;
            if (k == 0)
                first = ratio;
            assert_close(ratio / first, 1, around.count > 0 ? 5e-4 : 2e-5);
        }
        for (size_t k = 0; k < around.count; k++)
            cusp_destroy(mixture.alone[k]);
        cusp_destroy(sphere);
    }
}

/* --- cold sphere ------------------------------------------------------------------------------ */

/*
 * U = -3 G M^2/(5 R) times (1 - 1/N), as N bodies have N (N - 1) / 2 pairs. Its standard error is
 * that of a U statistic, 2 sqrt(var h / N) with h(r) = (3 - r^2/R^2) / 2 the potential of the
 * sphere, var h = (3/7 - 9/25) / 4, against a mean of 6/5. M(<r)/M = (r/R)^3.
 */
static void test_cold_sphere(void **state)
{
    (void)state;
    enum { N = 4096 };
    struct bodies *b =
        make("initial = \"cold-sphere\"; count = 4096; mass = 3.0; radius = 2.0;", &newton);
    const struct conserved c = measure(b, 0, &newton);
    const double expected = -3.0 * 9.0 / (5.0 * 2.0) * (1.0 - 1.0 / N);
    const double spread = 2 * sqrt((3.0 / 7 - 9.0 / 25) / 4 / N) / 1.2;
    assert_true(c.kinetic == 0);
    assert_close(c.potential, expected, 5 * spread * fabs(expected));
    double *r = sorted_radii(b);
    for (int k = 1; k <= 9; k++) {
        const double f = k / 10.0, u = cbrt(f), slope = 3 * u * u;
        assert_close(r[(size_t)(f * N)] / 2.0, u, 5 * sqrt(f * (1 - f) / N) / slope);
    }
    free(r);

    /* Positions do not depend on the velocities that a virial ratio brings. */
    struct bodies *warm = make("initial = \"cold-sphere\"; count = 4096; mass = 3.0; "
                               "radius = 2.0; virial_ratio = 0.5;",
                               &newton);
    assert_memory_equal(b->x, warm->x, N * sizeof(double));
    assert_close(2 * measure(warm, 0, &newton).kinetic / fabs(c.virial), 0.5, 1e-13);
    /* Components of their own: no two of them are correlated, by five standard errors. */
    double xy = 0, xz = 0, yz = 0, square = 0;
    for (size_t i = 0; i < N; i++) {
        xy += warm->vx[i] * warm->vy[i];
        xz += warm->vx[i] * warm->vz[i];
        yz += warm->vy[i] * warm->vz[i];
        square += warm->vx[i] * warm->vx[i];
    }
    assert_close(xy / square, 0, 5 / sqrt(N));
    assert_close(xz / square, 0, 5 / sqrt(N));
    assert_close(yz / square, 0, 5 / sqrt(N));
    bodies_destroy(b);
    bodies_destroy(warm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_seed_decides_every_bit),
        cmocka_unit_test(test_seeds_and_sizes_that_cannot_be),
        cmocka_unit_test(test_one_body),
        cmocka_unit_test(test_virial_ratio),
        cmocka_unit_test(test_origin),
        cmocka_unit_test(test_uniform_cube),
        cmocka_unit_test(test_uniform_cube_choices),
        cmocka_unit_test(test_plummer_energy_and_center),
        cmocka_unit_test(test_plummer_lagrangian_radii),
        cmocka_unit_test(test_plummer_velocities),
        cmocka_unit_test(test_plummer_shells),
        cmocka_unit_test(test_shells_of_unequal_masses),
        cmocka_unit_test(test_plummer_in_other_units),
        cmocka_unit_test(test_plummer_cutoff),
        cmocka_unit_test(test_a_distribution_function),
        cmocka_unit_test(test_distribution_functions_make_their_density),
        cmocka_unit_test(test_cold_sphere),
    };
    return cmocka_run_group_tests_name("initial-models", tests, make_directory, remove_directory);
}
