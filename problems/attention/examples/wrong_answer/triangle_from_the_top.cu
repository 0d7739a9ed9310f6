// Lets query i see the keys 0 to i, however many keys there are before the first query.
// verdict: wrong_answer

__global__ void attend(const VAR* query, const VAR* key, const VAR* value, VAR* result, float scale,
                       size_t q_heads, size_t kv_heads, size_t seq_q, size_t seq_k, size_t head_dim,
                       size_t queries) {
    const size_t row = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (row >= queries) return;
    const size_t place = row % seq_q, head = row / seq_q % q_heads, sequence = row / seq_q / q_heads;
    const size_t shared_head = sequence * kv_heads + head / (q_heads / kv_heads);
    query += row * head_dim;
    result += row * head_dim;
    key += shared_head * seq_k * head_dim;
    value += shared_head * seq_k * head_dim;

    const size_t visible = place + 1;
    float largest = -INFINITY, total = 0.0f, sum[128] = {};
    for (size_t j = 0; j < visible; ++j) {
        float score = 0.0f;
        for (size_t d = 0; d < head_dim; ++d) {
            score += static_cast<float>(query[d]) * static_cast<float>(key[j * head_dim + d]);
        }
        score *= scale;
        const float larger = fmaxf(largest, score);
        const float kept = expf(largest - larger), weight = expf(score - larger);
        largest = larger;
        total = total * kept + weight;
        for (size_t d = 0; d < head_dim; ++d) {
            sum[d] = sum[d] * kept + weight * static_cast<float>(value[j * head_dim + d]);
        }
    }
    for (size_t d = 0; d < head_dim; ++d) result[d] = static_cast<VAR>(sum[d] / total);
}

extern "C" void solution(const VAR* query, const VAR* key, const VAR* value, VAR* result,
                         float scale, size_t batch, size_t q_heads, size_t kv_heads, size_t seq_q,
                         size_t seq_k, size_t head_dim) {
    const size_t queries = batch * q_heads * seq_q;
    attend<<<unsigned((queries + 31) / 32), 32>>>(query, key, value, result, scale, q_heads,
                                                  kv_heads, seq_q, seq_k, head_dim, queries);
}
