"""Reports of pull requests, which anybody can forge, and trees of git, which anybody can push."""

import functools
import hashlib
import json
import shutil
import xml.etree.ElementTree as ET
import zlib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

from support import samples
from support.repositories import GOOD, Repo, pretend

from harness.ci.annotations import MAX_ANNOTATIONS, annotations
from harness.ci.changes import ChangeKind
from harness.ci.choices import CiChoices
from harness.ci.command import review
from harness.ci.junit import junit
from harness.ci.policy import Note, place_of
from harness.ci.publish import check_author, comment_on, record
from harness.ci.report import Graded, PullRequestReport
from harness.ci.repository import Repository, TreeEntry
from harness.ci.summary import COMMENT_BYTES, summary
from harness.errors import UsageError
from harness.grading.job import Completed, Work
from harness.records.refs import SolutionRef
from harness.records.result import Result
from harness.text.plain import json_text
from tools.fuzzing.targets.target import HUGE, PROBLEMS, Target, scratch

_SOURCE = b"def solution(): pass\n"
_PATH = "solutions/gemm/alice/tiled.py"
_NOW = datetime.now(UTC)


def read_pull_request(data: bytes) -> None:
    """A report: one that can be shown and recorded, or a ValueError of one line."""
    try:
        report = PullRequestReport.from_json(data.decode("utf-8"))
    except UnicodeDecodeError:
        return
    except ValueError as error:
        assert str(error)
        return
    assert PullRequestReport.from_json(report.to_json()).to_json() == report.to_json()
    for measured_by in (None, "run 1"):
        assert len(comment_on(report, measured_by).encode()) <= COMMENT_BYTES
    assert len(summary(report, 2000).encode()) <= 2000
    assert len(annotations(report)) <= MAX_ANNOTATIONS
    ET.fromstring(junit(report))
    json.loads(json_text(report.to_json()))
    added: list[Result] = []
    repository: Any = SimpleNamespace(
        file=lambda _head, path: TreeEntry("100644", "b", path),
        sizes=lambda blobs: [len(_SOURCE)] * len(blobs),
        read=lambda blobs: [_SOURCE] * len(blobs),
        date=lambda _head: _NOW,
    )
    problem: Any = SimpleNamespace(hash="p1", dtypes=("float32",))
    try:
        check_author(report, "alice", [])
        told = list(
            record(
                report,
                report.head,
                repository,
                {"gemm": problem},
                measured_by="run 1",
                known=lambda _: added[-1] if added else None,
                add=added.append,
            )
        )
    except UsageError as error:
        assert str(error)
        return
    assert len(told) == len(report.graded)
    for result in added:
        assert result.notes[-1].endswith("measured by run 1")
        assert (result.solution.author, result.dtype) == ("alice", "float32")


# ---- trees ------------------------------------------------------------------------------------

_MODES = (b"100644", b"100755", b"40000", b"120000", b"160000", b"100664", b"0", b"040000")
_NAMES = (
    *(b"solutions", b"problems", b"vector-add", b"alice", b"Alice", b"bob", b"first.py", b"x.py"),
    *(b"..", b".", b".git", b"a/b", b"", b"\n", b"\xff", b"\xe2\x80\xae.py", b"a" * 5000, b"k.ptx"),
)
_PLACES = ("", "solutions", "solutions/vector-add", "solutions/vector-add/alice", "zz")


