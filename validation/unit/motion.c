/* Tests what physics demands of integrators, on the reference backend and on the fast one. */
#include "unit.h"

#include <float.h>
#include <gsl/gsl_fit.h>

#include "backend/backend.h"
#include "base/memory.h"
#include "motion-case.h"

static const struct physics kepler = { .gravitational_constant = 1 };
static const struct physics soft = { .gravitational_constant = 1, .softening = 0.1 };
static const double PERIOD = 2 * M_PI; /* of motion_orbit() */

static struct backend *start(const char *name, const struct physics *physics, struct bodies *bodies)
{
    static struct error error;
    const struct backend_options options = { .force = { .kernel = "auto", .isa = "auto" } };
    struct backend *backend;
    if (backend_find(name)->create(&options, physics, bodies, &backend, &error))
        fail_msg("%s", error.text);
    return backend;
}

static void advance(struct backend *backend, const struct integrator *integrator, double dt,
                    uint64_t steps)
{
    static struct error error;
    if (backend->class_->advance(backend, integrator, dt, steps, &error))
        fail_msg("%s", error.text);
}

static struct conserved measure(struct backend *backend)
{
    static struct error error;
    struct conserved conserved;
    assert_int_equal(backend->class_->conserved(backend, &conserved, &error), STATUS_OK);
    return conserved;
}

static double energy(struct backend *backend)
{
    const struct conserved now = measure(backend);
    return now.kinetic + now.potential;
}

static void stop(struct backend *backend)
{
    backend->class_->destroy(backend);
}

/* max |dE/E0| over `periods` of an orbit of eccentricity 0.5 in `steps` steps each. */
static double worst_energy_error(const struct integrator *integrator, int steps, int periods)
{
    struct bodies *bodies = motion_orbit(0.3, 0.5);
    struct backend *backend = start("serial", &kepler, bodies);
    const double E0 = energy(backend);
    double worst = 0;
    for (int k = 0; k < steps * periods; k++) {
        advance(backend, integrator, PERIOD / steps, 1);
        worst = fmax(worst, fabs((energy(backend) - E0) / E0));
    }
    stop(backend);
    bodies_destroy(bodies);
    return worst;
}

/*
 * The slope of log max |dE/E0| against log dt is the order. Each integrator is given the range of
 * steps where its leading error term rules: below it, rounding does (1e-14); above it, the next
 * term bends the slope, by less than 0.05 here.
 */
static void test_observed_orders(void **state)
{
    (void)state;
    const struct {
        const char *name;
        int steps; /* a period, at the coarsest; three halvings follow */
    } ranges[] = {
        { "euler", 20000 },         { "semi-implicit-euler", 2000 },
        { "velocity-verlet", 400 }, { "leapfrog-dkd", 400 },
        { "yoshida4", 400 },        { "pefrl", 200 },
        { "yoshida6", 120 },        { "rk4", 1000 },
    };
    for (size_t k = 0; integrator_has_stages(integrator_at(k)); k++) {
        const struct integrator *integrator = integrator_at(k);
        int coarsest = 0;
        for (size_t r = 0; r < COUNT_OF(ranges); r++)
            if (integrator_find(ranges[r].name) == integrator)
                coarsest = ranges[r].steps;
        if (coarsest == 0)
            fail_msg("the table `ranges` of this test has no \"%s\"", integrator->variant.name);
        double log_dt[4], log_error[4], intercept, slope, covariance[3], residual;
        for (int h = 0; h < 4; h++) {
            log_dt[h] = -log(coarsest << h);
            log_error[h] = log(worst_energy_error(integrator, coarsest << h, 1));
        }
        gsl_fit_linear(log_dt, 1, log_error, 1, 4, &intercept, &slope, &covariance[0],
                       &covariance[1], &covariance[2], &residual);
        printf("# %s: order %.3f, %.2g to %.2g\n", integrator->variant.name, slope,
               exp(log_error[0]), exp(log_error[3]));
        assert_close(slope, integrator->order, 0.05);
    }
}

