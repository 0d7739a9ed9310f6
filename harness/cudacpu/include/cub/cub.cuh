// The parts of cub that a block or a warp calls; those of the whole device are not here.
#pragma once
#include "../cuda/functional"
#include "../cudacpu/cub_memory.h"
#include "../cudacpu/cub_reduce.h"
#include "../cudacpu/cub_scan.h"
#include "../cudacpu/cub_sort.h"
#include "../cudacpu/cub_warp.h"

#define CUB_MIN(a, b) (((b) < (a)) ? (b) : (a))
#define CUB_MAX(a, b) (((b) > (a)) ? (b) : (a))
