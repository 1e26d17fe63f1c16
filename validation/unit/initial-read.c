#include "unit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/memory.h"
#include "base/random.h"
#include "file-case.h"
#include "formats/read.h"

/* Reads file "f" into as many systems as it holds; NULL, with the error, if that fails. */
static struct bodies *read_file(const struct read_format *format, int64_t frame,
                                struct error *error)
{
    const struct read_request request = { .path = "f", .frame = frame };
    struct read_shape shape;
    struct bodies *bodies;
    error_clear(error);
    if (format->measure(format, &request, &shape, error) != STATUS_OK)
        return NULL;
    assert_int_equal(bodies_create(shape.systems, shape.count, &bodies, error), STATUS_OK);
    if (format->read(format, &request, bodies, error) != STATUS_OK) {
        bodies_destroy(bodies);
        return NULL;
    }
    return bodies;
}

static struct bodies *read_good(const struct read_format *format, const char *text)
{
    struct error error = { 0 };
    write_file(text);
    struct bodies *bodies = read_file(format, -1, &error);
    if (!bodies)
        fail_msg("%s", error.text);
    return bodies;
}

static void refuse(const struct read_format *format, const char *text, const char *message)
{
    struct error error = { 0 };
    write_file(text);
    struct bodies *bodies = read_file(format, -1, &error);
    if (bodies)
        fail_msg("accepted, not refused: %s", message);
    assert_string_equal(error.text, message);
    assert_int_equal(error.status, STATUS_DATA);
}

/* The two bodies that the good files below hold. */
static const double expected[2][7] = {
    { 2.385, 0.1, -0.2, 0.30000000000000004, 1e-3, -2.5e2, 7.0 },
    { 0.0, -1.5, 3.25, 6.125, 0.0, 0.75, -0.0625 },
};

static void assert_expected(struct bodies *b, int64_t first_id, int64_t second_id)
{
    assert_int_equal(b->systems, 1);
    assert_int_equal(b->count, 2);
    for (size_t i = 0; i < 2; i++) {
        const double found[] = { b->m[i], b->x[i], b->y[i], b->z[i], b->vx[i], b->vy[i], b->vz[i] };
        assert_memory_equal(found, expected[i], sizeof found);
    }
    assert_true(b->id[0] == first_id && b->id[1] == second_id);
    bodies_destroy(b);
}

static void test_plain(void **state)
{
    (void)state;
    static const char *const same[] = {
        "2.385 0.1 -0.2 0.30000000000000004 1e-3 -2.5e2 7\n0 -1.5 3.25 6.125 0 0.75 -0.0625\n",
        "# m x y z, and so on\r\n\r\n"
        "2.385\t0.1 -0.2   0.30000000000000004 1e-3 -2.5e2 7\r\n"
        "  # the second one\r\n 0 -1.5 3.25 6.125 0 0.75 -0.0625  ",
        ("\357\273\2772.385 0.1 -0.2 0.30000000000000004 1e-3 -2.5e2 7\n"
         "0 -1.5 3.25 6.125 0 0.75 -0.0625"),
    };
    for (size_t i = 0; i < COUNT_OF(same); i++)
        assert_expected(read_good(&read_plain, same[i]), 1, 2);
}

/* A comment that names each of the columns once is believed: in another order they would be taken
 * for one another without a word. Whatever else a comment says is none of the table. */
static void test_plain_columns_in_another_order(void **state)
{
    (void)state;
    static const char *const others[] = {
        "# x y z vx vy vz m",
        "#x [pc] y [pc] z [pc] vx [km/s] vy [km/s] vz [km/s] mass [Msun]",
        "# m, x, vx, y, vy, z, vz",
        "\n# by a program\n# columns: M vx vy vz x y z",
    };
    static const size_t lines[] = { 1, 1, 1, 3 };
    static const char *const same[] = {
        "# Mass x y z vx vy vz",
        "#m,x,y,z,vx,vy,vz",
        "# id m x y z vx vy vz z",
        "# x y z vx vy vz",
        "# x y z vx vy vz m, that is mass",
    };
    static const char rows[] = "2.385 0.1 -0.2 0.30000000000000004 1e-3 -2.5e2 7\n"
                               "0 -1.5 3.25 6.125 0 0.75 -0.0625\n";
    char text[512], message[256];
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        snprintf(text, sizeof text, "%s\n%s", others[i], rows);
        snprintf(message, sizeof message,
                 "f:%zu: this comment names the columns in another order than m x y z vx vy vz, in "
                 "which plain columns stand; only CSV has them in any order",
                 lines[i]);
        refuse(&read_plain, text, message);
    }
    for (size_t i = 0; i < COUNT_OF(same); i++) {
        snprintf(text, sizeof text, "%s\n%s", same[i], rows);
        assert_expected(read_good(&read_plain, text), 1, 2);
    }
}

