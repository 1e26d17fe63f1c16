/* Bound pairs against closed forms, and what is bound in a system against sums over all pairs. */
#include "unit.h"

#include <gsl/gsl_rng.h>
#include <string.h>

#include "diagnostics/diagnostic.h"
#include "model/kepler.h"
#include "observe.h"
#include "sample.h"
#include "space/time-scales.h"

static const double G = 1.7;

static double value(const struct bench *bench, const char *column)
{
    return rows_value(&bench->rows, 0, column);
}

/* Two bodies about a centre with this motion; x and v: relative, the second seen from the first. */
static void put_pair(struct scene *scene, size_t i, const double m[2], const double center[3],
                     const double motion[3], const double x[3], const double v[3])
{
    for (int member = 0; member < 2; member++) {
        const double share = (member ? m[0] : -m[1]) / (m[0] + m[1]);
        double place[3], velocity[3];
        for (int k = 0; k < 3; k++) {
            place[k] = center[k] + share * x[k];
            velocity[k] = motion[k] + share * v[k];
        }
        scene_body(scene, 0, i + (size_t)member, m[member], place, velocity);
    }
}

static const double masses[2] = { 1.3, 0.7 }, far_away[3] = { 5.1, -3.2, 0.4 },
                    moving[3] = { 0.3, 0.21, -0.6 };

/* One binary of given elements and three single bodies: kT, energies and elements by hand. */
static void test_a_binary_of_given_elements(void **state)
{
    (void)state;
    struct bench bench = { .scene = scene_create(1, 5, G, 0.0) };
    const struct elements elements = { 0.0312, 0.427, 31.0, 77.0, 123.0, 211.0 };
    double x[3], v[3];
    elements_state(&elements, G * 2.0, 0.0, x, v);
    scene_body(&bench.scene, 0, 0, 0.9, (double[]){ 0, 0, 0 }, (double[]){ 1.1, 0, 0 });
    put_pair(&bench.scene, 1, masses, far_away, moving, x, v);
    scene_body(&bench.scene, 0, 3, 0.4, (double[]){ 9, 0, 1 }, (double[]){ 0, -2.2, 0 });
    scene_body(&bench.scene, 0, 4, 0.0, (double[]){ -4, 8, 1 }, (double[]){ 7, 7, 7 });
    bench_measure(&bench, "type = \"binaries\";", true);

    /* Three bodies with mass, the pair being one of them: K about the centre of mass. */
    const double m[3] = { 0.9, 2.0, 0.4 },
                 u[3][3] = { { 1.1, 0, 0 }, { 0.3, 0.21, -0.6 }, { 0, -2.2, 0 } };
    double kinetic = 0;
    for (int k = 0; k < 3; k++) {
        const double mean = (m[0] * u[0][k] + m[1] * u[1][k] + m[2] * u[2][k]) / 3.3;
        for (int i = 0; i < 3; i++)
            kinetic += 0.5 * m[i] * pow(u[i][k] - mean, 2);
    }
    const double kT = 2.0 / 3 * kinetic / 3, binding = G * 1.3 * 0.7 / (2 * 0.0312);
    assert_close(value(&bench, "bound_pairs"), 1, 0);
    assert_close(value(&bench, "hard_pairs"), 1, 0);
    assert_close(value(&bench, "kt"), kT, 1e-14);
    assert_close(value(&bench, "binding_energy"), binding, 1e-11 * binding);
    assert_close(value(&bench, "binding_energy_kt"), binding / kT, 1e-11 * binding / kT);
    const double energy = fabs(conserved_internal_energy(&bench.scene.conserved[0]));
    assert_close(value(&bench, "binding_energy_fraction"), binding / energy, 1e-11);
    assert_close(value(&bench, "hardest_id_1"), 2, 0);
    assert_close(value(&bench, "hardest_id_2"), 3, 0);
    assert_close(value(&bench, "hardest_semi_major_axis"), 0.0312, 1e-12);
    assert_close(value(&bench, "hardest_eccentricity"), 0.427, 1e-11);
    assert_close(value(&bench, "hardest_energy_kt"), binding / kT, 1e-11 * binding / kT);
    bench_clear(&bench);
    scene_destroy(&bench.scene);
}

