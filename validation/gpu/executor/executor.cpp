#include "executor.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "block.h"

enum { RUNTIME = 13000 }; /* its version */

static constexpr struct executor_settings standard = {
    1, (size_t)1 << 30, EXECUTOR_FORWARD, 0, 0, 0, 0, 0, 0, RUNTIME, 0, 8, 2
};
struct executor_settings executor_settings = standard;
const bool executor_is_a_gpu = false;
static struct executor_counts counts;

static long environment(const char *name, long standard_value)
{
    const char *text = getenv(name);
    return text ? atol(text) : standard_value;
}

bool executor_emulates(void)
{
    static const bool is_taken_for_a_gpu = environment("ORRERY_EXECUTOR_GPU", 0) != 0;
    return !is_taken_for_a_gpu;
}

static void read_environment()
{
    static bool done = false;
    if (done)
        return;
    done = true;
    struct executor_settings &s = executor_settings;
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    s.devices = (int)environment("ORRERY_EXECUTOR_DEVICES", visible && !*visible ? 0 : s.devices);
    s.memory = (size_t)environment("ORRERY_EXECUTOR_MEMORY", (long)s.memory);
    s.order = (enum executor_order)environment("ORRERY_EXECUTOR_ORDER", s.order);
    s.failing_allocation =
        (int)environment("ORRERY_EXECUTOR_FAIL_ALLOCATION", s.failing_allocation);
    s.failing_launch = (int)environment("ORRERY_EXECUTOR_FAIL_LAUNCH", s.failing_launch);
    s.failing_kernel = (int)environment("ORRERY_EXECUTOR_FAIL_KERNEL", s.failing_kernel);
    s.no_code = (int)environment("ORRERY_EXECUTOR_NO_CODE", s.no_code);
    s.busy = (int)environment("ORRERY_EXECUTOR_BUSY", s.busy);
    s.driver = (int)environment("ORRERY_EXECUTOR_DRIVER", s.driver);
    s.fp64_ratio = (int)environment("ORRERY_EXECUTOR_FP64_RATIO", s.fp64_ratio);
}

/* Counts down; true once, when it gets to 0. */
static bool comes_due(int *counter)
{
    return *counter > 0 && --*counter == 0;
}

struct executor_counts executor_count(void)
{
    return counts;
}

/* --- streams -----------------------------------------------------------------------------------*/

struct CUevent_st {
    size_t recorded = 0, reached = 0; /* how often, by the host's calls and by the streams */
    double time = 0;
};

struct work {
    size_t number; /* in the order of the host's calls */
    std::function<void()> run;
    CUevent_st *event = NULL; /* to wait for ... */
    size_t reached = 0;       /* ... until it has been reached so often */
};

struct CUgraph_st {
    std::vector<std::function<void()>> nodes;
};

struct CUgraphExec_st {
    std::vector<std::function<void()>> nodes;
};

struct CUstream_st {
    std::deque<struct work> queue;
    std::unique_ptr<CUgraph_st> capture;
};

static CUstream_st default_stream;
static std::vector<CUstream_st *> streams = { &default_stream };
static size_t work_number;
static cudaError_t failure; /* of work that has run; the next wait reports it, as do all after */
static int device;

static CUstream_st *stream_of(cudaStream_t stream)
{
    return stream ? stream : &default_stream;
}

static cudaError_t add(cudaStream_t stream, std::function<void()> run)
{
    CUstream_st *to = stream_of(stream);
    if (to->capture)
        to->capture->nodes.push_back(run);
    else
        to->queue.push_back({ work_number++, run });
    return failure;
}

static bool can_run(const CUstream_st *stream)
{
    if (stream->queue.empty())
        return false;
    const struct work &next = stream->queue.front();
    return !next.event || next.event->reached >= next.reached;
}

/* The stream whose turn it is: as called, the youngest, or any. */
static CUstream_st *next_stream()
{
    CUstream_st *chosen = NULL;
    for (unsigned k : executor_order_of((unsigned)streams.size())) {
        CUstream_st *stream = streams[k];
        if (!can_run(stream))
            continue;
        if (executor_settings.order != EXECUTOR_FORWARD)
            return stream;
        if (!chosen || stream->queue.front().number < chosen->queue.front().number)
            chosen = stream;
    }
    return chosen;
}

