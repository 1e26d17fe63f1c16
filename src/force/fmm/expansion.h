/*
 * Cartesian expansions of the softened kernel 1/sqrt(r^2 + eps^2), to a total order p that is
 * chosen at run time (docs/theory.md): which coefficient stands where. translations.py writes the
 * products that make F_n, and shifts of expansions, as straight code.
 *
 * With multi-indices n = (nx, ny, nz), |n| = nx + ny + nz, n! = nx! ny! nz!:
 *   M_n  = sum_j m_j (z - x_j)^n / n!          multipoles of a cell about its center z
 *   D_n  = d^n/dR^n 1/sqrt(R^2 + eps^2)        derivatives
 *   F_n  = sum_k M_k D_(n+k),  |n| + |k| <= p  local expansion about a center at R = z_target - z
 *   phi(z_target + y) = sum_n F_n y^n / n!
 * (Dehnen 2002, J. Comp. Phys. 179, 27; 2014, Comp. Astrophys. 1, 1)
 */
#ifndef ORRERY_FORCE_FMM_EXPANSION_H
#define ORRERY_FORCE_FMM_EXPANSION_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum {
    EXPANSION_LEAST = 2,
    EXPANSION_MOST = 12,
    /* C(p + 3, 3): coefficients of all n with |n| <= p. */
    EXPANSION_COEFFICIENTS = (EXPANSION_MOST + 1) * (EXPANSION_MOST + 2) * (EXPANSION_MOST + 3) / 6
};

/* Coefficients with the same (ny, nz) are a row: nx = 0, 1, ... stand one after another. */
struct expansion {
    int order;
    size_t count;                                                               /* coefficients */
    uint16_t index[EXPANSION_MOST + 1][EXPANSION_MOST + 1][EXPANSION_MOST + 1]; /* [nx][ny][nz] */
    uint8_t degree[EXPANSION_COEFFICIENTS];                                     /* |n| */
    double factorial[EXPANSION_COEFFICIENTS], inverse_factorial[EXPANSION_COEFFICIENTS]; /* of n */
    /* The monomials y^n/n!, each by an earlier one in `in_order`, that of n - e_axis at index
     * `from`: y^n/n! = y[axis] / power times that one, with power = n[axis]. */
    struct expansion_monomial {
        uint16_t from;
        uint8_t axis;
        uint8_t power;
    } monomial[EXPANSION_COEFFICIENTS];
    uint16_t in_order[EXPANSION_COEFFICIENTS]; /* indices by ascending degree */
    size_t degree_from[EXPANSION_MOST + 2];    /* where each degree begins in in_order */
    /* raise[axis][n], raise2[axis][n]: the indices of n + e_axis and n + 2 e_axis, up to the order.
     */
    uint16_t raise[3][EXPANSION_COEFFICIENTS], raise2[3][EXPANSION_COEFFICIENTS];
    double inverse[EXPANSION_MOST + 1]; /* 1/k */
    double trace_weight[EXPANSION_MOST + 1][EXPANSION_MOST / 2 + 1];
};

/* Creates the tables for an order. STATUS_MEMORY. */
enum status expansion_create(int order, struct expansion **expansion, struct error *error);
void expansion_destroy(struct expansion *expansion);

/*
 * Finds the power P_k of multipoles for k = 0 ... order: that of a single mass m at the distance b
 * of the center is m b^k; it is 0 if multipoles have no trace-free part of degree k. The far field
 * of degree k is at most P_k / r^(k+1). (Dehnen 2014, eq. 9) `norms` are the same for the whole
 * tensors, with their traces: for a single mass they are m b^k as well.
 */
void expansion_powers(const struct expansion *expansion, const double *multipoles, double *powers,
                      double *norms);

/* Moves a local expansion to a center that is further by t: F_n = sum_k t^k/k! F_(n+k); in
 * place. */
void expansion_shift_local(const struct expansion *expansion, const double t[3], double *local);

#endif
