// Everything in one kernel: a row is loaded once, transformed, filtered, transformed back in shared
// memory, and stored once.
//
// The transform is Stockham's: for n = r1 * r2 * ... it takes one stage per factor, and the numbers
// come out in order without a permutation. A stage of radix r loads r numbers that lie n / r apart,
// turns them by roots of unity, transforms them in registers, and stores them `done` apart, `done`
// being the product of the radices before. Stages read one half of the shared memory and write the
// other. Radices 2, 3, 4, 5, 7 and 8 are written out; any other prime factor is summed up as the
// definition says.
//
// The inverse transform is the forward one between two conjugations, 1/n apart: the last forward
// stage stores the conjugate of spectrum times response, the very last one conjugates and scales.
//
// A row that does not fit into shared memory takes the same stages in global memory, a launch each.

#include <map>
#include <utility>

using Real = decltype(VAR::x);

constexpr int MOST_STAGES = 32;
constexpr int MOST_THREADS = 512;
constexpr int LINE = 128 / sizeof(VAR);  // numbers that all banks of shared memory serve at once

struct Plan {
    int n;
    int stages;
    int radix[MOST_STAGES];
    const VAR* roots;  // exp(-2 pi i * j / n), j < n
};

__device__ VAR operator+(VAR a, VAR b) { return {a.x + b.x, a.y + b.y}; }
__device__ VAR operator-(VAR a, VAR b) { return {a.x - b.x, a.y - b.y}; }
__device__ VAR operator*(VAR a, VAR b) { return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }

// ---- transforms of a few numbers in registers ----------------------------------------------

__device__ void transform(VAR (&v)[2]) {
    const VAR a = v[0], b = v[1];
    v[0] = a + b;
    v[1] = a - b;
}

__device__ void transform(VAR (&v)[4]) {
    const VAR a = v[0] + v[2], b = v[0] - v[2], c = v[1] + v[3], d = v[1] - v[3];
    v[0] = a + c;
    v[1] = {b.x + d.y, b.y - d.x};
    v[2] = a - c;
    v[3] = {b.x - d.y, b.y + d.x};
}

__device__ void transform(VAR (&v)[8]) {
    const Real h = Real(0.70710678118654752440);
    VAR even[4] = {v[0], v[2], v[4], v[6]}, odd[4] = {v[1], v[3], v[5], v[7]};
    transform(even);
    transform(odd);
    const VAR turned[4] = {odd[0],
                           {h * (odd[1].x + odd[1].y), h * (odd[1].y - odd[1].x)},
                           {odd[2].y, -odd[2].x},
                           {h * (odd[3].y - odd[3].x), -h * (odd[3].x + odd[3].y)}};
#pragma unroll
    for (int p = 0; p < 4; ++p) {
        v[p] = even[p] + turned[p];
        v[p + 4] = even[p] - turned[p];
    }
}

// An odd number of them: v[q] and v[R - q] meet cosines of the same, sines of opposite sign.
template <int R>
__device__ void transform_odd(VAR (&v)[R], const double (&cosine)[R], const double (&sine)[R]) {
    VAR sum[R / 2], difference[R / 2], first = v[0];
#pragma unroll
    for (int q = 1; q <= R / 2; ++q) {
        sum[q - 1] = v[q] + v[R - q];
        difference[q - 1] = v[q] - v[R - q];
        first = first + sum[q - 1];
    }
#pragma unroll
    for (int p = 1; p <= R / 2; ++p) {
        VAR even = v[0], odd = {0, 0};
#pragma unroll
        for (int q = 1; q <= R / 2; ++q) {
            const Real c = Real(cosine[p * q % R]), s = Real(sine[p * q % R]);
            even = {even.x + c * sum[q - 1].x, even.y + c * sum[q - 1].y};
            odd = {odd.x + s * difference[q - 1].x, odd.y + s * difference[q - 1].y};
        }
        v[p] = {even.x + odd.y, even.y - odd.x};
        v[R - p] = {even.x - odd.y, even.y + odd.x};
    }
    v[0] = first;
}

__device__ void transform(VAR (&v)[3]) {
    constexpr double c1 = -0.5, s1 = 0.86602540378443864676;
    constexpr double cosine[] = {1, c1, c1}, sine[] = {0, s1, -s1};
    transform_odd<3>(v, cosine, sine);
}