/* With a softening, from one turning point r1 to the other r2: L and E are the same at both, so
 * v1^2 (1 - r1^2 / r2^2) = 2 G m (1 / s1 - 1 / s2), s^2 = r^2 + eps^2. */
static void test_a_softened_binary(void **state)
{
    (void)state;
    const double eps = 0.11, r1 = 0.2, r2 = 0.5, m = 2.0;
    const double s1 = sqrt(r1 * r1 + eps * eps), s2 = sqrt(r2 * r2 + eps * eps);
    const double v2 = 2 * G * m * (1 / s1 - 1 / s2) / (1 - r1 * r1 / (r2 * r2));
    struct bench bench = { .scene = scene_create(1, 2, G, eps) };
    put_pair(&bench.scene, 0, masses, far_away, moving, (double[]){ 0, r1, 0 },
             (double[]){ 0, 0, sqrt(v2) });
    bench_measure(&bench, "type = \"binaries\";", true);
    const double binding = 1.3 * 0.7 / m * (G * m / s1 - v2 / 2);
    assert_close(value(&bench, "binding_energy"), binding, 1e-13);
    assert_close(value(&bench, "hardest_semi_major_axis"), 0.5 * (r1 + r2), 1e-12);
    assert_close(value(&bench, "hardest_eccentricity"), (r2 - r1) / (r1 + r2), 1e-12);
    /* Two bodies that are one: their temperature means nothing. */
    assert_true(isnan(value(&bench, "kt")) && isnan(value(&bench, "hard_pairs")) &&
                isnan(value(&bench, "hardest_energy_kt")));
    bench_clear(&bench);
    scene_destroy(&bench.scene);
}

/* Tests which pairs are bound: the inner pair of a hierarchical triple; none in a fast passage;
 * nor one with a third body between. The hardest of two is the second here. */
static void test_which_pairs_are_bound(void **state)
{
    (void)state;
    const double origin[3] = { 0 }, along[3] = { 0.1, 0, 0 };
    const double circle = sqrt(G * 2.0 / 0.1), fast = 1.001 * sqrt(2.0) * circle;
    struct bench bench = { .scene = scene_create(1, 5, G, 0.0) };
    put_pair(&bench.scene, 0, masses, origin, origin, along, (double[]){ 0, circle, 0 });
    scene_body(&bench.scene, 0, 2, 0.5, (double[]){ 0, 1, 0 }, (double[]){ -1.8, 0, 0 });
    put_pair(&bench.scene, 3, masses, far_away, moving, along, (double[]){ 0, fast, 0 });
    bench_measure(&bench, "type = \"binaries\";", true);
    assert_close(value(&bench, "bound_pairs"), 1, 0);
    assert_close(value(&bench, "hardest_id_1"), 1, 0);
    assert_close(value(&bench, "hardest_semi_major_axis"), 0.1, 1e-12);
    bench_clear(&bench);
    /* The other pair at 0.999 of its speed of escape: bound, and soft beside the first. */
    put_pair(&bench.scene, 3, masses, far_away, moving, along,
             (double[]){ 0, 0.999 * sqrt(2.0) * circle, 0 });
    bench_measure(&bench, "type = \"binaries\";", true);
    assert_close(value(&bench, "bound_pairs"), 2, 0);
    assert_close(value(&bench, "hard_pairs"), 1, 0);
    assert_close(value(&bench, "hardest_id_1"), 1, 0);
    bench_clear(&bench);
    /* The third body passes between the first two. */
    scene_body(&bench.scene, 0, 2, 0.5, (double[]){ 0.012, 0.01, 0 }, (double[]){ 50, 0, 0 });
    bench_measure(&bench, "type = \"binaries\";", true);
    assert_close(value(&bench, "hardest_id_1"), 4, 0);
    assert_close(value(&bench, "bound_pairs"), 1, 0);
    bench_clear(&bench);
    for (size_t i = 0; i < 5; i++)
        bench.scene.bodies->vx[i] = 1e3 * (double)i;
    bench_measure(&bench, "type = \"binaries\";", true);
    assert_close(value(&bench, "bound_pairs"), 0, 0);
    assert_close(value(&bench, "binding_energy_kt"), 0, 0);
    assert_true(isnan(value(&bench, "hardest_id_1")) &&
                isnan(value(&bench, "hardest_eccentricity")));
    bench_clear(&bench);
    scene_destroy(&bench.scene);
}