/*
 * Tests the promise of passage_steps: with this number of steps of the period at the pericentre, 2
 * pi (1 - e)^1.5, the energy changes by 1e-4 of the depth m1 m2 / (1 - e) there on the way to the
 * apocentre. A method that drifts loses half of it there, since it begins in the middle of the
 * passage; the rest of the tolerance is for the rows' two digits and for the higher orders.
 */
static void test_passages_err_as_the_rows_say(void **state)
{
    (void)state;
    const double e = 0.9, m = 0.3;
    for (size_t k = 0; integrator_has_stages(integrator_at(k)); k++) {
        const struct integrator *integrator = integrator_at(k);
        const double dt = PERIOD * pow(1 - e, 1.5) / integrator->passage_steps;
        struct bodies *bodies = motion_orbit(m, e);
        struct backend *backend = start("serial", &kepler, bodies);
        const double E0 = energy(backend);
        double worst = 0;
        for (double t = 0; t < 0.5 * PERIOD; t += dt) {
            advance(backend, integrator, dt, 1);
            worst = fmax(worst, fabs(energy(backend) - E0));
        }
        const double error = worst / (m * (1 - m) / (1 - e));
        printf("# %s: %.2g with %g steps\n", integrator->variant.name, error,
               integrator->passage_steps);
        assert_in_range(1e6 * error, 0.4 * 1e6 * INTEGRATOR_PASSAGE_ERROR,
                        1.6 * 1e6 * INTEGRATOR_PASSAGE_ERROR);
        assert_close(integrator_steps_for(integrator, INTEGRATOR_PASSAGE_ERROR),
                     integrator->passage_steps, 1e-9 * integrator->passage_steps);
        stop(backend);
        bodies_destroy(bodies);
    }
}

/* Forwards, velocities turned round, and as many steps again: back to the start but for rounding,
 * which grows like the number of steps on a regular orbit. */
static void test_reversible_integrators_find_back(void **state)
{
    (void)state;
    const int steps = 2000;
    for (size_t k = 0; integrator_has_stages(integrator_at(k)); k++) {
        const struct integrator *integrator = integrator_at(k);
        struct bodies *bodies = motion_orbit(0.3, 0.5), *origin = motion_orbit(0.3, 0.5);
        struct backend *backend = start("openmp", &soft, bodies);
        double apart = 0;
        for (int way = 0; way < 2; way++) {
            advance(backend, integrator, 0.01, steps);
            for (size_t i = 0; i < 2; i++) {
                bodies->vx[i] = -bodies->vx[i];
                bodies->vy[i] = -bodies->vy[i];
            }
        }
        for (size_t i = 0; i < 2; i++)
            apart = fmax(apart, hypot(bodies->x[i] - origin->x[i], bodies->y[i] - origin->y[i]));
        printf("# %s: %.2g\n", integrator->variant.name, apart);
        if (integrator->reversible)
            assert_true(apart < 1e-11); /* 4000 steps of 1e-16, growing by the shear of orbits */
        else
            assert_true(apart > 1e-8); /* rk4: 2e-7; the errors of two ways do not cancel */
        stop(backend);
        bodies_destroy(bodies);
        bodies_destroy(origin);
    }
}

/* Computes the relative orbit of motion_orbit() at mean anomaly M, by Kepler's equation. */
static void kepler_position(double M, double e, double position[2])
{
    double E = M;
    for (int k = 0; k < 50; k++) /* Newton's method; converges for e = 0.5 from any M */
        E -= (E - e * sin(E) - M) / (1 - e * cos(E));
    position[0] = cos(E) - e;
    position[1] = sqrt(1 - e * e) * sin(E);
}

/* The distance of the relative position from the analytic one after 2.37 periods. */
static double position_error(const char *integrator, int steps)
{
    const double time = 2.37 * PERIOD, e = 0.5;
    struct bodies *b = motion_orbit(0.3, e);
    struct backend *backend = start("openmp", &kepler, b);
    advance(backend, integrator_find(integrator), time / steps, (uint64_t)steps);
    double expected[2];
    kepler_position(time, e, expected);
    const double error = hypot(b->x[1] - b->x[0] - expected[0], b->y[1] - b->y[0] - expected[1]);
    stop(backend);
    bodies_destroy(b);
    return error;
}

