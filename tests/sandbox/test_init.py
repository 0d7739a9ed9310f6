"""The steps of init, each in a process of its own; together they are in test_launch."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.naps import until

from harness.sandbox import processes
from harness.sandbox.spec import SandboxSpec
from harness.sandbox.support import MONITOR, detect_support, python_files

ROOT = Path(__file__).parents[2]


def run(code: str) -> Any:
    head = "import json, os, resource, signal, sys, time\nfrom harness.sandbox import init\n"
    head += "from harness.sandbox.spec import SandboxSpec\nimport functools\n"
    head += "SPEC = functools.partial(SandboxSpec, folder='', namespaces=False, own_user=False)\n"
    done = subprocess.run(
        [sys.executable, "-c", head + code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_init_imports_the_standard_library_alone() -> None:
    loaded = run(
        "print(json.dumps([n for n in sys.modules if n.startswith('harness')"
        " or getattr(sys.modules[n], '__file__', None) and 'site-packages' in"
        " str(sys.modules[n].__file__)]))"
    )
    ours = {name for name in loaded if name.startswith("harness")}
    assert ours == {
        "harness", "harness.sandbox",
        "harness.sandbox.init", "harness.sandbox.landlock",
        "harness.sandbox.spec", "harness.sandbox.syscalls", "harness.sandbox.system",
        "harness.sandbox.view",
    }  # fmt: skip
    assert not {name for name in loaded if name.partition(".")[0] in ("torch", "numpy", "pydantic")}


def test_limits_are_never_raised() -> None:
    code = """
resource.setrlimit(resource.RLIMIT_NOFILE, (100, 200))
init.limit_resources(SPEC(memory_bytes=1 << 30, file_bytes=1 << 20))
limits = {name: resource.getrlimit(getattr(resource, "RLIMIT_" + name))
          for name in ("NOFILE", "CORE", "FSIZE", "DATA")}
print(json.dumps(limits))
"""
    assert run(code) == {
        "NOFILE": [200, 200],
        "CORE": [0, 0],
        "FSIZE": [1 << 20, 1 << 20],
        "DATA": [1 << 30, 1 << 30],
    }


def test_without_memory_bytes_memory_is_not_limited() -> None:
    code = "before = resource.getrlimit(resource.RLIMIT_DATA)\n"
    code += "init.limit_resources(SPEC(file_bytes=1 << 20))\n"
    code += "print(json.dumps([before, resource.getrlimit(resource.RLIMIT_DATA)]))"
    before, after = run(code)
    assert before == after


def run_init(child: str, judge: str = "") -> tuple[int, float]:
    """The status that init leaves with, and how long it took."""
    code = f"""
life, judge_end = os.pipe()
child = os.fork()
if child == 0:
    os.close(judge_end)
    os.setpgid(0, 0)
    {child}
    os._exit(0)
if os.fork() == 0:  # the judge
    os.close(life)
    os.close(1)
    os.close(2)
    time.sleep(0.3)
    {judge or "time.sleep(2)"}
    os._exit(0)
os.close(judge_end)
started = time.monotonic()
status = init.wait_as_init(child, life)
print(json.dumps([status, time.monotonic() - started]))
sys.stdout.flush()
os._exit(0)
"""
    status, seconds = run(code)
    return status, seconds


def test_init_leaves_with_the_status_of_its_child() -> None:
    assert run_init("os._exit(7)")[0] == 7
    assert run_init("os.kill(os.getpid(), 11)")[0] == 128 + 11


def test_init_ends_its_child_when_the_judge_ends() -> None:
    status, seconds = run_init("time.sleep(60)", judge="os._exit(0)")
    assert status == 0
    assert seconds < 30


def test_init_reaps_orphans_and_waits_for_its_child() -> None:
    orphans = "[os.fork() or os._exit(0) for _ in range(20)]; time.sleep(0.1); os._exit(5)"
    assert run_init(orphans)[0] == 5


def _dead(pid: int) -> bool:
    stat = processes._stat(pid)
    return stat is None or stat.state in "ZX"


@pytest.mark.parametrize("namespaces", [False, True])
def test_the_sandbox_ends_with_the_judge_while_it_is_being_made(
    tmp_path: Path, namespaces: bool
) -> None:
    """As where the judge stops what there is, and is killed itself."""
    if namespaces and not detect_support().namespaces:
        pytest.skip("this machine allows no namespaces")
    spec = SandboxSpec(
        folder=str(tmp_path),
        namespaces=namespaces,
        own_user=False,
        readable=python_files(),
        writable=(str(tmp_path),),
        command=("sleep", "60"),
        cwd=str(tmp_path),
    )
    for _ in range(5):  # now and then it reports before it is stopped
        life_read, life = os.pipe()
        monitor = subprocess.Popen(
            [*MONITOR, spec.to_json(), "-", str(life_read)],
            pass_fds=(life_read,),
            start_new_session=True,
        )
        os.close(life_read)
        try:
            while len(found := processes.family(monitor.pid)) < 2:
                assert monitor.poll() is None
            os.kill(found[1], signal.SIGSTOP)
            os.close(life)
            monitor.wait(20)
            assert until(lambda found=found: all(map(_dead, found)))
        finally:
            monitor.kill()
            monitor.wait()
