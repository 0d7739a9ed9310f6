"""Pull requests of all kinds, on real repositories: what is graded, what is refused, and why."""

import itertools
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.corpus import rest_in_corpus
from support.repositories import CI, GOOD, WRONG, Repo, pretend, pretended

from harness.ci import command, policy
from harness.ci.changes import ChangeKind, read_changes
from harness.ci.report import FileOutcome
from harness.errors import MachineError, NoDeviceError, UsageError
from harness.records.result import Verdict

FIRST = "solutions/vector-add/alice/first.py"
SECOND = "solutions/vector-add/alice/second.py"
BOBS = "solutions/vector-add/bob/first.py"


def test_a_right_submission_is_accepted(repo: Repo, ci: CI) -> None:
    repo.write(SECOND, GOOD + "# mine\n")
    head = repo.commit()
    ended = ci()
    assert ended.status == 0
    report = ended.report
    assert report.outcome is FileOutcome.ACCEPTED
    assert (report.head, report.base) == (head, repo.git("rev-parse", "main"))
    assert report.merge_base == report.base
    (graded,) = report.graded
    assert (graded.path, graded.kind) == (SECOND, ChangeKind.ADDED)
    assert graded.result.solution.path == SECOND
    assert graded.result.solution.author == "alice"


def test_a_wrong_submission_fails(repo: Repo, ci: CI) -> None:
    repo.write(FIRST, WRONG)
    repo.commit()
    ended = ci()
    assert ended.status == 1
    (graded,) = ended.report.graded
    assert (graded.kind, graded.line) == (ChangeKind.MODIFIED, 3)
    assert ended.verdicts == {FIRST: "WRONG_ANSWER"}


def test_no_change_is_nothing_to_grade(repo: Repo, ci: CI) -> None:
    repo.commit()
    ended = ci()
    assert (ended.status, ended.report.outcome) == (0, FileOutcome.NOTHING)


def test_the_head_is_never_checked_out(repo: Repo, ci: CI) -> None:
    repo.write(SECOND)
    head = repo.commit()
    repo.git("checkout", "--quiet", "main")
    before = sorted(repo.folder.rglob("*"))
    ended = ci(head=head)
    assert ended.verdicts == {SECOND: "ACCEPTED"}
    assert [path for path in sorted(repo.folder.rglob("*")) if ".git" not in path.parts] == [
        path for path in before if ".git" not in path.parts
    ]


def test_files_of_two_authors_are_refused(repo: Repo, ci: CI) -> None:
    repo.write(SECOND)
    repo.write("solutions/vector-add/carol/one.py")
    repo.commit()
    ended = ci()
    assert ended.status == 2
    assert list(ended.refused) == ["solutions/vector-add/carol/one.py"]
    assert "belongs to carol" in ended.refused["solutions/vector-add/carol/one.py"]
    assert ended.report.graded == ()
    allowed = ci(any_author=True)
    assert (allowed.status, len(allowed.verdicts)) == (0, 2)


def test_a_file_of_another_author_is_refused(repo: Repo, ci: CI) -> None:
    repo.write(SECOND)
    repo.write(BOBS, WRONG)
    repo.commit()
    ended = ci()
    assert ended.status == 2
    assert list(ended.refused) == [BOBS]


def test_only_files_of_the_named_author_may_change(repo: Repo, ci: CI) -> None:
    repo.write(BOBS, WRONG)
    repo.commit()
    ended = ci(author="alice")
    assert (ended.status, list(ended.refused)) == (2, [BOBS])
    assert "this pull request is by alice" in ended.refused[BOBS]
    assert ci(author="BOB").verdicts == {BOBS: "WRONG_ANSWER"}


def test_folders_that_differ_in_case_are_two_authors(repo: Repo, ci: CI) -> None:
    repo.write(SECOND)
    repo.write("solutions/vector-add/Alice/one.py")
    repo.commit()
    assert ci().status == 2
    assert list(ci(author="ALICE").refused) == ["solutions/vector-add/Alice/one.py"]


SPELLINGS = ["Carol", "CAROL", "\uff43arol", "carol.", "c\u0430rol", "carol\u200b", " carol"]


