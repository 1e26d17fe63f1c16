#include "model/kepler.h"

#include <float.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_integration.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_odeiv2.h>
#include <gsl/gsl_roots.h>
#include <math.h>
#include <string.h>

#include "model/vec3.h"

struct kepler_interaction kepler_interaction_of(const struct physics *physics,
                                                const struct bodies *bodies, size_t i, size_t j)
{
    return (struct kepler_interaction){ .mu = physics->gravitational_constant *
                                              (bodies->m[i] + bodies->m[j]),
                                        .eps = physics->softening };
}

struct kepler_state kepler_state_of(const struct physics *physics, const struct bodies *b, size_t i,
                                    size_t j)
{
    struct kepler_state state;
    pair_separation(physics, b, i, j, state.x);
    pair_velocity(b, i, j, state.v);
    return state;
}

static double angular_momentum(const struct kepler_state *state)
{
    double l[3];
    vec3_cross(state->x, state->v, l);
    return vec3_length(l);
}

/* Finds the root of f between a and b to the last digits. If f has no change of sign there, since
 * rounding has taken it away, the root is the end at which |f| is smaller. STATUS_MEMORY. */
static enum status solve(double (*f)(double, void *), void *context, double a, double b,
                         double *root, struct error *error)
{
    enum { ITERATIONS = 200 };
    gsl_function function = { .function = f, .params = context };
    const double fa = f(a, context), fb = f(b, context);
    if (!(fa * fb < 0.0)) {
        *root = fabs(fa) < fabs(fb) ? a : b;
        return STATUS_OK;
    }
    gsl_root_fsolver *solver = gsl_root_fsolver_alloc(gsl_root_fsolver_brent);
    if (!solver)
        return error_set(error, STATUS_MEMORY, "out of memory for a root");
    gsl_root_fsolver_set(solver, &function, fmin(a, b), fmax(a, b));
    for (int k = 0; k < ITERATIONS; k++)
        if (gsl_root_fsolver_iterate(solver) != GSL_SUCCESS ||
            gsl_root_test_interval(gsl_root_fsolver_x_lower(solver),
                                   gsl_root_fsolver_x_upper(solver), 0.0,
                                   2.0 * DBL_EPSILON) == GSL_SUCCESS)
            break;
    *root = gsl_root_fsolver_root(solver);
    gsl_root_fsolver_free(solver);
    return STATUS_OK;
}

/* --- Kepler's equation in universal form ------------------------------------------------------ */

/* Kepler's equation in universal form. With ds = dt / r the motion is that of an oscillator: t = r0
 * s + eta G2 + zeta G3, where Gk(s) = s^k c_k(beta s^2) (Stumpff's functions c_k), beta = 2 mu / r0
 * - v0^2, eta = r0.v0 and zeta = mu - beta r0. */
struct universal {
    double r0, eta, zeta, beta;
    double dt;
};

struct stumpff {
    double g1, g2, g3;
};

static struct stumpff stumpff(double beta, double s)
{
    const double z = beta * s * s;
    if (fabs(z) < 0.5) {
        /* c_k(z) = sum_j (-z)^j / (k + 2 j)!; 9 terms leave less than 1e-17 of the sum. */
        double c2 = 0.0, c3 = 0.0;
        for (int j = 9; j > 0; j--) {
            c2 = (1.0 - z * c2) / ((2 * j) * (2 * j - 1));
            c3 = (1.0 - z * c3) / ((2 * j + 1) * (2 * j));
        }
        return (struct stumpff){ s * (1.0 - z * c3), s * s * c2, s * s * s * c3 };
    }
    const double w = sqrt(fabs(beta));
    const double half = z > 0.0 ? sin(0.5 * w * s) : sinh(0.5 * w * s);
    const double g1 = (z > 0.0 ? sin(w * s) : sinh(w * s)) / w;
    return (struct stumpff){ g1, 2.0 * half * half / (w * w), (s - g1) / beta };
}

