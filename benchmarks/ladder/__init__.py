"""The accuracy ladder: honest kernels from 2 µs to 2 ms, timed by the judge and by others' clocks.

`rungs` says what is timed, `judge` how long the judge says that it takes, `honest` (a process of
its own) what CUPTI, CUDA events and Triton's ``do_bench`` say of the same builds.
"""