/* A cool crowd: the same pairs as by looking at all of them, in the second of two systems too. */
static void test_pairs_of_a_crowd(void **state)
{
    (void)state;
    enum { N = 700 };
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    struct bench bench = { .scene = scene_create(2, N, G, 0.003) };
    struct bodies *const b = bench.scene.bodies;
    for (size_t s = 0; s < 2; s++)
        sample_plummer(b, s, 0.6, random);
    for (size_t i = 0; i < bodies_length(b); i++)
        b->vx[i] = 0.15 * (gsl_rng_uniform(random) - 0.5);
    bench_measure(&bench, "type = \"binaries\";", true);
    assert_int_equal(bench.rows.count, 2);
    for (size_t s = 0; s < 2; s++) {
        const size_t first = s * b->stride;
        size_t nearest[N], pairs = 0;
        double sum = 0, s2[N];
        for (size_t i = 0; i < N; i++) {
            s2[i] = INFINITY;
            for (size_t j = 0; j < N; j++) {
                const double d2 = pow(b->x[first + j] - b->x[first + i], 2) +
                                  pow(b->y[first + j] - b->y[first + i], 2) +
                                  pow(b->z[first + j] - b->z[first + i], 2) + 0.003 * 0.003;
                if (j != i && d2 < s2[i])
                    s2[i] = d2, nearest[i] = j;
            }
        }
        for (size_t i = 0; i < N; i++) {
            const size_t j = nearest[i];
            const double mi = b->m[first + i], mj = b->m[first + j];
            const double dv = b->vx[first + j] - b->vx[first + i];
            const double e = 0.5 * dv * dv - G * (mi + mj) / sqrt(s2[i]);
            pairs += i < j && nearest[j] == i && e < 0;
            sum -= i < j && nearest[j] == i && e < 0 ? mi * mj / (mi + mj) * e : 0;
        }
        assert_true(pairs > 50 && pairs < N / 3);
        assert_close(rows_value(&bench.rows, s, "bound_pairs"), (double)pairs, 0);
        assert_close(rows_value(&bench.rows, s, "binding_energy"), sum, 1e-13 * sum);
    }
    gsl_rng_free(random);
    bench_clear(&bench);
    scene_destroy(&bench.scene);
}

/* Speeds of a sphere of Plummer's density whose scale is a, half of them in each of two senses: no
 * equilibrium, and bound by a third of the speed of escape. */
static void set_plummer(struct scene *scene, size_t count, double a, gsl_rng *random)
{
    struct bodies *const b = scene->bodies;
    for (size_t i = 0; i < count; i++) {
        sample_set(b, i, 1.0 / (double)count,
                   sample_plummer_radius(a, 0.999 * gsl_rng_uniform_pos(random)), random);
        const double r2 = b->x[i] * b->x[i] + b->y[i] * b->y[i] + b->z[i] * b->z[i];
        gsl_ran_dir_3d(random, &b->vx[i], &b->vy[i], &b->vz[i]);
        const double v = sqrt(2 * G / sqrt(r2 + a * a)) / 3;
        b->vx[i] = v * b->vx[i] + 11, b->vy[i] *= v, b->vz[i] *= v;
    }
}