static double time_left(double s, void *context)
{
    const struct universal *u = context;
    const struct stumpff g = stumpff(u->beta, s);
    return u->r0 * s + u->eta * g.g2 + u->zeta * g.g3 - u->dt;
}

/* Returns the far end of an interval [0, end] of s that holds the root of time_left(), since time
 * grows with s. */
static double far_end(struct universal *u)
{
    if (u->beta > 0.0) /* sqrt(beta) s is the advance of the eccentric anomaly: at most pi + 2e in
                          half a period */
        return copysign(2.0 * M_PI / sqrt(u->beta), u->dt);
    double end = u->dt / u->r0;
    if (u->beta < 0.0 && fabs(end) > 1.0 / sqrt(-u->beta))
        end = copysign(1.0 / sqrt(-u->beta), u->dt);
    while (fabs(time_left(end, u) + u->dt) < fabs(u->dt))
        end *= 1.5;
    return end;
}

/* Returns the angle from the separation of a to that of b in the sense of a's motion, in [0, 2
 * pi). */
static double swept(const struct kepler_state *a, const struct kepler_state *b)
{
    double l[3], c[3];
    vec3_cross(a->x, a->v, l);
    vec3_cross(a->x, b->x, c);
    const double angle = atan2(copysign(vec3_length(c), vec3_dot(c, l)), vec3_dot(a->x, b->x));
    return angle < 0.0 ? angle + 2.0 * M_PI : angle;
}

static enum status advance_analytic(double mu, const struct kepler_state *from, double dt,
                                    struct kepler_state *to, double *angle, struct error *error)
{
    const double r0 = vec3_length(from->x), v2 = vec3_dot(from->v, from->v);
    struct universal u = { .r0 = r0,
                           .eta = vec3_dot(from->x, from->v),
                           .beta = 2.0 * mu / r0 - v2 };
    u.zeta = mu - u.beta * r0;
    /* Whole periods change nothing: u.dt is the rest of dt, at most half a period forwards or
     * backwards. */
    const double period = u.beta > 0.0 ? 2.0 * M_PI * mu / (u.beta * sqrt(u.beta)) : INFINITY;
    u.dt = u.beta > 0.0 ? remainder(dt, period) : dt;
    /* The number of whole periods that remainder() has left out. */
    const double turns = rint((dt - u.dt) / period);

    double s;
    if (solve(time_left, &u, 0.0, far_end(&u), &s, error))
        return error->status;
    struct stumpff g = stumpff(u.beta, s);
    /* A step of Newton's method: dt/ds = r. */
    s -= time_left(s, &u) / (r0 + u.eta * g.g1 + u.zeta * g.g2);
    g = stumpff(u.beta, s);
    const double r = r0 + u.eta * g.g1 + u.zeta * g.g2;
    for (int k = 0; k < 3; k++) {
        const double x = from->x[k], v = from->v[k];
        /* x = f x0 + g v0 (Gauss's f and g), written as x0 plus small parts that are added last */
        to->x[k] = x + (u.dt * v - mu * (g.g2 / r0 * x + g.g3 * v));
        to->v[k] = v - mu * (g.g1 / (r0 * r) * x + g.g2 / r * v);
    }
    double part = swept(from, to) - (u.dt < 0.0 ? 2.0 * M_PI : 0.0);
    /* If the body has hardly moved, rounding must not make a whole turn of the angle. (mu / r0 is
     * for parabolas, whose beta is 0.) */
    if (fmax(fabs(u.beta), mu / r0) * s * s < 1e-12)
        part = remainder(part, 2.0 * M_PI);
    *angle = turns * 2.0 * M_PI + part;
    return STATUS_OK;
}

/* --- softened: the differential equation ----------------------------------------------------- */

enum { EQUATIONS = 7 /* x, v, angle */, MOST_STEPS = 10000000 };

struct field {
    double eps2;
    double l; /* |r x v| */
};

