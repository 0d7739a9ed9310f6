"""A profile on the terminal."""

import io
import re

from rich.console import Console
from support.samples import result

from harness.records.profile import KernelProfile, Profile
from harness.report.terminal import render_result


def _shown(profile: Profile) -> str:
    stream = io.StringIO()
    accepted = result(measurements=(), score=None, profile=profile)
    render_result(accepted, Console(file=stream, width=100, force_terminal=False))
    return stream.getvalue()


def _kernel(name: str, **changes: float | None) -> KernelProfile:
    known = {
        "duration_s": 12.3e-6, "read_bytes": 8 << 20, "written_bytes": 4 << 20, "sm": 0.125,
        "memory": 0.61, "occupancy": 0.94,
    }  # fmt: skip
    return KernelProfile(name=name, grid="(1, 1, 1)", block="(256, 1, 1)", **known | changes)


def test_one_kernel_is_a_line() -> None:
    text = _shown(Profile(spec="m=4096,n=4096", kernels=(_kernel("tiled"),), one_call=True))
    assert "profile of a call, m=4096,n=4096" in text
    assert "no time that is ranked" in text
    assert re.search(r"tiled +12\.3 µs +8 MiB +4 MiB +12% +61% +94%", text)
    assert "together" not in text


def test_several_kernels_have_a_sum() -> None:
    kernels = (_kernel("product"), _kernel("bias", written_bytes=None), _kernel("relu"))
    text = _shown(Profile(spec="n=1", kernels=kernels, one_call=False))
    assert "two calls" in text
    assert re.search(r"bias +12\.3 µs +8 MiB +\? ", text)
    assert re.search(r"together +36\.9 µs +24 MiB +\? *\n", text)


def test_names_are_not_interpreted() -> None:
    text = _shown(Profile(spec="n=1", kernels=(_kernel("\x1b[2J[red]k"),), one_call=True))
    assert "\x1b" not in text
    assert "[red]k" in text
