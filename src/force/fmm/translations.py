#!/usr/bin/env python3
"""Writes the sums of products that translate and shift expansions, as straight code: beside this
script, a file for each arithmetic, translations-single.inc and translations-double.inc. ./bootstrap
runs it in a clone; a tarball has the files."""

import os

ORDERS = {'single': (3, 5, 6, 8), 'double': (8, 10)}  # those of the settings in fmm.c


def indices(p):
    return [(nx, ny, nz) for nz in range(p + 1) for ny in range(p + 1 - nz)
            for nx in range(p + 1 - nz - ny)]


def sum_of(n):
    return n[0] + n[1] + n[2]


def plus(n, k):
    return (n[0] + k[0], n[1] + k[1], n[2] + k[2])


def derivatives(p, index):
    """D_(n+e) = x_e D_n + n_e D_(n-e) for the radial derivatives m = 0, 1, ... of which m = 0 is
    wanted; only what that needs."""
    lines = {}

    def need(m, n):
        to = f'd{m}_{n[0]}{n[1]}{n[2]}'
        if to in lines:
            return to
        if sum_of(n) == 0:
            radial = 1
            for k in range(1, m + 1):
                radial *= -(2 * k - 1)
            value = f'V(splat)({radial})'
        else:
            axis = min((d for d in range(3) if n[d]), key=lambda d: n[d])
            below = list(n)
            below[axis] -= 1
            value = f'x[{axis}] * {need(m + 1, tuple(below))}'
            factor = below[axis]
            if factor:
                below[axis] -= 1
                before = need(m + 1, tuple(below))
                if factor > 1:
                    value = f'V(madd)(V(splat)({factor}), {before}, {value})'
                else:
                    value = f'V(madd)({value.replace(" * ", ", ")}, {before})'
        lines[to] = f'const VECTOR {to} = {value};'
        return to

    stored = [f'D[{index[n]}] = {need(0, n)};' for n in sorted(index, key=sum_of)]
    return list(lines.values()) + stored


def products(p, index):
    """A row of F, of one ny and nz, is summed in registers."""
    lines = []
    for nz in range(p + 1):
        for ny in range(p + 1 - nz):
            row = range(p + 1 - nz - ny)
            terms = [(k, nx) for k in indices(p - ny - nz) for nx in row
                     if nx + ny + nz + sum_of(k) <= p]
            seen = set()
            lines.append('{')
            lines.append('VECTOR ' + ', '.join(f'f{nx}' for nx in row) + ';')
            for k, nx in terms:
                m, d = f'M[{index[k]}]', f'D[{index[plus(k, (nx, ny, nz))]}]'
                lines.append(f'f{nx} = V(madd)({m}, {d}, f{nx});' if nx in seen
                             else f'f{nx} = {m} * {d};')
                seen.add(nx)
            for nx in row:
                n = index[nx, ny, nz]
                lines.append(f'sums[{n}] = V(madd)(f{nx}, to[{nx + ny + nz}], sums[{n}]);')
            lines.append('}')
    return lines


def shift(p, index, up):
    """Multipoles (`up`) or a local expansion about a center that is further by t, one axis after
    another: M_n = sum_k t^(n-k)/(n-k)! M_k, F_n = sum_k t^k/k! F_(n+k). The latter is
    expansion_shift_local()."""
    names = [(axis, j) for axis in range(3) for j in range(1, p + 1)]
    lines = [f'const double t{axis}{j} = ' +
             (f't{axis}{j - 1} * (t[{axis}] * (1.0 / {j}));' if j > 1 else f't[{axis}];')
             for axis, j in names]
    lines += [f'double f{index[n]} = (double)from[{index[n]}]' +
              (f' * scale[{sum_of(n)}];' if up else ';') for n in index]
    for axis in range(3):
        for n in sorted(index, reverse=up):
            for j in range(1, (n[axis] if up else p - sum_of(n)) + 1):
                step = [0, 0, 0]
                step[axis] = -j if up else j
                lines.append(f'f{index[n]} += t{axis}{j} * f{index[plus(n, step)]};')
    return lines + [f'to[{index[n]}] ' + (f'+= f{index[n]};' if up else
                                          f'= (REAL)(f{index[n]} * scale[{sum_of(n)}]);')
                    for n in index]


def functions(p):
    index = {n: i for i, n in enumerate(indices(p))}
    shifts = 'const REAL *from, const double t[3],\n    const double *scale'
    return [f'static void NAME(translate_{p})(const VECTOR x[3], const VECTOR *from,\n'
            '    const VECTOR *to, VECTOR *M, VECTOR *D, VECTOR *sums)\n{',
            *derivatives(p, index), *(f'M[{index[n]}] *= from[{sum_of(n)}];' for n in index),
            *products(p, index), '}',
            f'static void NAME(shift_multipoles_{p})({shifts}, double *to)\n{{',
            *shift(p, index, True), '}',
            f'static void NAME(shift_local_{p})({shifts}, REAL *to)\n{{',
            *shift(p, index, False), '}']


def table(orders):
    words = ('translate', 'shift_multipoles', 'shift_local')
    return ['/* By the order; NULL where no setting has it. */',
            'static const struct NAME(straight) NAME(straight)[EXPANSION_MOST + 1] = {',
            *(f'[{p}] = {{ {", ".join(f"NAME({word}_{p})" for word in words)} }},'
              for p in orders), '};']


for arithmetic, orders in ORDERS.items():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                        f'translations-{arithmetic}.inc')
    code = [line for p in orders for line in functions(p)] + table(orders)
    temporary = f'{path}.{os.getpid()}'  # two makes may run at once
    with open(temporary, 'w') as file:
        file.write('\n'.join(['/* Made by translations.py. */', '/* clang-format off */', *code,
                              '/* clang-format on */']) + '\n')
    os.replace(temporary, path)