/* Puts the time derivatives of y, which is x, v and the angle swept, into dydt, in units in which
 * mu = 1. */
static int derivative(double t, const double y[], double dydt[], void *context)
{
    (void)t;
    const struct field *field = context;
    const double r2 = vec3_dot(y, y), s2 = r2 + field->eps2;
    const double pull = -1.0 / (s2 * sqrt(s2));
    for (int k = 0; k < 3; k++) {
        dydt[k] = y[3 + k];
        dydt[3 + k] = pull * y[k];
    }
    dydt[6] = field->l > 0.0 ? field->l / r2 : 0.0;
    return GSL_SUCCESS;
}

static enum status advance_softened(const struct kepler_interaction *interaction,
                                    const struct kepler_state *from, double dt,
                                    struct kepler_state *to, double *angle, struct error *error)
{
    /* Lengths and times are in units of the orbit itself, so that a tolerance means the same
     * everywhere. */
    const double eps2 = interaction->eps * interaction->eps;
    const double length = sqrt(vec3_dot(from->x, from->x) + eps2);
    const double time = sqrt(length * length * length / interaction->mu), speed = length / time;
    struct field field = { .eps2 = eps2 / (length * length),
                           .l = angular_momentum(from) / (length * speed) };
    double y[EQUATIONS] = { 0 };
    for (int k = 0; k < 3; k++) {
        y[k] = from->x[k] / length;
        y[3 + k] = from->v[k] / speed;
    }
    gsl_odeiv2_system system = { .function = derivative, .dimension = EQUATIONS, .params = &field };
    const double first_step = copysign(1e-3, dt), tolerance = 1e-13;
    gsl_odeiv2_driver *driver = gsl_odeiv2_driver_alloc_y_new(&system, gsl_odeiv2_step_rk8pd,
                                                              first_step, tolerance, tolerance);
    if (!driver)
        return error_set(error, STATUS_MEMORY, "out of memory for a reference orbit");
    gsl_odeiv2_driver_set_nmax(driver, MOST_STEPS);
    double t = 0.0;
    const int outcome = gsl_odeiv2_driver_apply(driver, &t, dt / time, y);
    gsl_odeiv2_driver_free(driver);
    const double known = outcome == GSL_SUCCESS ? 1.0 : NAN;
    for (int k = 0; k < 3; k++) {
        to->x[k] = y[k] * length * known;
        to->v[k] = y[3 + k] * speed * known;
    }
    *angle = y[6] * known;
    return STATUS_OK;
}

enum status kepler_advance(const struct kepler_interaction *interaction,
                           const struct kepler_state *from, double dt, struct kepler_state *to,
                           double *angle, struct error *error)
{
    struct kepler_state next = *from;
    enum status status = STATUS_OK;
    *angle = 0.0;
    if (dt != 0.0 && interaction->mu <= 0.0) { /* without attraction: a straight line */
        for (int k = 0; k < 3; k++)
            next.x[k] += dt * from->v[k];
        *angle = swept(from, &next);
    } else if (dt != 0.0 && interaction->eps == 0.0) {
        status = advance_analytic(interaction->mu, from, dt, &next, angle, error);
    } else if (dt != 0.0) {
        status = advance_softened(interaction, from, dt, &next, angle, error);
    }
    *to = next;
    return status;
}

/* --- the orbit of a state ----------------------------------------------------------------------*/

