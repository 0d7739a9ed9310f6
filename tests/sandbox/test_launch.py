"""What a submission can reach from inside, reported by code that runs there."""

import os
import re
import socket
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from support.corpus import rest_in_corpus
from support.inside import Inside, explore
from support.naps import Nap, until

from harness.sandbox import landlock, launch, leftovers, processes, syscalls, view
from harness.sandbox.launch import Sandbox
from harness.sandbox.support import detect_support
from harness.session.start_runner import CACHES, ENTRY

ROOT = Path(__file__).parents[2]
LISTED = [landlock.LAYER] if landlock.version() else []
needs_namespaces = pytest.mark.skipif(not detect_support().namespaces, reason="no namespaces here")

LOOK_AROUND = """
import ctypes, errno, os, socket, subprocess, resource, threading

def attempt(action):
    try:
        return str(action())
    except OSError as error:
        return type(error).__name__ + " " + str(error.strerror)

def status(key):
    with open("/proc/self/status") as file:
        return next(line.split()[1] for line in file if line.startswith(key + ":"))

def write(path):
    with open(path, "w") as file:
        return file.write("x")

def fill(folder):
    written = 0
    try:
        with open(folder + "/fill", "wb") as file:
            for _ in range(40):
                written += file.write(bytes(1 << 20))
                file.flush()
    except OSError:
        pass
    os.unlink(folder + "/fill")
    return written

def connect(family, address):
    with socket.socket(family) as sock:
        sock.settimeout(1)
        return sock.connect(address)

def call(number, *arguments):
    libc = ctypes.CDLL(None, use_errno=True)
    done = libc.syscall(number, *arguments)
    return errno.errorcode[ctypes.get_errno()] if done < 0 else "done"

def started_thread():
    done = []
    thread = threading.Thread(target=done.append, args=(1,))
    thread.start()
    thread.join()
    return done

home = os.environ["HOME"]
outside = [ROOT + "/new", ROOT + "/harness/cli.py", "/new", "/var/tmp/new",
           "/etc/passwd", "/dev/new"]
report({
    "written outside": [p for p in outside if attempt(lambda: write(p)) == "1"],
    "home": attempt(lambda: write(home + "/new")),
    "room": [fill(home), fill("/dev/shm")],
    "processes": sorted(int(p) for p in os.listdir("/proc") if p.isdigit()),
    "commands": [open("/proc/" + p + "/cmdline").read().split(chr(0))[0]
                 for p in os.listdir("/proc") if p.isdigit()],
    "interfaces": [line.split(":")[0].strip() for line in open("/proc/net/dev").readlines()[2:]],
    "internet": attempt(lambda: connect(socket.AF_INET, ("1.1.1.1", 53))),
    "own loop": attempt(lambda: connect(socket.AF_INET, ("127.0.0.1", PORT))),
    "abstract": attempt(lambda: connect(socket.AF_UNIX, chr(0) + ABSTRACT)),
    "capabilities": [status(k) for k in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")],
    "no new privileges": status("NoNewPrivs"),
    "environment": dict(os.environ),
    "descriptors": {fd: attempt(lambda: os.readlink("/proc/self/fd/" + fd))
                    for fd in os.listdir("/proc/self/fd")},
    "kill init": attempt(lambda: os.kill(1, 9)),
    "its memory": attempt(lambda: open("/proc/1/mem", "rb")),
    "its files": attempt(lambda: [open("/proc/1/fd/" + fd, "rb")
                                  for fd in os.listdir("/proc/1/fd")]),
    "root": sorted(os.listdir("/")),
    "seen": [p for p in (SECRET, ROOT + "/problems", ROOT + "/harness/cli.py", ROOT + "/.git",
                         "/etc/shadow", "/etc/ssh", "/run", "/var", "/home", "/dev/mem", "/dev/tty")
             if os.path.exists(p)],
    "devices": sorted(os.listdir("/dev")),
    "etc": sorted(os.listdir("/etc")),
    "kernel": [attempt(lambda: write("/proc/" + p))
               for p in ("sys/kernel/core_pattern", "sys/vm/swappiness", "sysrq-trigger")],
    "user": os.getuid(),
    "calls": {name: call(*numbers) for name, numbers in CALLS.items()},
    "threads": started_thread(),
    "mount": subprocess.run(["mount", "-t", "tmpfs", "none", home]).returncode,
    "remount": subprocess.run(["mount", "-o", "remount,rw", "/"]).returncode,
    "unmount": subprocess.run(["umount", home]).returncode,
    "user namespace": subprocess.run(["unshare", "-U", "true"]).returncode,
    "setuid": attempt(lambda: os.setuid(2)),
    "core": resource.getrlimit(resource.RLIMIT_CORE),
    "data": resource.getrlimit(resource.RLIMIT_DATA),
})
"""


