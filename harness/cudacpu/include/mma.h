// Warp matrix products; the types that their fragments can hold.
#pragma once
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cudacpu/fragment.h"
#include "cudacpu/wmma.h"