static void conic(double mu, const struct kepler_state *state, struct kepler_orbit *orbit)
{
    const double r = vec3_length(state->x), l = angular_momentum(state);
    const double rv = vec3_dot(state->x, state->v);
    const double p = l * l / mu;
    const double e_cos = p / r - 1.0, e_sin = rv * l / (r * mu); /* e cos f, e sin f */
    const double inverse_a = 2.0 / r - vec3_dot(state->v, state->v) / mu;
    const double e = hypot(e_cos, e_sin), a = 1.0 / inverse_a;
    orbit->semi_major_axis = a;
    orbit->eccentricity = e;
    orbit->true_anomaly = l > 0.0 ? atan2(e_sin, e_cos) : NAN;
    orbit->apsidal_angle = 2.0 * M_PI;
    if (inverse_a > 0.0) {
        /* The mean anomaly follows from the true one, so that both agree even on a circle, which
         * has no pericentre. */
        const double e_sin_E = sqrt(fmax(1.0 - e * e, 0.0)) * e_sin, e_cos_E = e * e + e_cos;
        orbit->mean_anomaly = l > 0.0 ? atan2(e_sin_E, e_cos_E) - rv / sqrt(mu * a) : NAN;
        orbit->radial_period = 2.0 * M_PI * sqrt(a * a * a / mu);
    }
}

/*
 * A softened orbit. Its radial motion in u = r^2, with s = sqrt(u + eps^2), turning points u- and
 * u+ (s- and s+), energy E and angular momentum L: (du/dt)^2 = 4 f(u), f = 2 E u + 2 mu u / s - L^2
 * = Q(u) (u+ - u) (u - u-), and Q > 0 follows from the divided differences of s and 1/s without
 * cancellation:
 *   Q = 2 mu (1 + eps^2 (s + s- + s+) / (s s- s+)) / ((s + s-) (s + s+) (s- + s+)).
 * With u = (u+ + u-)/2 - (u+ - u-)/2 cos psi: dt = dpsi / (2 sqrt Q), dtheta = L dt / u, both
 * smooth.
 */
struct rosette {
    double mu, eps2;
    double l;            /* angular momentum */
    double inner, outer; /* u- and u+ */
};

/* Returns mu r^4 / s^3 - L^2, with s^2 = r^2 + eps^2, which is 0 on the circular orbit with this
 * L. */
static double circular_excess(double r, void *context)
{
    const struct rosette *c = context;
    const double s2 = r * r + c->eps2;
    return c->mu * r * r * r * r / (s2 * sqrt(s2)) - c->l * c->l;
}

/*
 * Returns how far the effective potential L^2 / 2u - mu / s at u stands above its minimum at u_c
 * (`circle`), the u of the circular orbit with the same L; written so that nothing cancels near
 * u_c:
 *   mu (u_c - u)^2 (2 s_c^2 - u_c - u_c s_c / (s + s_c)) / (2 u s_c^3 s (s + s_c)).
 */
static double effective_potential(const struct rosette *c, double circle, double u)
{
    const double s = sqrt(u + c->eps2), sc2 = circle + c->eps2, sc = sqrt(sc2);
    const double shape = 2.0 * sc2 - circle - circle * sc / (s + sc);
    const double d = circle - u;
    return c->mu * d * d * shape / (2.0 * u * sc2 * sc * s * (s + sc));
}

struct turning {
    const struct rosette *rosette;
    double circle, excess;
};

/* Returns sqrt(V) - sqrt(excess), which is 0 at a turning point: V is the effective potential at u,
 * `excess` that at the turning points, both above the minimum. At the minimum V is a parabola, so
 * that its square root is nearly linear in u. */
static double turning_excess(double u, void *context)
{
    const struct turning *t = context;
    return sqrt(effective_potential(t->rosette, t->circle, u)) - sqrt(t->excess);
}

