// What a batch takes beyond its kernels, by how its process begins it: the judge's side forks a
// runner, which has a graph of kernels that wait; printed are microseconds, a line for each way.
//
// Usage: gate KERNELS NANOSECONDS ROUNDS JUDGE_CPU RUNNER_CPU

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include <cuda.h>
#include <cuda_runtime.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#define CHECK(call)                                                                    \
    do {                                                                               \
        int error = static_cast<int>(call);                                            \
        if (error != 0) {                                                              \
            fprintf(stderr, "gate: CUDA error %d: %s\n", error, #call);                \
            _exit(1);                                                                  \
        }                                                                              \
    } while (0)

using Nanoseconds = unsigned long long;

enum Way { AWAKE, STOPPED, GATED, WAYS };
constexpr const char* NAMES[WAYS] = {"awake", "stopped", "gated"};
constexpr int UNCOUNTED = 5;
constexpr unsigned LIMIT_S = 60;

// Shared memory of the two processes. Each word holds the number of the round that it is about.
struct Words {
    std::atomic<int> mapped, prepare, prepared, go, done;
    std::atomic<Way> way;
    cudaIpcMemHandle_t card;
};

// Memory of the card that both map.
struct Card {
    unsigned go, pad[31];
    unsigned done, more[31];
    Nanoseconds revealed, begun, ended, seen;
};

__device__ Nanoseconds now() {
    Nanoseconds time;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(time));
    return time;
}

__global__ void wait_for(Nanoseconds nanoseconds, Nanoseconds* begun, Nanoseconds* ended) {
    Nanoseconds start = now();
    if (begun != nullptr) *begun = start;
    while (now() - start < nanoseconds) {
    }
    if (ended != nullptr) *ended = now();
}

__global__ void reveal(volatile unsigned* word, unsigned round, Nanoseconds* time) {
    *time = now();
    __threadfence_system();
    *word = round;
}

__global__ void read_clock(Nanoseconds* time) { *time = now(); }

__global__ void fill(float* values, size_t count, float value) {
    size_t step = static_cast<size_t>(gridDim.x) * blockDim.x;
    for (size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; i < count; i += step)
        values[i] = value;
}

double microseconds() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e6 * time.tv_sec + 1e-3 * time.tv_nsec;
}

void keep_to(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
}

void await(const std::atomic<int>& word, int round) {
    while (word.load() != round) {
    }
}

using MemoryOperation = CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned);

MemoryOperation driver(const char* name) {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult result;
    CHECK(cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &result));
    if (found == nullptr) CHECK(cudaErrorNotSupported);
    return reinterpret_cast<MemoryOperation>(found);
}

CUdeviceptr address(const unsigned* word) { return reinterpret_cast<CUdeviceptr>(word); }

[[noreturn]] void runner(Words* words, int kernels, Nanoseconds nanoseconds, int rounds) {
    await(words->mapped, 1);
    Card* card;
    CHECK(cudaIpcOpenMemHandle(reinterpret_cast<void**>(&card), words->card,
                               cudaIpcMemLazyEnablePeerAccess));
    cudaStream_t stream;
    cudaGraph_t recorded;
    cudaGraphExec_t graph;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int kernel = 0; kernel < kernels; kernel++)
        wait_for<<<1, 1, 0, stream>>>(nanoseconds, kernel == 0 ? &card->begun : nullptr,
                                      kernel == kernels - 1 ? &card->ended : nullptr);
    CHECK(cudaStreamEndCapture(stream, &recorded));
    CHECK(cudaGraphInstantiate(&graph, recorded, 0));
    CHECK(cudaGraphUpload(graph, stream));
    CHECK(cudaStreamSynchronize(stream));
    MemoryOperation wait = driver("cuStreamWaitValue32"), write = driver("cuStreamWriteValue32");
    for (int round = 1; round <= WAYS * rounds; round++) {
        await(words->prepare, round);
        bool gated = words->way.load() == GATED;
        if (gated) {
            CHECK(wait(stream, address(&card->go), round, CU_STREAM_WAIT_VALUE_GEQ));
            CHECK(cudaGraphLaunch(graph, stream));
            CHECK(write(stream, address(&card->done), round, CU_STREAM_WRITE_VALUE_DEFAULT));
        }
        words->prepared = round;
        if (!gated) {
            await(words->go, round);
            CHECK(cudaGraphLaunch(graph, stream));
        }
        CHECK(cudaStreamSynchronize(stream));
        words->done = round;
    }
    _exit(0);
}

int main(int count, char** given) {
    if (count != 6) {
        fprintf(stderr, "usage: gate KERNELS NANOSECONDS ROUNDS JUDGE_CPU RUNNER_CPU\n");
        return 2;
    }
    int kernels = atoi(given[1]), rounds = atoi(given[3]);
    Nanoseconds nanoseconds = strtoull(given[2], nullptr, 10);
    alarm(LIMIT_S);
    Words* words = static_cast<Words*>(mmap(nullptr, sizeof(Words), PROT_READ | PROT_WRITE,
                                            MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    pid_t process = fork();
    if (process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        alarm(LIMIT_S);
        keep_to(atoi(given[5]));
        runner(words, kernels, nanoseconds, rounds);
    }
    keep_to(atoi(given[4]));
    Card* card;
    CHECK(cudaMalloc(&card, sizeof *card));
    CHECK(cudaMemset(card, 0, sizeof *card));
    CHECK(cudaIpcGetMemHandle(&words->card, card));
    float* inputs;
    size_t numbers = size_t{1} << 29;
    CHECK(cudaMalloc(&inputs, numbers * sizeof *inputs));
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    MemoryOperation wait = driver("cuStreamWaitValue32");
    words->mapped = 1;
    int round = 0;
    for (Way way : {AWAKE, STOPPED, GATED}) {
        words->way = way;
        printf("%s", NAMES[way]);
        for (int counted = -UNCOUNTED; counted < rounds - UNCOUNTED; counted++) {
            words->prepare = ++round;
            await(words->prepared, round);
            if (way != AWAKE) kill(process, SIGSTOP);
            fill<<<1024, 512, 0, stream>>>(inputs, numbers, static_cast<float>(round));
            CHECK(cudaStreamSynchronize(stream));
            double start = microseconds(), end = 0.0;
            if (way == GATED) {
                reveal<<<1, 1, 0, stream>>>(&card->go, round, &card->revealed);
                CHECK(wait(stream, address(&card->done), round, CU_STREAM_WAIT_VALUE_GEQ));
                read_clock<<<1, 1, 0, stream>>>(&card->seen);
                CHECK(cudaStreamSynchronize(stream));
                kill(process, SIGCONT);
                await(words->done, round);
            } else {
                if (way == STOPPED) kill(process, SIGCONT);
                words->go = round;
                await(words->done, round);
                end = microseconds();
            }
            Card told;
            CHECK(cudaMemcpy(&told, card, sizeof told, cudaMemcpyDeviceToHost));
            double whole = way == GATED ? 1e-3 * (told.seen - told.revealed) : end - start;
            if (counted >= 0) printf(" %.2f", whole - 1e-3 * (told.ended - told.begun));
        }
        printf("\n");
    }
    return 0;
}