@pytest.mark.parametrize(
    ("known", "spelt"), rest_in_corpus(itertools.product([True, False], SPELLINGS), always=2)
)
def test_an_author_has_one_folder(spelt: str, known: bool, repo: Repo, ci: CI) -> None:
    if known:
        repo.git("checkout", "--quiet", "main")
        repo.write("solutions/vector-add/carol/first.py")
        repo.commit()
        repo.git("checkout", "--quiet", "-B", "pr")
    path = f"solutions/vector-add/{spelt}/one.py"
    repo.write(path)
    repo.commit()
    ended = ci(author="carol")
    assert (ended.status, list(ended.refused)) == (2, [path])
    repo.git("reset", "--quiet", "--hard", "main")
    repo.write("solutions/vector-add/carol/one.py")
    repo.commit()
    for login in ("carol", "CAROL", "Carol") if known else ("carol",):
        ended = ci(author=login)
        assert (ended.status, ended.report.author) == (0, "carol")
    assert ci(author="CAROL").status == (0 if known else 2)
    assert ci(author="").status == 2
    assert ci().report.author == ""


def test_two_spellings_in_one_pull_request_are_refused(repo: Repo, ci: CI) -> None:
    for spelt in ("carol", "Carol"):
        repo.write(f"solutions/vector-add/{spelt}/x.py")
    repo.commit()
    (refused,) = ci(author="carol").refused.items()
    assert refused == (
        "solutions/vector-add/Carol/x.py",
        "is to lie in the folder carol, which is spelt so; rename Carol",
    )
    assert ci().status == 2
    repo.git("rm", "--quiet", "solutions/vector-add/carol/x.py")
    repo.commit()
    assert ci(author="Carol").status == 0  # nobody is called so yet, but this one


def test_another_spelling_of_an_author_of_the_base_is_refused(repo: Repo, ci: CI) -> None:
    path = "solutions/vector-add/ALICE/fast.py"
    repo.write(path)
    repo.commit()
    for choices in ({}, {"author": "mallory"}, {"author": "alice"}, {"author": "ALICE"}):
        assert list(ci(**choices).refused) == [path]
    assert ci(any_author=True).status == 0


@pytest.mark.parametrize("deletes", [False, True])
def test_a_change_of_files_of_another_alone_is_refused(deletes: bool, repo: Repo, ci: CI) -> None:
    if deletes:
        repo.git("rm", "--quiet", BOBS)
    else:
        repo.write(BOBS, WRONG)
    repo.commit()
    ended = ci(author="mallory")
    assert (ended.status, list(ended.refused)) == (2, [BOBS])
    assert ended.report.graded == ()


def test_other_files_of_another_author_are_refused_too(repo: Repo, ci: CI) -> None:
    path = "solutions/vector-add/bob/NOTES.md"
    repo.write(path, "mine now\n")
    repo.commit()
    assert ci(author="alice", other_changes=True).refused[path].startswith("belongs to bob")
    assert ci(author="bob", other_changes=True).status == 0


@pytest.mark.parametrize(
    "path",
    [
        "problems/vector-add/problem.md",
        "problems/vector-add/reference.py",
        "README.md",
        "harness/cli.py",
        ".github/workflows/ci.yml",
        ".gitattributes",
    ],
)
def test_files_that_are_no_submissions_are_refused_or_ignored(
    path: str, repo: Repo, ci: CI
) -> None:
    repo.write(path, "x = 1\n")
    repo.write(SECOND)
    repo.commit()
    ended = ci()
    assert ended.status == 2
    assert list(ended.refused) == [path]
    assert "lies outside solutions/<problem>/<author>/" in ended.refused[path]
    allowed = ci(other_changes=True)
    assert allowed.status == 0
    assert allowed.report.ignored == (path,)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("README.md", "How the kernels work.\n"),
        ("README.md", f"The fast one:\n\n```python\n{GOOD}```\n"),
        ("sample_0.txt", f"# Problem: vector-add\n# Model: m\n\n```python\n{GOOD}```\n"),
        ("sample_0.md", f"# Problem: vector-add\n# Model: m\n\n```python\n{GOOD}```\n"),
    ],
)
def test_text_is_never_graded(name: str, text: str, repo: Repo, ci: CI) -> None:
    path = f"solutions/vector-add/alice/{name}"
    repo.write(path, text)
    repo.write(SECOND)
    repo.commit()
    ended = ci()
    assert (ended.status, list(ended.refused)) == (2, [path])
    assert "submit the code as a file of its own (.cu, .ptx or .py)" in ended.refused[path]
    assert ended.report.graded == ()
    allowed = ci(other_changes=True)
    assert (allowed.status, allowed.verdicts) == (0, {SECOND: "ACCEPTED"})
    assert allowed.report.ignored == (path,)


