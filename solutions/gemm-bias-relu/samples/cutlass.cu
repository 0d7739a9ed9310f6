// uses: cutlass
// dtypes: float16, bfloat16
//
// CUTLASS's product for Hopper, with bias and rectifier in an epilogue of our own.
//
// A kernel of CUTLASS 3 is put together from parts. `GemmUniversal` is the frame: a block stays on
// its multiprocessor and takes tile after tile of the output; one warp orders copies, and two
// groups of four warps hold the sums of a tile in registers. The main loop runs over k: the copy
// engine (TMA) fills four stages of shared memory, two blocks of a cluster fetch half each of what
// both need of b, and the tensor cores read the stages. The epilogue gets the finished sums, and is
// the place for what is done per element; meanwhile the next tile's first stages are fetched.
//
// CUTLASS has epilogues to choose from, too, but they take nvcc twice as long, and the copy engine
// stores their rows, which have to start at multiples of 16 bytes. So have rows that it loads:
// where they do not, they are copied first. Ours stores in either way.

#define NDEBUG  // assert() is a call, and with calls tensor cores wait for the end of each step
#include <cutlass/cutlass.h>
// Only the parts in use: gemm_universal.hpp and collective_builder.hpp include all that there are.
#include <cutlass/epilogue/collective/detail.hpp>
#include <cutlass/gemm/collective/collective_builder_decl.hpp>
#include <cutlass/gemm/collective/collective_mma_decl.hpp>
#include <cutlass/gemm/collective/sm90_mma_tma_gmma_ss_warpspecialized.hpp>
#include <cutlass/gemm/collective/builders/sm90_gmma_builder.inl>
#include <cutlass/gemm/kernel/sm90_gemm_tma_warpspecialized_cooperative.hpp>

#include <type_traits>

using cute::_1, cute::_2, cute::get, cute::Int, cute::Shape;

constexpr bool HALF = std::is_same_v<VAR, __half>;
using Element = std::conditional_t<HALF, cutlass::half_t, cutlass::bfloat16_t>;
using Pair = cutlass::Array<Element, 2>;
using ByRows = cutlass::layout::RowMajor;
constexpr int HEIGHT = 128, WIDTH = 256, DEPTH = 64;  // of a tile, and of a step along k
constexpr int GROUP = 128, ROWS = 64;                 // threads of a group, and the rows it has
constexpr int PART = 64;                              // columns that it stores at a time

struct BiasRelu {
    // What `GemmUniversal` asks for. There is no matrix C to be added, and D is the output.
    using ElementC = void;
    using ElementD = Element;
    using StrideC = cute::Stride<int64_t, _1, int64_t>;
    using StrideD = StrideC;
    struct alignas(1024) SharedStorage {
        Pair parts[2][2][ROWS * PART / 2];  // two for each group: one is filled, one being stored
        float bias[2][WIDTH];
    };
    struct Arguments {
        CUtensorMap map;  // of the output, for the copy engine
        bool mapped;      // whether its rows start at multiples of 16 bytes
        const Element* bias;
        Element* out;
    };
    using Params = Arguments;
    const Params& params;  // no copy: the engine reads the map from where the launch has put it

    CUTLASS_HOST_DEVICE BiasRelu(const Params& params) : params(params) {}
    template <class Problem>
    static Params to_underlying_arguments(Problem, const Arguments& same, void*) { return same; }
    template <class Problem>
    static size_t get_workspace_size(Problem, const Arguments&) { return 0; }

    // A thread's `sums`: the tensor cores give each warp of a group 16 rows, and each lane two
    // neighbouring columns out of eight, in the rows lane / 4 and lane / 4 + 8.
    template <class Problem, class Tile, class Place, class Sums, class Mma, class Rest>
    CUTLASS_DEVICE void operator()(Problem problem, Tile, Place place, const Sums& sums, Mma, Rest,
                                   int thread, char* memory) {
        auto& shared = *reinterpret_cast<SharedStorage*>(memory);
        const int group = thread / GROUP, warp = thread % GROUP / 32, lane = thread % 32;
        const int m = get<0>(problem), top = get<0>(place) * HEIGHT + group * ROWS;
        const int n = get<1>(problem), left = get<1>(place) * WIDTH;
        const bool leads = thread % GROUP == 0;
        float* bias = shared.bias[group];
        for (int i = thread % GROUP; i < WIDTH; i += GROUP)
            bias[i] = left + i < n ? float(params.bias[left + i]) : 0.0f;
        CUTLASS_PRAGMA_UNROLL
        for (int part = 0; part < WIDTH / PART; ++part) {
            Pair* pairs = shared.parts[group][part % 2];
            const int first = left + part * PART;
            if (leads) cute::tma_store_wait<1>();  // what was here two parts ago has been read
            cutlass::arch::NamedBarrier::sync(GROUP, group);
            CUTLASS_PRAGMA_UNROLL
            for (int pair = 0; pair < PART / 4; ++pair) {
                const int i = part * PART / 2 + pair * 2;
                const int row = warp * 16 + pair % 2 * 8 + lane / 4, eight = pair / 2;
                const float2 added = reinterpret_cast<const float2*>(bias)[i / 4 * 4 + lane % 4];
                const cutlass::Array<float, 2> both = {fmaxf(sums(i) + added.x, 0.0f),
                                                       fmaxf(sums(i + 1) + added.y, 0.0f)};
                // The engine's pattern for rows of 128 bytes: their pieces of 16 bytes change
                // places, so that those of eight rows lie in different banks.
                pairs[row * (PART / 2) + (eight ^ row % 8) * 4 + lane % 4] =
                    cutlass::NumericArrayConverter<Element, float, 2>()(both);
            }
            cute::tma_store_fence();  // for the engine to see it
            cutlass::arch::NamedBarrier::sync(GROUP, group);
            if (params.mapped) {  // the engine leaves out what is outside of the matrix
                if (leads) cute::SM90_TMA_STORE_2D::copy(&params.map, pairs, first, top);
                if (leads) cute::tma_store_arrive();
                continue;
            }
            const Element* values = pairs->data();
            CUTLASS_PRAGMA_UNROLL
            for (int i = 0; i < ROWS * PART / GROUP; ++i) {
                const int row = warp + i / 2 * 4, column = lane + i % 2 * 32;
                if (top + row < m && first + column < n)
                    params.out[size_t(top + row) * n + first + column] =
                        values[row * PART + (column / 8 ^ row % 8) * 8 + column % 8];
            }
        }
    }
};

