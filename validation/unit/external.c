#include "unit.h"

#include <stdbool.h>
#include <string.h>

#include "base/memory.h"
#include "external/external.h"

/* Numbers without meaning, none of them 1 or equal to another. */
static struct field field_called(const char *name)
{
    struct field field = { .gravitational_constant = 1.7,
                           .center = { 0.3, -0.4, 0.2 },
                           .mass = 2.3,
                           .a = 0.7,
                           .b = 0.35,
                           .speed = 1.3,
                           .core_radius = 0.45,
                           .flattening = 0.8,
                           .frequencies = { 1.1, 0.6, 1.9 },
                           .acceleration = { 0.2, -0.5, 0.9 } };
    size_t k = 0;
    while (field_variant(k) && strcmp(field_variant(k)->name, name) != 0)
        k++;
    assert_non_null(field_variant(k));
    field.kind = (enum field_kind)k;
    /* The key is missing where the field is a point. */
    field.scale_radius = strcmp(name, "point-mass") == 0 ? 0.0 : 0.6;
    return field;
}

/* Near the centre, at the scale radius, far out; not in a plane of symmetry. */
static const double places[][3] = {
    { 0.021, -0.013, 0.017 }, { 0.4, 0.5, -0.3 }, { -5.0, 7.0, 4.0 }, { 300.0, -200.0, 500.0 }
};

static const double velocity[3] = { 0.8, -0.3, 0.5 };

static double length(const double a[3])
{
    return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
}

/* The derivative of f along a direction by differences of 4th order, whose error is h^4/30 f^(5):
 * 1e-12 of f' where f changes over its own scale, and roundings of 1e-16 f / h. */
static double slope(double (*f)(const struct field *field, const double d[3], int k),
                    const struct field *field, const double d[3], const double along[3], int k)
{
    static const double weights[] = { 8.0, -1.0 };
    const double h = 1e-3 * length(d) / length(along);
    double sum = 0.0;
    for (int n = 1; n <= 2; n++)
        for (int sign = -1; sign <= 1; sign += 2) {
            double at[3];
            for (int axis = 0; axis < 3; axis++)
                at[axis] = d[axis] + sign * n * h * along[axis];
            sum += sign * weights[n - 1] * f(field, at, k);
        }
    return sum / (12.0 * h);
}

static double potential(const struct field *field, const double d[3], int k)
{
    (void)k;
    return field_potential(field, d);
}

static double acceleration(const struct field *field, const double d[3], int k)
{
    return field_motion(field, d, NULL).a[k];
}

/* The acceleration is the slope of the potential downwards, the jerk that of the acceleration along
 * the motion; and with a velocity the acceleration is the same. */
static void test_derivatives(void **state)
{
    (void)state;
    for (size_t k = 0; field_variant(k); k++)
        for (size_t p = 0; p < COUNT_OF(places); p++) {
            const struct field field = field_called(field_variant(k)->name);
            const double *const d = places[p];
            const struct field_motion motion = field_motion(&field, d, velocity);
            const double size = length(motion.a);
            const double phi = fabs(potential(&field, d, 0));
            for (int axis = 0; axis < 3; axis++) {
                const double unit[3] = { axis == 0, axis == 1, axis == 2 };
                const double noise = 1e-11 * size + 1e-12 * phi / length(d);
                assert_close(-slope(potential, &field, d, unit, 0), motion.a[axis], noise);
                assert_close(slope(acceleration, &field, d, velocity, axis), motion.jerk[axis],
                             1e-10 * size * length(velocity) / length(d));
                assert_true(acceleration(&field, d, axis) == motion.a[axis]);
            }
        }
}

/* Independent numbers, by mpmath with 40 digits from the potentials of field.h at
 * d = (0.4, 0.5, -0.3): potential, a. */
static const struct {
    const char *name;
    double potential, a[3];
} known[] = {
    { "point-mass",
      -5.529575028878801,
      { -4.423660023103041, -5.5295750288788009, 3.3177450173272804 } },
    { "plummer",
      -4.2162614322544417,
      { -1.9610518289555544, -2.4513147861944429, 1.4707888717166657 } },
    { "hernquist",
      -2.9913393888528627,
      { -1.2945821395054981, -1.6182276743818726, 0.97093660462912351 } },
    { "nfw",
      -4.3055580022637435,
      { -1.0513748907287046, -1.3142186134108807, 0.78853116804652839 } },
    { "miyamoto-nagai",
      -2.9490600326506294,
      { -0.67105376393175306, -0.83881720491469127, 1.2675433241597146 } },
    { "logarithmic",
      1.1099001739619,
      { -0.89759336099585073, -1.1219917012448134, 1.0518672199170124 } },
    { "harmonic", 0.30425, { -0.48400000000000011, -0.17999999999999999, 1.0829999999999999 } },
    { "uniform", 0.43999999999999999, { 0.20000000000000001, -0.5, 0.90000000000000002 } },
};

