// What --expt-relaxed-constexpr and --extended-lambda allow: constexpr functions of the standard
// library in device code, and lambdas for the device.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

constexpr int square(int x) { return x * x; }

template <class F>
__global__ void each(VAR* out, int n, F f) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = f(i);
}

extern "C" void solution(const VAR* a, const VAR* b, VAR* out, float alpha, size_t m, size_t n,
                         size_t k) {
  int elements = static_cast<int>(m * n), terms = static_cast<int>(k), columns = static_cast<int>(n);
  each<<<(elements + 127) / 128, 128>>>(out, elements, [=] __device__(int i) -> VAR {
    constexpr std::array<int, 2> steps{1, square(1)};
    float sum = std::numeric_limits<float>::epsilon() * 0;
    int row = i / columns, column = std::min(i % columns, columns - 1);
    for (int j = 0; j < std::max(terms, 0); j += steps[1]) {
      sum += float(a[row * terms + j]) * float(b[j * columns + column]);
    }
    return VAR(alpha * sum * float(sqrt(4) - sqrt(std::max(1, 0))));
  });
}