static void test_csv(void **state)
{
    (void)state;
    static const char *const same[] = {
        "m,x,y,z,vx,vy,vz,id\n"
        "2.385,0.1,-0.2,0.30000000000000004,1e-3,-2.5e2,7,31\n0,-1.5,3.25,6.125,0,0.75,-0.0625,5\n",
        "id [1], Mass [Msun] ,x [AU],\"y [AU]\",z (AU),name [?],vx[AU/d],VY [AU d^-1],vz [AU "
        "d-1]\r\n"
        "31,2.385,0.1,-0.2,0.30000000000000004,\"Doe, \",1e-3,-2.5e2,7\r\n\r\n"
        "5,0,-1.5,3.25,6.125,,0,\"0.75\",-0.0625\r\n\r\n",
        "\xef\xbb\xbf# vz,vy,vx,z,y,x,m,id\n"
        "7,-2.5e2,1e-3,0.30000000000000004,-0.2,0.1,2.385,31\n-0.0625,0.75,0,6.125,3.25,-1.5,0,5",
    };
    for (size_t i = 0; i < COUNT_OF(same); i++)
        assert_expected(read_good(&read_csv, same[i]), 31, 5);
}

static void test_xyz(void **state)
{
    (void)state;
    static const char *const same[] = {
        "2\nLattice=\"4 0 0 0 4 0 0 0 4\" Origin=\"-2 -2 -2\" pbc=\"F F F\" "
        "Properties=species:S:1:pos:R:3:velo:R:3:mass:R:1:id:I:1 Time=0.5 Step=3\n"
        "X 0.1 -0.2 0.30000000000000004 1e-3 -2.5e2 7 2.385 31\n"
        "X -1.5 3.25 6.125 0 0.75 -0.0625 0 5\n",
        "  2\r\nnote=\"no Properties=x:y:z here\" "
        "properties=\"id:I:1:Masses:R:1:force:R:3:VELO:R:3:Pos:R:3\"\r\n"
        "31 2.385 9 9 9 1e-3 -2.5e2 7 0.1 -0.2 0.30000000000000004\r\n"
        "5 0 9 9 9 0 0.75 -0.0625 -1.5 3.25 6.125",
    };
    for (size_t i = 0; i < COUNT_OF(same); i++)
        assert_expected(read_good(&read_xyz, same[i]), 31, 5);
}

