// Tiles of 64 queries and 32 keys in shared memory, each number of which is used many times.
//
// The heads of a group have their keys and values in common, so their queries share tiles, too: row
// r of a group stands for query r / group of its head r % group. A thread computes four rows and two
// columns of the tile of scores, then four rows and a sixteenth of the result.
//
// VAR is the element type; the judge's build defines it as __half or __nv_bfloat16.

constexpr int ROWS = 64;  // queries of a tile
constexpr int KEYS = 32;  // keys of a tile
constexpr int MOST = 128;  // largest head_dim
constexpr int ACROSS = 16;  // threads side by side; as many are one below the other
constexpr int MY_ROWS = ROWS / ACROSS;
constexpr int MY_KEYS = KEYS / ACROSS;
constexpr int MY_DIMS = MOST / ACROSS;

struct Tiles {
    // One more than a row has, so that the same column of 32 rows is in 32 different banks.
    float query[ROWS][MOST + 1];
    float key[KEYS][MOST + 1];
    float value[KEYS][MOST + 1];
    float weight[ROWS][KEYS + 1];
};

struct Sizes {
    size_t q_heads, kv_heads, seq_q, seq_k, head_dim;
};

// The largest, or the sum, over the sixteen threads of a row: half of a warp.
__device__ float largest_across(float x) {
    for (int offset = ACROSS / 2; offset > 0; offset /= 2) {
        x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, offset));
    }
    return x;
}

__device__ float sum_across(float x) {
    for (int offset = ACROSS / 2; offset > 0; offset /= 2) {
        x += __shfl_xor_sync(0xffffffffu, x, offset);
    }
    return x;
}

__global__ void attend(const VAR* query, const VAR* key, const VAR* value, VAR* result, float scale,
                       Sizes sizes) {
    extern __shared__ float memory[];
    Tiles& tiles = *reinterpret_cast<Tiles*>(memory);
    const int dims = int(sizes.head_dim);
    const size_t group = sizes.q_heads / sizes.kv_heads;
    const size_t group_rows = group * sizes.seq_q;
    const size_t first = blockIdx.x * size_t(ROWS);
    const size_t sequence = blockIdx.y / sizes.kv_heads;
    const size_t shared_head = blockIdx.y % sizes.kv_heads;
    key += blockIdx.y * sizes.seq_k * sizes.head_dim;
    value += blockIdx.y * sizes.seq_k * sizes.head_dim;
    const int across = threadIdx.x % ACROSS;
    const int down = threadIdx.x / ACROSS;

    // Where the query of a row of this tile lies, and its result.
    auto place_of = [&](size_t row) {
        const size_t head = sequence * sizes.q_heads + shared_head * group + row % group;
        return (head * sizes.seq_q + row / group) * sizes.head_dim;
    };
    for (int i = threadIdx.x; i < ROWS * dims; i += blockDim.x) {
        const size_t row = first + i / dims;
        const bool there = row < group_rows;
        tiles.query[i / dims][i % dims] =
            there ? static_cast<float>(query[place_of(row) + i % dims]) * scale : 0.0f;
    }

    float largest[MY_ROWS], total[MY_ROWS], sum[MY_ROWS][MY_DIMS];
    long long last_key[MY_ROWS];  // that my rows see
    for (int r = 0; r < MY_ROWS; ++r) {
        const size_t row = first + down + r * ACROSS;
        last_key[r] = row < group_rows ? (long long)(row / group + sizes.seq_k - sizes.seq_q) : -1;
        largest[r] = -INFINITY;
        total[r] = 0.0f;
        for (int d = 0; d < MY_DIMS; ++d) sum[r][d] = 0.0f;
    }
    // Keys that no query of the tile sees are not looked at.
    const size_t last_row = first + ROWS < group_rows ? first + ROWS - 1 : group_rows - 1;
    const size_t visible = last_row / group + sizes.seq_k - sizes.seq_q + 1;

    for (size_t start = 0; start < visible; start += KEYS) {
        __syncthreads();  // the last tile's numbers have been used
        for (int i = threadIdx.x; i < KEYS * dims; i += blockDim.x) {
            const size_t from = start * sizes.head_dim + i;
            const bool there = start + i / dims < visible;
            tiles.key[i / dims][i % dims] = there ? static_cast<float>(key[from]) : 0.0f;
            tiles.value[i / dims][i % dims] = there ? static_cast<float>(value[from]) : 0.0f;
        }
        __syncthreads();

        float score[MY_ROWS][MY_KEYS] = {};
        for (int d = 0; d < dims; ++d) {
            for (int r = 0; r < MY_ROWS; ++r) {
                for (int k = 0; k < MY_KEYS; ++k) {
                    score[r][k] +=
                        tiles.query[down + r * ACROSS][d] * tiles.key[across + k * ACROSS][d];
                }
            }
        }
        for (int r = 0; r < MY_ROWS; ++r) {
            float larger = largest[r];
            for (int k = 0; k < MY_KEYS; ++k) {
                if ((long long)start + across + k * ACROSS > last_key[r]) score[r][k] = -INFINITY;
                larger = fmaxf(larger, score[r][k]);
            }
            larger = largest_across(larger);
            // No key seen so far: minus infinity less itself would be NaN.
            const bool none = larger == -INFINITY;
            const float kept = none ? 1.0f : __expf(largest[r] - larger);
            largest[r] = larger;
            float added = 0.0f;
            for (int k = 0; k < MY_KEYS; ++k) {
                const float weight = none ? 0.0f : __expf(score[r][k] - larger);
                tiles.weight[down + r * ACROSS][across + k * ACROSS] = weight;
                added += weight;
            }
            total[r] = total[r] * kept + sum_across(added);
            for (int d = 0; d < MY_DIMS; ++d) sum[r][d] *= kept;
        }
        __syncthreads();  // all weights of the tile are there
        for (int k = 0; k < KEYS; ++k) {
            for (int r = 0; r < MY_ROWS; ++r) {
                const float weight = tiles.weight[down + r * ACROSS][k];
                for (int d = 0; d < MY_DIMS; ++d) {
                    if (d * ACROSS < dims) {  // a multiple of sixteen, so that is all or none
                        sum[r][d] += weight * tiles.value[k][across + d * ACROSS];
                    }
                }
            }
        }
    }
    for (int r = 0; r < MY_ROWS; ++r) {
        const size_t row = first + down + r * ACROSS;
        if (row >= group_rows) continue;
        for (int d = 0; d < MY_DIMS; ++d) {
            if (d * ACROSS >= dims) continue;
            const size_t to = place_of(row) + across + d * ACROSS;
            result[to] = static_cast<VAR>(sum[r][d] / total[r]);
        }
    }
}

extern "C" void solution(const VAR* query, const VAR* key, const VAR* value, VAR* result,
                         float scale, size_t batch, size_t q_heads, size_t kv_heads, size_t seq_q,
                         size_t seq_k, size_t head_dim) {
    // More than the 48 KiB that every kernel may have has to be asked for.
    cudaFuncSetAttribute(attend, cudaFuncAttributeMaxDynamicSharedMemorySize, int(sizeof(Tiles)));
    const size_t tiles = (q_heads / kv_heads * seq_q + ROWS - 1) / ROWS;
    const dim3 grid(static_cast<unsigned>(tiles), static_cast<unsigned>(batch * kv_heads));
    attend<<<grid, ACROSS * ACROSS, sizeof(Tiles)>>>(
        query, key, value, result, scale, Sizes{q_heads, kv_heads, seq_q, seq_k, head_dim});
}
