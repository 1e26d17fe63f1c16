/* Units, the cell that bodies are shown in, and how large their numbers are. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/cell.h"
#include "model/conserved.h"
#include "model/units.h"
#include "sample.h"
#include "space/time-scales.h"

/* --- units ------------------------------------------------------------------------------------ */

/* In SI, G is the same whatever the units: kilograms, metres and seconds belong together. */
static void test_constants_of_gravity(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double G;
    } published[] = {
        { "nbody", 1.0 },
        { "astronomical", 2.9591220828559115e-4 }, /* k^2, IAU 1976 */
        { "galactic", 43009.17270 }, /* 4.300917270e-3 pc (km/s)^2 / Msun, times 1e7 */
        { "si", 6.67430e-11 },       /* CODATA 2022 */
    };
    for (size_t k = 0; k < COUNT_OF(published); k++) {
        const struct units *u = units_find(published[k].name);
        assert_non_null(u);
        assert_close(u->gravitational_constant / published[k].G, 1.0, 1e-8);
        if (u->kilograms == 0.0)
            continue;
        const double unit =
            u->metres * u->metres * u->metres / (u->kilograms * u->seconds * u->seconds);
        /* The Gaussian constant and the IAU's mass of the sun differ by some 1e-8. */
        assert_close(u->gravitational_constant * unit / 6.67430e-11, 1.0, 1e-7);
    }
}

static void test_labels_say_the_dimension(void **state)
{
    (void)state;
    static const struct {
        struct dimension dimension;
        const char *nbody, *astronomical, *galactic, *si;
    } rows[] = {
        { DIMENSION_NONE, "1", "1", "1", "1" },
        { DIMENSION_MASS, "M", "Msun", "1e10Msun", "kg" },
        { DIMENSION_LENGTH, "L", "AU", "kpc", "m" },
        { DIMENSION_TIME, "T", "d", "kpc (km/s)^-1", "s" },
        { DIMENSION_VELOCITY, "L T^-1", "AU d^-1", "km/s", "m s^-1" },
        { DIMENSION_ENERGY, "M L^2 T^-2", "Msun AU^2 d^-2", "1e10Msun (km/s)^2", "kg m^2 s^-2" },
        { DIMENSION_MOMENTUM, "M L T^-1", "Msun AU d^-1", "1e10Msun km/s", "kg m s^-1" },
        { DIMENSION_ANGULAR_MOMENTUM, "M L^2 T^-1", "Msun AU^2 d^-1", "1e10Msun kpc km/s",
          "kg m^2 s^-1" },
        { DIMENSION_DENSITY, "M L^-3", "Msun AU^-3", "1e10Msun kpc^-3", "kg m^-3" },
    };
    for (size_t k = 0; k < COUNT_OF(rows); k++) {
        const char *const labels[] = { rows[k].nbody, rows[k].astronomical, rows[k].galactic,
                                       rows[k].si };
        for (size_t u = 0; u < COUNT_OF(labels); u++) {
            char label[UNITS_LABEL_SIZE];
            assert_string_equal(units_label(units_at(u), rows[k].dimension, label), labels[u]);
        }
    }
}

/* --- the cell --------------------------------------------------------------------------------- */

/* Returns the cell of two bodies on the x axis; L = 0: open space. */
static struct cell cell_between(double lowest, double highest, double L)
{
    const struct physics physics = { .boundary = L > 0 ? BOUNDARY_PERIODIC : BOUNDARY_OPEN,
                                     .box_length = L };
    struct bodies *b = sample_create(1, 2);
    b->x[0] = b->y[0] = b->z[0] = lowest;
    b->x[1] = b->y[1] = b->z[1] = highest;
    const struct cell cell = cell_of(&physics, b);
    bodies_destroy(b);
    return cell;
}

/* The unit of which a run lasts two at least: a Julian year has 365.25 d and 3.15576e7 s; the unit
 * of kpc and km/s is 0.97779222 Gyr. */