static void test_the_orbit_is_keplers(void **state)
{
    (void)state;
    /* 4000 steps of order 6 leave rounding only: 4000 x 7 forces x 1e-16, sheared by 3 pi t / T. */
    assert_true(position_error("yoshida6", 4000) < 1e-10);
    /* Halving dt divides the error of a method of order p by 2^p, and next order by more. */
    assert_close(position_error("velocity-verlet", 4000) / position_error("velocity-verlet", 8000),
                 4, 0.05);
    assert_close(position_error("yoshida4", 1000) / position_error("yoshida4", 2000), 16, 1.5);
}

/*
 * A circular orbit of frequency w by leapfrog from v = w r: the discrete circle of radius r has
 * sin(w' dt / 2) = w dt / 2 and needs the speed w r (1 - (w dt)^2 / 8), so the orbit is larger by
 * (w dt)^2 / 4 and runs with w (1 - (w dt)^2 / 3), to this order. The radius only oscillates.
 */
static void test_leapfrog_errs_along_the_track(void **state)
{
    (void)state;
    const char *const names[] = { "velocity-verlet", "leapfrog-dkd" };
    for (size_t n = 0; n < COUNT_OF(names); n++) {
        struct bodies *b = motion_orbit(0.3, 0);
        struct backend *backend = start("serial", &kepler, b);
        const double dt = PERIOD / 500; /* w = 1 */
        for (int k = 1; k <= 2; k++) {
            advance(backend, integrator_find(names[n]), dt, 5000); /* 10 periods */
            const double x = b->x[1] - b->x[0], y = b->y[1] - b->y[0];
            const double late = dt * dt / 3 * 10 * k * PERIOD;
            assert_close(atan2(y, x), -late, 1e-3 * late);       /* next order: dt^2 of it, 2e-4 */
            assert_true(fabs(hypot(x, y) - 1) <= 0.6 * dt * dt); /* 1 to 1 + 2 dt^2 / 4 */
        }
        stop(backend);
        bodies_destroy(b);
    }
}

/* Chenciner & Montgomery 2000; the published digits of the start close the curve to some 1e-7. */
static void test_the_figure_eight_closes(void **state)
{
    (void)state;
    struct bodies *b = motion_bodies(1, 3);
    motion_set(b, 0, 1, (double[]){ 0.97000436, -0.24308753, 0 },
               (double[]){ 0.466203685, 0.43236573, 0 });
    motion_set(b, 1, 1, (double[]){ -0.97000436, 0.24308753, 0 },
               (double[]){ 0.466203685, 0.43236573, 0 });
    motion_set(b, 2, 1, (double[]){ 0, 0, 0 }, (double[]){ -0.93240737, -0.86473146, 0 });
    struct backend *backend = start("openmp", &kepler, b);
    const struct conserved before = measure(backend);
    assert_close(before.kinetic + before.potential, -1.287141992, 1e-8); /* the digits given */
    assert_close(before.potential, -2.5, 1e-7);
    const int steps = 4000;
    advance(backend, integrator_find("yoshida6"), 6.32591398 / steps, steps);
    const double closure = hypot(b->x[0] - 0.97000436, b->y[0] + 0.24308753) +
                           hypot(b->x[1] + 0.97000436, b->y[1] - 0.24308753) +
                           hypot(b->x[2], b->y[2]);
    printf("# closure %.3g\n", closure);
    assert_true(closure < 5e-7);
    const struct conserved after = measure(backend);
    assert_close(after.angular_momentum[2], 0, 1e-13);
    stop(backend);
    bodies_destroy(b);
}

/* Explicit Euler always steps along the tangent, outwards, and the orbit spirals; with the new
 * velocity in the drift the step is symplectic, and the energy only oscillates. */