// The adapter adds what an epilogue would need for reading a matrix C.
struct Epilogue : cutlass::epilogue::collective::detail::Sm90TmaWarpSpecializedAdapter<BiasRelu> {
    using Sm90TmaWarpSpecializedAdapter::Sm90TmaWarpSpecializedAdapter;
    template <class... States>
    CUTLASS_DEVICE void store_tail(States...) { cute::tma_store_wait<0>(); }  // before memory goes
};

using MainLoop = cutlass::gemm::collective::CollectiveBuilder<
    cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Element, ByRows, 8, Element, ByRows, 8,
    float, Shape<Int<HEIGHT>, Int<WIDTH>, Int<DEPTH>>, Shape<_2, _1, _1>,
    cutlass::gemm::collective::StageCount<4>,
    cutlass::gemm::KernelTmaWarpSpecializedCooperative>::CollectiveOp;
using Kernel = cutlass::gemm::kernel::GemmUniversal<Shape<int, int, int, int>, MainLoop, Epilogue,
                                                    cutlass::gemm::PersistentScheduler>;

__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(Kernel::MaxThreadsPerBlock, 1)
    gemm_bias_relu(const __grid_constant__ Kernel::Params params) {
    extern __shared__ __align__(1024) char memory[];
    Kernel()(params, memory);
}

__global__ void copy_rows(const Element* __restrict__ from, Element* __restrict__ to, int width,
                          int distance) {
    from += blockIdx.x * size_t(width), to += blockIdx.x * size_t(distance);
#pragma unroll 8
    for (int i = threadIdx.x; i < width; i += blockDim.x) to[i] = from[i];
}

// A matrix of this many rows, or its copy with rows at multiples of 16 bytes.
struct Aligned {
    Element* copy = nullptr;
    size_t capacity = 0;

    const Element* of(const VAR* matrix, size_t rows, size_t width, size_t distance) {
        const auto* from = reinterpret_cast<const Element*>(matrix);
        if (distance == width) return from;
        if (rows * distance > capacity) {  // none is freed: recorded calls may still use it
            capacity = 2 * rows * distance;
            cudaMalloc(&copy, capacity * sizeof(Element));
        }
        copy_rows<<<rows, 256, 0, cudaStreamPerThread>>>(from, copy, width, distance);
        return copy;
    }
};

extern "C" void solution(const VAR* matrix_a, const VAR* matrix_b, const VAR* bias,
                         VAR* output_matrix, size_t m, size_t n, size_t k) {
    static Aligned a, b;
    static const int multiprocessors = [] {
        cudaFuncSetAttribute(gemm_bias_relu, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             Kernel::SharedStorageSize);
        return cutlass::KernelHardwareInfo::query_device_multiprocessor_count();
    }();
    const size_t depth = (k + 7) / 8 * 8, width = (n + 7) / 8 * 8;
    BiasRelu::Arguments epilogue = {{}, width == n, reinterpret_cast<const Element*>(bias),
                                    reinterpret_cast<Element*>(output_matrix)};
    if (epilogue.mapped) {
        const cuuint64_t sizes[] = {n, m}, distances[] = {n * sizeof(VAR)};
        const cuuint32_t box[] = {PART, ROWS}, steps[] = {1, 1};
        CUTLASS_CUDA_DRIVER_WRAPPER_CALL(cuTensorMapEncodeTiled)(
            &epilogue.map,
            HALF ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16 : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2,
            output_matrix, sizes, distances, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
            CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
            CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    }
    // The sizes are the real ones whatever lies between rows: the engine reads zeros beyond them.
    const Kernel::Params params = Kernel::to_underlying_arguments(
        {cutlass::gemm::GemmUniversalMode::kGemm,
         {int(m), int(n), int(k), 1},
         {a.of(matrix_a, m, k, depth), {int64_t(depth), _1{}, 0},
          b.of(matrix_b, k, n, width), {_1{}, int64_t(width), 0}},
         epilogue,
         {0, multiprocessors}},
        nullptr);
    gemm_bias_relu<<<Kernel::get_grid_shape(params), Kernel::MaxThreadsPerBlock,
                     Kernel::SharedStorageSize, cudaStreamPerThread>>>(params);
}