static void test_times_in_the_unit_of_interest(void **state)
{
    (void)state;
    static const struct {
        const char *units;
        struct time_spans spans;
        double size;
        const char *name, *label;
    } cases[] = {
        { "astronomical", { 365250.0, NAN, NAN, NAN }, 365.25, "yr", "yr" },
        { "astronomical", { 730.0, 100.0, NAN, NAN }, 1.0, "d", "d" },
        { "astronomical", { 730.5, 100.0, NAN, NAN }, 365.25, "yr", "yr" },
        { "si", { 1e9, NAN, 1e5, NAN }, 3.15576e7, "yr", "yr" },
        { "si", { 172800.0, NAN, NAN, NAN }, 86400.0, "d", "d" },
        { "si", { 1e5, NAN, NAN, NAN }, 1.0, "s", "s" },
        { "galactic", { 5.0, NAN, NAN, NAN }, 1.0 / 0.97779222, "Gyr", "Gyr" },
        { "galactic", { 0.5, NAN, NAN, NAN }, 1e-3 / 0.97779222, "Myr", "Myr" },
        { "pc-msun-myr", { 100.0, NAN, 2.0, 10.0 }, 1.0, "Myr", "Myr" },
        { "pc-msun-myr", { 0.5, NAN, 2.0, 10.0 }, 1.0, "Myr", "Myr" },
        { "pc-msun-myr", { 5e4, NAN, 2.0, 10.0 }, 1e3, "Gyr", "Gyr" },
        { "nbody", { 100.0, 6.25, 2.5, 10.0 }, 6.25, "periods", "periods of 6.25" },
        { "nbody",
          { 12.0, 6.25, 2.828427, 10.0 },
          2.828427,
          "crossing times",
          "crossing times of 2.828" },
        { "nbody",
          { 20.0, NAN, 2.5, 10.0 },
          10.0,
          "half-mass relaxation times",
          "half-mass relaxation times of 10" },
        { "nbody", { 4.9, NAN, 2.5, NAN }, 1.0, "", "T" },
        { "nbody", { 1e6, NAN, NAN, NAN }, 1.0, "", "T" },
    };
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        const struct time_unit unit = time_unit_choose(units_find(cases[k].units), &cases[k].spans);
        assert_close(unit.size, cases[k].size, 1e-7 * cases[k].size);
        assert_string_equal(unit.name, cases[k].name);
        assert_string_equal(unit.label, cases[k].label);
    }
    char words[UNITS_TEXT_SIZE];
    const struct time_unit years = time_unit_choose(units_find("astronomical"), &cases[0].spans);
    assert_string_equal(time_unit_text(&years, 3652.5, 4, words), "10 yr");
    const struct time_unit own =
        time_unit_choose(units_find("nbody"), &cases[COUNT_OF(cases) - 1].spans);
    assert_string_equal(time_unit_text(&own, 3.25, 4, words), "3.25");
}

static void test_cells(void **state)
{
    (void)state;
    static const struct {
        double lowest, highest, L;
        double origin, side;
    } cases[] = {
        { -3.1, 2.0, 0, -4, 8 },       /* the next power of two */
        { -1.0, 4.0, 0, -4, 8 },       /* which the farthest body may be at */
        { -1.0, 4.1, 0, -8, 16 },      /* and no farther */
        { -0.6, 0.3, 0, -1, 2 },       /* out of both ranges that some take as reduced */
        { -0.51, 0.51, 0, -0.5, 1 },   /* within them: the unit cube */
        { 0.2, 1.01, 0, 0, 1 },        /* */
        { -0.2, 0.8, 0, -1, 2 },       /* in neither as a whole */
        { -4.0, 4.0, 10, -5, 10 },     /* a box, about the origin */
        { -0.3, 0.3, 2, -1, 2 },       /* wherever the bodies are in it */
        { -3.0, 3.0, 0.8, -0.4, 0.8 }, /* or beyond it: they will be wrapped */
    };
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        const struct cell cell = cell_between(cases[k].lowest, cases[k].highest, cases[k].L);
        assert_close(cell.origin, cases[k].origin, 1e-15 * cases[k].side);
        assert_close(cell.side, cases[k].side, 0);
        assert_int_equal(cell.periodic, cases[k].L > 0);
    }
}

/* A body a rounding from a face of the box, or of one of its images, is wrapped into the box, by
 * whole sides. */
static void test_positions_at_faces_of_the_box(void **state)
{
    (void)state;
    static const double sides[] = { 2.5, 1.3719, 0.1, 0.3, 0.01, 7.3 };
    for (size_t k = 0; k < COUNT_OF(sides); k++) {
        const double L = sides[k];
        const struct physics physics = { .boundary = BOUNDARY_PERIODIC, .box_length = L };
        const struct cell cell = cell_about_origin(&physics);
        for (int half = -300; half < 300; half++) {
            const double face = 0.5 * half * L;
            const double places[] = { face, nextafter(face, 99), nextafter(face, -99) };
            for (size_t p = 0; p < COUNT_OF(places); p++) {
                const double x = cell_wrap(&cell, places[p]), images = (x - places[p]) / L;
                assert_true(x >= -0.5 * L && x < -0.5 * L + L);
                assert_close(images, round(images), 1e-12);
            }
        }
    }
}

