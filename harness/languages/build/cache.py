"""A cache of builds, by the hash of everything that went into them.

Only the judge writes here, copies from the private directory of a compiler, so no submission can
change another one's entry. An entry is a folder that appears whole or not at all (rename); its
files are checked against their hashes when it is used, and built again if they fail.
"""

import hashlib
import json
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import platformdirs
from filelock import FileLock, Timeout
from pydantic import Field, ValidationError

from harness.errors import HarnessError, MachineError
from harness.records.build import KernelResources
from harness.records.fields import Record
from harness.records.result import Verdict
from harness.sandbox import scratch
from harness.sandbox.pause_gate import check_cancelled, waiting
from harness.text.system_errors import system_fault

VERSION = 2
"""Part of every key: raise it when the meaning of an entry changes."""

MAX_BYTES = 5 << 30
KEEP_S = 3600.0
"""Seconds; a younger entry may be in use by a grade that runs right now."""
LOCK_WAIT_S = 1800.0
MAX_FILE_BYTES = 512 << 20


class BuildError(Record):
    """A verdict on a submission that does not build, and the reason."""

    verdict: Verdict
    message: str


class BuildOutcome(Record):
    """The outcome of one build: either files or a failure."""

    files: Mapping[str, Path] = Field(default={})
    """By role, such as ``library``."""
    failure: BuildError | None = None
    """Why there are none."""
    log: str = ""
    """The compilers' output: untrusted, capped."""
    kernels: tuple[KernelResources, ...] = ()
    """The compiler's figures on each kernel."""
    seconds: float = 0.0
    """Wall time of the build, when it was made."""
    reusable: bool = True
    """False where the next build may end otherwise, as after a limit of time or memory."""
    cached: bool = False
    """It was built earlier."""


class CacheEntry(Record):
    """An outcome as stored; its files lie beside it, and ``digests`` are their SHA-256 by role."""

    outcome: BuildOutcome
    digests: dict[str, str]


def key_of(parts: Mapping[str, str | bytes]) -> str:
    """A hash (hex) of named parts that no other set of parts shares."""
    digest = hashlib.sha256(f"harness build {VERSION}\n".encode())
    for name, part in sorted(parts.items()):
        data = part.encode() if isinstance(part, str) else part
        digest.update(f"{name} {len(data)}\n".encode() + data)
    return digest.hexdigest()


_new: set[str] = set()
"""Keys of what was built ahead in this process, and nobody has asked for since."""