/* Works on until `done`. */
template <class Condition> static cudaError_t work_until(const Condition &done)
{
    counts.waits++;
    while (!done()) {
        CUstream_st *stream = next_stream();
        if (!stream)
            executor_broken("streams wait for an event that never comes");
        const std::function<void()> run = stream->queue.front().run;
        stream->queue.pop_front();
        if (!failure && run)
            run();
    }
    return failure;
}

static std::set<std::pair<int, int>> peers; /* a device, and one whose memory it may use */

void executor_reset(void)
{
    peers.clear();
    counts.peers = 0;
    read_environment();
    executor_settings = standard;
    failure = cudaSuccess;
    device = 0;
}

static cudaError_t last_launch = cudaSuccess;

void executor_note(cudaError_t code)
{
    last_launch = code;
}

cudaError_t executor_launch(const cudaLaunchConfig_t &config, std::function<void()> thread)
{
    read_environment();
    counts.launches++;
    if (config.blockDim.x == 0 || config.blockDim.x > 1024 || config.gridDim.x == 0 ||
        config.gridDim.x > INT32_MAX || config.dynamicSmemBytes > 48 * 1024)
        return cudaErrorInvalidConfiguration;
    if (executor_settings.busy)
        return cudaErrorDevicesUnavailable;
    if (executor_settings.no_code)
        return cudaErrorNoKernelImageForDevice;
    if (comes_due(&executor_settings.failing_launch))
        return cudaErrorLaunchFailure;
    return add(config.stream, [=]() {
        if (comes_due(&executor_settings.failing_kernel))
            failure = cudaErrorLaunchFailure;
        else
            block_run_grid(config, thread);
    });
}

enum { REGISTERS = 128 }; /* of a thread: as many as the kernels have where they are free to */

unsigned executor_blocks_at_once(unsigned threads, size_t shared)
{
    const size_t by_shared = 228 * 1024 / (shared + 1024);
    return (unsigned)std::min<size_t>(
        { 32, 2048 / threads, 65536 / (REGISTERS * threads), by_shared });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned)
{
    *stream = new CUstream_st;
    streams.push_back(*stream);
    counts.streams++;
    return failure;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    const cudaError_t error = work_until([=] { return stream->queue.empty(); });
    streams.erase(std::find(streams.begin(), streams.end(), stream));
    delete stream;
    counts.streams--;
    return error;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    if (stream_of(stream)->capture)
        return cudaErrorStreamCaptureUnsupported;
    return work_until([=] { return stream_of(stream)->queue.empty(); });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned)
{
    if (stream_of(stream)->capture)
        return cudaErrorStreamCaptureUnsupported;
    stream_of(stream)->queue.push_back({ work_number++, nullptr, event, event->recorded });
    return failure;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned)
{
    *event = new CUevent_st;
    counts.events++;
    return failure;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    /* After a failure nothing is reached any more. */
    const cudaError_t error =
        work_until([=] { return event->reached == event->recorded || failure; });
    delete event;
    counts.events--;
    return error;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    const size_t number = ++event->recorded;
    return add(stream, [=]() {
        event->reached = number;
        event->time = std::chrono::duration<double, std::milli>(
                          std::chrono::steady_clock::now().time_since_epoch())
                          .count();
    });
}

/* Nothing happens while the host does not wait. */
cudaError_t cudaEventQuery(cudaEvent_t event)
{
    if (failure)
        return failure;
    return event->reached == event->recorded ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    return work_until([=] { return event->reached == event->recorded || failure; });
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end)
{
    *milliseconds = (float)(end->time - start->time);
    return failure;
}