static void test_frames_of_xyz(void **state)
{
    (void)state;
    static const char properties[] = "Properties=mass:R:1:pos:R:3:velo:R:3";
    char text[1000];
    struct error error;
    snprintf(text, sizeof text,
             "1\n%s\n1 11 0 0 0 0 0\n3\n%s\n1 21 0 0 0 0 0\n1 22 0 0 0 0 0\n1 23 0 0 0 0 0\n"
             "2\n%s\n1 31 0 0 0 0 0\n1 32 0 0 0 0 0\n",
             properties, properties, properties);
    write_file(text);
    static const struct {
        int64_t frame;
        size_t count;
        double x;
    } frames[] = { { 0, 1, 11 }, { 1, 3, 21 }, { 2, 2, 31 }, { -1, 2, 31 } };
    for (size_t i = 0; i < COUNT_OF(frames); i++) {
        struct bodies *b = read_file(&read_xyz, frames[i].frame, &error);
        assert_non_null(b);
        assert_int_equal(b->count, frames[i].count);
        assert_true(b->x[0] == frames[i].x);
        bodies_destroy(b);
    }
    assert_null(read_file(&read_xyz, 3, &error));
    assert_string_equal(error.text,
                        "f:12: there is no frame 3: the file holds 3 frames, the first one is 0");
    /* Tables hold no frames. */
    write_file("m,x,y,z,vx,vy,vz\n1,0,0,0,0,0,0\n");
    bodies_destroy(read_file(&read_csv, 0, &error));
    assert_int_equal(error.status, STATUS_OK);
    assert_null(read_file(&read_csv, 1, &error));
    assert_string_equal(error.text, "f: there is no frame 1: a table holds one, number 0");
    write_file("1 0 0 0 0 0 0\n");
    assert_null(read_file(&read_plain, 1, &error));
    assert_string_equal(error.text, "f: there is no frame 1: a table holds one, number 0");
    /* A run that was killed: the last frame is not whole; those before it can be had. */
    strcat(text, "2\nProperties=mass:R:1:pos:R:3:velo:R:3\n1 41 0 0 0 0 0\n");
    write_file(text);
    assert_null(read_file(&read_xyz, -1, &error));
    assert_string_equal(error.text,
                        "f:15: the file ends after 1 of the 2 bodies of frame 3; frames "
                        "before it can be chosen by bodies.frame");
    struct bodies *b = read_file(&read_xyz, 2, &error);
    assert_non_null(b);
    assert_true(b->x[1] == 32);
    bodies_destroy(b);
}

/* Forty systems, each of which stands between those before it. */
static void test_many_systems(void **state)
{
    (void)state;
    char text[1024];
    int length = snprintf(text, sizeof text, "system,m,x,y,z,vx,vy,vz\n");
    for (int k = 0; k < 40; k++)
        length += snprintf(text + length, sizeof text - (size_t)length, "%d,1,%d,0,0,0,0,0\n",
                           k % 2 ? 100 - k : k, k);
    struct bodies *const b = read_good(&read_csv, text);
    assert_int_equal(b->systems, 40);
    for (size_t s = 0; s < 40; s++)
        assert_true(b->x[s * b->stride] == (s < 20 ? 2 * (double)s : 79 - 2 * (double)s));
    bodies_destroy(b);
}

/* Rows of three systems, in disorder; the systems come out in the order of their numbers. */
static void test_systems(void **state)
{
    (void)state;
    struct bodies *b = read_good(&read_csv, "m,x,y,z,vx,vy,vz,system,id\n"
                                            "1,21,0,0,0,0,0,2,4\n"
                                            "1,-1,0,0,0,0,0,-5,9\n"
                                            "1,71,0,0,0,0,0,7,1\n"
                                            "1,22,0,0,0,0,0,2,3\n"
                                            "1,72,0,0,0,0,0,7,2\n"
                                            "1,-2,0,0,0,0,0,-5,8\n");
    static const double x[3][2] = { { -1, -2 }, { 21, 22 }, { 71, 72 } };
    static const int64_t id[3][2] = { { 9, 8 }, { 4, 3 }, { 1, 2 } };
    assert_int_equal(b->systems, 3);
    assert_int_equal(b->count, 2);
    for (size_t s = 0; s < 3; s++)
        for (size_t i = 0; i < 2; i++) {
            assert_true(b->x[s * b->stride + i] == x[s][i]);
            assert_true(b->id[s * b->stride + i] == id[s][i]);
        }
    bodies_destroy(b);

    /* The same file in an ensemble of another size, and a file of one system in any ensemble. */
    const struct read_request request = { .path = "f", .frame = -1 };
    struct error error = { 0 };
    assert_int_equal(bodies_create(2, 2, &b, &error), STATUS_OK);
    assert_int_equal(read_csv.read(&read_csv, &request, b, &error), STATUS_DATA);
    assert_string_equal(error.text,
                        "f: the file holds 3 systems, the run 2: ensemble.systems must be 3");
    write_file("system,m,x,y,z,vx,vy,vz\n1,1,0,0,0,0,0,0\n1,1,1,0,0,0,0,0\n"
               "2,1,0,0,0,0,0,0\n2,1,1,0,0,0,0,0\n");
    struct bodies *more;
    assert_int_equal(bodies_create(3, 2, &more, &error), STATUS_OK);
    error_clear(&error);
    assert_int_equal(read_csv.read(&read_csv, &request, more, &error), STATUS_DATA);
    assert_string_equal(error.text,
                        "f: the file holds 2 systems, the run 3: ensemble.systems must be 2");
    bodies_destroy(more);
    write_file("1 11 0 0 0 0 0\n1 12 0 0 0 0 0.5\n");
    error_clear(&error);
    assert_int_equal(read_plain.read(&read_plain, &request, b, &error), STATUS_OK);
    assert_true(b->x[b->stride] == 11 && b->vz[b->stride + 1] == 0.5);
    assert_true(b->id[b->stride + 1] == 2);
    bodies_destroy(b);

    refuse(&read_csv,
           "system,m,x,y,z,vx,vy,vz\n1,1,0,0,0,0,0,0\n2,1,0,0,0,0,0,0\n2,1,1,0,0,0,0,0\n",
           "f:4: system 1 has 1 bodies and system 2 has 2; all must have the same number");
}