def grade_tree(data: bytes) -> None:
    """A head whose trees the bytes spell: a report on it, or a complaint, and nothing of it run.

    The first byte says where in the base's tree it goes and how it is judged. Then three bytes make
    an entry: mode, name, object; 255 begins another tree, 254 repeats the one before ten times.
    """
    repo, repository, blob = _repository()
    how, rest = (data[0], data[1:]) if data else (0, b"")
    head = _head(repo, _PLACES[how % len(_PLACES)], _spelt(repo, rest, blob))
    choices = CiChoices(
        base="main",
        head=head,
        author=(None, "alice")[how // 8 % 2],
        other_changes=bool(how // 16 % 2),
        check_only=True,
    )
    try:
        report, _ = review(choices, repository, _pretended)
    except UsageError as error:
        assert str(error)
        return
    assert PullRequestReport.from_json(report.to_json()) == report
    for each in report.graded:
        place = place_of(each.path)
        assert place is not None
        assert choices.author is None or place.author == choices.author
    assert not (report.graded and report.refused)


def _spelt(repo: Repo, data: bytes, blob: str) -> str:
    """The last of the trees that ``data`` spells."""
    known = [blob, blob, _write(repo, b"tree", b""), "1" * 40]
    entries: list[bytes] = []
    rest = iter(data)
    for byte in rest:
        if byte == 255:
            known.append(_write(repo, b"tree", b"".join(entries)))
            entries = []
        elif byte == 254:
            below = bytes.fromhex(known[-1])
            known.append(
                _write(repo, b"tree", b"".join(b"40000 d%d\0%b" % (n, below) for n in range(10)))
            )
        else:
            name, which = next(rest, 0), next(rest, 0)
            sha = bytes.fromhex(known[-1 - which % len(known)])
            cut = sha[: 20 if byte < 250 else byte % 20]
            entries.append(
                b"%b %b\0%b" % (_MODES[byte % len(_MODES)], _NAMES[name % len(_NAMES)], cut)
            )
    return _write(repo, b"tree", b"".join(entries)) if entries else known[-1]


def _head(repo: Repo, place: str, tree: str) -> str:
    if place:
        placed: str = repo.commit_with(place, "40000", tree)
        return placed
    main = repo.git("rev-parse", "main")
    who = "A <a@example.org> 1700000000 +0000"
    text = f"tree {tree}\nparent {main}\nauthor {who}\ncommitter {who}\n\nby hand\n"
    return _write(repo, b"commit", text.encode())


def _write(repo: Repo, kind: bytes, content: bytes) -> str:
    raw = b"%b %d\0%b" % (kind, len(content), content)
    sha = hashlib.sha1(raw, usedforsecurity=False).hexdigest()
    path = repo.folder / ".git/objects" / sha[:2] / sha[2:]
    path.parent.mkdir(exist_ok=True)
    if not path.exists():
        path.write_bytes(zlib.compress(raw))
    return sha


@functools.cache
def _repository() -> tuple[Repo, Repository, str]:
    folder = scratch() / "repository"
    shutil.rmtree(folder, ignore_errors=True)
    repo = Repo(folder)
    folder.mkdir()
    repo.git("init", "--quiet", "--initial-branch=main")
    for name in ("problem.md", "reference.py"):
        text = (PROBLEMS / "vector-add" / name).read_bytes()
        repo.write(f"problems/vector-add/{name}", text)
    repo.write("solutions/vector-add/alice/first.py")
    repo.write("solutions/vector-add/bob/first.py", GOOD + "# bob's\n")
    repo.commit()
    return repo, Repository(folder), repo.git("rev-parse", "main:solutions/vector-add/bob/first.py")


def _pretended(work: Sequence[Work], _device: str) -> Iterator[Completed]:
    for each in work:
        yield Completed(each, pretend(each.job, each.options))


# ---- seeds ------------------------------------------------------------------------------------


def _report(**fields: Any) -> bytes:
    commit = "0123456789" * 4
    known = {"base": commit, "merge_base": commit, "head": commit, "author": "alice"}
    about = {"created": _NOW, "harness": "0.1.0", "timed": True}
    return PullRequestReport.of(**{**known, **about, **fields}).to_json().encode()


def _graded(result: Any, **fields: Any) -> Graded:
    about = SolutionRef(
        author="alice",
        name="tiled",
        language="pytorch",
        hash=hashlib.sha256(_SOURCE).hexdigest(),
        path=_PATH,
    )
    made = result(solution=about, language="pytorch", created=_NOW, **fields)
    return Graded(path=_PATH, kind=ChangeKind.ADDED, result=made)


_ACCEPTED = _report(graded=(_graded(samples.result, notes=("a note",)),))
_FAILED = _report(graded=(_graded(samples.failed, output="printed\n"),), timed=False)
_NOTE = Note(path="README.md", reason="lies outside")

TARGETS = (
    Target(
        name="pull-request",
        run=read_pull_request,
        seeds=(
            _ACCEPTED,
            _FAILED,
            _report(refused=(_NOTE,) * 3),
            _report(deleted=("a",), ignored=("b",), skipped=(_NOTE,), fault="no room"),
            _ACCEPTED.replace(b"1.31", HUGE),
            b'{"schema":1,"graded":[%b]}' % b",".join([b"{}"] * 1000),
            b'{"schema":1,"graded":[{"result":{"cases":[%b]}}]}' % b",".join([b"1"] * 1000),
        ),
        words=(
            *('"graded":[', "{},", "[[[", '"author":"ALICE"', '"notes":["x"],', "null", "NaN"),
            *("1e999", "-1", '"created":"0001-01-01T00:00:00Z"', "../../x", "\\u0000", "`", "|"),
        ),
        most=20_000,
    ),
    Target(
        name="git-tree",
        run=grade_tree,
        seeds=(
            b"\x03" + bytes((0, 7, 2)),
            b"\x0b" + bytes((0, 7, 2, 0, 6, 2)),
            b"\x00" + bytes((0, 7, 2, 255, 2, 3, 0, 255, 2, 2, 0, 255, 2, 0, 0)),
            b"\x04" + bytes((0, 7, 2, 255)) + b"\xfe" * 5,
            b"\x02" + bytes((2, 5, 1, 255)) + b"\xfe" * 5,
            b"\x01" + bytes((3, 8, 2, 4, 9, 2, 0, 16, 2, 250, 2, 2)),
        ),
        words=("\xfe", "\x00\x07\x02", "\x02\x04\x00"),
        most=200,
    ),
)