/* K and W of the first `count` bodies alone, by all pairs. */
static double alone(const struct bodies *b, size_t count, double eps)
{
    double K = 0, W = 0, V[3] = { 0 }, M = 0;
    for (size_t i = 0; i < count; i++) {
        M += b->m[i];
        V[0] += b->m[i] * b->vx[i], V[1] += b->m[i] * b->vy[i], V[2] += b->m[i] * b->vz[i];
    }
    for (size_t i = 0; i < count; i++) {
        K += 0.5 * b->m[i] *
             (pow(b->vx[i] - V[0] / M, 2) + pow(b->vy[i] - V[1] / M, 2) +
              pow(b->vz[i] - V[2] / M, 2));
        for (size_t j = 0; j < i; j++) {
            const double r2 =
                pow(b->x[i] - b->x[j], 2) + pow(b->y[i] - b->y[j], 2) + pow(b->z[i] - b->z[j], 2);
            W -= G * b->m[i] * b->m[j] * r2 / pow(r2 + eps * eps, 1.5);
        }
    }
    return 2 * K / fabs(W);
}

/* A cluster that moves as a whole; a tenth of its mass and a hard binary are shot out of it to one
 * side, so that the frame of all is not that of the bound bodies. The
 * softening keeps the cluster itself free of pairs whose energies would count. */
static void test_what_is_shot_out_of_a_cluster(void **state)
{
    (void)state;
    enum { N = 1500, OUT = 150 };
    const double a = 0.6, eps = 0.2;
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    struct bench bench = { .scene = scene_create(1, N + OUT + 2, G, eps) };
    set_plummer(&bench.scene, N, a, random);
    for (size_t i = N; i < N + OUT; i++) {
        double x[3], v[3];
        gsl_ran_dir_3d(random, &v[0], &v[1], &v[2]);
        const double r = 3 * gsl_rng_uniform(random);
        for (int k = 0; k < 3; k++)
            x[k] = r * v[k], v[k] = k == 0 ? 11 + 9 : 0;
        scene_body(&bench.scene, 0, i, 1.0 / N, x, v);
    }
    /* Its own potential, -G m / 2 s = -0.4, would bind the pair: 1/2 v^2 = 0.1, G M / r = 0.06. */
    const double mass[2] = { 0.05, 0.05 }, out[3] = { 30, 0, 0 }, speed[3] = { 11.45, 0, 0 };
    put_pair(&bench.scene, N + OUT, mass, out, speed, (double[]){ 0, 1e-3, 0 },
             (double[]){ 0, 0, 0.1 });
    bench_measure(&bench, "type = \"escapers\";", true);
    assert_close(value(&bench, "bound"), N, 0);
    assert_close(value(&bench, "unbound"), OUT + 2, 0);
    assert_close(value(&bench, "bound_mass"), 1, 1e-12);
    assert_close(value(&bench, "unbound_mass"), 0.2, 1e-12);
    /* physics.md; dM/dr of Plummer's sphere as in diagnostic-structure; 0.1 % are cut off. */
    const double r = a / sqrt(pow(0.5 * 0.999, -2.0 / 3) - 1);
    const double slope = 3 * r * r / (a * a * a) * pow(1 + r * r / (a * a), -2.5);
    assert_close(value(&bench, "bound_radius_50"), r, 4 * sqrt(0.25 / N) / slope);
    /* Pairs of neighbours with binding energies below kT / 1000 are merged: 1e-3 of K. What is
     * unbound was 7 % of W. */
    const double ratio = alone(bench.scene.bodies, N, eps);
    assert_close(value(&bench, "bound_virial_ratio") / ratio, 1, 0.01);
    gsl_rng_free(random);
    bench_clear(&bench);
    scene_destroy(&bench.scene);
}

/* Two bodies and three: a pair alone, a pair whose third body leaves by its orbit's energy or does
 * not, bodies that fly apart, a star with bodies without mass. */