static void test_numbers(void **state)
{
    (void)state;
    for (size_t k = 0; k < COUNT_OF(known); k++) {
        const struct field field = field_called(known[k].name);
        const double *const d = places[1];
        assert_close(potential(&field, d, 0), known[k].potential, 4e-16 * fabs(known[k].potential));
        for (int axis = 0; axis < 3; axis++)
            assert_close(acceleration(&field, d, axis), known[k].a[axis],
                         1e-15 * length(known[k].a));
    }
    assert_null(field_variant(COUNT_OF(known)));
}

/* The mass within r of an nfw halo loses no digits as r goes to 0: there a = -G M / (2 b^2). */
static void test_cusp(void **state)
{
    (void)state;
    const struct field field = field_called("nfw");
    const double limit = 0.5 * 1.7 * 2.3 / (0.6 * 0.6);
    for (double r = 1e-3; r > 1e-90; r *= 1e-9) {
        const double d[3] = { r, 0.0, 0.0 }, x = r / 0.6;
        assert_close(-acceleration(&field, d, 0), limit * (1.0 - 4.0 / 3.0 * x + 1.5 * x * x),
                     limit * (1e-15 + 2.0 * x * x * x));
    }
    /* the series and the closed form meet */
    const double below = nextafter(0.06, 0.0), above = nextafter(0.06, 1.0);
    assert_close(acceleration(&field, (const double[]){ below, 0, 0 }, 0),
                 acceleration(&field, (const double[]){ above, 0, 0 }, 0), 1e-13 * limit);
}

static void test_centers_are_no_place(void **state)
{
    (void)state;
    static const double center[3] = { 0.0, 0.0, 0.0 };
    for (size_t k = 0; field_variant(k); k++) {
        const struct field field = field_called(field_variant(k)->name);
        const struct field_motion motion = field_motion(&field, center, velocity);
        const bool uniform = strcmp(field_variant(k)->name, "uniform") == 0;
        for (int axis = 0; axis < 3; axis++)
            assert_true(motion.a[axis] == (uniform ? field.acceleration[axis] : 0.0));
        assert_true(!isfinite(potential(&field, center, 0)) ==
                    (strcmp(field_variant(k)->name, "point-mass") == 0));
    }
}

/* A field keeps exactly the components of which it has no acceleration, or no torque, anywhere. */
static void test_symmetry(void **state)
{
    (void)state;
    for (size_t k = 0; field_variant(k); k++) {
        const struct field field = field_called(field_variant(k)->name);
        for (int axis = 0; axis < 3; axis++) {
            const int p = (axis + 1) % 3, q = (axis + 2) % 3;
            bool pulls = false, turns = false;
            for (size_t at = 0; at < COUNT_OF(places); at++) {
                const double *const d = places[at];
                double a[3];
                for (int i = 0; i < 3; i++)
                    a[i] = acceleration(&field, d, i);
                pulls |= a[axis] != 0.0;
                turns |= fabs(d[p] * a[q] - d[q] * a[p]) > 1e-12 * length(d) * length(a);
            }
            assert_int_equal(field_class_of(field.kind)->keeps_momentum(&field, axis), !pulls);
            assert_int_equal(field_class_of(field.kind)->keeps_angular_momentum(&field, axis),
                             !turns);
        }
    }
    struct field free = field_called("harmonic");
    free.frequencies[0] = free.frequencies[1] = 0.0;
    assert_true(field_class_of(free.kind)->keeps_momentum(&free, 0) &&
                !field_class_of(free.kind)->keeps_momentum(&free, 2));
    assert_true(field_class_of(free.kind)->keeps_angular_momentum(&free, 2));
    struct field round = field_called("logarithmic");
    round.flattening = 1.0;
    assert_true(field_class_of(round.kind)->keeps_angular_momentum(&round, 0));
    struct field down = field_called("uniform");
    down.acceleration[0] = down.acceleration[1] = 0.0;
    assert_true(field_class_of(down.kind)->keeps_angular_momentum(&down, 2) &&
                !field_class_of(down.kind)->keeps_angular_momentum(&down, 0));
}

/* Around a point the tide along the radius is 2 G M / r^3; a uniform field has no time. */
static void test_times(void **state)
{
    (void)state;
    struct field fields[] = { field_called("point-mass") };
    const struct external external = { .count = 1, .fields = fields };
    const double r = 1.5, x[3] = { 0.3, -0.4 + r, 0.2 }, rest[3] = { 0.0, 0.0, 0.0 };
    const double usual = sqrt(r * r * r / (2.0 * 1.7 * 2.3));
    assert_close(external_time(&external, x, rest), usual, 1e-15);
    /* |a| / |jerk| = r / 2 v of one that falls in */
    assert_close(external_time(&external, x, (const double[]){ 0.0, -30.0, 0.0 }), r / 60.0, 1e-15);
    fields[0] = field_called("uniform");
    assert_true(isinf(external_time(&external, x, velocity)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_derivatives), cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_cusp),        cmocka_unit_test(test_centers_are_no_place),
        cmocka_unit_test(test_symmetry),    cmocka_unit_test(test_times),
    };
    return cmocka_run_group_tests_name("external", tests, NULL, NULL);
}