def test_a_submission_that_becomes_text_is_not_graded(repo: Repo, ci: CI) -> None:
    repo.git("mv", FIRST, FIRST.replace(".py", ".md"))
    repo.commit()
    ended = ci()
    assert (ended.status, list(ended.refused)) == (2, [FIRST.replace(".py", ".md")])


def test_problems_come_from_the_base(repo: Repo, ci: CI) -> None:
    hashes = []

    def grade(jobs, options, device):
        hashes.extend(job.problem.hash for job in jobs)
        return pretended(jobs, options, device)

    repo.write(SECOND)
    repo.commit()
    ci(grade)
    statement = repo.folder / "problems/vector-add/problem.md"
    text = statement.read_text(encoding="utf-8")
    repo.write("problems/vector-add/problem.md", text.replace("constant: 0", "constant: 1000000"))
    repo.write("problems/vector-add/reference.py", "raise SystemExit\n")
    repo.commit()
    assert ci(grade, other_changes=True).status == 0
    assert len(hashes) == 2
    assert len(set(hashes)) == 1


@pytest.mark.parametrize(
    ("path", "words"),
    [
        (
            "solutions/vector-add/alice/one.cpp",
            "is not solutions/<problem>/<author>/<name>.cu, .ptx",
        ),
        ("solutions/vector-add/alice/deeper/one.py", "is not solutions/"),
        ("solutions/vector-add/one.py", "is not solutions/"),
        ("solutions/one.py", "is not solutions/"),
        ("solutions/vector-add/-alice/one.py", "is not solutions/"),
        ("solutions/vector-add/alice/.one.py", "is not solutions/"),
        ("solutions/vector-add/alice/a b.py", "is not solutions/"),
        ("solutions/vector-add/alice/" + "a" * 65 + ".py", "is not solutions/"),
        ("solutions/vector-ad/alice/one.py", "no problem vector-ad that can be graded (did you"),
    ],
)
def test_a_submission_in_the_wrong_place_is_refused(
    path: str, words: str, repo: Repo, ci: CI
) -> None:
    repo.write(path)
    repo.commit()
    ended = ci()
    assert (ended.status, list(ended.refused)) == (2, [path])
    assert words in ended.refused[path]


def test_a_new_problem_is_not_graded_yet(repo: Repo, ci: CI) -> None:
    shutil.copytree(repo.folder / "problems/vector-add", repo.folder / "problems/other")
    repo.write("solutions/other/alice/one.py")
    repo.write(SECOND)
    repo.commit()
    ended = ci(other_changes=True)
    assert (ended.status, ended.verdicts) == (0, {SECOND: "ACCEPTED"})
    assert [note.path for note in ended.report.skipped] == ["solutions/other/alice/one.py"]


@pytest.mark.parametrize("rules", [{}, {"any_author": True, "other_changes": True}])
@pytest.mark.parametrize(
    ("mode", "path", "words"),
    [
        ("120000", SECOND, "is a symbolic link"),
        ("120000", FIRST, "is a symbolic link"),
        ("120000", "solutions/vector-add/eve", "is a symbolic link"),
        ("160000", "solutions/vector-add/eve", "is a submodule"),
        ("160000", "solutions/vector-add/alice/module.cu", "is a submodule"),
    ],
)
def test_links_and_submodules_are_refused(
    mode: str, path: str, words: str, rules: dict[str, bool], repo: Repo, ci: CI
) -> None:
    repo.commit_entry(mode, path, b"../../../problems/vector-add/reference.py")
    ended = ci(**rules)
    assert (ended.status, list(ended.refused)) == (2, [path])
    assert words in ended.refused[path]


def test_solutions_as_one_link_are_refused(repo: Repo, ci: CI) -> None:
    repo.git("rm", "-r", "--quiet", "solutions")
    repo.commit_entry("120000", "solutions", b"/etc")
    ended = ci(any_author=True, other_changes=True)
    assert ended.status == 2
    assert "is a symbolic link" in ended.refused["solutions"]


