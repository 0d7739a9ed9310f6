// Everything in one kernel: a row is loaded once, transformed, filtered, transformed back in
// registers and shared memory, and stored once.
//
// The transform is Stockham's: for n = r1 * r2 * ... it takes one stage per factor, and the numbers
// come out in order without a permutation. Where `done` is the product of the radices before, a
// stage of radix r loads r numbers that lie n / r apart, transforms them in registers, turns them
// by roots of unity of order n / done, and stores them `done` apart. The inverse transform is the
// forward one between two conjugations, 1/n apart.
//
// A few lengths have a plan that the compiler knows; that is the fast way. All others take radices
// as they come.

#include <algorithm>
#include <map>
#include <numeric>

using Real = decltype(VAR::x);

__device__ VAR operator+(VAR a, VAR b) { return {a.x + b.x, a.y + b.y}; }
__device__ VAR operator-(VAR a, VAR b) { return {a.x - b.x, a.y - b.y}; }
__device__ VAR operator*(VAR a, VAR b) { return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }

// An unrolled loop: its index is a constant each time, so that arrays lie in registers.
template <int FIRST, int LAST, class Body>
__device__ __forceinline__ void each(Body body) {
#pragma unroll
    for (int i = FIRST; i < LAST; ++i) body(i);
}

// ---- transforms of a few numbers in registers ------------------------------------------------

// exp(-2 pi i * k / R), k < R, by the compiler: the nearest quarter turn, a series for the rest.
template <int R>
struct Roots {
    double x[R] = {}, y[R] = {};
    constexpr Roots() {
        for (int k = 0; k < R; ++k) {
            const int quarter = (8 * k + R) / (2 * R);
            const double angle = -1.57079632679489661923 * (4 * k - quarter * R) / R;
            double c = 0, s = 0;
            for (int i = 20; i >= 0; i -= 2) {  // Horner's scheme
                c = 1 - c * angle * angle / ((i + 1) * (i + 2));
                s = 1 - s * angle * angle / ((i + 2) * (i + 3));
            }
            const double turned[] = {c, s * angle, -c, -s * angle};
            x[k] = turned[quarter % 4];
            y[k] = quarter % 2 ? -turned[quarter % 4 - 1] : turned[quarter % 4 + 1];
        }
    }
};

// R = A * B with A as large as possible, but at most B; A = 1 if R is a prime.
constexpr int part(int R) {
    int best = 1;
    for (int a = 2; a * a <= R; ++a) best = R % a == 0 ? a : best;
    return best;
}

template <int R>
__device__ __forceinline__ void transform(VAR* v) {
    constexpr Roots<R> roots;
    constexpr int A = part(R), B = R / A, HALF = R / 2 + 1;
    if constexpr (A > 1) {  // a table of A rows and B columns: columns first, then rows
        VAR rows[A][B];
        each<0, B>([&](int b) {
            VAR column[A];
            each<0, A>([&](int a) { column[a] = v[a * B + b]; });
            transform<A>(column);
            each<0, A>([&](int a) {
                const VAR c = column[a], root = {Real(roots.x[a * b]), Real(roots.y[a * b])};
                rows[a][b] = a * b == 0 ? c : 4 * a * b == R ? VAR{c.y, -c.x} : c * root;
            });
        });
        each<0, A>([&](int a) {
            transform<B>(rows[a]);
            each<0, B>([&](int b) { v[a + A * b] = rows[a][b]; });
        });
    } else if constexpr (R == 2) {
        const VAR first = v[0];
        v[0] = first + v[1];
        v[1] = first - v[1];
    } else {  // v[q] and v[R - q] meet cosines of the same, sines of opposite sign
        VAR sum[HALF], difference[HALF], first = v[0];
        each<1, HALF>([&](int q) {
            sum[q] = v[q] + v[R - q];
            difference[q] = v[q] - v[R - q];
            first = first + sum[q];
        });
        each<1, HALF>([&](int p) {
            VAR even = v[0], odd = {0, 0};
            each<1, HALF>([&](int q) {
                const Real c = Real(roots.x[p * q % R]), s = Real(roots.y[p * q % R]);
                even = {even.x + c * sum[q].x, even.y + c * sum[q].y};
                odd = {odd.x + s * difference[q].x, odd.y + s * difference[q].y};
            });
            v[p] = {even.x - odd.y, even.y + odd.x};
            v[R - p] = {even.x + odd.y, even.y - odd.x};
        });
        v[0] = first;
    }
}