static void test_bad_rows(void **state)
{
    (void)state;
    refuse(&read_csv, "id,m,x,y,z,vx,vy,vz\n4,1,0,0,0,0,0,0\n17,1,0,nan,0,0,0,0\n",
           "f:3: column 4 (y) of body 17: 'nan' is not a finite number");
    refuse(&read_plain, "1 0 0 0 0 0 0\n\n1 0 0 -inf 0 0 0\n",
           "f:3: column 4 (z) of body 2: '-inf' is not a finite number");
    refuse(&read_plain, "1 0 0 0 1e999 0 0\n",
           "f:1: column 5 (vx) of body 1: '1e999' is not a finite number");
    refuse(&read_plain, "1 0 0 0 0 0 0\n-3.5 0 0 0 0 0 0\n",
           "f:2: column 1 (mass) of body 2: -3.5 is negative");
    refuse(&read_plain, "1 0 0 0 0 0 0\n1 0 0 0 0 0\n", "f:2: 6 columns where 7 are expected");
    refuse(&read_plain, "1 0 0 0 0 0 0 0\n", "f:1: 8 columns where 7 are expected");
    refuse(&read_csv, "m,x,y,z,vx,vy,vz\n1,0,0,0,0,0,0,\n",
           "f:2: 8 columns where 7 are expected (a decimal comma? the decimal sign is '.')");
    refuse(&read_csv, "m,x,y,z,vx,vy,vz\n1,0,0,0,0,0\n", "f:2: 6 columns where 7 are expected");
    refuse(&read_csv, "m,x,y,z,vx,vy,vz,id\n1,0,0,0,0,0,0,1.5\n",
           "f:2: column 8 (id) of body number 1: '1.5' is not an integer");
    refuse(&read_csv, "m,x,y,z,vx,vy,vz\n1,0,0,,0,0,0\n",
           "f:2: column 4 (z) of body 1: '' is not a finite number");
}

static void test_decimal_commas(void **state)
{
    (void)state;
    refuse(&read_plain, "1,5 0 0 0 0 0 0\n",
           "f:1: column 1 (mass) of body 1: '1,5' is not a finite number; the decimal sign is '.'");
    refuse(&read_csv, "m,x,y,z,vx,vy,vz\n1,5,0,0,0,0,0,0,0,0,0,0,0,0\n",
           "f:2: 14 columns where 7 are expected (a decimal comma? the decimal sign is '.')");
    refuse(&read_csv, "m;x;y;z;vx;vy;vz\n1,5;0;0;0;0;0;0\n",
           "f:1: the header has no comma and no tab; columns are separated by either");
}