class Cache:
    """A folder of build outcomes, shared by any number of threads and processes.

    ``ahead``: what it builds is asked for again in this process, where the first who does so has
    not got it ``cached``.
    """

    def __init__(self, root: Path, max_bytes: int = MAX_BYTES, *, ahead: bool = False) -> None:
        self.root = root
        self.max_bytes = max_bytes
        self._ahead = ahead

    def fetch(self, key: str, build: Callable[[Path], BuildOutcome]) -> BuildOutcome:
        """The outcome stored under ``key``; without one, that of ``build``, with the cache's files.

        ``build`` gets an empty private directory, which is gone afterwards. Of several callers with
        the same key one builds and the others wait for it.

        Raises:
            MachineError: the cache's folder cannot be written.
        """
        loaded = self._load(key)
        if loaded is not None:
            return loaded
        try:
            with self._locked(key):
                outcome = self._load(key) or self._build(key, build)
            if key.endswith("0"):  # reading the whole folder after every build would be waste
                self.prune()
            return outcome
        except Timeout as error:
            raise MachineError(f"another process has been building {key[:12]} for long") from error
        except OSError as error:
            raise MachineError(
                f"cannot use the build cache {self.root}: {system_fault(error) or error} "
                "(set HARNESS_CACHE to a folder that can be written)"
            ) from error

    def stored(self, key: str) -> BuildOutcome | None:
        """The outcome stored under ``key``, with the cache's files, if it is there and intact."""
        return self._load(key)

    def put(self, key: str, outcome: BuildOutcome) -> None:
        """Store ``outcome`` under ``key``, in place of another one; nothing if it is there.

        What cannot be written is left out: nobody needs it to go on.
        """
        there = self._load(key)
        try:
            known = None if there is None else (there.log, _digests(there))
            if known == (outcome.log, _digests(outcome)):
                return
            with self._locked(key):
                self._store(key, outcome)
        except (Timeout, OSError, HarnessError):
            return

    def prune(self) -> None:
        """Remove the entries unused for longest until the rest fits ``max_bytes``."""
        entries = []
        now = time.time()
        for folder in self.root.glob("??/*"):
            with suppress(OSError):
                size = sum(file.stat().st_size for file in folder.iterdir())
                entries.append((folder.stat().st_mtime, size, folder))
        total = sum(size for _, size, _ in entries)
        for used, size, folder in sorted(entries):
            if total <= self.max_bytes or now - used < KEEP_S:
                break
            with suppress(OSError):
                # No lock: a reader of just now finds it damaged, and builds again.
                doomed = self._staging()
                folder.rename(doomed / folder.name)
                shutil.rmtree(doomed)
            total -= size
        for left in self.root.glob("new/*"):  # of a judge that was killed
            with suppress(OSError):
                if now - left.stat().st_mtime > KEEP_S:
                    shutil.rmtree(left, ignore_errors=True)

    @contextmanager
    def _locked(self, key: str) -> Iterator[None]:
        # One file per key would grow without end, and removing lock files is a race.
        folder = self.root / "locks"
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / key[:3], timeout=LOCK_WAIT_S)
        with waiting():
            lock.acquire()
        try:
            yield
        finally:
            lock.release()

    def _folder(self, key: str) -> Path:
        return self.root / key[:2] / key

    def _staging(self) -> Path:
        """A fresh folder on the cache's own file system."""
        parent = self.root / "new"
        parent.mkdir(parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(dir=parent))

    def _load(self, key: str) -> BuildOutcome | None:
        """The stored outcome, if there is one and its files are intact."""
        folder = self._folder(key)
        try:
            entry = CacheEntry.model_validate_json((folder / "entry.json").read_bytes())
            files = {role: folder / role for role in entry.digests}
            if any(_digest(files[role]) != digest for role, digest in entry.digests.items()):
                return None
            os.utime(folder)
        except (OSError, ValidationError):
            return None
        cached = key not in _new
        _new.discard(key)
        return entry.outcome.model_copy(update={"files": files, "cached": cached})

    def _build(self, key: str, build: Callable[[Path], BuildOutcome]) -> BuildOutcome:
        """Build, and store the outcome if it is reusable. The caller holds the key's lock."""
        with tempfile.TemporaryDirectory(
            prefix="build-", dir=scratch.home(), ignore_cleanup_errors=True
        ) as d:
            try:
                outcome = build(Path(d))
            except OSError as error:  # not the cache's
                raise system_fault(error) or MachineError(
                    f"cannot build in {d}: {error}"
                ) from error
            check_cancelled()  # a compiler that was ended says nothing about the file
            if not outcome.reusable:
                if outcome.files:
                    raise HarnessError("a build that is not stored cannot hand over files")
                return outcome
            self._store(key, outcome)
        loaded = self._load(key)
        if loaded is None:
            raise MachineError(
                f"what was written to the build cache {self.root} does not read back"
            )
        if self._ahead:
            _new.add(key)
        return loaded.model_copy(update={"cached": False})

    def _store(self, key: str, outcome: BuildOutcome) -> None:
        fresh = self._staging()
        digests = {role: _copy(path, fresh / role) for role, path in outcome.files.items()}
        entry = CacheEntry(outcome=outcome.model_copy(update={"files": {}}), digests=digests)
        (fresh / "entry.json").write_text(json.dumps(entry.model_dump(mode="json")))
        fresh.chmod(0o755)
        final = self._folder(key)
        final.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(final, ignore_errors=True)  # damaged, or it would have been used
        fresh.rename(final)


def default_cache(environment: Mapping[str, str] = os.environ, *, ahead: bool = False) -> Cache:
    """The cache in ``$HARNESS_CACHE``, else in the user's cache folder."""
    root = environment.get("HARNESS_CACHE") or platformdirs.user_cache_dir("kernel-harness")
    return Cache(Path(root).absolute() / "builds", ahead=ahead)


def _digests(outcome: BuildOutcome) -> dict[str, str]:
    """The SHA-256 of its files by role."""
    return {role: _digest(path) for role, path in outcome.files.items()}


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _copy(source: Path, target: Path) -> str:
    """Copy a compiler's result, which must be a plain file, and return its SHA-256."""
    descriptor = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_FILE_BYTES:
            raise HarnessError(f"{source.name} is not a plain file of reasonable size")
        with target.open("wb") as copy:
            shutil.copyfileobj(file, copy)
    target.chmod(0o555)
    return _digest(target)