// ---- lengths with a plan -----------------------------------------------------------------------

// A thread has one butterfly of each stage, in registers. Radices are large, since each stage but
// the first goes through shared memory. The forward transform leaves each thread with numbers n / r
// apart, r being the last radix. The inverse has the radices in opposite order, so that it begins
// with just those: they are multiplied by the responses where they are.
template <int ROWS_, int BLOCKS_, int... RADIX>
struct Plan {
    static constexpr int ROWS = ROWS_;  // of a block
    static constexpr int BLOCKS = BLOCKS_ * 4 / sizeof(Real);  // at once: few enough registers
    static constexpr int STAGES = sizeof...(RADIX), N = (RADIX * ...);
    static constexpr int radix[] = {RADIX...};
    static constexpr int THREADS = N / std::min({RADIX...});  // of a row
    static constexpr int SLOTS = N + N / 8;  // of a row in shared memory, with gaps
    static constexpr int MOST = std::max({RADIX...});
    static constexpr int at(bool back, int s) { return radix[back ? STAGES - 1 - s : s]; }
};

using Plan960 = Plan<4, 4, 30, 32>;  // 32 threads, so that no stage waits for other warps
using Plan1024 = Plan<4, 4, 32, 32>;
using Plan2401 = Plan<1, 4, 7, 7, 7, 7>;
using Plan4096 = Plan<1, 4, 16, 16, 16>;

// v[p] times w^p. A table has these powers, `step` apart, w itself first. Most are products of two
// from there: quicker than to load them all, and more exact than each from the one before.
template <int R>
__device__ __forceinline__ void turn(VAR* v, const VAR* w, int step) {
    constexpr int A = part(R), B = R / A;
    VAR low[A];
    each<1, A>([&](int a) {
        low[a] = __ldg(w + (a - 1) * step);
        v[a] = v[a] * low[a];
    });
    each<1, B>([&](int b) {
        const VAR high = __ldg(w + (A * b - 1) * step);
        v[A * b] = v[A * b] * high;
        each<1, A>([&](int a) { v[A * b + a] = v[A * b + a] * (low[a] * high); });
    });
}

template <class P>
__device__ void wait() {  // for the other threads of the row
    if constexpr (32 % P::THREADS == 0) __syncwarp();
    else __syncthreads();
}

// Stage S and those after it, of the transform there or back, for thread t of a row. `response` and
// `filtered` point to what number t of the row has there.
template <class P, bool BACK, int S = 0, int DONE = 1>
__device__ __forceinline__ void stages(VAR* v, VAR* memory, const VAR* turns, const VAR* response,
                                       VAR* filtered, unsigned t) {
    constexpr int R = P::at(BACK, S), COUNT = P::N / R;
    if constexpr (S + 1 < P::STAGES) {
        constexpr int NEXT = P::at(BACK, S + 1), APART = P::N / NEXT, GROUP = DONE * R;
        // A gap after every SPAN numbers: threads next to each other store, and load, on different
        // banks. LINE numbers are what all banks serve at once.
        constexpr int LINE = 128 / sizeof(VAR), WIDE = std::lcm(GROUP, LINE);
        constexpr int SPAN = APART % WIDE == 0 ? WIDE : GROUP;
        constexpr int GAP = DONE == 1 && R % 2 == 1 ? 0 : (DONE + (LINE - 1) * SPAN) % LINE;
        static_assert(P::N / SPAN * (SPAN + GAP) <= P::SLOTS);
        const unsigned j = t / DONE;
        if (t < COUNT) {
            transform<R>(v);
            turn<R>(v, turns + j, COUNT / DONE);
        }
        if (S > 0 || BACK) wait<P>();  // others may not yet have loaded what is overwritten
        if (t < COUNT) {
            VAR* to = memory + t % DONE + j * GROUP + j * GROUP / SPAN * GAP;
            each<0, R>([&](int p) { to[p * DONE] = v[p]; });
        }
        wait<P>();
        if (t < APART) {
            const VAR* from = memory + t + t / SPAN * GAP;
            each<0, NEXT>([&](int q) { v[q] = from[q * (APART + APART / SPAN * GAP)]; });
        }
        stages<P, BACK, S + 1, GROUP>(v, memory, turns + P::N / DONE, response, filtered, t);
    } else if (t < COUNT) {
        VAR h[R];  // loaded before the transform, which takes a while
        if constexpr (!BACK) each<0, R>([&](int q) { h[q] = __ldcs(response + q * COUNT); });
        transform<R>(v);
        each<0, R>([&](int q) {
            constexpr Real scale = Real(1) / P::N;
            if constexpr (!BACK) v[q] = v[q] * h[q];
            else __stcs(filtered + q * COUNT, VAR{v[q].x * scale, -v[q].y * scale});
            v[q].y = -v[q].y;
        });
    }
}