static void test_bad_headers(void **state)
{
    (void)state;
    refuse(&read_csv, "m,x,y,vx,vy\n1,0,0,0,0\n",
           "f:1: no column z, vz; the first line names the columns");
    refuse(&read_csv, "m,x,y,z,vx,vy,vz,mass\n", "f:1: columns 1 and 8 are both the mass");
    refuse(&read_csv, "\n\n", "f:2: no header with the names of the columns");
    refuse(&read_csv, "m,x,y,z,vx,vy,vz\n", "f:1: no bodies");
    refuse(&read_plain, "", "f: no bodies");
    refuse(&read_xyz, "", "f: there is no frame 0: the file holds 0 frames, the first one is 0");
    refuse(&read_xyz, "2.5\n", "f:1: '2.5' is not the number of bodies of a frame");
    refuse(&read_xyz, "0\n", "f:1: '0' is not the number of bodies of a frame");
    refuse(&read_xyz, "99999999999999999999\n",
           "f:1: '99999999999999999999' is not the number of bodies of a frame");
    refuse(&read_xyz, "1\nX 0 0 0\n", "f:2: the file ends after 0 of the 1 bodies of frame 0");
    refuse(&read_xyz, "1\nplain\nX 0 0 0\n",
           "f:2: no Properties=...: only extended XYZ names its columns, and masses and velocities "
           "are needed");
    refuse(
        &read_xyz, "1\nProperties=species:S:1:pos:R:3\nX 0 0 0\n",
        "f:2: no column mass, vx, vy, vz in Properties (a trajectory needs the columns pos, velo "
        "and mass to start from)");
    refuse(&read_xyz, "1\nProperties=pos:R:3:mass:R\n0 0 0 1\n",
           "f:2: Properties: 'mass' is not followed by a type and a number of columns, as in "
           "pos:R:3");
    refuse(&read_xyz, "1\nProperties=pos:R:2:mass:R:1:velo:R:3\n0 0 0 1\n",
           "f:2: pos has 2 columns, not 3");
    refuse(&read_xyz, "1\nProperties=pos:R:3:mass:R:9999999:velo:R:3\n0 0 0 1\n",
           "f:2: Properties: 'mass' is not followed by a type and a number of columns, as in "
           "pos:R:3");
}

static void test_binary_and_announced_counts(void **state)
{
    (void)state;
    refuse(&read_plain, "1 0 0 0 0 0 0\n\x01\x02", "f:2: byte 1 is 0x01: this is not a text file");
    /* No array of the announced size may be made before the rows are seen. */
    refuse(&read_xyz, "9000000000000000000\nProperties=pos:R:3:mass:R:1:velo:R:3\n0 0 0 1 0 0 0\n",
           "f:3: the file ends after 1 of the 9000000000000000000 bodies of frame 0");
}

static void test_formats_are_recognised(void **state)
{
    (void)state;
    static const struct {
        const char *path, *head;
        bool xyz, csv;
    } files[] = {
        { "a.xyz", "12\nProperties=...", true, false },
        { "a.dat", "  12 \nProperties=...", true, false },
        { "a", "12 \r\n", true, false },
        { "a.dat", "1 0 0 0 0 0 0\n", false, false },
        { "a.dat", "# m, x, y\n1 0 0 0 0 0 0\n", false, false },
        { "a.dat", "# m,x,y\n1,0,0\n", false, true },
        { "a.csv", "m;x;y\n", false, true },
        { "a.csv.gz", "", false, true },
        { "a.txt", "m, x, y\n", false, true },
        { "a.dat", "", false, false },
    };
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        const size_t length = strlen(files[i].head);
        assert_int_equal(read_xyz.recognise(files[i].path, files[i].head, length), files[i].xyz);
        assert_int_equal(read_csv.recognise(files[i].path, files[i].head, length), files[i].csv);
    }
}

/* Tests that numbers written with %.17g come back with the same bits, also through gzip. */
static void test_seventeen_digits_come_back(void **state)
{
    (void)state;
    enum { N = 200 };
    double values[N][7];
    uint64_t bits = 88172645463325252u; /* xorshift64 (Marsaglia 2003): any bits will do */
    gzFile file = gzopen("f", "wb");
    assert_non_null(file);
    gzprintf(file, "%d\nProperties=mass:R:1:pos:R:3:velo:R:3:id:I:1\n", N);
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < 7; k++) {
            do {
                bits ^= bits << 13;
                bits ^= bits >> 7;
                bits ^= bits << 17;
                memcpy(&values[i][k], &bits, sizeof bits);
                if (k == 0)
                    values[i][k] = fabs(values[i][k]);
            } while (!isfinite(values[i][k]));
            gzprintf(file, "%.17g ", values[i][k]);
        }
        gzprintf(file, "%d\n", N - i);
    }
    assert_int_equal(gzclose(file), Z_OK);
    struct error error = { 0 };
    struct bodies *b = read_file(&read_xyz, -1, &error);
    if (!b)
        fail_msg("%s", error.text);
    for (int i = 0; i < N; i++) {
        const double found[] = { b->m[i], b->x[i], b->y[i], b->z[i], b->vx[i], b->vy[i], b->vz[i] };
        assert_memory_equal(found, values[i], sizeof found);
        assert_true(b->id[i] == N - i);
    }
    bodies_destroy(b);
}