static enum status turning_points(struct rosette *c, double energy, double u, double radial_speed,
                                  struct error *error)
{
    const double p = c->l * c->l / c->mu, eps = sqrt(c->eps2);
    const double reach = c->mu / energy; /* s <= -mu / E */
    c->inner = 0.0;
    c->outer = energy < 0.0 ? reach * reach - c->eps2 : INFINITY;
    if (c->l == 0.0)
        return STATUS_OK;
    const double two_three_halves = 2.8284271247461903;
    const double widest =
        fmax(two_three_halves * p, pow(two_three_halves * p * eps * c->eps2, 0.25));
    double radius;
    enum status status = solve(circular_excess, c, p, widest, &radius, error);
    if (status != STATUS_OK)
        return status;
    struct turning t = { .rosette = c, .circle = radius * radius };
    t.excess = 0.5 * radial_speed * radial_speed + effective_potential(c, t.circle, u);
    /* at the turning points L^2 / 2u = E + mu / s <= E + mu / eps */
    const double innermost = c->l * c->l / (2.0 * (energy + c->mu / eps));
    status = solve(turning_excess, &t, fmin(innermost, u), t.circle, &c->inner, error);
    if (status == STATUS_OK && energy < 0.0)
        status = solve(turning_excess, &t, t.circle, fmax(c->outer, u), &c->outer, error);
    return status;
}

/* Returns dt/dpsi = 1 / (2 sqrt Q) on a softened orbit, and puts u = r^2 at psi into *u. */
static double time_rate(const struct rosette *c, double psi, double *u)
{
    const double half = sin(0.5 * psi);
    *u = c->inner + (c->outer - c->inner) * half * half;
    const double s = sqrt(*u + c->eps2);
    const double s1 = sqrt(c->inner + c->eps2), s2 = sqrt(c->outer + c->eps2);
    const double q = 2.0 * c->mu * (1.0 + c->eps2 * (s + s1 + s2) / (s * s1 * s2)) /
                     ((s + s1) * (s + s2) * (s1 + s2));
    return 0.5 / sqrt(q);
}

static double time_integrand(double psi, void *context)
{
    double u;
    return time_rate(context, psi, &u);
}

static double angle_integrand(double psi, void *context)
{
    const struct rosette *c = context;
    double u;
    const double rate = time_rate(c, psi, &u);
    return c->l * rate / u;
}

static enum status anomalies(const struct rosette *c, double psi, struct kepler_orbit *orbit,
                             struct error *error)
{
    enum { INTERVALS = 200 };
    gsl_integration_workspace *work = gsl_integration_workspace_alloc(INTERVALS);
    if (!work)
        return error_set(error, STATUS_MEMORY, "out of memory for the anomalies of an orbit");
    double (*const integrands[])(double, void *) = { time_integrand, angle_integrand };
    double since[2], whole[2], doubt;
    for (int k = 0; k < 2; k++) {
        gsl_function f = { .function = integrands[k], .params = (void *)c };
        /* Once the workspace is allocated, nothing else can fail; that rounding may end the
         * refinement early does no harm. */
        gsl_integration_qag(&f, 0.0, psi, 0.0, 1e-13, INTERVALS, GSL_INTEG_GAUSS31, work, &since[k],
                            &doubt);
        gsl_integration_qag(&f, 0.0, M_PI, 0.0, 1e-13, INTERVALS, GSL_INTEG_GAUSS31, work,
                            &whole[k], &doubt);
    }
    gsl_integration_workspace_free(work);
    orbit->radial_period = 2.0 * whole[0];
    orbit->mean_anomaly = M_PI * since[0] / whole[0];
    if (c->l > 0.0) {
        orbit->apsidal_angle = 2.0 * whole[1];
        orbit->true_anomaly = since[1];
    }
    return STATUS_OK;
}

static enum status rosette(const struct kepler_interaction *interaction,
                           const struct kepler_state *state, struct kepler_orbit *orbit,
                           struct error *error)
{
    struct rosette c = { .mu = interaction->mu,
                         .eps2 = interaction->eps * interaction->eps,
                         .l = angular_momentum(state) };
    const double u = vec3_dot(state->x, state->x), rv = vec3_dot(state->x, state->v);
    const double energy = 0.5 * vec3_dot(state->v, state->v) - c.mu / sqrt(u + c.eps2);
    const double radial_speed = u > 0.0 ? rv / sqrt(u) : 0.0;
    if (turning_points(&c, energy, u, radial_speed, error))
        return error->status;
    const double r1 = sqrt(c.inner);
    if (!(energy < 0.0)) {
        orbit->semi_major_axis = -c.mu / (2.0 * energy);
        orbit->eccentricity = 1.0 - r1 / orbit->semi_major_axis;
        return STATUS_OK;
    }
    const double r2 = sqrt(c.outer);
    orbit->semi_major_axis = 0.5 * (r1 + r2);
    orbit->eccentricity = (r2 - r1) / (r1 + r2);
    const double psi = 2.0 * atan2(sqrt(fmax(u - c.inner, 0.0)), sqrt(fmax(c.outer - u, 0.0)));
    return anomalies(&c, copysign(psi, rv), orbit, error);
}

