// One warp per query: its lanes hold the query and the result, four numbers each, and walk along the
// keys together.
//
// The sum is corrected whenever a larger score turns up, so that keys and values are read once, and
// no score goes to memory. But each query reads all of them for itself: see tiled.cu.
//
// VAR is the element type; the judge's build defines it as __half or __nv_bfloat16.

constexpr int WARPS = 4;  // queries of a block
constexpr int SHARE = 4;  // of 128 numbers, for each of 32 lanes

__global__ void attend(const VAR* query, const VAR* key, const VAR* value, VAR* result, float scale,
                       size_t q_heads, size_t kv_heads, size_t seq_q, size_t seq_k, size_t head_dim,
                       size_t queries) {
    const size_t row = blockIdx.x * size_t(WARPS) + threadIdx.x / 32;
    if (row >= queries) return;  // all lanes of a warp, or none
    const int lane = threadIdx.x % 32;
    const size_t place = row % seq_q;
    const size_t head = row / seq_q % q_heads;
    const size_t sequence = row / seq_q / q_heads;
    const size_t shared_head = sequence * kv_heads + head / (q_heads / kv_heads);
    key += shared_head * seq_k * head_dim;
    value += shared_head * seq_k * head_dim;

    float q[SHARE], sum[SHARE];  // beyond head_dim there are zeros
    for (int i = 0; i < SHARE; ++i) {
        const size_t d = lane + 32 * i;
        q[i] = d < head_dim ? static_cast<float>(query[row * head_dim + d]) * scale : 0.0f;
        sum[i] = 0.0f;
    }
    float largest = -INFINITY, total = 0.0f;
    const size_t visible = place + seq_k - seq_q + 1;  // keys: the last query sees them all
    for (size_t j = 0; j < visible; ++j) {
        float score = 0.0f;
        for (int i = 0; i < SHARE; ++i) {
            const size_t d = lane + 32 * i;
            if (d < head_dim) score += q[i] * static_cast<float>(key[j * head_dim + d]);
        }
        for (int offset = 16; offset > 0; offset /= 2) {
            score += __shfl_xor_sync(0xffffffffu, score, offset);
        }
        const float larger = fmaxf(largest, score);
        const float kept = __expf(largest - larger);  // 0 for the first key: e to minus infinity
        const float weight = __expf(score - larger);
        largest = larger;
        total = total * kept + weight;
        for (int i = 0; i < SHARE; ++i) {
            const size_t d = lane + 32 * i;
            const float v = d < head_dim ? static_cast<float>(value[j * head_dim + d]) : 0.0f;
            sum[i] = sum[i] * kept + weight * v;
        }
    }
    for (int i = 0; i < SHARE; ++i) {
        const size_t d = lane + 32 * i;
        if (d < head_dim) result[row * head_dim + d] = static_cast<VAR>(sum[i] / total);
    }
}

extern "C" void solution(const VAR* query, const VAR* key, const VAR* value, VAR* result,
                         float scale, size_t batch, size_t q_heads, size_t kv_heads, size_t seq_q,
                         size_t seq_k, size_t head_dim) {
    const size_t queries = batch * q_heads * seq_q;
    attend<<<unsigned((queries + WARPS - 1) / WARPS), 32 * WARPS>>>(
        query, key, value, result, scale, q_heads, kv_heads, seq_q, seq_k, head_dim, queries);
}
