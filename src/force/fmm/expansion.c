#include "force/fmm/expansion.h"

#include <math.h>

#include "base/memory.h"

/* Loops over all n with |n| <= p. */
#define FOR_ALL(nx, ny, nz, p)                                                                     \
    for (int nz = 0; nz <= (p); nz++)                                                              \
        for (int ny = 0; ny <= (p)-nz; ny++)                                                       \
            for (int nx = 0; nx <= (p)-nz - ny; nx++)

static void fill_indices(struct expansion *e)
{
    size_t at = 0;
    FOR_ALL(nx, ny, nz, e->order)
    {
        e->index[nx][ny][nz] = (uint16_t)at;
        e->degree[at] = (uint8_t)(nx + ny + nz);
        e->factorial[at] = tgamma(nx + 1) * tgamma(ny + 1) * tgamma(nz + 1);
        e->inverse_factorial[at] = 1 / e->factorial[at];
        at++;
    }
    e->count = at;
    for (int k = 1; k <= e->order; k++)
        e->inverse[k] = 1.0 / k;
    size_t next = 0;
    for (int degree = 0; degree <= e->order; degree++) {
        e->degree_from[degree] = next;
        for (size_t n = 0; n < e->count; n++)
            if (e->degree[n] == degree)
                e->in_order[next++] = (uint16_t)n;
    }
    e->degree_from[e->order + 1] = next;
}

/* Fills the monomials: for each n the first axis along which n is larger than 0, and n - e_axis;
 * and the indices of n + e_axis and n + 2 e_axis. */
static void fill_monomials(struct expansion *e)
{
    FOR_ALL(nx, ny, nz, e->order)
    {
        const size_t at = e->index[nx][ny][nz];
        struct expansion_monomial *const m = &e->monomial[at];
        if (nx)
            *m = (struct expansion_monomial){ e->index[nx - 1][ny][nz], 0, (uint8_t)nx };
        else if (ny)
            *m = (struct expansion_monomial){ e->index[nx][ny - 1][nz], 1, (uint8_t)ny };
        else if (nz)
            *m = (struct expansion_monomial){ e->index[nx][ny][nz - 1], 2, (uint8_t)nz };
        if (nx + ny + nz < e->order) {
            e->raise[0][at] = e->index[nx + 1][ny][nz];
            e->raise[1][at] = e->index[nx][ny + 1][nz];
            e->raise[2][at] = e->index[nx][ny][nz + 1];
        }
        if (nx + ny + nz + 1 < e->order) {
            e->raise2[0][at] = e->index[nx + 2][ny][nz];
            e->raise2[1][at] = e->index[nx][ny + 2][nz];
            e->raise2[2][at] = e->index[nx][ny][nz + 2];
        }
    }
}

static double double_factorial(int n) /* of odd numbers; (-1)!! = 1 */
{
    return n < 2 ? 1.0 : n * double_factorial(n - 2);
}

/*
 * Fills the coefficients of the traces. The squared norm of the trace-free part of the symmetric
 * tensor Q of rank k with components Q_n = n! M_n is
 *   sum_j (-1)^j k! (2k - 2j - 1)!! / ((k - 2j)! (2k - 1)!! (2j)!!) |tr^j Q|^2,
 * and |tr^j Q|^2 is the sum of (k - 2j)!/n! (tr^j Q)_n^2 over all n with |n| = k - 2j. The power is
 * the root of (2k - 1)!!/k! times that.
 */
static void fill_traces(struct expansion *e)
{
    for (int k = 0; k <= e->order; k++)
        for (int j = 0; 2 * j <= k; j++) {
            double even = 1; /* (2j)!! */
            for (int i = 1; i <= j; i++)
                even *= 2.0 * i;
            e->trace_weight[k][j] = (j % 2 ? -1 : 1) * double_factorial(2 * k - 2 * j - 1) / even;
        }
}

enum status expansion_create(int order, struct expansion **expansion, struct error *error)
{
    struct expansion *const e = *expansion = memory_array(1, sizeof *e, error);
    if (!e)
        return error->status;
    e->order = order;
    fill_indices(e);
    fill_monomials(e);
    fill_traces(e);
    return STATUS_OK;
}

void expansion_destroy(struct expansion *expansion)
{
    memory_free(expansion);
}

void expansion_powers(const struct expansion *e, const double *multipoles, double *powers,
                      double *norms)
{
    double q[EXPANSION_COEFFICIENTS], factorial = 1; /* k! */
    for (int k = 0; k <= e->order; factorial *= ++k) {
        double sum = 0;
        for (size_t i = e->degree_from[k]; i < e->degree_from[k + 1]; i++)
            q[e->in_order[i]] = multipoles[e->in_order[i]] * e->factorial[e->in_order[i]];
        for (int j = 0; 2 * j <= k; j++) {
            const int rank = k - 2 * j;
            double norm = 0;
            for (size_t i = e->degree_from[rank]; i < e->degree_from[rank + 1]; i++) {
                const size_t n = e->in_order[i];
                norm += e->inverse_factorial[n] * q[n] * q[n];
            }
            sum += e->trace_weight[k][j] * norm;
            if (j == 0)
                norms[k] = sqrt(factorial * norm);
            for (size_t i = rank < 2 ? 0 : e->degree_from[rank - 2];
                 rank >= 2 && i < e->degree_from[rank - 1]; i++) {
                const size_t n = e->in_order[i];
                q[n] = q[e->raise2[0][n]] + q[e->raise2[1][n]] + q[e->raise2[2][n]];
            }
        }
        powers[k] = sqrt(sum > 0 ? sum : 0);
    }
}

/* Finds t^j/j! along each axis, up to the order. */
static void fill_powers(const struct expansion *e, const double t[3],
                        double power[3][EXPANSION_MOST + 1])
{
    for (int d = 0; d < 3; d++) {
        power[d][0] = 1;
        for (int j = 1; j <= e->order; j++)
            power[d][j] = power[d][j - 1] * (t[d] * e->inverse[j]);
    }
}

void expansion_shift_local(const struct expansion *e, const double t[3], double *F)
{
    const int p = e->order;
    double power[3][EXPANSION_MOST + 1];
    fill_powers(e, t, power);
    for (int nz = 0; nz <= p; nz++)
        for (int ny = 0; ny <= p - nz; ny++) {
            double *const row = F + e->index[0][ny][nz];
            for (int nx = 0; nx < p - nz - ny; nx++)
                for (int j = 1; nx + j <= p - nz - ny; j++)
                    row[nx] += power[0][j] * row[nx + j];
        }
    for (int nz = 0; nz <= p; nz++)
        for (int ny = 0; ny < p - nz; ny++)
            for (int j = 1; ny + j <= p - nz; j++) {
                double *const row = F + e->index[0][ny][nz];
                const double *const from = F + e->index[0][ny + j][nz];
                for (int nx = 0; nx <= p - nz - ny - j; nx++)
                    row[nx] += power[1][j] * from[nx];
            }
    for (int nz = 0; nz < p; nz++)
        for (int j = 1; nz + j <= p; j++)
            for (int ny = 0; ny <= p - nz - j; ny++) {
                double *const row = F + e->index[0][ny][nz];
                const double *const from = F + e->index[0][ny][nz + j];
                for (int nx = 0; nx <= p - nz - j - ny; nx++)
                    row[nx] += power[2][j] * from[nx];
            }
}
