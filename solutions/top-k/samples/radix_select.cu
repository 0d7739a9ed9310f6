// Finds the k-th largest key digit by digit instead of sorting: three looks at a row, whatever k.
//
// A key is the bits of an element, turned so that unsigned integers are in the order of the
// numbers. A histogram of the first digit tells which digit the k-th largest has; among keys that
// begin with it, a histogram of the next; and so on. What is above the k-th largest is in, what
// equals it as far as there is room. Only the k that were found are sorted.
//
// Long rows are cut into stretches, a block for each. The k largest of every stretch go into a
// workspace, and rounds over these follow until a row's are a stretch or less.

constexpr int THREADS = 512;
constexpr int DIGIT_BITS = 11;
constexpr int DIGITS = 1 << DIGIT_BITS;
constexpr int MAX_K = 1024;
constexpr size_t STRETCH = 32768;  // elements that are worth a block

using Found = unsigned long long;  // the key, then the complement of the index

__device__ unsigned key_of(float value) {
    const unsigned bits = __float_as_uint(value);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

// Where elements come from: the matrix itself, or what an earlier round has found.
struct Matrix {
    const VAR* x;
    __device__ Found at(size_t row, size_t j, size_t n) const {
        const unsigned key = key_of(static_cast<float>(x[row * n + j]));
        return static_cast<Found>(key) << 32 | (0xffffffffu - unsigned(j));
    }
};
struct Workspace {
    const Found* found;
    __device__ Found at(size_t row, size_t j, size_t n) const { return found[row * n + j]; }
};

// The first digit from above at which `wanted` keys are reached: sets digit and, less those with
// higher digits, wanted. Called by the first warp.
__device__ void find_digit(const int* histogram, int& digit, int& wanted) {
    constexpr int SHARE = DIGITS / 32;
    const int lane = threadIdx.x;
    const int* mine = histogram + DIGITS - (lane + 1) * SHARE;  // lane 0 has the highest digits
    int sum = 0;
    for (int i = 0; i < SHARE; ++i) sum += mine[i];
    int up_to = sum;  // keys of this lane and those before it
    for (int offset = 1; offset < 32; offset *= 2) {
        const int before = __shfl_up_sync(0xffffffffu, up_to, offset);
        if (lane >= offset) up_to += before;
    }
    int left = wanted - (up_to - sum);
    __syncwarp();  // all have read wanted
    if (left <= 0 || left > sum) return;  // another lane's
    int i = SHARE - 1;
    while (left > mine[i]) left -= mine[i--];
    digit = DIGITS - (lane + 1) * SHARE + i;
    wanted = left;
}

// The k largest of elements begin to end - 1 of a row of n, in shared memory, in any order; 0,
// which is less than any, where there are fewer.
template <typename Source>
__device__ void select(Source source, size_t row, size_t n, size_t begin, size_t end, int k,
                       Found* chosen) {
    __shared__ int histogram[DIGITS];
    __shared__ int digit, wanted, above, equal;
    const int t = threadIdx.x;
    if (end - begin <= size_t(k)) {
        for (int i = t; i < k; i += THREADS) {
            chosen[i] = begin + i < end ? source.at(row, begin + i, n) : 0;
        }
        __syncthreads();
        return;
    }
    if (t == 0) {
        wanted = k;
        above = equal = 0;
    }
    unsigned prefix = 0;  // the digits of the k-th largest that are known
    int shift = 32;       // bits below them
    while (shift > 0) {
        const int known = shift;
        shift = known > DIGIT_BITS ? known - DIGIT_BITS : 0;
        for (int i = t; i < DIGITS; i += THREADS) histogram[i] = 0;
        __syncthreads();
        for (size_t j = begin + t; j < end; j += THREADS) {
            const Found key = source.at(row, j, n) >> 32;
            if (key >> known == prefix) {
                atomicAdd(&histogram[(key >> shift) & ((1u << (known - shift)) - 1)], 1);
            }
        }
        __syncthreads();  // all keys are counted
        if (t < 32) find_digit(histogram, digit, wanted);
        __syncthreads();  // the digit is there
        prefix = prefix << (known - shift) | unsigned(digit);
        const bool complete = histogram[digit] == wanted;
        __syncthreads();  // all have read it before the next look clears it
        if (complete) break;  // all that begin like this are in
    }
    const int ties = wanted;
    for (size_t j = begin + t; j < end; j += THREADS) {
        const Found found = source.at(row, j, n);
        const Found key = found >> 32 >> shift;
        if (key > prefix) {
            chosen[atomicAdd(&above, 1)] = found;
        } else if (key == prefix) {
            const int place = atomicAdd(&equal, 1);
            if (place < ties) chosen[k - ties + place] = found;
        }
    }
    __syncthreads();
}

// Block b takes stretch b % stretches of row b / stretches.
template <typename Source>
__global__ void select_stretches(Source source, size_t n, size_t stretches, int k, Found* found) {
    __shared__ Found chosen[MAX_K];
    const size_t row = blockIdx.x / stretches, begin = blockIdx.x % stretches * STRETCH;
    select(source, row, n, begin, begin + STRETCH < n ? begin + STRETCH : n, k, chosen);
    for (int i = threadIdx.x; i < k; i += THREADS) found[blockIdx.x * size_t(k) + i] = chosen[i];
}

// One block per row, of n elements in source and `columns` in x: selects, sorts and writes.
template <typename Source>
__global__ void finish(Source source, size_t n, int k, const VAR* x, size_t columns, VAR* values,
                       int* indices) {
    __shared__ Found chosen[MAX_K];
    const size_t row = blockIdx.x;
    select(source, row, n, 0, n, k, chosen);
    int length = 1;
    while (length < k) length *= 2;
    for (int i = k + threadIdx.x; i < length; i += THREADS) chosen[i] = 0;  // ends up behind
    for (int run = 2; run <= length; run *= 2) {  // bitonic sort, descending
        for (int step = run / 2; step > 0; step /= 2) {
            __syncthreads();
            for (int i = threadIdx.x; i < length; i += THREADS) {
                const int other = i ^ step;
                if (other <= i) continue;
                const Found a = chosen[i], b = chosen[other];
                if ((i & run) == 0 ? a < b : a > b) {
                    chosen[i] = b;
                    chosen[other] = a;
                }
            }
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < k; i += THREADS) {
        const unsigned index = 0xffffffffu - unsigned(chosen[i]);
        values[row * k + i] = x[row * columns + index];
        indices[row * k + i] = int(index);
    }
}

static Found* workspace(int which, size_t elements) {
    static Found* memory[2] = {};
    static size_t capacity[2] = {};
    if (elements > capacity[which]) {
        cudaFree(memory[which]);
        cudaMalloc(reinterpret_cast<void**>(&memory[which]), elements * sizeof(Found));
        capacity[which] = elements;
    }
    return memory[which];
}

extern "C" void solution(const VAR* input_matrix, VAR* values, int* indices, size_t m, size_t n,
                         size_t k) {
    const Matrix matrix{input_matrix};
    if (n <= STRETCH) {
        finish<<<unsigned(m), THREADS>>>(matrix, n, int(k), input_matrix, n, values, indices);
        return;
    }
    size_t stretches = (n + STRETCH - 1) / STRETCH, count = stretches * k;
    int into = 0;
    Found* found = workspace(into, m * count);
    select_stretches<<<unsigned(m * stretches), THREADS>>>(matrix, n, stretches, int(k), found);
    while (count > STRETCH) {  // k is less than a stretch: each round leaves far less
        stretches = (count + STRETCH - 1) / STRETCH;
        into = 1 - into;
        Found* fewer = workspace(into, m * stretches * k);
        select_stretches<<<unsigned(m * stretches), THREADS>>>(Workspace{found}, count, stretches,
                                                               int(k), fewer);
        found = fewer;
        count = stretches * k;
    }
    finish<<<unsigned(m), THREADS>>>(Workspace{found}, count, int(k), input_matrix, n, values,
                                     indices);
}
