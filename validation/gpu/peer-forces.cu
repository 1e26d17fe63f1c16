// The accelerations that the kernel of another program gives, and how long it takes.
//
// validation/gpu/peers.py compiles this file with PEER, the file of the other program's kernel,
// which stays where the user has it, and one of SAMPLES, MINI and YMIKI, which say whose it is.
//
// usage: peer-forces BODIES ACCELERATIONS SOFTENING
// BODIES has x, y, z and mass of all bodies as doubles, 1024 or a multiple; ACCELERATIONS gets x,
// y, z. Prints the least time of a launch in seconds.
#include <cfloat>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define main peer_main
#include PEER
#undef main

enum { LAUNCHES = 5 };
static const float ENOUGH = 1000; // milliseconds of all launches, after which the next is left out

static void check(cudaError_t code)
{
    if (code != cudaSuccess) {
        fprintf(stderr, "peer-forces: %s\n", cudaGetErrorString(code));
        exit(1);
    }
}

// launch() leaves the accelerations of `count` bodies in `a`, which was zero; `spare` is as large.
// prepare() comes before the first.

#if defined SAMPLES
typedef vec4<REAL>::Type vector;

static void prepare(double softening)
{
    check(setSofteningSquared((REAL)(softening * softening)));
}

static void launch(vector *x, vector *spare, vector *a, unsigned count)
{
    // A step of length 1 from rest without damping: the velocities are the accelerations.
    DeviceData<REAL> device = {};
    device.dPos[0] = (REAL *)x;
    device.dPos[1] = (REAL *)spare;
    device.dVel = (REAL *)a;
    device.numBodies = count;
    integrateNbodySystem<REAL>(&device, nullptr, 0, 1, 1, count, 1, 256, false);
}

#elif defined MINI
typedef float4 vector;

// Masses of 1, and a softening of its own.
static void prepare(double)
{
}

static void launch(vector *x, vector *, vector *a, unsigned count)
{
    bodyForce<<<(count + BLOCK_SIZE - 1) / BLOCK_SIZE, BLOCK_SIZE>>>(x, a, 1, (int)count);
}

#elif defined YMIKI
typedef type::position vector;

static type::flt_pos softening_squared;

static void prepare(double softening)
{
    softening_squared = (type::flt_pos)(softening * softening);
}

static void launch(vector *x, vector *, vector *a, unsigned count)
{
    static_assert(sizeof(vector) == sizeof(type::acceleration), "both are four numbers");
    calc_acc(count, x, (type::acceleration *)a, count, x, softening_squared);
}
#endif

static std::vector<vector> read_bodies(const char *path)
{
    std::vector<vector> bodies;
    FILE *file = fopen(path, "rb");
    double body[4];
    while (file && fread(body, sizeof body, 1, file) == 1) {
        vector v;
        v.x = body[0], v.y = body[1], v.z = body[2], v.w = body[3];
        bodies.push_back(v);
    }
    if (file)
        fclose(file);
    return bodies;
}

static bool write_accelerations(const char *path, const std::vector<vector> &a)
{
    FILE *file = fopen(path, "wb");
    for (size_t i = 0; file && i < a.size(); i++) {
        const double row[3] = { a[i].x, a[i].y, a[i].z };
        if (fwrite(row, sizeof row, 1, file) != 1)
            return false;
    }
    return file && fclose(file) == 0;
}

int main(int count, char **arguments)
{
    if (count != 4)
        return 64;
    std::vector<vector> bodies = read_bodies(arguments[1]);
    const size_t size = bodies.size() * sizeof(vector);
    vector *x, *spare, *a;
    cudaEvent_t start, stop;
    float least = FLT_MAX, all = 0;
    check(cudaMalloc(&x, size));
    check(cudaMalloc(&spare, size));
    check(cudaMalloc(&a, size));
    check(cudaEventCreate(&start));
    check(cudaEventCreate(&stop));
    check(cudaMemcpy(x, bodies.data(), size, cudaMemcpyHostToDevice));
    prepare(atof(arguments[3]));
    for (int k = 0; k <= LAUNCHES && (k < 2 || all < ENOUGH); k++) { // the first one warms up
        float milliseconds;
        check(cudaMemset(a, 0, size));
        check(cudaEventRecord(start));
        launch(x, spare, a, (unsigned)bodies.size());
        check(cudaGetLastError());
        check(cudaEventRecord(stop));
        check(cudaEventSynchronize(stop));
        check(cudaEventElapsedTime(&milliseconds, start, stop));
        all += milliseconds;
        if (k > 0 && milliseconds < least)
            least = milliseconds;
    }
    check(cudaMemcpy(bodies.data(), a, size, cudaMemcpyDeviceToHost));
    if (!write_accelerations(arguments[2], bodies))
        return 74;
    printf("%.9g seconds\n", 1e-3 * least);
    return 0;
}
