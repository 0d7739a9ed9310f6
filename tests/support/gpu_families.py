"""Check, on the card, what the tests check without one: families of values and the footprint.

``python tests/support/gpu_families.py`` fills tensors of every type with every family in place,
compares the memory that checking a case takes at its peak with the estimate, and prints both.
"""

from dataclasses import replace

import torch

from harness.judge.compare import compare
from harness.problem.case import FAMILIES, Case, whole_case
from harness.problem.dtypes import DTYPES
from harness.problem.model import Parameter
from harness.problem.reference import Reference
from harness.problem.sampling.distributions import fill
from harness.problem.sampling.footprint import footprint
from harness.problem.terms import Role
from support.error_model import PROBLEM

PARAMETER = Parameter(name="x", type="[VAR]", role=Role.TENSOR, line=1, nonfinite=True)


def fill_all() -> int:
    """Every type and family, strided and dense; the number of fills."""
    count = 0
    for dtype in DTYPES:
        for family in FAMILIES:
            for shape in ((1,), (7,), (33, 65), (2, 3, 5)):
                memory = torch.ones(
                    [2 * n for n in shape], dtype=getattr(torch, dtype), device="cuda"
                )
                inside = tuple(slice(0, n) for n in shape)
                generator = torch.Generator("cuda").manual_seed(count)
                fill(memory[inside], PARAMETER, generator=generator, family=family)
                memory = memory.cpu()
                rest = torch.ones(memory.shape, dtype=torch.bool)
                rest[inside] = False
                assert bool((memory[rest] == 1).all()), (dtype, family, shape)
                strange = family == "nonfinite" and DTYPES[dtype].roundoff > 0
                assert bool(memory.isfinite().all()) != strange, (dtype, family, shape)
                count += 1
    return count


def peak(case: Case, dtype: str) -> int:
    """Bytes that checking ``case`` takes at most: the buffers of two calls, and what follows."""
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    kind = getattr(torch, dtype)
    calls = [
        {p.name: torch.ones(p.dimensions(case.values), dtype=kind, device="cuda") for p in tensors}
        for tensors in (PROBLEM.tensors, PROBLEM.tensors)
    ]
    copies = [{name: tensor.clone() for name, tensor in call.items()} for call in calls]
    outputs = [call["output_matrix"].clone() for call in calls]
    for call, output in zip(copies, outputs, strict=True):
        call.pop("output_matrix")
        wanted = Reference(PROBLEM).expectations(case, dtype, call)["output_matrix"]
        compare("output_matrix", output, wanted.expected, wanted.allowed)
    return torch.cuda.max_memory_allocated() - before


def main() -> None:
    """Print what was found."""
    print(torch.cuda.get_device_name(), torch.__version__)
    print(f"{fill_all()} fills")
    generator = torch.Generator("cuda").manual_seed(1)
    large = torch.empty(8192, 8192, device="cuda")
    for family in FAMILIES:
        torch.cuda.reset_peak_memory_stats()
        fill(large, replace(PARAMETER), generator=generator, family=family)
        extra = torch.cuda.max_memory_allocated() - large.numel() * 4
        print(f"{family:13} takes {extra / 2**20:.0f} MiB beside a tensor of 256 MiB")
    del large
    for dtype in PROBLEM.dtypes:
        for benchmark in PROBLEM.benchmarks:
            case = whole_case(PROBLEM, benchmark)
            found, estimate = peak(case, dtype), footprint(PROBLEM.tensors_of(case, dtype))
            print(
                f"{dtype:9} {case.spec:38} takes {found / 2**20:7.0f} MiB, "
                f"estimated {estimate / 2**20:7.0f} MiB"
            )
            assert found <= estimate


if __name__ == "__main__":
    main()