/* --- bodies ----------------------------------------------------------------------------------- */

/* Sides 3, 4, 12 and 13: a distance of 5 with a speed of 13, and the other way round. */
static void test_scales(void **state)
{
    (void)state;
    struct bodies *b = sample_create(2, 2);
    const size_t other = b->stride;
    b->m[0] = 2, b->x[0] = 3, b->y[0] = 4, b->vy[0] = 5, b->vz[0] = -12;
    b->m[1] = 0.5, b->z[1] = -13, b->vx[1] = 4, b->vz[1] = 3;
    b->m[other] = 0.25, b->x[other] = 5, b->vx[other] = 13;
    b->m[other + 1] = 0.5, b->y[other + 1] = 13, b->vy[other + 1] = -5;
    struct scales scales;
    scales_measure(b, &scales);
    assert_close(scales.length, sqrt((25 + 169 + 25 + 169) / 4.0), 1e-15);
    assert_close(scales.velocity, sqrt((169 + 25 + 169 + 25) / 4.0), 1e-15);
    assert_close(scales.momentum, 2 * 13 + 0.5 * 5, 0); /* of the first system, which has more */
    assert_close(scales.angular_momentum, 2 * 5 * 13 + 0.5 * 13 * 5, 0);
    bodies_destroy(b);
}

/* A species of one body is its name, in every system where that body has the same id. */
static void test_bodies_are_called_by_their_names(void **state)
{
    (void)state;
    struct bodies *b;
    struct error error;
    char name[BODIES_NAME_SIZE], pair[BODIES_PAIR_SIZE];
    assert_int_equal(bodies_create(2, 5, &b, &error), STATUS_OK);
    for (size_t i = 0; i < b->stride + 5; i++)
        b->id[i] += 10; /* 11 to 15 */
    assert_true(bodies_add_species(b, "Sun", 1) && bodies_add_species(b, "Jupiter", 2));
    assert_true(bodies_add_species(b, "moons", 4)); /* and the last body has none */
    assert_string_equal(bodies_name(b, 11, name), "Sun");
    assert_string_equal(bodies_name(b, 13, name), "body 13");
    assert_string_equal(bodies_name(b, 15, name), "body 15");
    assert_string_equal(bodies_name(b, 1, name), "body 1"); /* no place of the list */
    assert_string_equal(bodies_pair(b, 12, 11, pair), "Jupiter and Sun");
    assert_string_equal(bodies_pair(b, 11, 14, pair), "Sun and body 14");
    assert_string_equal(bodies_pair(b, 13, 15, pair), "bodies 13 and 15");
    b->id[b->stride + 1] = 99; /* in system 2 another body is at this place */
    assert_string_equal(bodies_name(b, 12, name), "body 12");
    assert_string_equal(bodies_name(b, INT64_MIN, name), "body -9223372036854775808");
    assert_string_equal(bodies_pair(b, INT64_MIN, 12, pair), "bodies -9223372036854775808 and 12");
    bodies_destroy(b);
}

/* Names are words of UTF-8 that a terminal shows: no separators, no controls, no marks that turn
 * the direction of writing. */
static void test_words_that_name_a_species(void **state)
{
    (void)state;
    static const char *const good[] = {
        "a", "Céres", "<b>", "1", "-", "天王星", "\xf0\x9f\x8c\x8d"
    };
    static const char *const bad[] = {
        "",         "a b",          "a\tb",         "a\x7f",
        "a\"b",     "a\\b",         "a=b",          "a,b",
        "C\xe9res", "\xc3",         "\xed\xa0\x80", "\xc0\x80",
        "\xc2\x9b", "\xe2\x80\xae", "a\nb",         "0123456789012345678901234567890x"
    };
    for (size_t k = 0; k < COUNT_OF(good); k++)
        assert_true(bodies_is_species(good[k]));
    for (size_t k = 0; k < COUNT_OF(bad); k++)
        assert_false(bodies_is_species(bad[k]));
}

