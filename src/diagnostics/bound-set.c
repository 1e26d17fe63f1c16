#include "diagnostics/bound-set.h"

#define LEAST_SHARE 1e-14 /* masses that differ by a smaller part differ by rounding */

/* The velocity in a frame at rest is v + Omega x r. */
void bound_set_velocity(double rotation, const struct bodies *b, size_t i, double v[3])
{
    v[0] = b->vx[i] - rotation * b->y[i];
    v[1] = b->vy[i] + rotation * b->x[i];
    v[2] = b->vz[i];
}

struct bound_set bound_search_set(const struct bound_search *s)
{
    const struct bodies *const b = s->bodies;
    struct bound_set set = { 0 };
    for (size_t i = s->first; i < s->first + b->count; i++) {
        double v[3];
        if (!s->bound[i - s->first])
            continue;
        bound_set_velocity(s->rotation, b, i, v);
        set.mass += b->m[i];
        for (int k = 0; k < 3; k++)
            set.momentum[k] += b->m[i] * v[k];
    }
    return set;
}

bool bound_search_holds(const struct bound_search *s, const struct bound_set *set, size_t i,
                        const double *velocity)
{
    const double mass = s->bodies->m[s->first + i];
    const double own = s->bound[i] ? mass : 0.0, others = set->mass - own;
    double v[3], v2 = 0.0;
    bound_set_velocity(s->rotation, s->bodies, s->first + i, v);
    if (s->mass - own <= LEAST_SHARE * s->mass)
        return true;
    for (int k = 0; k < 3; k++) {
        const double dv =
            v[k] - (velocity ? velocity[k] : (set->momentum[k] - own * v[k]) / others);
        v2 += dv * dv;
    }
    return others > LEAST_SHARE * set->mass &&
           0.5 * others / (others + mass) * v2 + s->phi[i] < 0.0;
}

static void change(struct bound_search *s, const size_t *which, size_t count, double sign)
{
    if (s->move)
        s->move(s, which, count, sign);
    for (size_t k = 0; k < count; k++)
        s->bound[which[k]] = sign > 0;
}

/* The array `changed` has the bodies that leave the set at its front, and those that come at its
 * end. */
bool bound_search_judge(struct bound_search *s, const double *velocity)
{
    const struct bound_set set = bound_search_set(s);
    const size_t count = s->bodies->count;
    size_t leave = 0, come = 0;
    for (size_t i = 0; i < count; i++) {
        if ((s->member && !s->member[i]) || bound_search_holds(s, &set, i, velocity) == s->bound[i])
            continue;
        if (s->bound[i])
            s->changed[leave++] = i;
        else
            s->changed[count - ++come] = i;
    }
    change(s, s->changed, leave, -1.0);
    change(s, s->changed + count - come, come, 1.0);
    return leave + come > 0;
}

void bound_search_settle(struct bound_search *s)
{
    enum { ROUNDS = 100 };
    int round = 0;
    while (round < ROUNDS && bound_search_judge(s, NULL))
        round++;
}
