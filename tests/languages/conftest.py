"""A problem to build for, and caches to build into."""

from gemm_problem import cache as cache
from gemm_problem import problem as problem
from gemm_problem import shared_cache as shared_cache