/* Good files with bytes changed, removed and doubled at random: refused with a message or read,
 * but never a crash (the sanitizers look on) and never a number that is not finite. */
static void test_mutated_files(void **state)
{
    (void)state;
    static const char *const good[] = {
        "# c\n# m[g] x[m] y[m] z[m] vx[m/s] vy[m/s] vz[m/s]\n1 0 -1e2 0 0 0 0\n2 1 0 0.5 0 0 "
        ".25\n\n",
        "id,Mass [kg],x[m],y[m],\"z "
        "[m]\",vx[m/s],vy[m/s],vz[m/s],system\n7,1,0,0,0,1e-3,0,0,1\n8,2,1,0,0,0,0,0.5,2\n",
        "1\nLattice=\"1 0 0 0 1 0 0 0 1\" Properties=species:S:1:pos:R:3:velo:R:3:mass:R:1:id:I:1 "
        "Time=2 mass_unit=kg length_unit=m velocity_unit=\"m s^-1\"\nX 1 2 3 4 5 6 7 "
        "8\n1\nProperties=mass:R:1:pos:R:3:velo:R:3\n1 2 3 4 5 6 7\n",
    };
    const struct read_format *const formats[] = { &read_plain, &read_csv, &read_xyz };
    struct error error = { 0 };
    gsl_rng *generator = random_create(31337, &error);
    assert_non_null(generator);
    size_t refused = 0;
    for (int trial = 0; trial < 4000; trial++) {
        char text[600];
        const size_t which = gsl_rng_uniform_int(generator, 3);
        size_t length = strlen(strcpy(text, good[which]));
        for (unsigned long k = gsl_rng_uniform_int(generator, 4) + 1; k > 0; k--) {
            const size_t at = gsl_rng_uniform_int(generator, length);
            const size_t part = gsl_rng_uniform_int(generator, length - at) + 1;
            switch (gsl_rng_uniform_int(generator, 4)) {
            case 0:
                text[at] = (char)gsl_rng_uniform_int(generator, 256);
                break;
            case 1:
                text[at] = " ,\n\"-9.e:#=\r"[gsl_rng_uniform_int(generator, 12)];
                break;
            case 2:
                if (length > part)
                    memmove(text + at, text + at + part, (length -= part) - at);
                break;
            default:
                if (length + part < sizeof text) {
                    memmove(text + at + part, text + at, length - at);
                    length += part;
                }
            }
        }
        FILE *file = fopen("f", "wb");
        assert_non_null(file);
        assert_int_equal(fwrite(text, 1, length, file), length);
        assert_int_equal(fclose(file), 0);
        struct bodies *b = read_file(formats[which], -1, &error);
        for (size_t i = 0; b && i < b->count; i++)
            assert_true(isfinite(b->m[i]) && b->m[i] >= 0 && isfinite(b->x[i] + b->vz[i]));
        assert_true(b || (error.status == STATUS_DATA && error.lines >= 1));
        refused += !b;
        bodies_destroy(b);
    }
    assert_true(refused > 1000 && refused < 4000);
    random_destroy(generator);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_plain_columns_in_another_order),
        cmocka_unit_test(test_csv),
        cmocka_unit_test(test_xyz),
        cmocka_unit_test(test_frames_of_xyz),
        cmocka_unit_test(test_systems),
        cmocka_unit_test(test_many_systems),
        cmocka_unit_test(test_bad_rows),
        cmocka_unit_test(test_decimal_commas),
        cmocka_unit_test(test_bad_headers),
        cmocka_unit_test(test_binary_and_announced_counts),
        cmocka_unit_test(test_formats_are_recognised),
        cmocka_unit_test(test_mutated_files),
        cmocka_unit_test(test_seventeen_digits_come_back),
    };
    return cmocka_run_group_tests_name("initial-read", tests, make_directory, remove_directory);
}