static void test_few_bodies(void **state)
{
    (void)state;
    const double zero[3] = { 0 }, along[3] = { 0.1, 0, 0 }, turning[3] = { 0, 5, 0 };
    struct bench bench = { .scene = scene_create(1, 3, G, 0.0) };
    for (int leaves = 0; leaves < 2; leaves++) {
        /* 1/2 v^2 against G 3.7 / 40, the pair as a point: its quadrupole is 1e-5 of that. */
        const double v = sqrt(2 * G * 3.7 / 40) * (leaves ? 1.001 : 0.999);
        put_pair(&bench.scene, 0, masses, zero, moving, along, turning);
        scene_body(&bench.scene, 0, 2, 1.7, (double[]){ 0, 40, 0 },
                   (double[]){ moving[0], moving[1] + v, moving[2] });
        bench_measure(&bench, "type = \"escapers\";", true);
        assert_close(value(&bench, "bound"), leaves ? 2 : 3, 0);
        assert_close(value(&bench, "bound_mass"), leaves ? 2 : 3.7, 1e-14);
        assert_close(value(&bench, "unbound"), leaves ? 1 : 0, 0);
        /* 2 K = m R v^2 / (m + R) and W = -G m R / 40 of the two that the pair makes of three. */
        if (leaves)
            assert_true(isnan(value(&bench, "bound_virial_ratio")));
        else
            assert_close(value(&bench, "bound_virial_ratio"), 2 * 0.999 * 0.999, 1e-4);
        bench_clear(&bench);
    }
    for (size_t i = 0; i < 3; i++)
        bench.scene.bodies->vz[i] = 100.0 * (double)i;
    bench_measure(&bench, "type = \"escapers\";", true);
    assert_close(value(&bench, "bound"), 0, 0);
    assert_close(value(&bench, "unbound_mass"), 3.7, 1e-14);
    assert_true(isnan(value(&bench, "bound_radius_50")));
    bench_clear(&bench);
    scene_body(&bench.scene, 0, 0, 2.0, zero, moving);
    for (size_t i = 1; i < 3; i++) /* above and below the speed of escape */
        scene_body(&bench.scene, 0, i, 0.0, (double[]){ (double)i, 0, 0 },
                   (double[]){ moving[0],
                               moving[1] + (i == 1 ? 0.99 : 1.01) * sqrt(2 * G * 2.0 / (double)i),
                               moving[2] });
    bench_measure(&bench, "type = \"escapers\";", true);
    assert_close(value(&bench, "bound"), 2, 0);
    assert_close(value(&bench, "unbound"), 1, 0);
    assert_close(value(&bench, "unbound_mass"), 0, 0);
    bench_clear(&bench);
    scene_destroy(&bench.scene);
    bench.scene = scene_create(1, 2, G, 0.0);
    put_pair(&bench.scene, 0, masses, far_away, moving, along, turning);
    bench_measure(&bench, "type = \"escapers\";", true);
    assert_close(value(&bench, "bound"), 2, 0);
    bench_clear(&bench);
    scene_destroy(&bench.scene);
}

static struct time_scales scales_of(struct scene *scene)
{
    struct error error = { 0 };
    struct time_scales_structure structure;
    scene_moment(scene, 0, 0.01, true);
    assert_int_equal(time_scales_structure(&scene->physics, scene->bodies, 0, &structure, &error),
                     STATUS_OK);
    return time_scales(&scene->physics, &structure, scene->conserved);
}

/* Bodies of one speed, so that 2 K = |W|; and again with hard binaries, where
 * the energies of the pairs must not count. N = 60 centres; r_h is the radius of the 30th. */