template <class P>
__global__ __launch_bounds__(P::ROWS * P::THREADS, P::BLOCKS) void filter_rows(
    const VAR* signals, const VAR* responses, VAR* filtered, size_t batch, const VAR* turns) {
    extern __shared__ VAR memory[];
    constexpr int R = P::radix[0], COUNT = P::N / R;
    const unsigned mine = threadIdx.x / P::THREADS;
    const size_t row = size_t(blockIdx.x) * P::ROWS + mine;
    const unsigned t = row < batch ? threadIdx.x % P::THREADS : P::N;  // N: only waits
    const size_t first = row * P::N + t;
    VAR* own = memory + mine * P::SLOTS;
    VAR v[P::MOST];
    if (t < COUNT) each<0, R>([&](int q) { v[q] = __ldcs(signals + first + q * COUNT); });
    stages<P, false>(v, own, turns, responses + first, nullptr, t);
    stages<P, true>(v, own, turns + 2 * P::N, nullptr, filtered + first, t);
}

// ---- any other length ------------------------------------------------------------------------

constexpr int MOST_THREADS = 512;
constexpr size_t MOST_BLOCKS = 1024;  // where rows lie in global memory

struct Factors {
    int n, stages, radix[32];
    VAR* roots;  // exp(-2 pi i * j / n), j < n
};

template <int R>
__device__ void butterflies(const Factors& plan, int done, const VAR* from, VAR* to) {
    const int count = plan.n / R;
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        const int f = i % done;
        VAR v[R];
        each<0, R>([&](int q) { v[q] = from[i + q * count]; });
        transform<R>(v);
        each<0, R>([&](int p) { to[f + (i - f) * R + p * done] = v[p] * plan.roots[p * (i - f)]; });
    }
}

// Any radix: each number that comes out is a sum over the radix.
__device__ void sums(const Factors& plan, int radix, int done, const VAR* from, VAR* to) {
    const int n = plan.n, count = n / radix;
    for (int o = threadIdx.x; o < n; o += blockDim.x) {
        const int i = o % count, p = o / count, f = i % done;
        VAR sum = {0, 0};
        int turn = p * (i - f);  // p * (i - f + q * count) modulo n
        for (int q = 0; q < radix; ++q) {
            sum = sum + from[i + q * count] * plan.roots[turn];
            turn = turn >= n - p * count ? turn - (n - p * count) : turn + p * count;
        }
        to[f + (i - f) * radix + p * done] = sum;
    }
}

// A block for a row. Stages read one half of the memory and write the other. Rows that do not fit
// into shared memory have a workspace in global memory.
__global__ __launch_bounds__(MOST_THREADS) void filter_row(const VAR* signals, const VAR* responses,
                                                           VAR* filtered, size_t batch,
                                                           VAR* workspace, const Factors plan) {
    extern __shared__ VAR memory[];
    const int n = plan.n;
    VAR* to = workspace == nullptr ? memory : workspace + 2 * size_t(n) * blockIdx.x;
    VAR* now = to + n;
    for (size_t row = blockIdx.x; row < batch; row += gridDim.x) {
        for (int back = 0; back < 2; ++back) {
            for (int s = 0, done = 1; s < plan.stages; done *= plan.radix[s++]) {
                const VAR* from = s == 0 && !back ? signals + row * n : now;
                switch (plan.radix[s]) {
                    case 2: butterflies<2>(plan, done, from, to); break;
                    case 3: butterflies<3>(plan, done, from, to); break;
                    case 4: butterflies<4>(plan, done, from, to); break;
                    case 5: butterflies<5>(plan, done, from, to); break;
                    case 7: butterflies<7>(plan, done, from, to); break;
                    case 8: butterflies<8>(plan, done, from, to); break;
                    default: sums(plan, plan.radix[s], done, from, to);
                }
                __syncthreads();  // the next stage reads what others have written
                VAR* const free = now;
                now = to;
                to = free;
            }
            VAR* const end = back ? filtered + row * n : now;
            for (int i = threadIdx.x; i < n; i += blockDim.x) {
                const VAR v = now[i] * (back ? VAR{Real(1) / n, 0} : responses[row * n + i]);
                end[i] = {v.x, -v.y};
            }
            __syncthreads();
        }
    }
}