static void test_a_system_is_copied_with_its_ids(void **state)
{
    (void)state;
    struct bodies *from = sample_create(3, 5), *to = sample_create(2, 4);
    double *in[BODIES_REALS], *out[BODIES_REALS];
    bodies_reals(from, in);
    bodies_reals(to, out);
    for (size_t k = 0; k < BODIES_REALS; k++)
        for (size_t i = 0; i < bodies_length(from); i++)
            in[k][i] = 1000.0 * (double)k + (double)i;
    for (size_t i = 0; i < bodies_length(from); i++)
        from->id[i] = 7000 + (int64_t)i;
    bodies_copy_system(to, 1, from, 2);
    for (size_t i = 0; i < to->count; i++) {
        for (size_t k = 0; k < 7; k++) /* masses, positions, velocities */
            assert_close(out[k][to->stride + i], in[k][2 * from->stride + i], 0);
        assert_int_equal(to->id[to->stride + i], from->id[2 * from->stride + i]);
        assert_int_equal(to->id[i], i + 1); /* the other system is as it was */
    }
    bodies_destroy(from);
    bodies_destroy(to);
}

/* One large term and a thousand that are less than half of its last digit: 1e16 has steps of 2. */
static bool takes_one(const void *wanted, size_t number)
{
    return number == *(const size_t *)wanted;
}

static bool takes_all(const void *unused, size_t number)
{
    (void)unused, (void)number;
    return true;
}

/* Selects from the second of two systems each body alone, all, and none. */
static void test_selected_bodies(void **state)
{
    (void)state;
    enum { COUNT = 3 };
    struct error error = { 0 };
    struct bodies *all, *some;
    assert_int_equal(bodies_create(2, COUNT, &all, &error), STATUS_OK);
    double *const of_all[] = { all->m, all->x, all->y, all->z, all->vx, all->vy, all->vz };
    for (size_t i = 0; i < all->stride + COUNT; i++) {
        all->id[i] = 40 + (int64_t)i * 3;
        for (size_t k = 0; k < COUNT_OF(of_all); k++)
            of_all[k][i] = (double)(10 * i + k);
    }
    for (size_t wanted = 0; wanted <= COUNT + 1; wanted++) {
        const bool one = wanted < COUNT, none = wanted == COUNT;
        const size_t first = all->stride;
        assert_int_equal(
            bodies_select(all, first, one || none ? takes_one : takes_all, &wanted, &some, &error),
            STATUS_OK);
        if (none) {
            assert_null(some);
            continue;
        }
        assert_int_equal(some->count, one ? 1 : COUNT);
        const double *const of_some[] = { some->m,  some->x,  some->y, some->z,
                                          some->vx, some->vy, some->vz };
        for (size_t i = 0; i < some->count; i++) {
            const size_t from = first + (one ? wanted : i);
            assert_int_equal(some->id[i], all->id[from]);
            for (size_t k = 0; k < COUNT_OF(of_some); k++)
                assert_true(of_some[k][i] == of_all[k][from]);
        }
        bodies_destroy(some);
    }
    bodies_destroy(all);
}

static void test_small_terms_are_not_lost(void **state)
{
    (void)state;
    enum { SMALL = 1000 };
    struct bodies *b = sample_create(1, SMALL + 1);
    for (size_t i = 0; i < b->count; i++) {
        b->m[i] = 2.0;
        b->vx[i] = i == 0 ? 1e8 : 0.5;
    }
    struct conserved conserved;
    double *const none = calloc(bodies_length(b), sizeof *none);
    assert_non_null(none);
    conserved_measure(b, 0, none, none, &conserved);
    assert_true(conserved.kinetic == 1e16 + 0.25 * SMALL);
    free(none);
    bodies_destroy(b);
}

/* The sums of sample bodies at rest as a whole, and of the same with one more velocity. */
static struct conserved sums_of(const struct bodies *b, const double *phi, const double boost[3])
{
    struct conserved conserved;
    for (size_t i = 0; i < b->count; i++) {
        b->vx[i] += boost[0];
        b->vy[i] += boost[1];
        b->vz[i] += boost[2];
    }
    conserved_measure(b, 0, phi, phi, &conserved);
    return conserved;
}

/* Velocities are multiples of 2^-16 and boosts of 2^-6, so that all sums of two are exact. */
static void make_velocities(struct bodies *b)
{
    for (size_t i = 0; i < b->count; i++) {
        b->m[i] = 0.25;
        b->vx[i] = ldexp((double)(i * 7919 % 1009) - 504.0, -16);
        b->vy[i] = ldexp((double)(i * 104729 % 1013) - 506.0, -16);
        b->vz[i] = ldexp((double)(i * 1299709 % 1019) - 509.0, -16);
    }
}

/* The energy about the centre of mass is the same in every frame, of a system with a million times
 * its own speed too, where K - P^2/2M has no digit of it left. */
