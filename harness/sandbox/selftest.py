"""The breaches of this machine's sandbox, found by trying: a program of ours runs in one."""

import json
import os
import sys
import tempfile

from harness.sandbox import ROOT
from harness.sandbox.spec import SandboxSpec
from harness.sandbox.support import detect_support, in_sandbox, python_files

_PROGRAM = """
import ctypes, json, os, socket, sys

given = json.loads(sys.argv[1])
libc = ctypes.CDLL(None, use_errno=True)

def works(action):
    try:
        action()
    except (OSError, ValueError):
        return False
    return True

def call(done):
    if done < 0:
        raise OSError(ctypes.get_errno(), "")

def write(path):
    with open(path, "a"):
        pass

def status(key):
    with open("/proc/self/status") as file:
        return next(line.split()[1] for line in file if line.startswith(key + ":"))

def capable():
    if int(status("CapEff"), 16) == 0 == int(status("CapBnd"), 16):
        raise OSError

def privileged():
    if status("NoNewPrivs") == "1":
        raise OSError

attempts = {
    "read the harness": lambda: open(given["harness"]).close(),
    "read the system's settings": lambda: open("/etc/hostname").close(),
    "read the judge's files": lambda: open(given["judge"]).close(),
    "write to the system's files": lambda: write("/usr/harness-was-here"),
    "set the kernel": lambda: write("/proc/sys/kernel/core_pattern"),
    "signal the judge": lambda: os.kill(given["pid"], 0),
    "use the network": lambda: socket.socket(socket.AF_INET).close(),
    "trace a process": lambda: call(libc.ptrace(0, 0, 0, 0)),
    "make namespaces": lambda: call(libc.unshare(0x10000000)),
    "mount file systems": lambda: call(libc.mount(b"none", b"/proc", b"tmpfs", 0, None)),
    "use capabilities": capable,
    "gain privileges": privileged,
    "see names of others' files": lambda: os.stat(given["judge"]),
    "see others' processes": lambda: os.stat("/proc/%d/root" % given["pid"], follow_symlinks=False),
}
print(json.dumps([name for name, action in attempts.items() if works(action)]))
"""


def breaches() -> list[str]:
    """The attempts that worked, as words to follow “a submission can”; empty where all is well.

    Raises:
        MachineError: the sandbox cannot be made.
    """
    support = detect_support()
    with tempfile.NamedTemporaryFile(prefix="harness-judge-") as judge:  # in a folder all can see
        given = {"harness": f"{ROOT}/harness/cli.py", "judge": judge.name, "pid": os.getpid()}
        program = (sys.executable, "-I", "-S", "-c", _PROGRAM, json.dumps(given))
        spec = SandboxSpec(
            folder="",
            namespaces=support.namespaces,
            own_user=support.own_user,
            readable=python_files(),
            command=program,
        )
        return [str(name) for name in json.loads(in_sandbox(spec))]
