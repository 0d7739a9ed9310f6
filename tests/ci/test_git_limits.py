"""Objects that were made to cost the reader memory and time: refused, with a report, soon."""

import contextlib
import hashlib
import struct
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.repositories import CI, GOOD, ISOLATED, ROOT, Repo

from harness.ci import git
from harness.ci.git import LimitError, run_git
from harness.ci.report import FileOutcome, PullRequestReport
from harness.ci.repository import MAX_ENTRIES, Repository

pytestmark = pytest.mark.corpus

SECOND = "solutions/vector-add/alice/second.py"
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


@contextlib.contextmanager  # git gets 2 s of the processor, and machines may be busy
def within(seconds: float) -> Iterator[None]:
    started = time.monotonic()
    yield
    assert time.monotonic() - started < seconds


@pytest.fixture
def blob(repo: Repo) -> str:
    return repo.git("hash-object", "-w", "--stdin", given=GOOD.encode())


@pytest.mark.parametrize("levels", [4, 5, 7])
def test_a_tree_of_few_objects_and_many_paths_is_refused(
    levels: int, repo: Repo, ci: CI, blob: str
) -> None:
    tree = repo.nested(levels, 10, ("100644", "f", blob))
    repo.git("hash-object", "-t", "tree", "-w", "--stdin", given=b"")
    head = repo.commit_with("zz", "40000", tree)
    with within(60):
        ended = ci(head=head)
    assert (ended.status, ended.report.outcome) == (2, FileOutcome.REFUSED)
    if levels > 4:
        assert list(ended.refused) == ["zz"]  # one name is enough
    with within(60):
        allowed = ci(head=head, other_changes=True)
    assert (allowed.status, allowed.report.outcome) == (0, FileOutcome.NOTHING)
    assert allowed.report.ignored[0].startswith("zz")
    places = ("solutions/vector-add/alice/deep", "solutions/vector-add", "solutions")
    for place in places if levels == 5 else places[:1]:
        ended = ci(head=repo.commit_with(place, "40000", tree))
        assert ended.status == 2
        if levels > 4:
            assert list(ended.refused) == ["solutions"]
            assert "cannot be read: git diff-tree" in ended.refused["solutions"]


def test_empty_folders_without_end_are_refused(repo: Repo, ci: CI) -> None:
    repo.git("hash-object", "-t", "tree", "-w", "--stdin", given=b"")
    tree = repo.nested(9, 20, ("40000", "f", EMPTY_TREE))
    with within(60):
        ended = ci(head=repo.commit_with("solutions/vector-add/alice/deep", "40000", tree))
    assert list(ended.refused) == ["solutions"]
    assert "needs more than 2 s" in ended.refused["solutions"]
    with within(60):
        ended = ci(head=repo.commit_with("zz", "40000", tree))
    assert list(ended.refused) == ["zz"]


def test_other_solutions_are_graded_beside_a_folder_that_is_left_alone(
    repo: Repo, ci: CI, blob: str
) -> None:
    tree = repo.nested(6, 10, ("100644", "f", blob))
    repo.git("read-tree", "main")
    repo.git("update-index", "--add", "--cacheinfo", f"100644,{blob},{SECOND}")
    top = repo.git("write-tree")
    entries = [line.split() for line in repo.git("ls-tree", top).splitlines()]
    whole = repo.tree(*((m.lstrip("0"), n, s) for m, _, s, n in entries), ("40000", "zz", tree))
    head = repo.git("commit-tree", whole, "-p", "main", "-m", "both")
    ended = ci(head=head, other_changes=True)
    assert (ended.status, ended.verdicts) == (0, {SECOND: "ACCEPTED"})
    assert ended.report.ignored == ("zz",)


def test_trees_nested_too_deep_are_refused(repo: Repo, ci: CI, blob: str) -> None:
    """Made in one go: each level names the one below."""
    name, mode, sha = "one.py", "100644", blob
    for _ in range(40_000):
        raw = f"{mode} {name}\0".encode() + bytes.fromhex(sha)
        raw = b"tree %d\0" % len(raw) + raw
        sha, mode, name = hashlib.sha1(raw).hexdigest(), "40000", "d"
        folder = repo.folder / ".git/objects" / sha[:2]
        folder.mkdir(exist_ok=True)
        (folder / sha[2:]).write_bytes(zlib.compress(raw, 1))
    with within(60):
        ended = ci(head=repo.commit_with("solutions/vector-add/alice/deep", "40000", sha))
    assert list(ended.refused) == ["solutions"]
    with within(60):
        assert list(ci(head=repo.commit_with("zz", "40000", sha)).refused) == ["zz"]


def test_a_huge_blob_is_not_read(repo: Repo, ci: CI, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git, "MEMORY_BYTES", 200 << 20)
    repo.write("huge.bin", b"")
    with (repo.folder / "huge.bin").open("wb") as file:
        file.truncate(300 << 20)
    sha = repo.git("-c", "core.bigFileThreshold=1m", "hash-object", "-w", "huge.bin")
    with within(60):
        ended = ci(head=repo.commit_with(SECOND, "100644", sha))
    assert "is larger than 1 MiB (314,572,800 bytes)" in ended.refused[SECOND]


