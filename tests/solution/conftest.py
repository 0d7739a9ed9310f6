"""A problem to build for, and caches to build into."""

from support.gemm_problem import cache as cache
from support.gemm_problem import problem as problem
from support.gemm_problem import shared_cache as shared_cache