__device__ void transform(VAR (&v)[5]) {
    constexpr double c1 = 0.30901699437494742410, s1 = 0.95105651629515357212;
    constexpr double c2 = -0.80901699437494742410, s2 = 0.58778525229247312917;
    constexpr double cosine[] = {1, c1, c2, c2, c1}, sine[] = {0, s1, s2, -s2, -s1};
    transform_odd<5>(v, cosine, sine);
}

__device__ void transform(VAR (&v)[7]) {
    constexpr double c1 = 0.62348980185873353053, s1 = 0.78183148246802980871;
    constexpr double c2 = -0.22252093395631440429, s2 = 0.97492791218182360702;
    constexpr double c3 = -0.90096886790241912624, s3 = 0.43388373911755812048;
    constexpr double cosine[] = {1, c1, c2, c3, c3, c2, c1};
    constexpr double sine[] = {0, s1, s2, s3, -s3, -s2, -s1};
    transform_odd<7>(v, cosine, sine);
}

// ---- stages --------------------------------------------------------------------------------

// Numbers in shared memory: a gap after every LINE of them, so that strides that are powers of two
// do not all fall on the same bank.
__host__ __device__ constexpr int slot(int i) { return i + i / LINE; }

struct Source {
    const VAR* numbers;
    bool padded;
    __device__ VAR operator[](int i) const { return numbers[padded ? slot(i) : i]; }
};

struct Target {
    VAR* numbers;
    bool padded;
    const VAR* response;  // after the forward transform, else null
    Real scale;           // after the inverse transform, else 0
    __device__ void store(int i, VAR value) const {
        if (response != nullptr) {
            value = value * response[i];
            value.y = -value.y;
        }
        if (scale != 0) value = {value.x * scale, -value.y * scale};
        numbers[padded ? slot(i) : i] = value;
    }
};

template <int R>
__device__ void butterflies(const Plan& plan, int done, Source source, Target target, int first,
                            int stride) {
    const int count = plan.n / R, step = count / done;
    for (int i = first; i < count; i += stride) {
        const int j = i % done;
        VAR v[R];
#pragma unroll
        for (int q = 0; q < R; ++q) v[q] = source[i + q * count];
        if (j != 0) {
#pragma unroll
            for (int q = 1; q < R; ++q) v[q] = v[q] * plan.roots[q * j * step];
        }
        transform(v);
        const int place = (i - j) * R + j;
#pragma unroll
        for (int p = 0; p < R; ++p) target.store(place + p * done, v[p]);
    }
}

// Any radix: each number that comes out is a sum over the radix.
__device__ void sums(const Plan& plan, int radix, int done, Source source, Target target, int first,
                     int stride) {
    const int n = plan.n, count = n / radix, step = count / done;
    for (int o = first; o < n; o += stride) {
        const int i = o % count, p = o / count, j = i % done;
        const int turn = j * step + p * count;
        VAR sum = {0, 0};
        int turned = 0;  // q * turn modulo n
        for (int q = 0; q < radix; ++q) {
            sum = sum + source[i + q * count] * plan.roots[turned];
            turned = turned >= n - turn ? turned - (n - turn) : turned + turn;
        }
        target.store((i - j) * radix + j + p * done, sum);
    }
}

__device__ void stage(const Plan& plan, int radix, int done, Source source, Target target,
                      int first, int stride) {
    switch (radix) {
        case 2: return butterflies<2>(plan, done, source, target, first, stride);
        case 3: return butterflies<3>(plan, done, source, target, first, stride);
        case 4: return butterflies<4>(plan, done, source, target, first, stride);
        case 5: return butterflies<5>(plan, done, source, target, first, stride);
        case 7: return butterflies<7>(plan, done, source, target, first, stride);
        case 8: return butterflies<8>(plan, done, source, target, first, stride);
        default: return sums(plan, radix, done, source, target, first, stride);
    }
}

__global__ __launch_bounds__(MOST_THREADS) void filter_row(const VAR* signals, const VAR* responses,
                                                           VAR* filtered, const Plan plan) {
    extern __shared__ VAR memory[];
    VAR *free = memory, *taken = memory + slot(plan.n);
    const size_t row = blockIdx.x * size_t(plan.n);
    Source source = {signals + row, false};
    for (int back = 0; back < 2; ++back) {
        int done = 1;
        for (int s = 0; s < plan.stages; ++s) {
            const bool last = s + 1 == plan.stages;
            Target target = {free, true, last && !back ? responses + row : nullptr, 0};
            if (last && back) target = {filtered + row, false, nullptr, Real(1) / plan.n};
            stage(plan, plan.radix[s], done, source, target, threadIdx.x, blockDim.x);
            done *= plan.radix[s];
            source = {free, true};
            VAR* other = free;
            free = taken;
            taken = other;
            __syncthreads();  // the next stage reads what others have written
        }
    }
}