def test_a_pack_of_huge_deltas_is_refused(
    repo: Repo, ci: CI, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A small blob that is a part of a huge one: git must make all of the huge one to read it."""
    monkeypatch.setattr(git, "MEMORY_BYTES", 200 << 20)
    size = 300 << 20
    base = hashlib.sha1(b"blob %d\0" % size)
    zip_base = zlib.compressobj(9)
    packed = []
    for _ in range(300):
        base.update(bytes(1 << 20))
        packed.append(zip_base.compress(bytes(1 << 20)))
    packed.append(zip_base.flush())

    def header(kind: int, length: int) -> bytes:
        out, byte = bytearray(), (kind << 4) | (length & 15)
        length >>= 4
        while length:
            out.append(byte | 128)
            byte, length = length & 127, length >> 7
        return bytes([*out, byte])

    def varint(number: int) -> bytes:
        out = bytearray()
        while number > 127:
            out.append(number & 127 | 128)
            number >>= 7
        return bytes([*out, number])

    delta = varint(size) + varint(8) + b"\x90\x08"  # copies 8 bytes from offset 0
    pack = b"PACK" + struct.pack(">II", 2, 2) + header(3, size) + b"".join(packed)
    pack += header(7, len(delta)) + base.digest() + zlib.compress(delta)
    pack += hashlib.sha1(pack).digest()
    small = hashlib.sha1(b"blob 8\0" + bytes(8)).hexdigest()
    place = repo.folder / ".git/objects/pack/pack-1.pack"
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(pack)
    repo.git("-c", "core.bigFileThreshold=512m", "index-pack", str(place))
    with within(60):
        ended = ci(head=repo.commit_with(SECOND, "100644", small))
    assert (ended.status, list(ended.refused)) == (2, ["solutions"])
    assert "git cat-file" in ended.refused["solutions"]


def test_long_names_are_refused(repo: Repo, ci: CI, blob: str) -> None:
    tree = repo.nested(1, 400, ("100644", "f" * 60_000, blob))
    with within(60):
        ended = ci(head=repo.commit_with("solutions/vector-add/alice/deep", "40000", tree))
    assert list(ended.refused) == ["solutions"]
    assert "says more than 8,192 KiB" in ended.refused["solutions"]


def test_many_commits_are_walked(repo: Repo, ci: CI, blob: str) -> None:
    main = repo.git("rev-parse", "main")
    lines = [f"blob\nmark :1\ndata {len(GOOD)}\n{GOOD}\n"]
    for number in range(20_000):
        start = f"from {main}\n" if not number else ""
        lines.append(
            f"commit refs/heads/many\ncommitter A <a@b> {number + 2_000_000_000} +0000\n"
            f"data 1\nx\n{start}M 100644 :1 solutions/vector-add/alice/n{number % 9}.py\n"
        )
    repo.git("fast-import", "--quiet", given="".join(lines).encode())
    with within(60):
        ended = ci(head="many")
    assert (ended.status, len(ended.verdicts)) == (0, 9)


@pytest.mark.parametrize(
    "raw", [b"", b"\0", b"100644 a", b"100644 a\0xx", b"999 a\0" + b"x" * 20, b" \0" + b"x" * 20]
)
def test_a_tree_that_is_none_is_refused(raw: bytes, repo: Repo, ci: CI) -> None:
    sha = repo.git("hash-object", "-t", "tree", "-w", "--literally", "--stdin", given=raw)
    for place in ("zz", "solutions/vector-add/alice/deep", "solutions/vector-add/alice"):
        ended = ci(head=repo.commit_with(place, "40000", sha))
        assert ended.status in (0, 2)
        assert isinstance(ended.report, PullRequestReport)


def test_a_file_that_is_a_folder_by_its_mode_is_refused(repo: Repo, ci: CI, blob: str) -> None:
    tree = repo.nested(1, 1, ("100644", "f", blob))
    assert ci(head=repo.commit_with(SECOND, "100644", tree)).status == 2
    assert ci(head=repo.commit_with("zz", "40000", blob)).status == 2
    assert ci(head=repo.commit_with(SECOND, "100644", "1" * 40)).status == 2


def test_as_many_files_as_are_allowed_are_listed(repo: Repo, ci: CI, blob: str) -> None:
    most = repo.tree(*(("100644", f"n{n:05}.md", blob) for n in range(MAX_ENTRIES)))
    ended = ci(head=repo.commit_with("docs", "40000", most), other_changes=True)
    assert ended.report.ignored[-1] == f"… {MAX_ENTRIES - 500:,} more".replace(",", "")
    more = repo.tree(*(("100644", f"n{n:05}.md", blob) for n in range(MAX_ENTRIES + 1)))
    ended = ci(head=repo.commit_with("docs", "40000", more), other_changes=True)
    assert ended.report.ignored == ("docs",)


def test_the_reader_of_a_bomb_stays_small(repo: Repo, blob: str, tmp_path: Path) -> None:
    tree = repo.nested(7, 10, ("100644", "f", blob))
    head = repo.commit_with("solutions/vector-add", "40000", tree)
    done = subprocess.run(
        [
            *(sys.executable, "-c"),
            "import resource, sys; from harness.cli import main\n"
            "try: main()\n"
            # Not ru_maxrss: it begins with that of the process which forked this one.
            "finally: print(open('/proc/self/status').read().split('VmHWM:')[1].split()[0], "
            "resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)",
            *("ci", "--base", "main", "--head", head, "--check", "--out", str(tmp_path)),
        ],
        cwd=repo.folder,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), **ISOLATED},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 2
    own, children = map(int, done.stderr.splitlines()[-1].split())
    assert own < 200 << 10  # KiB
    assert children <= git.MEMORY_BYTES >> 10
    assert "split the pull request" in done.stderr


def test_git_is_ended_when_it_says_too_much(repo: Repo) -> None:
    with pytest.raises(LimitError, match="says more than 1 KiB"):
        run_git(repo.folder, "cat-file", "--batch-all-objects", "--batch", most=1024)


def test_contents_are_read_in_groups(repo: Repo) -> None:
    contents = [bytes([n]) * (n << 20) for n in (0, 20, 20, 40, 1, 1)]
    blobs = [repo.git("hash-object", "-w", "--stdin", given=each) for each in contents]
    assert list(Repository(repo.folder).read(blobs)) == contents