static void test_the_internal_energy_knows_no_frame(void **state)
{
    (void)state;
    enum { COUNT = 300 };
    static const double speeds[] = { 0.015625, 30.0, 15625.0 };
    struct bodies *b = sample_create(1, COUNT);
    double *const phi = calloc(bodies_length(b), sizeof *phi);
    assert_non_null(phi);
    for (size_t i = 0; i < b->count; i++)
        phi[i] = -3.1e-5;
    make_velocities(b);
    const struct conserved rest = sums_of(b, phi, (const double[]){ 0, 0, 0 });
    assert_true(rest.internal <= rest.kinetic && rest.internal > 0.9 * rest.kinetic);
    for (size_t k = 0; k < COUNT_OF(speeds); k++) {
        make_velocities(b);
        const struct conserved moving =
            sums_of(b, phi, (const double[]){ speeds[k], -2 * speeds[k], 0.5 * speeds[k] });
        assert_true(moving.kinetic > rest.kinetic);
        /* V is off by some 1e-16 of itself, and the sum by the square of that. */
        assert_close(moving.internal / rest.internal, 1.0, 1e-13);
        assert_close(conserved_energy_error(&rest, &moving), 0.0, 1e-13);
        assert_close(conserved_energy_scale(&moving) / conserved_energy_scale(&rest), 1.0, 1e-13);
    }
    free(phi);
    bodies_destroy(b);
}

/* At rest, to the rounding of a momentum, K' is K to the last bit; and of a body alone it is 0, not
 * what rounding leaves. */
static void test_systems_at_rest_and_bodies_alone(void **state)
{
    (void)state;
    struct bodies *b = sample_create(1, 3);
    double *const none = calloc(bodies_length(b), sizeof *none);
    assert_non_null(none);
    const double m[] = { 0.3, 0.1, 0.7 }, v[] = { 0.1, 0.7, -1.0 / 7.0 };
    for (size_t i = 0; i < 3; i++) {
        b->m[i] = m[i];
        b->vx[i] = v[i];
        b->vy[i] = b->vz[i] = 0;
    }
    b->vx[2] = -(0.3 * 0.1 + 0.1 * 0.7) / 0.7;
    struct conserved c;
    conserved_measure(b, 0, none, none, &c);
    assert_true(fabs(c.momentum[0]) < 1e-16);
    assert_true(c.internal == c.kinetic && c.kinetic > 0);
    /* A motion of the whole with 1e-17 of K, which the velocities still show in their last digits:
     * K about V would differ from K in its last bit here and there. */
    for (int k = 1; k <= 20; k++) {
        const double whole = 1e-10 * k; /* 1.1 V^2 / 2 = 2e-18 at most; K = 0.03 */
        for (size_t i = 0; i < 3; i++)
            b->vx[i] = v[i] + whole;
        b->vx[2] = -(0.3 * 0.1 + 0.1 * 0.7) / 0.7 + whole;
        conserved_measure(b, 0, none, none, &c);
        assert_true(fabs(c.momentum[0]) > 1e-11 && c.internal == c.kinetic);
    }
    for (size_t i = 0; i < 3; i++) /* one velocity that has no end in binary digits */
        b->vx[i] = 1.0 / 3.0, b->vy[i] = -0.7, b->vz[i] = 0.1;
    conserved_measure(b, 0, none, none, &c);
    assert_true(c.internal == 0 && c.kinetic > 0.2 && conserved_energy_scale(&c) == 0);
    assert_true(isnan(conserved_energy_error(&c, &c)));
    for (size_t i = 0; i < 3; i++)
        b->m[i] = 0;
    conserved_measure(b, 0, none, none, &c);
    assert_true(c.internal == 0 && c.kinetic == 0);
    free(none);
    bodies_destroy(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constants_of_gravity),
        cmocka_unit_test(test_labels_say_the_dimension),
        cmocka_unit_test(test_times_in_the_unit_of_interest),
        cmocka_unit_test(test_cells),
        cmocka_unit_test(test_positions_at_faces_of_the_box),
        cmocka_unit_test(test_scales),
        cmocka_unit_test(test_bodies_are_called_by_their_names),
        cmocka_unit_test(test_words_that_name_a_species),
        cmocka_unit_test(test_a_system_is_copied_with_its_ids),
        cmocka_unit_test(test_selected_bodies),
        cmocka_unit_test(test_small_terms_are_not_lost),
        cmocka_unit_test(test_the_internal_energy_knows_no_frame),
        cmocka_unit_test(test_systems_at_rest_and_bodies_alone),
    };
    return cmocka_run_group_tests_name("model", tests, NULL, NULL);
}
