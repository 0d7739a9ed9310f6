"""``harness new``: a problem that can be graded, and a contest in which a pull request is."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.commands import MAIN
from support.repositories import ISOLATED, ROOT, Repo

from harness import __version__
from harness.ci.report import PullRequestReport
from harness.errors import UsageError
from harness.problem.format.load import load_problem
from harness.problem.package import Problem
from harness.problem.signature import c_prototype
from harness.starter import contest
from harness.starter.contest import FIRST, WORKFLOWS, pinned, workflow, write_contest
from harness.starter.files import write_folder
from harness.starter.package import SIGNATURE, declared, package_files, title_of

GEMM = (
    'extern "C" void solution(const VAR a[m][k], const VAR b[k][n],\n VAR c[m][n], float alpha, '
    "size_t m, size_t n, size_t k);"
)
KERNEL = """
__global__ void add(const VAR* x, const VAR* y, VAR* z, size_t n) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n) z[i] = x[i] OP y[i];
}
extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    add<<<unsigned((n + 255) / 256), 256>>>(x, y, z, n);
}
"""


def harness(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """``harness WORDS`` in ``folder``."""
    return subprocess.run(
        [sys.executable, "-c", MAIN, *words],
        cwd=folder,
        env={**os.environ, **ISOLATED, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )


def package(folder: Path, signature: str, slug: str = "made") -> Problem:
    write_folder(folder / slug, package_files(slug, title_of(slug), declared(signature)))
    return load_problem(folder / slug)


@pytest.mark.parametrize(
    ("signature", "prototype"),
    [
        (SIGNATURE, "const VAR* x, const VAR* y, VAR* z, size_t n"),
        ("const VAR* x, VAR* y, size_t n", "const VAR* x, VAR* y, size_t n"),
        ("void f(const VAR *x, VAR * __restrict__ y, int n)", "const VAR* x, VAR* y, int n"),
        (GEMM, "const VAR* a, const VAR* b, VAR* c, float alpha, size_t m, size_t n, size_t k"),
        ("const int i[n], float y[n], uint32_t n", "const int* i, float* y, uint32_t n"),
        ("const VAR x[2 * n][3], VAR y[n], size_t n", "const VAR* x, VAR* y, size_t n"),
        ("const VAR x[n], VAR y[n], VAR z[n], double a, size_t n",
         "const VAR* x, VAR* y, VAR* z, double a, size_t n"),
        ("const unsigned char x[n], VAR y[n], size_t n",
         "const unsigned char* x, VAR* y, size_t n"),
    ],
)  # fmt: skip
def test_a_problem_has_the_signature_it_was_made_from(
    signature: str, prototype: str, tmp_path: Path
) -> None:
    made = package(tmp_path, signature)
    assert made.complete, made.missing
    assert c_prototype(made) == f'extern "C" void solution({prototype});'
    assert len(made.benchmarks) == len(made.cpu_benchmarks) == 2
    for file in ("reference.py", "baselines/pytorch.py"):
        compile((tmp_path / "made" / file).read_text(), file, "exec")


@pytest.mark.parametrize(
    ("signature", "said"),
    [
        ("", "'' is no parameter"),
        ("x", "'x' is no parameter; such as const VAR a[m][k]"),
        ("const VAR x[n], VAR z[n]", "there is no size: size_t n"),
        ("const VAR x[n], size_t n", "there is no output"),
        (
            "const VAR* a, VAR* b, size_t m, size_t n",
            "a: how large is it? Say it as const VAR",
        ),
        ("flaot x[n], size_t n", "x: unknown type 'flaot' (did you mean float?)"),
        ("VAR x[n], VAR x[n], size_t n", "x stands there twice"),
        ("VAR x[n], VAR s, size_t n", "s: a number is a size"),
        ("VAR x[n], half s, size_t n", "s: a number is a size"),
    ],
)
def test_a_signature_that_says_too_little(signature: str, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        declared(signature)
    assert said in str(refused.value)


def test_what_no_signature_tells_is_left_to_the_author(tmp_path: Path) -> None:
    package(tmp_path, GEMM)
    for file in ("reference.py", "baselines/pytorch.py"):
        assert "raise NotImplementedError" in (tmp_path / "made" / file).read_text()
    assert "raise" not in "".join(package_files("x", "X", declared(SIGNATURE)).values())


@pytest.mark.corpus
def test_new_problem(tmp_path: Path) -> None:
    done = harness("new", "problem", "row-max", "--signature", GEMM, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("wrote problems/row-max: problem.md, reference.py, baselines/")
    assert load_problem(tmp_path / "problems/row-max").title == "Row Max"
    again = harness("new", "problem", "row-max", folder=tmp_path)
    assert (again.returncode, again.stdout) == (2, "")
    assert "problems/row-max exists: name a folder that is new or empty" in again.stderr
    for words, said in (
        (("problem", "a b"), "no name of a problem"),
        (("problem", "b", "--signature", "x"), "'x' is no parameter"),
        (("contest", "problems", "--harness", "a/b"), "problems exists"),
        (("contest", "c", "--harness", "a"), "--harness 'a': OWNER/REPOSITORY"),
    ):
        refused = harness("new", *words, folder=tmp_path)
        assert (refused.returncode, said in refused.stderr) == (2, True), refused
    assert sorted(path.name for path in tmp_path.iterdir()) == ["problems"]


@pytest.mark.corpus
def test_the_first_problem_is_sound(tmp_path: Path) -> None:
    assert harness("new", "problem", "sum", folder=tmp_path).returncode == 0
    options = ("--device", "cpu", "--grades", "1", "--no-examples", "--problems", "problems")
    done = harness("verify", "sum", *options, folder=tmp_path)
    assert done.returncode == 0, done.stdout
    assert "sum: 0 errors" in done.stdout


@pytest.mark.corpus
def test_a_contest_grades_a_pull_request(tmp_path: Path) -> None:
    """From nothing to verdicts, in a scratch repository."""
    words = ("new", "contest", "kernels", "--harness", "acme/kernel-harness")
    done = harness(*words, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    repo = Repo(tmp_path / "kernels")
    repo.git("init", "--quiet", "--initial-branch=main")
    repo.commit("Contest")
    assert repo.git("status", "--porcelain") == ""
    repo.git("checkout", "--quiet", "-b", "alice")
    for name, operator in (("right", "+"), ("wrong", "-")):
        repo.write(f"solutions/{FIRST}/alice/{name}.cu", KERNEL.replace("OP", operator))
    repo.commit("Mine")
    ci = ("ci", "--base", "main", "--check", "--device", "cpu", "--author", "alice")
    graded = harness(*ci, folder=repo.folder)
    assert graded.returncode == 1, graded.stderr
    report = PullRequestReport.from_json((repo.folder / "build/ci/report.json").read_text("utf-8"))
    assert [(Path(each.path).name, str(each.result.verdict)) for each in report.graded] == [
        ("right.cu", "ACCEPTED"),
        ("wrong.cu", "WRONG_ANSWER"),
    ]
    assert harness(*ci[:-1], "bob", folder=repo.folder).returncode == 2
    site = harness("site", "--all", "--out", "public", "--store", "s.sqlite", folder=repo.folder)
    assert site.returncode == 0, site.stderr
    assert (repo.folder / "public/index.html").is_file()
    assert repo.git("status", "--porcelain") == ""


def _yaml(text: str) -> dict[str, Any]:
    data = yaml.safe_load(text)
    data["on"] = data.pop(True)
    return dict(data)


@pytest.mark.parametrize("name", WORKFLOWS)
def test_workflows_of_a_contest_run_a_pinned_release(name: str) -> None:
    text = workflow(name, "acme/kernel-harness", "v1.2.3")
    data = _yaml(text)
    steps = [step for job in data["jobs"].values() for step in job["steps"]]
    used = [step["uses"] for step in steps if "uses" in step]
    assert used.count("acme/kernel-harness/.github/actions/grade@v1.2.3") == 1
    for each in used:
        assert not each.startswith("./")
        if each.startswith("actions/"):
            assert re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40}", each)
    assert data["permissions"] == {"contents": "read"}
    assert "secrets" not in text
    assert "pull_request_target" not in text
    inputs = yaml.safe_load((ROOT / ".github/actions/grade/action.yml").read_text("utf-8"))[
        "inputs"
    ]
    (grade,) = [step for step in steps if "kernel-harness" in step.get("uses", "")]
    assert set(grade["with"]) <= set(inputs)
    for step in steps:
        assert "${{" not in step.get("run", "")
        assert subprocess.run(["bash", "-n"], input=step.get("run", "").encode()).returncode == 0
        if "checkout@" in step.get("uses", ""):
            assert step["with"]["persist-credentials"] is False
            assert "head" not in step["with"].get("ref", "")


def test_the_page_is_made_of_main_alone_and_warms_the_cache_with_the_same_python() -> None:
    check, pages = (_yaml(workflow(name, "a/b", "v1")) for name in WORKFLOWS)
    assert set(check["on"]) == {"pull_request"}
    assert pages["on"] == {"push": {"branches": ["main"]}, "workflow_dispatch": None}
    build, publish = pages["jobs"].values()
    assert publish["permissions"] == {"pages": "write", "id-token": "write"}
    assert "permissions" not in build
    (install,) = [step for step in build["steps"] if step.get("uses", "").startswith("a/b/")]
    assert install["with"] == {"install-only": "true", "any-author": "true"}
    pythons = [
        step["with"]["python-version"]
        for job in (check["jobs"]["check"], build)
        for step in job["steps"]
        if "setup-python" in step.get("uses", "")
    ]
    assert pythons[0] == pythons[1]
    assert check["jobs"]["check"]["runs-on"] == build["runs-on"]


def test_the_readme_names_what_there_is(tmp_path: Path) -> None:
    write_contest(tmp_path / "my-contest", "acme/kernel-harness", "v1")
    text = (tmp_path / "my-contest/README.md").read_text("utf-8")
    assert text.startswith("# My Contest\n")
    for name in WORKFLOWS:
        assert f"(../../actions/workflows/{name}/badge.svg)" in text
        assert (tmp_path / "my-contest/.github/workflows" / name).is_file()
    assert "acme/kernel-harness@v1" in text
    assert "{{" not in text


@pytest.mark.parametrize(
    ("named", "found"),
    [
        ("acme/k", ("acme/k", f"v{__version__}")),
        ("acme/k@v2", ("acme/k", "v2")),
        ("acme/k.x@0123abc", ("acme/k.x", "0123abc")),
    ],
)
def test_the_release_that_is_pinned(named: str, found: tuple[str, str]) -> None:
    assert pinned(named) == found


@pytest.mark.parametrize("named", ["acme", "a/b/c", "../b", "a/b@", "a b/c", "a/b@x\nuses: y"])
def test_what_is_no_repository(named: str) -> None:
    with pytest.raises(UsageError, match="OWNER/REPOSITORY"):
        pinned(named)


def test_a_clone_knows_where_it_is_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contest, "_origin", lambda: "acme/k")
    assert pinned(None) == ("acme/k", f"v{__version__}")
    monkeypatch.setattr(contest, "_origin", lambda: None)
    with pytest.raises(UsageError, match="--harness: which repository"):
        pinned(None)