def test_a_renamed_submission_is_graded(repo: Repo, ci: CI) -> None:
    repo.git("mv", FIRST, SECOND)
    repo.commit()
    ended = ci()
    assert ended.status == 0
    (graded,) = ended.report.graded
    assert (graded.path, graded.old_path, graded.kind) == (SECOND, FIRST, ChangeKind.RENAMED)
    assert graded.result.solution.name == "second"


def test_a_rename_with_changes_is_a_new_file(repo: Repo, ci: CI) -> None:
    repo.git("mv", FIRST, SECOND)
    repo.write(SECOND, WRONG)
    repo.commit()
    ended = ci()
    assert ended.status == 1
    assert ended.verdicts == {SECOND: "WRONG_ANSWER"}
    assert ended.report.deleted == (FIRST,)


def test_a_rename_of_a_file_of_another_author_is_refused(repo: Repo, ci: CI) -> None:
    (repo.folder / "solutions/vector-add/eve").mkdir()
    taken = "solutions/vector-add/eve/mine.py"
    repo.git("mv", BOBS, taken)
    repo.commit()
    assert ci().status == 2
    ended = ci(author="eve")
    assert (ended.status, list(ended.refused)) == (2, [BOBS])


def test_a_rename_from_outside_solutions_is_refused(repo: Repo, ci: CI) -> None:
    repo.git("mv", "problems/vector-add/reference.py", SECOND)
    repo.commit()
    ended = ci()
    assert (ended.status, list(ended.refused)) == (2, ["problems/vector-add/reference.py"])


def test_a_deleted_submission_is_listed(repo: Repo, ci: CI) -> None:
    repo.git("rm", "--quiet", FIRST)
    repo.commit()
    ended = ci()
    assert (ended.status, ended.report.outcome) == (0, FileOutcome.NOTHING)
    assert ended.report.deleted == (FIRST,)


def test_deleting_a_file_of_another_author_is_refused(repo: Repo, ci: CI) -> None:
    repo.write(SECOND)
    repo.git("rm", "--quiet", BOBS)
    repo.commit()
    ended = ci()
    assert (ended.status, list(ended.refused)) == (2, [BOBS])


def test_a_binary_file_is_an_invalid_submission(repo: Repo, ci: CI) -> None:
    path = "solutions/vector-add/alice/binary.cu"
    repo.write(path, b"float\0\xff\xfe" * 100)
    repo.commit()
    ended = ci()
    assert (ended.status, ended.verdicts) == (1, {path: "INVALID_SUBMISSION"})
    # Told by its path in the repository, not by where it was laid down.
    assert f"{path}:1: byte 0xff is not UTF-8" in ended.report.graded[0].result.message


def test_a_file_that_is_too_large_is_refused(repo: Repo, ci: CI) -> None:
    repo.write(SECOND, b"#" * ((1 << 20) + 1))
    repo.commit()
    ended = ci()
    assert ended.status == 2
    assert "is larger than 1 MiB (1,048,577 bytes)" in ended.refused[SECOND]


def test_too_many_submissions_are_refused(
    repo: Repo, ci: CI, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policy, "MAX_SUBMISSIONS", 2)
    for number in range(3):
        repo.write(f"solutions/vector-add/alice/n{number}.py")
    repo.commit()
    ended = ci()
    assert ended.status == 2
    assert "at most 2 submissions are graded" in ended.refused["solutions/vector-add/alice/n2.py"]


def test_long_lists_are_cut_in_the_report(
    repo: Repo, ci: CI, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "MAX_LISTED", 3)
    for number in range(5):
        repo.write(f"docs/{number}.md", f"{number}")
    repo.commit()
    assert list(ci().refused) == ["docs/0.md", "docs/1.md", "docs/2.md"]
    allowed = ci(other_changes=True)
    assert allowed.report.ignored == ("docs/0.md", "docs/1.md", "docs/2.md", "… 2 more")


@given(
    raw=st.lists(
        st.binary(max_size=20)
        | st.sampled_from([b":0 100644 0 1 A", b":0 1 0 1 R100", b":0 1 0 1 X", b"a", b""]),
        max_size=6,
    ).map(b"\0".join)
)
def test_unknown_output_of_git_is_an_error(raw: bytes) -> None:
    try:
        changes = read_changes(raw)
    except ValueError:
        return
    assert all(change.path is not None for change in changes)
    assert len(changes) <= raw.count(b"\0")