// ---- on the host -----------------------------------------------------------------------------

// Row p - 1 of a table has the powers p * j of exp(-2 pi i / n), j < columns.
__global__ void fill(VAR* table, int count, int n, int columns) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const double angle = 2.0 * ((i / columns + 1) * (i % columns)) / n;
    table[i] = {Real(cospi(angle)), Real(-sinpi(angle))};
}

template <class P>
static void launch(const VAR* signals, const VAR* responses, VAR* filtered, size_t batch) {
    constexpr int bytes = sizeof(VAR) * P::ROWS * P::SLOTS;
    static VAR* turns = nullptr;  // a table for each stage there, and from 2 * N on, back
    if (turns == nullptr) {
        cudaMalloc(&turns, 4 * P::N * sizeof(VAR));
        for (int back = 0; back < 2; ++back) {
            VAR* table = turns + back * 2 * P::N;
            for (int s = 0, n = P::N; s < P::STAGES; table += n, n /= P::at(back, s++)) {
                fill<<<n / 256 + 1, 256>>>(table, n - n / P::at(back, s), n, n / P::at(back, s));
            }
        }
        cudaFuncSetAttribute(filter_rows<P>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    }
    filter_rows<P><<<unsigned((batch - 1) / P::ROWS + 1), P::ROWS * P::THREADS, bytes>>>(
        signals, responses, filtered, batch, turns);
}

static Factors factors(int n) {
    Factors plan = {n, 0, {}, nullptr};
    cudaMalloc(&plan.roots, n * sizeof(VAR));
    fill<<<n / 256 + 1, 256>>>(plan.roots, n, n, n);
    int rest = n;
    for (int radix : {8, 4, 2, 7, 5, 3}) {
        for (; rest % radix == 0; rest /= radix) plan.radix[plan.stages++] = radix;
    }
    for (int radix = 11; rest > 1; radix += 2) {
        if (size_t(radix) * radix > size_t(rest)) radix = rest;
        for (; rest % radix == 0; rest /= radix) plan.radix[plan.stages++] = radix;
    }
    if (plan.stages == 0) plan.radix[plan.stages++] = 1;  // n = 1: a sum of one term
    return plan;
}

extern "C" void solution(const VAR* signals, const VAR* responses, VAR* filtered, size_t batch,
                         size_t n) {
    switch (n) {
        case 960: return launch<Plan960>(signals, responses, filtered, batch);
        case 1024: return launch<Plan1024>(signals, responses, filtered, batch);
        case 2401: return launch<Plan2401>(signals, responses, filtered, batch);
        case 4096: return launch<Plan4096>(signals, responses, filtered, batch);
    }
    static std::map<size_t, Factors> known;  // lengths met so far
    static VAR* workspace = nullptr;
    static size_t capacity = 0;
    static int most = 0;
    if (most == 0) {
        cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
        cudaFuncSetAttribute(filter_row, cudaFuncAttributeMaxDynamicSharedMemorySize, most);
    }
    if (known.count(n) == 0) known[n] = factors(int(n));
    const size_t bytes = 2 * n * sizeof(VAR), threads = (n / 8 + 31) / 32 * 32;
    const bool fits = bytes <= size_t(most);
    const size_t blocks = fits ? batch : std::min(batch, MOST_BLOCKS);
    if (!fits && blocks * bytes > capacity) {
        capacity = blocks * bytes;
        cudaFree(workspace);
        cudaMalloc(&workspace, capacity);
    }
    filter_row<<<unsigned(blocks), std::clamp(int(threads), 32, MOST_THREADS), fits ? bytes : 0>>>(
        signals, responses, filtered, batch, fits ? nullptr : workspace, known[n]);
}