/* --- graphs ------------------------------------------------------------------------------------*/

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode)
{
    stream->capture.reset(new CUgraph_st);
    return failure;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    *graph = stream->capture.release();
    counts.graphs++;
    return failure;
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *instance, cudaGraph_t graph,
                                          unsigned long long)
{
    *instance = new CUgraphExec_st{ graph->nodes };
    counts.graphs++;
    return failure;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t instance, cudaStream_t stream)
{
    counts.launches++;
    if (comes_due(&executor_settings.failing_launch))
        return cudaErrorLaunchFailure;
    for (const std::function<void()> &node : instance->nodes)
        add(stream, node);
    return failure;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    delete graph;
    counts.graphs--;
    return failure;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t instance)
{
    delete instance;
    counts.graphs--;
    return failure;
}

/* --- memory ------------------------------------------------------------------------------------*/

struct block_of_memory {
    size_t size;
    int device;
};

static std::map<void *, struct block_of_memory> memory;

static size_t used_memory(int of)
{
    size_t used = 0;
    for (const auto &entry : memory)
        used += entry.second.device == of ? entry.second.size : 0;
    return used;
}

cudaError_t cudaMalloc(void **pointer, size_t size)
{
    read_environment();
    *pointer = NULL;
    if (failure)
        return failure;
    if (comes_due(&executor_settings.failing_allocation) ||
        size > executor_settings.memory - used_memory(device))
        return cudaErrorMemoryAllocation;
    unsigned char *bytes = (unsigned char *)aligned_alloc(256, (size + GUARD + 255) / 256 * 256);
    if (!bytes)
        return cudaErrorMemoryAllocation;
    memset(bytes, POISON, size + GUARD);
    memory[bytes] = { size, device };
    counts.allocated += size;
    *pointer = bytes;
    return cudaSuccess;
}

static void all_work()
{
    work_until([] {
        return std::all_of(streams.begin(), streams.end(),
                           [](CUstream_st *s) { return s->queue.empty(); });
    });
}

cudaError_t cudaFree(void *pointer)
{
    if (!pointer)
        return failure;
    all_work();
    const auto found = memory.find(pointer);
    if (found == memory.end())
        executor_broken("cudaFree() of something else");
    const unsigned char *end = (unsigned char *)pointer + found->second.size;
    if (std::count(end, end + GUARD, POISON) != GUARD)
        executor_broken("a kernel or a copy wrote past the end of an array");
    counts.allocated -= found->second.size;
    memory.erase(found);
    free(pointer);
    return failure;
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
    read_environment();
    *total = executor_settings.memory;
    *free_bytes = executor_settings.memory - used_memory(device);
    return executor_settings.busy ? cudaErrorDevicesUnavailable : failure;
}

static std::map<const char *, size_t> locked; /* host memory that stays where it is */

static bool is_locked(const void *pointer)
{
    const auto after = locked.upper_bound((const char *)pointer);
    if (after == locked.begin())
        return false;
    const auto &range = *std::prev(after);
    return (const char *)pointer < range.first + range.second;
}

static cudaError_t lock(void *pointer, size_t size)
{
    if (!locked.insert({ (const char *)pointer, size }).second)
        return cudaErrorHostMemoryAlreadyRegistered;
    counts.locked = locked.size();
    return failure;
}

static cudaError_t unlock(void *pointer)
{
    if (locked.erase((const char *)pointer) == 0)
        executor_broken("host memory is unlocked that was not locked");
    counts.locked = locked.size();
    return failure;
}

cudaError_t cudaHostRegister(void *pointer, size_t size, unsigned)
{
    return lock(pointer, size);
}

cudaError_t cudaHostUnregister(void *pointer)
{
    return unlock(pointer);
}

cudaError_t cudaMallocHost(void **pointer, size_t size)
{
    *pointer = NULL;
    if (comes_due(&executor_settings.failing_allocation))
        return cudaErrorMemoryAllocation;
    *pointer = malloc(size);
    return *pointer ? lock(*pointer, size) : cudaErrorMemoryAllocation;
}

cudaError_t cudaFreeHost(void *pointer)
{
    if (!pointer)
        return failure;
    const cudaError_t error = unlock(pointer);
    free(pointer);
    return error;
}