def test_changes_merged_from_the_base_do_not_count(repo: Repo, ci: CI) -> None:
    repo.write(SECOND)
    repo.commit()
    repo.git("checkout", "--quiet", "main")
    repo.write("README.md", "Another text.\n")
    repo.write(BOBS, WRONG)
    base = repo.commit()
    repo.git("checkout", "--quiet", "pr")
    repo.git("merge", "--quiet", "--no-edit", "main")
    ended = ci()
    assert (ended.status, ended.verdicts) == (0, {SECOND: "ACCEPTED"})
    assert ended.report.merge_base == base


def test_later_changes_of_the_base_do_not_count(repo: Repo, ci: CI) -> None:
    fork = repo.git("rev-parse", "HEAD")
    repo.write(SECOND)
    repo.commit()
    repo.git("checkout", "--quiet", "main")
    repo.write(BOBS, WRONG)
    base = repo.commit()
    ended = ci(head="pr")
    assert ended.verdicts == {SECOND: "ACCEPTED"}
    assert (ended.report.base, ended.report.merge_base) == (base, fork)


def test_changes_of_a_branch_merged_in_count(repo: Repo, ci: CI) -> None:
    repo.git("checkout", "--quiet", "-b", "side")
    repo.write(BOBS, WRONG)
    repo.commit()
    repo.git("checkout", "--quiet", "pr")
    repo.write(SECOND)
    repo.commit()
    repo.git("merge", "--quiet", "--no-edit", "side")
    ended = ci()
    assert (ended.status, list(ended.refused)) == (2, [BOBS])


def test_several_merge_bases_are_refused(repo: Repo, ci: CI) -> None:
    repo.write(SECOND)
    ours = repo.commit()
    repo.git("checkout", "--quiet", "main")
    repo.write("README.md", "Another text.\n")
    theirs = repo.commit()
    repo.git("merge", "--quiet", "--no-edit", ours)
    repo.git("checkout", "--quiet", "pr")
    repo.git("merge", "--quiet", "--no-edit", theirs)
    ended = ci()
    assert ended.status == 2
    assert "have 2 merge bases; rebase" in str(ended.error)


@pytest.mark.parametrize(
    "base", ["no-such-branch", "--output=/tmp/x", "main:README.md", "", "@{9}"]
)
def test_a_missing_base_is_refused(base: str, repo: Repo, ci: CI) -> None:
    repo.write(SECOND)
    repo.commit()
    ended = ci(base=base)
    assert ended.status == 2
    assert isinstance(ended.error, UsageError)
    assert "--base" in str(ended.error)
    assert not ended.out.exists()


def test_the_base_is_read_from_the_environment(
    repo: Repo, ci: CI, monkeypatch: pytest.MonkeyPatch
) -> None:
    main = repo.git("rev-parse", "main")
    repo.write(SECOND)
    head = repo.commit()
    monkeypatch.setenv("GITHUB_BASE_REF", "main")
    assert ci(base=None).report.base == main
    # What was fetched goes before a local branch, which may be old.
    repo.git("update-ref", "refs/remotes/origin/main", head)
    assert ci(base=None).report.base == head
    monkeypatch.setenv("GITHUB_BASE_REF", "gone")
    assert "GITHUB_BASE_REF gone: no such commit" in str(ci(base=None).error)


def test_histories_without_a_common_commit_are_refused(repo: Repo, ci: CI) -> None:
    repo.git("checkout", "--quiet", "--orphan", "alone")
    repo.commit()
    ended = ci()
    assert ended.status == 2
    assert "have no common history; rebase" in str(ended.error)


def test_a_shallow_clone_is_told_how_to_fetch(repo: Repo, ci: CI, tmp_path: Path) -> None:
    repo.write(SECOND)
    repo.commit()
    shallow = tmp_path / "shallow"
    repo.git(
        "clone", "--quiet", "--depth=1", "--no-single-branch", f"file://{repo.folder}", str(shallow)
    )
    repo.folder = shallow
    ended = ci(base="origin/main", head="origin/pr")
    assert ended.status == 2
    assert "git fetch --unshallow" in str(ended.error)