WAYS = pytest.mark.parametrize("forked", [False, True], ids=["started", "forked"])


@pytest.fixture(scope="module", params=[False, True], ids=["started", "forked"])
def found(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What a submission finds when it looks around and tries what it should not."""
    with (
        socket.socket(socket.AF_UNIX) as abstract,
        socket.create_server(("127.0.0.1", 0)) as loop,
        pytest.MonkeyPatch.context() as patch,
    ):
        name = f"harness-test-{os.getpid()}"
        abstract.bind(f"\0{name}")
        abstract.listen()
        patch.setenv("SECRET", "x")
        read, write = os.pipe()  # a descriptor of ours, inheritable by mistake
        os.set_inheritable(read, True)
        column = {"x86_64": 0, "aarch64": 1}.get(os.uname().machine)
        tables = {**syscalls.DENIED, **syscalls.EXECUTE}
        tried = {name: tables[name] for name in ("ptrace", "bpf", "io_uring_setup", "setns")}
        calls = {} if column is None else {n: (t[column], 0, 0) for n, t in tried.items()}
        secret = tmp_path_factory.mktemp("secret") / "key"
        secret.write_text("x")
        head = f"ROOT, PORT, ABSTRACT = {str(ROOT)!r}, {loop.getsockname()[1]}, {name!r}\n"
        head += f"CALLS, SECRET = {calls!r}, {str(secret)!r}\n"
        try:
            return explore(
                head + LOOK_AROUND,
                tmp_bytes=16 << 20,
                memory_bytes=512 << 20,
                forked=request.param,
            )
        finally:
            os.close(read)
            os.close(write)


@needs_namespaces
class TestInside:
    def test_it_writes_in_its_own_folder_only(self, found: Any) -> None:
        assert found["written outside"] == []
        assert found["home"] == "1"

    def test_its_folders_are_small(self, found: Any) -> None:
        assert all(0 < room <= 16 << 20 for room in found["room"])

    def test_it_sees_no_other_process(self, found: Any) -> None:
        assert len(found["processes"]) == 2  # init, and itself
        assert found["processes"][0] == 1

    def test_there_is_no_network(self, found: Any) -> None:
        assert found["interfaces"] in ([], ["lo"])
        unknown = "OSError Address family not supported by protocol"
        assert {found["internet"], found["own loop"]} == {unknown}
        assert found["abstract"] == "ConnectionRefusedError Connection refused"

    def test_it_has_no_capability_and_gets_none(self, found: Any) -> None:
        assert [int(mask, 16) for mask in found["capabilities"]] == [0] * 5
        assert found["no new privileges"] == "1"
        for attempt in ("mount", "remount", "unmount", "user namespace"):
            assert found[attempt] != 0, attempt
        assert found["setuid"] != "None"

    def test_init_is_out_of_its_reach(self, found: Any) -> None:
        assert found["its memory"].startswith("PermissionError")
        assert found["its files"].startswith("PermissionError")

    def test_it_sees_what_it_needs_and_nothing_else(self, found: Any) -> None:
        assert found["seen"] == []
        system = {"bin", "dev", "etc", "lib", "lib32", "lib64", "libx32", "proc", "sbin", "sys"}
        python = {Path(p).parts[1] for p in [*sys.path, sys.base_prefix] if Path(p).is_absolute()}
        ours = {ROOT.parts[1], Path(tempfile.gettempdir()).parts[1], "tmp", "usr", *python}
        assert set(found["root"]) <= system | ours
        assert set(found["etc"]) <= {*view.ETC, "passwd", "group"}
        nodes = {Path(path).name for path in view.DEVICES}
        assert set(found["devices"]) == nodes | {"shm", *view._LINKS}

    def test_it_cannot_set_the_kernel(self, found: Any) -> None:
        assert all("Error" in attempt for attempt in found["kernel"])

    def test_system_calls_are_filtered(self, found: Any) -> None:
        assert set(found["calls"].values()) <= {"EPERM"}
        assert found["threads"] == [1]

    @pytest.mark.skipif(os.getuid() != 0, reason="only root can give it one")
    def test_it_is_another_user(self, found: Any) -> None:
        assert found["user"] == view.SUBMISSION_USER


def test_nothing_is_inherited(found: Any) -> None:
    ours = {
        "PATH",
        "HOME",
        "TMPDIR",
    }
    assert set(found["environment"]) <= ours | {"LC_CTYPE"}  # which Python itself sets
    # What it reads, prints to (twice), is told by, and the mailbox; the listing is closed by now.
    open_files = [t.split(":[")[0] for t in found["descriptors"].values() if "No such" not in t]
    expected = ["/dev/null", "/memfd:mailbox (deleted)", "pipe", "pipe", "socket"]
    assert sorted(set(open_files)) == sorted(set(expected))
    assert (open_files.count("pipe"), open_files.count("socket")) == (2, 1)


def test_a_compiler_that_starts_another_beside_it_is_seen_whole(tmp_path: Path) -> None:
    bin_folder = tmp_path / "gcc" / "bin"
    bin_folder.mkdir(parents=True)
    for name, text in ("gcc", 'exec "$(dirname "$0")/gcc-real"'), ("gcc-real", "echo compiled"):
        (bin_folder / name).write_text(f"#!/bin/sh\n{text}\n", encoding="ascii")
        (bin_folder / name).chmod(0o755)
    code = """
        import os, subprocess
        report(subprocess.run([os.environ["CC"]], capture_output=True, text=True).stdout)
    """
    environment = {"PATH": "/usr/bin:/bin", "CC": str(bin_folder / "gcc")}
    assert explore(code, environment=environment) == "compiled\n"


def test_limits_are_set(found: Any) -> None:
    assert found["core"] == [0, 0]
    assert found["data"] == [512 << 20] * 2


def test_layers_of_confinement_are_named(found: Any) -> None:
    with Inside("") as inside:
        assert "resource limits" in inside.layers
        if detect_support().namespaces:
            assert "read-only files" in inside.layers
            assert "no further namespaces" in inside.layers


@WAYS
def test_a_flood_of_output_is_capped_and_does_not_block(forked: bool) -> None:
    code = "import os\nfor _ in range(200): os.write(1, b'x' * (1 << 20))\nreport(1)"
    with Inside(code, forked=forked, output_bytes=1000) as inside:
        started = time.monotonic()
        assert inside.loaded().type == "loaded"
        assert time.monotonic() - started < 60
    text = inside.sandbox.output.text()
    assert text.startswith("x" * 1000 + "\n[... ")
    assert len(text) < 1100
    assert f"{(200 << 20) - 1000 + len('REPORT:1') + 1} more bytes" in text


def test_printed_bytes_may_be_anything() -> None:
    with Inside("import os; os.write(2, b'\\xff\\x00\\x1b[31m\\n')") as inside:
        inside.loaded()
    assert inside.sandbox.output.text() == "\ufffd\x00\x1b[31m\n"


@WAYS
def test_everything_is_gone_after_close(forked: bool) -> None:
    nap = Nap()
    code = f"""
    import os, signal, subprocess, time
    subprocess.Popen(["sh", "-c", "trap '' TERM HUP INT; sleep {nap} & wait"])
    if os.fork() == 0:  # a daemon
        os.setsid()
        if os.fork() == 0:
            os.execvp("sleep", ["sleep", "{nap}"])
        os._exit(0)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    report(os.getpid())
    """
    with Inside(code, forked=forked) as inside:
        inside.loaded()
        assert until(lambda: nap.sleeping() >= 2)
        folder = inside.sandbox.folder
        assert folder.exists()
    assert nap.gone()
    assert not folder.exists()
    inside.sandbox.close()  # once more does no harm


@WAYS
@pytest.mark.parametrize("victim", ["its own life", "init's life"])
def test_the_exit_status_shows_which_process_was_killed(victim: str, forked: bool) -> None:
    target = "os.getpid()" if victim == "its own life" else "os.getppid()"
    code = f"""
    import contextlib, os, time
    with contextlib.suppress(PermissionError):
        os.kill({target}, 9)
    time.sleep(0.5)  # the end of init would end this process, too
    report(1)
    """
    with Inside(code, forked=forked) as inside:
        if victim == "its own life":
            assert until(lambda: inside.sandbox.ended() == 128 + 9)
        elif (
            detect_support().namespaces
        ):  # the first process of a namespace cannot be killed from it
            assert inside.reported() == 1
            assert inside.sandbox.ended() is None


@WAYS
def test_a_forking_submission_is_paused_as_a_whole(forked: bool) -> None:
    # Processes come and go all the time; each counts in a shared file while it runs.
    code = """
    import os, time
    counter = os.memfd_create("counter")
    os.ftruncate(counter, 8)
    import mmap
    page = mmap.mmap(counter, 4096)
    def work(until):
        while time.time() < until:
            page[0] = (page[0] + 1) % 256
    for _ in range(3):
        if os.fork() == 0:
            while True:
                child = os.fork()
                if child == 0:
                    work(time.time() + 0.01)
                    os._exit(0)
                os.waitpid(child, 0)
    report(os.getpid())
    """
    with Inside(code, forked=forked) as inside:
        inside.loaded()
        for _ in range(20):
            assert inside.sandbox.pause()
            before = _ticks(inside)
            assert all(map(processes.at_rest, _submitted(inside)))
            assert _ticks(inside) == before
            inside.sandbox.resume()
            continued = until(lambda before=before: _ticks(inside) != before)
            assert continued, (before, inside.sandbox.ended(), _submitted(inside))
        assert until(lambda: _ticks(inside) > before)


def _submitted(inside: Inside) -> list[int]:
    return processes.descendants(inside.sandbox.process.pid)[1:]


def _ticks(inside: Inside) -> int:
    """CPU time of all submitted processes, in nanoseconds as the scheduler counts them."""
    total = 0
    for pid in _submitted(inside):
        try:
            stat = Path(f"/proc/{pid}/schedstat").read_text()
        except OSError:
            continue
        total += int(stat.split()[0])
    return total


@WAYS
def test_pause_fails_for_processes_that_continue_each_other(forked: bool) -> None:
    code = """
    import os, signal, time
    parent = os.getpid()
    for _ in range(2):
        if os.fork() == 0:
            while True:
                for pid in range(2, 8):
                    try:
                        os.kill(pid, signal.SIGCONT)
                    except OSError:
                        pass
    report(1)
    """
    if not detect_support().namespaces:
        pytest.skip("without a namespace its processes have other numbers")
    with Inside(code, forked=forked) as inside, pytest.MonkeyPatch.context() as patch:
        inside.loaded()
        patch.setattr(launch, "_STOP_SECONDS", 0.3)
        started = time.monotonic()
        stopped = inside.sandbox.pause()
        before = _ticks(inside)
        assert time.monotonic() - started < 20
        if stopped:  # never says so where it is not
            assert all(map(processes.at_rest, _submitted(inside)))
            assert _ticks(inside) == before
        else:
            assert until(lambda: _ticks(inside) != before)


@WAYS
@pytest.mark.parametrize(
    "place",
    rest_in_corpus(["os.environ['HOME'] + '/x'", "'/dev/shm/x'", "os.memfd_create('arena')"]),
)
def test_files_in_memory_count_as_memory(place: str, forked: bool) -> None:
    code = f"""
    import os
    left = open({place}, "wb")
    left.write(bytes(200 << 20))
    left.flush()
    report(1)
    """
    if not detect_support().namespaces and "memfd" not in place:
        pytest.skip("without namespaces it has no file systems of its own")
    with Inside(code, forked=forked, memory_bytes=2 << 30) as inside:
        inside.loaded()
        assert 200 << 20 < inside.sandbox.memory() < 1 << 30


@pytest.mark.corpus
@WAYS
def test_the_number_of_processes_is_limited(forked: bool) -> None:
    code = """
    import os, time
    children = 0
    try:
        while children < 3000:
            if os.fork() == 0:
                time.sleep(30)
                os._exit(0)
            children += 1
    except OSError:
        pass
    report(children)
    """
    with Inside(code, forked=forked) as inside:
        if "process limit" not in inside.layers:
            pytest.skip("this kernel has no limit per pid namespace")
        inside.loaded()
        assert 100 < inside.reported() < 1100
        assert inside.sandbox.pause()
    assert inside.sandbox.ended() is not None


@pytest.mark.corpus
@WAYS
def test_nothing_survives_a_judge_that_is_killed(tmp_path: Path, forked: bool) -> None:
    nap = Nap()
    code = f"""
    import sys, time
    sys.path[:0] = [{str(ROOT / "tests")!r}, {str(ROOT)!r}]
    from support.inside import Inside
    inside = Inside('''
    import os, subprocess
    subprocess.Popen(["sleep", "{nap}"])
    if os.fork() == 0:
        os.setsid()
        os.execvp("sleep", ["sleep", "{nap}"])
    ''', forked={forked})
    time.sleep(60)
    """
    environment = {**os.environ, "TMPDIR": str(tmp_path)}  # an empty folder stays behind
    command = [sys.executable, "-c", textwrap.dedent(code)]
    with subprocess.Popen(command, env=environment) as judge:
        assert until(lambda: nap.sleeping() == 2)
        judge.kill()
    assert nap.gone()


class TestWithoutNamespaces:
    """The fallback confines less, and ends everything all the same."""

    @WAYS
    def test_a_sandbox_without_namespaces_confines_and_ends_its_processes(
        self, forked: bool
    ) -> None:
        nap = Nap()
        code = f"""
        import os, subprocess
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.execvp("sleep", ["sleep", "{nap}"])
            os._exit(0)
        status = open("/proc/self/status").read().split("CapEff:")[1].split()[0]
        report([int(status, 16), dict(os.environ)])
        """
        with Inside(code, forked=forked, confined=False) as inside:
            assert inside.layers == ["resource limits", *LISTED, "system call filter"]
            inside.loaded()
            capabilities, environment = inside.reported()
            assert capabilities == 0
            assert "SECRET" not in environment
            assert nap.appeared()
            assert inside.sandbox.pause()
            inside.sandbox.resume()
            assert inside.sandbox.memory() > 1 << 20
        assert nap.gone()

    @pytest.mark.skipif(landlock.version() < 6, reason="signals are not confined by this kernel")
    @WAYS
    def test_nobody_outside_is_signalled(self, forked: bool) -> None:
        code = f"""
        import os
        found = []
        for pid in (os.getppid(), {os.getpid()}):
            try:
                os.kill(pid, 0)
            except PermissionError:
                found.append("refused")
        report(found)
        """
        assert explore(code, forked=forked, confined=False) == ["refused", "refused"]

    @pytest.mark.skipif(not LISTED, reason="no landlock in this kernel")
    @WAYS
    def test_files_of_others_are_not_opened(self, tmp_path: Path, forked: bool) -> None:
        secret = tmp_path / "secret"
        secret.write_text("secret", encoding="ascii")
        places = {
            "a file of the judge's": str(secret),
            "the harness": str(ROOT / "harness" / "cli.py"),
            "the system's settings": "/etc/hostname",
            "the judge's memory": f"/proc/{os.getpid()}/mem",
            "the judge's environment": f"/proc/{os.getpid()}/environ",
            "a library": os.path.realpath(sys.executable),
        }
        code = f"""
        import os, tempfile
        def opens(path, how="rb"):
            try:
                open(path, how).close()
            except OSError:
                return False
            return True
        def lists(path):
            try:
                return bool(os.listdir(path))
            except OSError:
                return False
        found = {{name: opens(path) for name, path in {places!r}.items()}}
        found["a listing"] = lists({str(tmp_path)!r})
        with tempfile.TemporaryFile() as file:
            file.write(b"x")
        found["a system folder, to write"] = opens("/usr/harness-was-here", "w")
        found["a shared folder, to write"] = opens("/dev/shm/harness-was-here", "w")
        report(found)
        """
        found = explore(code, forked=forked, confined=False)
        assert {name for name, opened in found.items() if opened} == {"a library"}

    @pytest.mark.skipif(landlock.version() >= 6, reason="nobody outside can be signalled")
    @WAYS
    def test_nobody_outlives_a_killed_init(self, forked: bool) -> None:
        nap = Nap()
        code = f"""
        import os, subprocess
        subprocess.Popen(["sleep", "{nap}"])
        os.kill(os.getppid(), 9)
        """
        with Inside(code, forked=forked, confined=False) as inside:
            assert until(lambda: inside.sandbox.ended() == 128 + 9)
            assert nap.appeared()
        assert nap.gone()

    def test_nothing_survives_a_judge_that_closes(self) -> None:
        with Inside("", confined=False) as inside:
            inside.loaded()
            tree = processes.descendants(inside.sandbox.process.pid)
            assert tree
        assert until(lambda: all(processes.at_rest(pid) for pid in tree))


def test_a_sandbox_that_cannot_be_ended_disturbs_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    sandbox = Sandbox(ENTRY, {"PATH": "/bin"}, memory_bytes=1 << 30)
    with subprocess.Popen(["sleep", "60"]) as stuck, monkeypatch.context() as patch:
        patch.setattr(processes, "kill", lambda _: {os.pidfd_open(stuck.pid): stuck.pid})
        patch.setattr(leftovers, "_END_SECONDS", 0.0)
        patch.setattr(leftovers, "_SLOW_SECONDS", 0.1)
        sandbox.close()
        (note,) = leftovers.notes()
        assert re.search(rf"{stuck.pid}.*is the driver stuck", note)
        stuck.kill()
    assert until(lambda: not leftovers.notes())
    processes.end([sandbox.process.pid], 5)
    sandbox.process.wait()
    assert sandbox.process.stdout is not None
    sandbox.process.stdout.close()


def test_a_sandbox_that_is_not_waited_for_is_killed_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sandbox = Sandbox(ENTRY, {"PATH": "/bin"}, memory_bytes=1 << 30)
    begun, over, wait = threading.Event(), threading.Event(), Sandbox._wait

    def slowly(self: Sandbox, killed: dict[int, int]) -> None:
        begun.set()
        assert over.wait(20)
        wait(self, killed)

    monkeypatch.setattr(Sandbox, "_wait", slowly)
    sandbox.close(wait=False)
    assert begun.wait(20)
    assert until(lambda: sandbox.ended() == 137)
    assert sandbox.folder.exists()
    over.set()
    leftovers.settle()
    assert not sandbox.folder.exists()
    assert leftovers.notes() == ()


def _may_set_limits() -> bool:
    status = Path("/proc/self/status").read_text()
    (mask,) = re.findall(r"^CapEff:\s*(\w+)$", status, re.MULTILINE)
    return bool(int(mask, 16) >> 24 & 1)  # CAP_SYS_RESOURCE


@WAYS
def test_the_kernel_ends_a_sandbox_first_where_memory_is_short(forked: bool) -> None:
    code = """
    import os
    def read():
        with open("/proc/self/oom_score_adj") as file:
            return int(file.read())
    first = read()
    for less in (0, -1000):
        try:
            with open("/proc/self/oom_score_adj", "w") as file:
                file.write(str(less))
        except OSError:
            pass
    report([first, read()])
    """
    first, lowered = explore(code, forked=forked)
    assert first == 1000
    if _may_set_limits():  # what others have raised, can be lowered again
        assert lowered == 1000
    assert Path("/proc/self/oom_score_adj").read_text().strip() != "1000"


def test_caches_of_compilers_are_in_the_sandbox_s_folder() -> None:
    code = f"import os; report([os.environ.get(name) for name in {list(CACHES)!r}])"
    with Inside(code, caches=CACHES) as inside:
        places = inside.reported()
        folder = str(inside.sandbox.folder)
    assert all(place.startswith(f"{folder}/") for place in places)
    assert len(set(places)) == len(places) == len(CACHES)
    assert {"CUPY_CACHE_DIR", "NUMBA_CACHE_DIR", "TILELANG_CACHE_DIR"} < set(CACHES)


@pytest.mark.parametrize("forked", [False, True])
def test_it_runs_on_the_processors_that_it_is_given(forked: bool) -> None:
    """Also where the zygote that it is forked from keeps to others."""
    for cpu in sorted(os.sched_getaffinity(0)):
        with Inside("import os; report(sorted(os.sched_getaffinity(0)))", forked=forked,
                    cpus=[cpu]) as inside:  # fmt: skip
            assert inside.reported() == [cpu]
