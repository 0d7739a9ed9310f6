// The CUDA runtime as the CPU executor offers it; included before every submission.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudacpu/qualifiers.h"
#include "cudacpu/vector_types.h"
#include "cudacpu/launch.h"
#include "cudacpu/math.h"
#include "cudacpu/warp.h"
#include "cudacpu/atomics.h"
#include "cudacpu/api.h"