@pytest.mark.parametrize("depth", [1, 2, 3, 4, 50])
def test_no_change_hides_in_a_shallow_clone(depth: int, repo: Repo, ci: CI, tmp_path: Path) -> None:
    """The head undoes a change of the base, and joins a branch off before it."""
    before = repo.git("rev-parse", "main")
    repo.git("checkout", "--quiet", "main")
    repo.write(BOBS, GOOD + "# better\n")
    repo.commit()
    repo.git("checkout", "--quiet", "-b", "undone")
    repo.write(BOBS, GOOD + "# bob's\n")
    repo.commit()
    for _ in range(6):
        repo.commit()
    repo.git("checkout", "--quiet", "-B", "pr", before)
    repo.write("solutions/vector-add/mallory/a.py")
    repo.commit()
    repo.git("merge", "--quiet", "--no-edit", "undone")
    assert BOBS in ci().refused or "mallory" in str(ci().refused)
    shallow = tmp_path / "shallow"
    repo.git(
        *("clone", "--quiet", f"--depth={depth}", "--no-single-branch"),
        *(f"file://{repo.folder}", str(shallow)),
    )
    repo.folder = shallow
    ended = ci(base="origin/main", head="origin/pr")
    # As deep as all of the history it is no shallow clone, and the change is seen.
    assert ended.status == 2
    assert depth == 50 or "this clone is shallow" in str(ended.error)
    assert depth == 50 or "fetch-depth: 0" in str(ended.error)


def test_a_folder_without_a_repository_is_refused(repo: Repo, ci: CI) -> None:
    shutil.rmtree(repo.folder / ".git")
    ended = ci()
    assert ended.status == 2
    assert "Run this in a clone of the repository" in str(ended.error)


def test_a_base_without_problems_is_refused(repo: Repo, ci: CI) -> None:
    repo.git("checkout", "--quiet", "main")
    repo.git("rm", "-r", "--quiet", "problems")
    repo.commit()
    repo.git("checkout", "--quiet", "-b", "pr2")
    repo.write(SECOND)
    repo.commit()
    assert "has no folder problems/" in str(ci().error)


HOSTILE_NAMES = [
    b"solutions/vector-add/alice/a\nb.py",
    b"solutions/vector-add/alice/\"quoted'.py",
    b"solutions/vector-add/alice/\xff\xfe.py",
    b"solutions/vector-add/alice/\x1b[2J.py",
    b"solutions/vector-add/alice/x\n::error::y.py",
    b"solutions/vector-add/alice/`|<b>@octocat.py",
    b"\n",
    b":100644 100644 x",
    "solutions/vector-add/alice/\u202eyp.py".encode(),
]


def test_hostile_file_names_are_refused(repo: Repo, ci: CI) -> None:
    for name in HOSTILE_NAMES:
        repo.write(name)
    repo.commit()
    ended = ci()
    assert ended.status == 2
    assert len(ended.refused) == len(HOSTILE_NAMES)
    assert "solutions/vector-add/alice/a\nb.py" in ended.refused
    allowed = ci(other_changes=True)
    assert len(allowed.report.ignored) == len(HOSTILE_NAMES)


def test_trees_made_by_hand_are_refused(repo: Repo, ci: CI) -> None:
    blob = repo.git("hash-object", "-w", "--stdin", given=GOOD.encode())

    def tree(*entries: tuple[str, str, str]) -> str:
        raw = b"".join(
            f"{mode} {name}\0".encode() + bytes.fromhex(sha) for mode, name, sha in entries
        )
        return repo.git("hash-object", "-t", "tree", "-w", "--literally", "--stdin", given=raw)

    def commit(author: str) -> str:
        outer = tree(("40000", "solutions", tree(("40000", "vector-add", author))))
        return repo.git("commit-tree", outer, "-p", "main", "-m", "by hand")

    any_change = {"any_author": True, "other_changes": True}
    twice = tree(("100644", "one.py", blob), ("100644", "one.py", blob))
    ended = ci(head=commit(tree(("40000", "alice", twice))), **any_change)
    assert "is in the head's tree 2 times" in ended.refused["solutions/vector-add/alice/one.py"]
    up = tree(("40000", "..", tree(("100644", "..", blob), ("100644", "one.py", blob))))
    ended = ci(head=commit(up))
    assert ended.status == 2
    assert "solutions/vector-add/../one.py" in ended.refused
    assert ci(head=commit(up), **any_change).report.graded == ()