/* The host waits for what is copied to memory that is not locked. */
static cudaError_t add_copy(const void *to, enum cudaMemcpyKind kind, cudaStream_t stream,
                            std::function<void()> copy)
{
    const cudaError_t error = add(stream, copy);
    if (error || kind != cudaMemcpyDeviceToHost || is_locked(to))
        return error;
    return cudaStreamSynchronize(stream);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    counts.sent += kind == cudaMemcpyHostToDevice ? size : 0;
    return add_copy(to, kind, stream, [=]() { memcpy(to, from, size); });
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, enum cudaMemcpyKind kind,
                              cudaStream_t stream)
{
    if (width > to_pitch || width > from_pitch)
        return cudaErrorInvalidValue;
    return add_copy(to, kind, stream, [=]() {
        for (size_t row = 0; row < height; row++)
            memcpy((char *)to + row * to_pitch, (const char *)from + row * from_pitch, width);
    });
}

cudaError_t cudaMemcpyPeerAsync(void *to, int, const void *from, int, size_t size,
                                cudaStream_t stream)
{
    return add(stream, [=]() { memcpy(to, from, size); });
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t size, cudaStream_t stream)
{
    if (comes_due(&executor_settings.failing_fill))
        return cudaErrorLaunchFailure;
    return add(stream, [=]() { memset(to, value, size); });
}

/* --- devices -----------------------------------------------------------------------------------*/

cudaError_t cudaGetDeviceCount(int *count)
{
    read_environment();
    if (executor_settings.driver < RUNTIME)
        return cudaErrorInsufficientDriver;
    *count = executor_settings.devices;
    return executor_settings.devices > 0 ? cudaSuccess : cudaErrorNoDevice;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int of)
{
    read_environment();
    if (of < 0 || of >= executor_settings.devices)
        return cudaErrorInvalidDevice;
    *properties = cudaDeviceProp();
    snprintf(properties->name, sizeof properties->name, "%s",
             executor_emulates() ? "a GPU that the CPU emulates: its times mean nothing"
             : of % 2 && executor_settings.of_two_kinds ? "another executor"
                                                        : "executor");
    properties->totalGlobalMem = executor_settings.memory;
    properties->sharedMemPerBlock = 48 * 1024;
    properties->sharedMemPerMultiprocessor = 228 * 1024;
    properties->regsPerMultiprocessor = 65536;
    properties->maxThreadsPerMultiProcessor = 2048;
    properties->maxThreadsPerBlock = 1024;
    properties->major = 9;
    properties->multiProcessorCount = executor_settings.multiprocessors;
    properties->l2CacheSize = 1 << 20;
    return failure;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int)
{
    *value = attribute == cudaDevAttrClockRate ? 1000000 : executor_settings.fp64_ratio;
    return failure;
}

cudaError_t cudaDriverGetVersion(int *version)
{
    *version = executor_settings.driver;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = RUNTIME;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int of)
{
    read_environment();
    if (of < 0 || of >= executor_settings.devices)
        return cudaErrorInvalidDevice;
    device = of;
    return failure;
}

cudaError_t cudaGetDevice(int *of)
{
    *of = device;
    return failure;
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int of, int peer)
{
    *can = of != peer;
    return failure;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned)
{
    if (peer == device)
        return cudaErrorInvalidDevice;
    if (!peers.insert({ device, peer }).second)
        return cudaErrorPeerAccessAlreadyEnabled;
    counts.peers = peers.size();
    return failure;
}

const char *cudaGetErrorString(cudaError_t error)
{
    switch (error) {
    case cudaSuccess:
        return "no error";
    case cudaErrorMemoryAllocation:
        return "out of memory";
    case cudaErrorInsufficientDriver:
        return "CUDA driver version is insufficient for CUDA runtime version";
    case cudaErrorNoDevice:
        return "no CUDA-capable device is detected";
    case cudaErrorLaunchFailure:
        return "unspecified launch failure";
    case cudaErrorNoKernelImageForDevice:
        return "no kernel image is available for execution on the device";
    case cudaErrorDevicesUnavailable:
        return "CUDA-capable device(s) is/are busy or unavailable";
    default:
        return "an error of the executor";
    }
}

/* A failed launch is told once; a failed kernel leaves the device as it is. */
cudaError_t cudaGetLastError(void)
{
    const cudaError_t code = failure ? failure : last_launch;
    last_launch = cudaSuccess;
    return code;
}
