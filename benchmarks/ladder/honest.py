"""What others' clocks say of the builds that the judge has timed: a process of its own.

Run as ``python benchmarks/ladder/honest.py clocks|cupti CALLS.json``; prints one JSON object a line
for each of the calls in that file. All run the calls on the stream that libraries are built for,
with buffers like the judge's:

* ``cupti_s``: mean duration of the kernels of a call, from a trace of one batch, L2 cold, on fresh
  buffers. Of several kernels the sum: gaps between them are not in it. In a process of its own,
  since the card may run at another clock while it is traced; ``traced_graph_s`` is what ``graph_s``
  is there.
* ``graph_s``: the same batch as one graph between two CUDA events, L2 cold, per call, median: what
  the device's clock says of what the judge times, so that it has the gaps between kernels and what
  a call still writes while the next one runs. ``clock`` is how much longer the host's clock says
  that such graphs take, 1 if both clocks agree.
* ``events_s``: median of pairs of CUDA events around one call, the L2 flushed before each.
* ``do_bench_s``: median of ``triton.testing.do_bench``, which flushes as well, on the same buffers.
"""

import ctypes
import importlib.util
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Call = Callable[[int], object]

PER_THREAD_STREAM = 2
FLUSH_BYTES = 256 << 20
WARM_S = 0.7
EVENTS_S = 0.5
CLOCK_S = 0.05
LAUNCH_CYCLES = 4_000_000
FEWEST, MOST = 11, 101


def bind(call: dict[str, Any], arena: Any) -> Call:
    """A function that makes the call of a number, on ``arena``, a tensor of bytes."""
    if call["library"]:
        from harness.runner.library import SCALARS

        entry = ctypes.CDLL(call["library"]).solution
        entry.restype = None

        def argument(spec: dict[str, Any], index: int) -> Any:
            if "ctype" in spec:
                kind = SCALARS[spec["ctype"]]
                floating = kind in (ctypes.c_float, ctypes.c_double)
                return kind(spec["value"] if floating else int(spec["value"]))
            return ctypes.c_void_p(arena.data_ptr() + spec["base"] + index * spec["stride"])

    else:
        import torch

        entry = load(Path(call["source"])).solution

        def argument(spec: dict[str, Any], index: int) -> Any:
            if "ctype" in spec:
                return (float if spec["ctype"] in ("float", "double") else int)(spec["value"])
            start = spec["base"] + index * spec["stride"]
            flat = arena[start : start + spec["bytes"]].view(getattr(torch, spec["dtype"]))
            return flat.as_strided(spec["shape"], spec["strides"])

    bound = [
        tuple(argument(spec, index) for spec in call["arguments"]) for index in range(call["calls"])
    ]
    return lambda index: entry(*bound[index])


def load(path: Path) -> Any:
    """The module of a Python solution."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def measure(call: dict[str, Any], wanted: str) -> dict[str, Any]:
    """What the clocks that are wanted say, in seconds per call, and the SM clock meanwhile."""
    import torch

    from harness.device.monitor import GpuMonitor

    watch = GpuMonitor(str(torch.cuda.get_device_properties(0).uuid), every_s=0.0)
    with watch:
        found = _measure(call, wanted, watch.read)
    conditions = watch.conditions()
    return found | {f"{wanted}_mhz": conditions.clock_mhz if conditions else None}


def _measure(call: dict[str, Any], wanted: str, look: Callable[[], None]) -> dict[str, Any]:
    """The same, and a ``look`` at the card whenever it was at work just now."""
    import torch

    arena = torch.empty(call["bytes"] // 4, device="cuda").normal_().view(torch.uint8)
    flush = torch.empty(FLUSH_BYTES, dtype=torch.uint8, device="cuda")
    with torch.cuda.stream(torch.cuda.ExternalStream(PER_THREAD_STREAM)):
        torch.cuda.synchronize()
        run = bind(call, arena)

        def batch() -> None:
            flush.fill_(1)
            torch.cuda.synchronize()
            for index in range(call["calls"]):
                run(index)
            torch.cuda.synchronize()

        start = time.perf_counter()
        while time.perf_counter() - start < WARM_S:
            batch()
        look()
        if wanted == "cupti":
            cupti_s = traced(batch) / call["calls"]
            look()
            graph_s, _ = by_graph(run, call["calls"], lambda: flush.fill_(1))
            return {"cupti_s": cupti_s, "traced_graph_s": graph_s}
        from triton.testing import do_bench

        graph_s, clock = by_graph(run, call["calls"], lambda: flush.fill_(1))
        look()
        repeats = max(FEWEST, min(MOST, int(EVENTS_S / max(graph_s, 1e-6))))
        events_s = by_events(run, call["calls"], repeats, lambda: flush.fill_(1))
        do_bench_s = do_bench(lambda: run(0), return_mode="median") * 1e-3
    return {"graph_s": graph_s, "clock": clock, "events_s": events_s, "do_bench_s": do_bench_s}


def traced(batch: Callable[[], None]) -> float:
    """Seconds of all kernels of a batch but the flush, by CUPTI's activity records."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA]) as trace:
        batch()
    kernels = [e for e in trace.events() if e.device_type.name == "CUDA"]
    times_us = [float(e.device_time_total) for e in kernels if "FillFunctor" not in e.name]
    return 1e-6 * sum(times_us)


def by_graph(run: Call, calls: int, flush: Callable[[], object]) -> tuple[float, float]:
    """Median seconds of a call in a graph of ``calls``; the host's clock against the device's."""
    import torch

    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(
        graph, stream=torch.cuda.current_stream(), capture_error_mode="thread_local"
    ):
        for index in range(calls):
            run(index)
    before, after = (torch.cuda.Event(enable_timing=True) for _ in range(2))

    def between(work: Callable[[], object]) -> float:
        before.record()
        work()
        after.record()
        torch.cuda.synchronize()
        return float(before.elapsed_time(after)) * 1e-3

    def cold() -> float:
        flush()
        torch.cuda._sleep(LAUNCH_CYCLES)  # longer than the host needs to launch the graph
        return between(graph.replay)

    once = statistics.median(cold() for _ in range(FEWEST))

    def replays(count: int) -> tuple[float, float]:
        def replay_all() -> None:
            for _ in range(count):
                graph.replay()

        start = time.perf_counter()
        device_s = between(replay_all)
        return time.perf_counter() - start, device_s

    # What starting and waiting costs falls out of the difference of two lengths.
    count = max(1, int(CLOCK_S / once))
    (short_host, short_device), (long_host, long_device) = replays(count), replays(3 * count)
    clock = (long_host - short_host) / (long_device - short_device)
    return once / calls, clock


def by_events(run: Call, calls: int, repeats: int, flush: Callable[[], object]) -> float:
    """Median seconds between two events around a call."""
    import torch

    pairs = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(repeats)]
    for number, (before, after) in enumerate(pairs):
        flush()
        before.record()
        run(number % calls)
        after.record()
    torch.cuda.synchronize()
    times_ms = [float(before.elapsed_time(after)) for before, after in pairs]
    return statistics.median(times_ms) * 1e-3


def main() -> None:
    """One line for each call; one that fails says why."""
    wanted, file = sys.argv[1:]
    for call in json.loads(Path(file).read_text()):
        try:
            found: dict[str, Any] = measure(call, wanted)
        except Exception as error:  # whatever it is, the other rungs are worth having
            found = {"error": f"{type(error).__name__}: {error}"[:300]}
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