def test_no_hook_or_filter_of_the_repository_is_run(repo: Repo, ci: CI, tmp_path: Path) -> None:
    """Filters, drivers and hooks that the head or the clone's own configuration names."""
    trap, sprung = tmp_path / "trap", tmp_path / "sprung"
    trap.write_text(f"#!/bin/sh\ntouch {sprung}\ncat\n")
    trap.chmod(0o755)
    for key in ("diff.trap.textconv", "diff.trap.command", "filter.trap.smudge", "core.fsmonitor",
                "diff.external", "core.pager", "filter.trap.clean"):  # fmt: skip
        repo.git("config", key, str(trap))
    repo.write(SECOND)
    blob = repo.git("hash-object", "-w", "--no-filters", SECOND)
    repo.git("update-index", "--add", "--cacheinfo", f"100644,{blob},{SECOND}")
    attributes = repo.git("hash-object", "-w", "--stdin", given=b"* diff=trap filter=trap\n")
    repo.git("update-index", "--add", "--cacheinfo", f"100644,{attributes},.gitattributes")
    repo.git("commit", "--quiet", "--no-verify", "-m", "trap")
    hook = repo.folder / ".git/hooks/post-checkout"
    hook.parent.mkdir(exist_ok=True)
    shutil.copy(trap, hook)
    sprung.unlink(missing_ok=True)  # our own git commands above may have run it
    ended = ci(other_changes=True)
    assert ended.verdicts == {SECOND: "ACCEPTED"}
    assert not sprung.exists()


@pytest.mark.parametrize("error", [MachineError("no room"), NoDeviceError("no GPU")])
def test_an_error_that_stops_the_grading_is_reported_first(
    error: MachineError, repo: Repo, ci: CI
) -> None:
    def grade(jobs, options, device):
        yield pretend(jobs[0], options)
        raise error

    repo.write(FIRST, GOOD + "# again\n")
    repo.write(SECOND)
    repo.commit()
    ended = ci(grade)
    assert ended.status == error.exit_code
    assert ended.report.outcome is FileOutcome.FAULT
    assert ended.report.fault == str(error)
    assert ended.verdicts == {FIRST: "ACCEPTED"}
    assert str(error) in (ended.out / "summary.md").read_text(encoding="utf-8")


def test_files_are_reported_in_the_order_of_the_changes(repo: Repo, ci: CI) -> None:
    repo.write(FIRST, WRONG)
    repo.write(SECOND)
    repo.commit()
    forwards, backwards = ci(), ci(backwards=True)
    assert backwards.verdicts == forwards.verdicts == {FIRST: "WRONG_ANSWER", SECOND: "ACCEPTED"}
    assert list(backwards.verdicts) == list(forwards.verdicts)


def test_an_internal_error_is_a_fault(repo: Repo, ci: CI) -> None:
    def grade(jobs, options, device):
        wrong = pretend(jobs[0], options)
        yield wrong.model_copy(update={"verdict": Verdict.INTERNAL_ERROR, "cases": ()})

    repo.write(FIRST, WRONG)
    repo.commit()
    assert ci(grade).status == 3


@pytest.mark.parametrize(("accepted", "status"), [(False, 1), (True, 0)])
def test_not_executable_is_accepted_on_demand(
    accepted: bool, status: int, repo: Repo, ci: CI
) -> None:
    def grade(jobs, options, device):
        wrong = pretend(jobs[0], options)
        yield wrong.model_copy(update={"verdict": Verdict.NOT_EXECUTABLE_HERE, "cases": ()})

    repo.write(FIRST, WRONG)
    repo.commit()
    ended = ci(grade, accept_not_executable=accepted)
    assert ended.status == status
    assert ("<skipped" in (ended.out / "junit.xml").read_text()) is accepted


def test_a_report_folder_that_cannot_be_made_is_a_usage_error(
    repo: Repo, ci: CI, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    ended = ci(out=tmp_path / "file" / "below")
    assert ended.status == 2
    assert "--out" in str(ended.error)


def test_git_ignores_the_report_folder(repo: Repo, ci: CI) -> None:
    repo.write(FIRST, WRONG)
    repo.commit()
    ended = ci(out=repo.folder / "build/ci")
    assert (ended.out / "report.json").is_file()
    assert repo.git("status", "--porcelain", "--untracked-files=all") == ""
    mine = repo.folder / "mine"
    mine.mkdir()
    assert not (ci(out=mine).out / ".gitignore").exists()  # a folder of somebody else's