static void test_euler_gains_energy_and_semi_implicit_does_not(void **state)
{
    (void)state;
    const double dt = PERIOD / 1000;
    double error[2][2], distance[2], L[2], L0 = 0;
    const char *const names[] = { "euler", "semi-implicit-euler" };
    for (int n = 0; n < 2; n++) {
        struct bodies *b = motion_orbit(0.3, 0.5);
        struct backend *backend = start("openmp", &soft, b);
        const double E0 = energy(backend);
        L0 = measure(backend).angular_momentum[2];
        for (int part = 0; part < 2; part++) {
            advance(backend, integrator_find(names[n]), dt, 10000); /* 10 periods */
            error[n][part] = (energy(backend) - E0) / fabs(E0);
        }
        distance[n] = hypot(b->x[1] - b->x[0], b->y[1] - b->y[0]);
        L[n] = measure(backend).angular_momentum[2];
        stop(backend);
        bodies_destroy(b);
    }
    printf("# dE/E0 %.3g %.3g; %.3g %.3g; r %.3g %.3g\n", error[0][0], error[0][1], error[1][0],
           error[1][1], distance[0], distance[1]);
    assert_true(error[0][0] > 0.1 && error[0][1] > error[0][0]);
    assert_true(fabs(error[1][0]) < 0.02 && fabs(error[1][1]) < 0.02);
    /* r x v is kept by kicks along r and by drifts along v: to rounding. */
    assert_close(L[1], L0, 1e-12);
    assert_true(L[0] > 1.05 * L0);
    assert_true(distance[1] < 1.6 && distance[0] > 1.6); /* the apocentre is at 1.5 */
}

/* On a circle every step of explicit Euler adds h^2 m v^2 w^2 to the energy: 4 pi w h |E| a turn.
 */
static void test_euler_gains_what_theory_says(void **state)
{
    (void)state;
    struct bodies *b = motion_orbit(0.3, 0);
    struct backend *backend = start("serial", &kepler, b);
    const int steps = 20000;
    const double E0 = energy(backend);
    advance(backend, integrator_find("euler"), PERIOD / steps, steps);
    const double expected = 4 * M_PI * PERIOD / steps;
    /* To first order: the orbit grows on the way by half of this 0.4 %, and slows. */
    assert_close((energy(backend) - E0) / fabs(E0), expected, 2 * expected * expected);
    stop(backend);
    bodies_destroy(b);
}

static void test_momentum_and_angular_momentum_are_conserved(void **state)
{
    (void)state;
    const char *const hosts[] = { "serial", "openmp" };
    for (size_t h = 0; h < COUNT_OF(hosts); h++)
        for (size_t k = 0; integrator_has_stages(integrator_at(k)); k++) {
            struct bodies *bodies = motion_cube(1, 100, 3);
            struct backend *backend = start(hosts[h], &soft, bodies);
            const struct conserved before = measure(backend);
            advance(backend, integrator_at(k), 0.01, 50);
            const struct conserved after = measure(backend);
            /* 50 x 7 kicks of 100 bodies with forces that cancel to 1e-15 of their sizes. */
            for (int axis = 0; axis < 3; axis++)
                assert_close(after.momentum[axis], before.momentum[axis], 1e-14);
            if (integrator_at(k)->symplectic)
                assert_close(after.angular_momentum[1], before.angular_momentum[1], 1e-14);
            stop(backend);
            bodies_destroy(bodies);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_observed_orders),
        cmocka_unit_test(test_passages_err_as_the_rows_say),
        cmocka_unit_test(test_reversible_integrators_find_back),
        cmocka_unit_test(test_the_orbit_is_keplers),
        cmocka_unit_test(test_leapfrog_errs_along_the_track),
        cmocka_unit_test(test_the_figure_eight_closes),
        cmocka_unit_test(test_euler_gains_energy_and_semi_implicit_does_not),
        cmocka_unit_test(test_euler_gains_what_theory_says),
        cmocka_unit_test(test_momentum_and_angular_momentum_are_conserved),
    };
    return cmocka_run_group_tests_name("motion", tests, NULL, NULL);
}