static void test_crossing_and_relaxation_time(void **state)
{
    (void)state;
    enum { N = 60 };
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    double x[N][3], v[N][3], crossing = 0, relaxation = 0;
    struct scene scene = scene_create(1, N, G, 0.0);
    for (size_t i = 0; i < N; i++) { /* shells, each with a body and its opposite */
        gsl_ran_dir_3d(random, &x[i][0], &x[i][1], &x[i][2]);
        gsl_ran_dir_3d(random, &v[i][0], &v[i][1], &v[i][2]);
        for (int k = 0; k < 3; k++) {
            x[i][k] = i % 2 ? -x[i - 1][k] : x[i][k] * (1 + 0.1 * (double)i);
            v[i][k] = i % 2 ? -v[i - 1][k] : v[i][k];
        }
        scene_body(&scene, 0, i, 1.0 / N, x[i], (double[]){ 0, 0, 0 });
    }
    scene_moment(&scene, 0, 0.01, true);
    const double U = scene.conserved[0].potential, speed = sqrt(fabs(U));
    for (size_t i = 0; i < N; i++)
        scene_body(
            &scene, 0, i, 1.0 / N, x[i],
            (double[]){ 0.6 * speed * v[i][0], 0.6 * speed * v[i][1], 0.6 * speed * v[i][2] });
    assert_false(isnan(scales_of(&scene).crossing)); /* cool, 2 K = 0.36 |W|: no equilibrium */
    assert_true(isnan(scales_of(&scene).relaxation));
    for (size_t i = 0; i < N; i++)
        scene_body(&scene, 0, i, 1.0 / N, x[i],
                   (double[]){ 7 + speed * v[i][0], speed * v[i][1], speed * v[i][2] });
    crossing = G / pow(fabs(U), 1.5); /* E = U / 2 */
    relaxation = 0.138 * N * sqrt(pow(1 + 0.1 * 28, 3) / G) / log(0.11 * N);
    assert_close(scales_of(&scene).crossing, crossing, 1e-11 * crossing);
    assert_close(scales_of(&scene).relaxation, relaxation, 1e-11 * relaxation);
    scene.bodies->m[3] *= 20; /* a fifth of all mass: no cluster */
    assert_true(isnan(scales_of(&scene).crossing));
    scene.bodies->m[3] /= 20;
    for (size_t i = 0; i < N; i++)
        scene.bodies->vx[i] = 7 + 3 * speed * v[i][0];
    assert_true(isnan(scales_of(&scene).crossing)); /* not bound */
    scene.physics.boundary = BOUNDARY_PERIODIC;
    scene.physics.box_length = 100;
    assert_true(isnan(scales_of(&scene).crossing));
    scene_destroy(&scene);

    scene = scene_create(1, 2 * N, G, 0.0);
    const double members[2] = { 0.5 / N, 0.5 / N }, d = 1e-5;
    for (size_t i = 0; i < N; i++)
        put_pair(&scene, 2 * i, members, x[i],
                 (double[]){ speed * v[i][0], speed * v[i][1], speed * v[i][2] },
                 (double[]){ d, 0, 0 }, (double[]){ 0, sqrt(G / N / d), 0 });
    assert_close(scales_of(&scene).crossing, crossing, 1e-6 * crossing);
    assert_close(scales_of(&scene).relaxation, relaxation, 1e-4 * relaxation);
    scene_destroy(&scene);
    scene = scene_create(1, 2, G, 0.0);
    put_pair(&scene, 0, masses, far_away, moving, (double[]){ 1, 0, 0 }, (double[]){ 0, 1, 0 });
    assert_true(isnan(scales_of(&scene).crossing));
    scene_destroy(&scene);
    gsl_rng_free(random);
}

static void test_open_space_only(void **state)
{
    (void)state;
    static const struct diagnostic_class *const classes[] = { &diagnostic_binaries,
                                                              &diagnostic_escapers };
    struct scene scene = scene_create(1, 10, 1.0, 0.0);
    scene_moment(&scene, 0, 0.01, false);
    scene.physics.boundary = BOUNDARY_PERIODIC;
    scene.physics.box_length = 1.0;
    for (size_t k = 0; k < COUNT_OF(classes); k++) {
        char text[64];
        snprintf(text, sizeof text, "type = \"%s\";", classes[k]->variant.name);
        struct config *config = config_of(text);
        struct error error = { 0 };
        struct diagnostic *diagnostic;
        assert_int_equal(diagnostic_create_as(classes[k], config_item(config, "diagnostics", 0),
                                              &scene.moment, &diagnostic, &error),
                         STATUS_CONFIG);
        assert_null(diagnostic);
        assert_non_null(strstr(error.text, "needs physics.boundary = \"open\""));
        config_free(config);
    }
    scene_destroy(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_binary_of_given_elements),
        cmocka_unit_test(test_a_softened_binary),
        cmocka_unit_test(test_which_pairs_are_bound),
        cmocka_unit_test(test_pairs_of_a_crowd),
        cmocka_unit_test(test_what_is_shot_out_of_a_cluster),
        cmocka_unit_test(test_few_bodies),
        cmocka_unit_test(test_crossing_and_relaxation_time),
        cmocka_unit_test(test_open_space_only),
    };
    return cmocka_run_group_tests_name("diagnostic-binaries", tests, NULL, NULL);
}