// ---- rows that are too long ----------------------------------------------------------------

__global__ __launch_bounds__(MOST_THREADS) void one_stage(const VAR* from, VAR* to,
                                                          const VAR* responses, Real scale,
                                                          int radix, int done, size_t batch,
                                                          const Plan plan) {
    const int first = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
    for (size_t r = blockIdx.y; r < batch; r += gridDim.y) {
        const size_t row = r * plan.n;
        const VAR* response = responses == nullptr ? nullptr : responses + row;
        stage(plan, radix, done, {from + row, false}, {to + row, false, response, scale}, first,
              stride);
    }
}

static void filter_in_global_memory(const VAR* signals, const VAR* responses, VAR* filtered,
                                    size_t batch, const Plan& plan) {
    static VAR* workspace = nullptr;
    static size_t capacity = 0;
    const size_t count = batch * plan.n;
    if (count > capacity) {
        cudaFree(workspace);
        cudaMalloc(reinterpret_cast<void**>(&workspace), 2 * count * sizeof(VAR));
        capacity = count;
    }
    const int blocks = plan.n < 64 * MOST_THREADS ? (plan.n - 1) / MOST_THREADS + 1 : 64;
    const dim3 grid(unsigned(blocks), unsigned(batch < 65535 ? batch : 65535));
    const VAR* from = signals;
    VAR *free = workspace, *taken = workspace + count;
    for (int back = 0; back < 2; ++back) {
        int done = 1;
        for (int s = 0; s < plan.stages; ++s) {
            const bool last = s + 1 == plan.stages;
            VAR* to = last && back ? filtered : free;
            one_stage<<<grid, MOST_THREADS>>>(from, to, last && !back ? responses : nullptr,
                                              last && back ? Real(1) / plan.n : Real(0),
                                              plan.radix[s], done, batch, plan);
            done *= plan.radix[s];
            from = to;
            std::swap(free, taken);
        }
    }
}

// ---- on the host ---------------------------------------------------------------------------

__global__ void fill_roots(VAR* roots, int n) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= n) return;
    const double angle = 2.0 * j / n;
    roots[j] = {Real(cospi(angle)), Real(-sinpi(angle))};
}

static Plan new_plan(int n) {
    Plan plan = {n, 0, {}, nullptr};
    int rest = n;
    for (int radix : {8, 4, 2, 7, 5, 3}) {
        for (; rest % radix == 0; rest /= radix) plan.radix[plan.stages++] = radix;
    }
    for (int radix = 11; rest > 1; radix += 2) {
        if (size_t(radix) * radix > size_t(rest)) radix = rest;
        for (; rest % radix == 0; rest /= radix) plan.radix[plan.stages++] = radix;
    }
    if (plan.stages == 0) plan.radix[plan.stages++] = 1;  // n = 1: a sum of one term
    VAR* roots = nullptr;
    cudaMalloc(reinterpret_cast<void**>(&roots), n * sizeof(VAR));
    fill_roots<<<(n + 255) / 256, 256>>>(roots, n);
    plan.roots = roots;
    return plan;
}

extern "C" void solution(const VAR* signals, const VAR* responses, VAR* filtered, size_t batch,
                         size_t n) {
    static std::map<size_t, Plan> plans;  // factors and roots of every length met so far
    static int most = 0;
    if (most == 0) {
        cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
        cudaFuncSetAttribute(filter_row, cudaFuncAttributeMaxDynamicSharedMemorySize, most);
    }
    auto known = plans.find(n);
    if (known == plans.end()) known = plans.emplace(n, new_plan(int(n))).first;
    const Plan& plan = known->second;

    const size_t bytes = 2 * sizeof(VAR) * slot(int(n));
    if (bytes > size_t(most)) {
        filter_in_global_memory(signals, responses, filtered, batch, plan);
        return;
    }
    const int wanted = int((n / 8 + 31) / 32 * 32);
    const int threads = wanted < 32 ? 32 : wanted > MOST_THREADS ? MOST_THREADS : wanted;
    filter_row<<<unsigned(batch), threads, bytes>>>(signals, responses, filtered, plan);
}
