// libcu++'s copy of the standard library is the standard library.
#pragma once
#include <type_traits>

#include "../cuda_runtime.h"

namespace cuda {
namespace std = ::std;
}