enum status kepler_orbit(const struct kepler_interaction *interaction,
                         const struct kepler_state *state, struct kepler_orbit *orbit,
                         struct error *error)
{
    *orbit = (struct kepler_orbit){ NAN, NAN, NAN, NAN, NAN, NAN };
    if (interaction->mu <= 0.0)
        return STATUS_OK;
    if (interaction->eps > 0.0)
        return rosette(interaction, state, orbit, error);
    conic(interaction->mu, state, orbit);
    return STATUS_OK;
}

/* --- elements --------------------------------------------------------------------------------- */

void elements_rotation(double degrees, double *sine, double *cosine)
{
    const double quarters = rint(degrees / 90.0);
    const double rest = (degrees - 90.0 * quarters) * (M_PI / 180.0);
    const double s = sin(rest), c = cos(rest);
    const double rotations[4][2] = { { s, c }, { c, -s }, { -s, -c }, { -c, s } };
    const int quadrant = (int)quarters & 3;
    *sine = rotations[quadrant][0];
    *cosine = rotations[quadrant][1];
}

/* Finds the separation and the velocity in the plane of the orbit, with x towards the
 * pericentre. */
static void state_in_plane(const struct elements *elements, double mu, double softening,
                           double position[2], double velocity[2])
{
    const double a = elements->semi_major_axis, e = elements->eccentricity;
    double sine, cosine;
    elements_rotation(elements->true_anomaly, &sine, &cosine);
    const double p = a * fabs(1 - e) * (1 + e), r = p / (1 + e * cosine);
    double v = sqrt(mu / p);
    if (e == 0) { /* a circle: Omega^2 = G M / (r^2 + eps^2)^(3/2) */
        const double s2 = r * r + softening * softening;
        v = r * sqrt(mu / (s2 * sqrt(s2)));
    }
    position[0] = r * cosine;
    position[1] = r * sine;
    velocity[0] = -v * sine;
    velocity[1] = v * (e + cosine);
}

/* Finds the axes of the orbit's plane in space, x_axis towards the pericentre: the first two
 * columns of the product of rotations R_z(node) R_x(inclination) R_z(argument of pericentre). */
static void axes(const struct elements *elements, double x_axis[3], double y_axis[3])
{
    double sn, cn, si, ci, sw, cw;
    elements_rotation(elements->ascending_node, &sn, &cn);
    elements_rotation(elements->inclination, &si, &ci);
    elements_rotation(elements->argument_of_pericenter, &sw, &cw);
    x_axis[0] = cn * cw - sn * sw * ci;
    x_axis[1] = sn * cw + cn * sw * ci;
    x_axis[2] = sw * si;
    y_axis[0] = -cn * sw - sn * cw * ci;
    y_axis[1] = -sn * sw + cn * cw * ci;
    y_axis[2] = cw * si;
}

void elements_state(const struct elements *elements, double mu, double softening,
                    double position[3], double velocity[3])
{
    double x[2], v[2], x_axis[3], y_axis[3];
    state_in_plane(elements, mu, softening, x, v);
    axes(elements, x_axis, y_axis);
    for (int k = 0; k < 3; k++) {
        position[k] = x[0] * x_axis[k] + x[1] * y_axis[k];
        velocity[k] = v[0] * x_axis[k] + v[1] * y_axis[k];
    }
}
