"""The workflows and actions: what they may do, and that their scripts do what they say."""

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from support.repositories import ISOLATED, ROOT, Repo

from harness import cli
from harness.commands import pull_requests

GITHUB = ROOT / ".github"
WORKFLOWS = [*sorted(GITHUB.glob("workflows/*.yml")), *sorted(GITHUB.glob("templates/*.yml"))]
ACTIONS = sorted(GITHUB.glob("actions/*/action.yml"))
PYPROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
UNTRUSTED = ["solutions.yml", "check.yml", "grade-on-gpu.yml"]
"""Those that run submitted code."""
OWN = ["test.yml", "docs.yml"]
"""Those of this repository's own code and pages."""


def load(path: Path) -> dict[str, Any]:
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    if True in data:  # YAML 1.1 reads the key `on` so
        data["on"] = data.pop(True)
    return data


def named(name: str) -> Path:
    return next(path for path in [*WORKFLOWS, *ACTIONS] if name in (path.name, path.parent.name))


def steps(data: dict[str, Any]) -> list[dict[str, Any]]:
    if "runs" in data:
        return list(data["runs"]["steps"])
    return [step for job in data["jobs"].values() for step in job["steps"]]


def script(path: Path, name: str) -> str:
    return next(step["run"] for step in steps(load(path)) if step.get("name") == name)


def ids(path: Path) -> str:
    return path.parent.name if path.name == "action.yml" else path.name


def test_every_workflow_is_listed() -> None:
    assert {path.name for path in WORKFLOWS} == {*UNTRUSTED, *OWN, "publish.yml"}
    assert {path.parent.name for path in ACTIONS} == {"grade", "comment"}


@pytest.mark.parametrize("path", [*WORKFLOWS, *ACTIONS], ids=ids)
def test_nothing_is_interpolated_into_a_script(path: Path) -> None:
    for step in steps(load(path)):
        assert "${{" not in step.get("run", "")
        assert "uses" in step or "run" in step


@pytest.mark.parametrize("path", [*WORKFLOWS, *ACTIONS], ids=ids)
def test_actions_of_others_are_pinned(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for step in steps(load(path)):
        used = step.get("uses", "./")
        if not used.startswith("./"):
            assert re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40}", used)
            assert re.search(rf"{re.escape(used)} # v\d+\.\d+\.\d+$", text, re.MULTILINE)
        else:
            assert used == "./" or (ROOT / used / "action.yml").is_file()


def test_each_action_is_pinned_at_one_version() -> None:
    pins: dict[str, set[str]] = {}
    for path in [*WORKFLOWS, *ACTIONS]:
        for name, pin in re.findall(r"uses: (actions/[\w-]+)@(.+)", path.read_text("utf-8")):
            pins.setdefault(name, set()).add(pin)
    assert {name: found for name, found in pins.items() if len(found) > 1} == {}


@pytest.mark.parametrize("path", WORKFLOWS, ids=ids)
def test_no_workflow_reads_secrets_or_checks_out_the_head(path: Path) -> None:
    data = load(path)
    assert "pull_request_target" not in path.read_text(encoding="utf-8")
    assert "secrets" not in re.sub(r"#.*", "", path.read_text(encoding="utf-8"))
    assert "permissions" in data
    for job in data["jobs"].values():
        assert job["timeout-minutes"] <= 120
    for step in steps(data):
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False
            # Never the head: by default, or by name, it is the base or the default branch.
            assert "head" not in step["with"].get("ref", "")


@pytest.mark.parametrize("name", UNTRUSTED)
def test_workflows_that_run_submitted_code_may_only_read(name: str) -> None:
    data = load(named(name))
    assert data["permissions"] == {"contents": "read"}
    assert set(data["on"]) == ({"workflow_dispatch"} if "gpu" in name else {"pull_request"})
    (job,) = data["jobs"].values()
    assert "permissions" not in job
    (checkout,) = [step for step in job["steps"] if "actions/checkout@" in step.get("uses", "")]
    assert checkout["with"]["ref"] in (
        "${{ github.sha }}" if "gpu" in name else "${{ github.event.pull_request.base.sha }}",
    )
    (grade,) = [step for step in job["steps"] if step.get("uses") == "./.github/actions/grade"]
    known = load(named("grade"))["inputs"]
    assert set(grade["with"]) <= set(known)
    assert {name for name, about in known.items() if about.get("required")} <= set(grade["with"])
    assert "require-sandbox" not in grade["with"]  # it is the default


@pytest.mark.parametrize("name", OWN)
def test_own_workflows_run_make_for_main_and_for_pull_requests(name: str) -> None:
    data = load(named(name))
    assert data["permissions"] == {"contents": "read"}
    assert data["on"] == {
        "push": {"branches": ["main"]},
        "pull_request": {"paths-ignore": ["solutions/**"]},
    }
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    made = [s["run"].split() for s in steps(data) if s.get("run", "").startswith("make ")]
    assert made
    assert all(set(words) <= targets for _, *words in made)


def test_all_supported_pythons_are_tested() -> None:
    job = load(named("test.yml"))["jobs"]["test"]
    pythons = [tuple(map(int, each.split("."))) for each in job["strategy"]["matrix"]["python"]]
    lowest = re.search(r'^requires-python = ">=3\.(\d+)"', PYPROJECT, re.MULTILINE)
    assert lowest is not None
    assert pythons == [(3, int(lowest[1]) + more) for more in range(len(pythons))]
    assert {"run": "make test"} in job["steps"]
    assert {"run": "make corpus"} in load(named("test.yml"))["jobs"]["corpus"]["steps"]


def test_only_pages_of_main_are_published() -> None:
    build, publish = load(named("docs.yml"))["jobs"].values()
    assert "permissions" not in build
    assert publish["permissions"] == {"pages": "write", "id-token": "write"}
    assert publish["if"] == "github.event_name == 'push'"
    assert ["run" in step or "checkout" in step["uses"] for step in publish["steps"]] == [False]
    (upload,) = [step for step in build["steps"] if "pages-artifact" in step.get("uses", "")]
    assert (upload["if"], upload["with"]) == (publish["if"], {"path": "build/docs"})


def test_dependencies_and_all_actions_are_updated() -> None:
    data = load(GITHUB / "dependabot.yml")
    places = {
        update["package-ecosystem"]: update.get("directories", [update.get("directory")])
        for update in data["updates"]
    }
    assert places == {"pip": ["/"], "github-actions": ["/", "/.github/actions/*"]}


def test_hooks_before_a_commit_are_the_lines_of_make_lint() -> None:
    (local,) = load(ROOT / ".pre-commit-config.yaml")["repos"]
    rule = re.search(
        r"^lint:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE
    )
    assert rule is not None
    lines = [line.strip().replace("$(BIN)", ".venv/bin") for line in rule[1].splitlines()]
    assert [hook["entry"] for hook in local["hooks"]] == lines
    assert {hook["language"] for hook in local["hooks"]} == {"system"}


def test_the_gpu_is_used_with_approval() -> None:
    data = load(named("grade-on-gpu.yml"))
    (job,) = data["jobs"].values()
    assert job["environment"] == "gpu"
    assert "self-hosted" in job["runs-on"]
    assert job["if"] == "github.ref_name == github.event.repository.default_branch"
    assert set(data["on"]["workflow_dispatch"]["inputs"]) == {"pull-request", "head"}


def test_the_publisher_runs_nothing_of_a_pull_request() -> None:
    data = load(named("publish.yml"))
    assert set(data["on"]) == {"workflow_run"}
    others = {load(path)["name"] for path in GITHUB.glob("templates/*.yml")} - {data["name"]}
    assert set(data["on"]["workflow_run"]["workflows"]) == others
    assert data["permissions"] == {}
    verdict, board = data["jobs"]["verdict"], data["jobs"]["board"]
    read = {"actions": "read", "contents": "read", "pull-requests": "write"}
    assert verdict["permissions"] == read
    assert board["permissions"] == {**read, "contents": "write"}
    assert "event == 'workflow_dispatch'" in board["if"]
    assert "head_branch == github.event.repository.default_branch" in board["if"]
    for step in steps(data):
        if "checkout" in step.get("uses", ""):
            assert "ref" not in step["with"]
        if "download-artifact" in step.get("uses", ""):
            assert step["with"]["path"] == "untrusted"
        for use in re.findall(r"\S*untrusted\S*", step.get("run", "")):
            assert use == "untrusted/report.json"
    assert load(named("grade-on-gpu.yml"))["run-name"] == (
        "pull request ${{ inputs.pull-request }} at ${{ inputs.head }}"
    )


@pytest.mark.parametrize("path", [*WORKFLOWS, *ACTIONS], ids=ids)
def test_commands_of_the_harness_parse(path: Path) -> None:
    for step in steps(load(path)):
        run = step.get("run", "")
        assert subprocess.run(["bash", "-n"], input=run.encode(), check=False).returncode == 0
        joined = run.replace("\\\n", " ")
        for line in re.findall(r"^\s*harness (.*)$", joined, re.MULTILINE):
            words = line.replace('"', "").split()
            with cli.cli.make_context("harness", list(words)) as top:
                _, command, rest = cli.cli.resolve_command(top, [*top._protected_args, *top.args])
                assert isinstance(command, click.Command)
                with command.make_context(words[0], rest, parent=top):
                    pass


def bash(text: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a step as GitHub's runner does."""
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", text],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), **ISOLATED, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def program(folder: Path, name: str, text: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/usr/bin/env bash\n{text}")
    (folder / name).chmod(0o755)


def test_the_head_is_fetched_as_objects(repo: Repo, tmp_path: Path) -> None:
    repo.write("solutions/vector-add/alice/second.py")
    first = repo.commit()
    repo.write("solutions/vector-add/alice/third.py")
    head = repo.commit()
    repo.git("update-ref", "refs/pull/7/head", head)
    repo.git("checkout", "--quiet", "main")
    base = Repo(tmp_path / "base")
    repo.git(
        "clone", "--quiet", "--single-branch", "--branch=main", f"file://{repo.folder}",
        str(base.folder),
    )  # fmt: skip
    fetch = script(named("grade"), "Fetch the pull request as git objects")
    known = {"SERVER": "https://example.org", "TOKEN": "t0p-secret", "PULL_REQUEST": "7"}
    for commit in (head, first):
        done = bash(fetch, base.folder, HEAD=commit, **known)
        assert done.returncode == 0, done.stderr
        assert base.git("cat-file", "-t", commit) == "commit"
    assert base.git("rev-parse", "HEAD") == repo.git("rev-parse", "main")
    assert not (base.folder / "solutions/vector-add/alice/second.py").exists()
    config = (base.folder / ".git/config").read_text()
    assert "extraheader" not in config
    assert "t0p" not in config
    gone = bash(fetch, base.folder, HEAD="0" * 40, **known)
    assert (gone.returncode, "no commit of pull request 7 any more" in gone.stderr) == (2, True)
    for wrong in ("1;touch x", "", "7/../8"):
        assert (
            bash(fetch, base.folder, HEAD=head, **known | {"PULL_REQUEST": wrong}).returncode == 2
        )
    assert bash(fetch, base.folder, HEAD="main", **known).returncode == 2


def test_a_shallow_base_is_not_fetched_into(repo: Repo, tmp_path: Path) -> None:
    head = repo.commit()
    repo.git("update-ref", "refs/pull/7/head", head)
    base = tmp_path / "base"
    repo.git("clone", "--quiet", "--depth=1", f"file://{repo.folder}", str(base))
    fetch = script(named("grade"), "Fetch the pull request as git objects")
    done = bash(fetch, base, HEAD=head, SERVER="https://example.org", TOKEN="t", PULL_REQUEST="7")
    assert (done.returncode, "fetch-depth: 0" in done.stderr) == (2, True)


FAKE_CURL = """
cat > "$CONFIG"
printf '%s\\n' "$*" >> "$CALLS"
cat "$ANSWER"
"""
LOGINS = [
    ('{"user": {"login": "alice-1"}}', "login=alice-1\n"),
    ('{"user": {"login": "dependabot[bot]"}}', "login=dependabot[bot]\n"),
    ('{"user": null}', None),
    ('{"user": {"login": "a\\\\nlogin=b"}}', None),
    ('{"user": {"login": ""}}', None),
    ('{"message": "Not Found"}', None),
    ("", None),
    (None, None),
]


@pytest.mark.parametrize(("answer", "expected"), LOGINS)
def test_the_host_is_asked_who_sent_it(
    answer: str | None, expected: str | None, tmp_path: Path
) -> None:
    program(tmp_path / "bin", "curl", FAKE_CURL)
    if answer is not None:
        (tmp_path / "answer").write_text(answer)
    done = bash(
        script(named("grade"), "Ask the host who sent the pull request"),
        tmp_path,
        PATH=f"{tmp_path / 'bin'}:{os.environ['PATH']}",
        ANSWER=str(tmp_path / "answer"),
        CALLS=str(tmp_path / "calls"),
        CONFIG=str(tmp_path / "config"),
        API="https://api.example.org",
        REPOSITORY="o/r",
        PULL_REQUEST="7",
        TOKEN="t0p-secret",
        GITHUB_OUTPUT=str(tmp_path / "output"),
    )
    assert (done.returncode == 0) is (expected is not None), done.stderr
    calls = (tmp_path / "calls").read_text()
    assert calls.split()[-1] == "https://api.example.org/repos/o/r/pulls/7"
    assert "t0p-secret" not in calls
    assert "Bearer t0p-secret" in (tmp_path / "config").read_text()
    if expected is None:
        assert not (tmp_path / "output").exists()
        assert answer is not None or "pull-requests: read" in done.stderr
    else:
        assert (tmp_path / "output").read_text() == expected


@pytest.mark.parametrize(
    ("login", "status"), [("alice", 0), ("", 2), ("a\nlogin=b", 2), ("null x", 2)]
)
def test_the_publisher_asks_who_sent_it(login: str, status: int, tmp_path: Path) -> None:
    program(tmp_path / "bin", "gh", 'printf "%s\\n" "$LOGIN"; echo "$*" > "$CALLS"\n')
    done = bash(
        script(named("publish.yml"), "Ask who sent the pull request"),
        tmp_path,
        PATH=f"{tmp_path / 'bin'}:{os.environ['PATH']}",
        LOGIN=login,
        CALLS=str(tmp_path / "calls"),
        REPOSITORY="o/r",
        PULL_REQUEST="7",
        GITHUB_OUTPUT=str(tmp_path / "output"),
    )
    assert done.returncode == status
    assert (tmp_path / "calls").read_text() == "api repos/o/r/pulls/7 --jq .user.login\n"
    assert (tmp_path / "output").exists() is (status == 0)
    if not status:
        assert (tmp_path / "output").read_text() == f"login={login}\n"


def test_boards_are_written_for_the_sender_alone() -> None:
    """Asked of the host, in jobs that a pull request cannot change, and not of the event."""
    grade = load(named("grade"))
    (ask,) = [step for step in steps(grade) if step.get("id") == "sender"]
    assert ask["if"] == "inputs.author == '' && inputs.any-author != 'true'"
    (run,) = [step for step in steps(grade) if step.get("name") == "Grade"]
    assert run["env"]["AUTHOR"] == "${{ inputs.author || steps.sender.outputs.login }}"
    on_gpu = next(s for s in steps(load(named("grade-on-gpu.yml"))) if "grade" in s.get("uses", ""))
    assert not {"author", "any-author"} & set(on_gpu["with"])
    board = load(named("publish.yml"))["jobs"]["board"]["steps"]
    record = next(step for step in board if step.get("name", "").startswith("Record"))
    assert record["env"]["AUTHOR"] == "${{ steps.sender.outputs.login }}"
    assert '--author "$AUTHOR"' in record["run"]
    ids = [step.get("id") for step in board]
    assert ids.index("asked") < ids.index("sender") < board.index(record)


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ({}, ["--require-sandbox"]),
        ({"LIMIT_S": "3000"}, ["--limit-s=3000", "--require-sandbox"]),
        (
            {"CHECK": "true", "AUTHOR": "alice", "REQUIRE_SANDBOX": "false"},
            ["--check", "--author=alice"],
        ),
        (
            {"ANY_AUTHOR": "true", "OTHER_CHANGES": "true", "NOT_EXECUTABLE": "true"},
            [
                *("--any-author", "--allow-other-changes", "--accept-not-executable"),
                "--require-sandbox",
            ],
        ),
        (
            {"AUTHOR": "--any-author $(touch x)"},
            ["--author=--any-author $(touch x)", "--require-sandbox"],
        ),
    ],
)
def test_inputs_become_options(chosen: dict[str, str], expected: list[str], tmp_path: Path) -> None:
    told = tmp_path / "told"
    program(tmp_path / "bin", "harness", f'printf "%s\\0" "$@" > {told}\n')
    inputs = load(named("grade"))["inputs"]
    step = next(each for each in steps(load(named("grade"))) if each.get("name") == "Grade")
    defaults = {
        variable: inputs[found[1]].get("default", "x")
        for variable, value in step["env"].items()
        if (found := re.fullmatch(r"\$\{\{ inputs\.([\w-]+) \}\}", value))
    }
    own = {"BASE": "b", "HEAD": "h", "HARNESS": str(tmp_path / "bin/harness")}
    done = bash(step["run"], tmp_path, **{**defaults, **chosen, **own})
    assert done.returncode == 0, done.stderr
    words = told.read_text().split("\0")[:-1]
    start = ["ci", "--base", "b", "--head", "h", "--device", "auto", "--out", "build/ci"]
    assert words == [*start, *expected]
    assert not (tmp_path / "x").exists()
    rest = [word for word in words[1:] if word != "--require-sandbox"]
    with pull_requests.ci.make_context("ci", rest):
        pass


FAKE_GH = """
printf '%s\\n' "$*" >> "$CALLS"
if [[ "$*" == *--paginate* ]]; then cat "$FOUND"; fi
"""


def test_a_comment_replaces_the_one_before(tmp_path: Path) -> None:
    program(tmp_path / "bin", "gh", FAKE_GH)
    text = script(named("comment"), "Comment")
    (tmp_path / "comment.md").write_text("<!-- kernel-harness: reported -->\nx\n")
    for found, expected in (
        ("", "--method POST repos/o/r/issues/7/comments -F body=@comment.md"),
        ("12\n34\n", "--method PATCH repos/o/r/issues/comments/12 -F body=@comment.md"),
    ):
        (tmp_path / "found").write_text(found)
        (tmp_path / "calls").write_text("")
        done = bash(
            text,
            tmp_path,
            PATH=f"{tmp_path / 'bin'}:{os.environ['PATH']}",
            FOUND=str(tmp_path / "found"),
            CALLS=str(tmp_path / "calls"),
            REPOSITORY="o/r",
            PULL_REQUEST="7",
            FILE="comment.md",
        )
        assert done.returncode == 0, done.stderr
        listed, written = (tmp_path / "calls").read_text().splitlines()
        assert "repos/o/r/issues/7/comments" in listed
        assert "github-actions[bot]" in listed
        assert written.endswith(expected)
    assert bash(text, tmp_path, PULL_REQUEST="x", FILE="comment.md").returncode == 2


@pytest.mark.parametrize(
    ("title", "status"),
    [
        (f"pull request 7 at {'a' * 40}", 0),
        (f"pull request 7 at {'a' * 40}\nnumber=8", 2),
        ("pull request 7 at main", 2),
        (f"pull request $(x) at {'a' * 40}", 2),
    ],
)
def test_the_name_of_a_run_names_the_commit(title: str, status: int, tmp_path: Path) -> None:
    output = tmp_path / "output"
    text = script(named("publish.yml"), "Which commit it was, by the name of the run")
    done = bash(text, tmp_path, TITLE=title, GITHUB_OUTPUT=str(output))
    assert done.returncode == status, done.stderr
    if not status:
        assert output.read_text() == f"number=7\nhead={'a' * 40}\n"
    else:
        assert not output.exists()


@pytest.mark.corpus
def test_the_board_is_kept_on_its_branch(repo: Repo, tmp_path: Path) -> None:
    """The branch is made, and added to, also if another run writes to it at the same time."""
    head = repo.git("rev-parse", "HEAD")
    repo.git("update-ref", "refs/pull/7/head", head)
    repo.git("config", "receive.denyCurrentBranch", "ignore")
    program(
        tmp_path / "bin",
        "harness",
        'if [[ "$1" == publish ]]; then\n'
        "  echo more >> ../board/results.sqlite; echo x > comment.md\n"
        '  if [[ -e "$RIVAL" ]]; then bash -e "$RIVAL"; rm "$RIVAL"; fi\n'
        "else echo row > ../board/board.csv; fi\n"
        'printf "%s\\n" "$*" >> "$CALLS"\n'
        'if env | grep -q -e t0p -e dDBw -e GIT_CONFIG_VALUE; then echo "leaked" >> "$CALLS"; fi\n',
    )
    noted = 'printf "%s|%s\\n" "$GIT_CONFIG_VALUE_0" "$*" >> "$GITS"\n'
    program(tmp_path / "bin", "git", f'{noted}exec {shutil.which("git")} "$@"\n')
    rival = tmp_path / "rival"
    text = script(named("publish.yml"), "Record the results on the branch leaderboard")
    for number, lines in ((1, ["more"]), (2, ["more"] * 2), (3, [*["more"] * 2, "rival", "more"])):
        if number == 3:
            other = tmp_path / "other"
            rival.write_text(
                f"git clone --quiet --branch leaderboard file://{repo.folder} {other}\n"
                f"echo rival >> {other}/results.sqlite\n"
                f"git -C {other} commit --quiet --all -m rival\n"
                f"git -C {other} push --quiet origin HEAD:leaderboard\n"
            )
        work = tmp_path / f"run{number}"
        work.mkdir()
        repo.git("clone", "--quiet", f"file://{repo.folder}", str(work / "clone"))
        done = bash(
            text,
            work / "clone",
            PATH=f"{tmp_path / 'bin'}:{os.environ['PATH']}",
            CALLS=str(tmp_path / "calls"),
            GITS=str(tmp_path / "gits"),
            RIVAL=str(rival),
            PULL_REQUEST="7",
            HEAD=head,
            RUN="https://example.org/run",
            SERVER="https://example.org",
            TOKEN="t0p-secret",
            AUTHOR="alice",
        )
        assert done.returncode == 0, done.stderr
        assert repo.git("show", "leaderboard:results.sqlite").split("\n") == lines
        names = repo.git("ls-tree", "--name-only", "leaderboard").split()
        assert names == ["board.csv", "results.sqlite"]
    called = (tmp_path / "calls").read_text()
    command = f"publish untrusted/report.json --head {head} --measured-by https://example.org/run"
    assert command in called
    assert "--author alice" in called
    assert "leaked" not in called
    for line in (tmp_path / "gits").read_text().splitlines():
        token, _, words = line.partition("|")
        remote = re.search(r"^(-C \S+ )?(fetch|push|ls-remote) ", words) and str(other) not in words
        assert token.startswith("AUTHORIZATION: basic eC1h") is bool(remote), line


@pytest.mark.parametrize("name", ["check.yml", "grade-on-gpu.yml", "solutions.yml"])
def test_grades_end_before_their_job_does(name: str) -> None:
    """So that the reports of what was graded by then are kept."""
    ((job, step),) = (
        (job, step)
        for job in load(named(name))["jobs"].values()
        for step in job["steps"]
        if str(step.get("uses", "")).endswith("/actions/grade")
    )
    assert 0 < int(step["with"]["limit-s"]) <= 60 * (job["timeout-minutes"] - 10)


def test_problems_are_verified_with_several_seeds_and_all_that_they_have() -> None:
    job = load(named("test.yml"))["jobs"]["verify"]
    assert len(job["strategy"]["matrix"]["seed"]) > 1
    run = next(step for step in job["steps"] if step.get("run") == "make verify")
    assert int(run["env"]["GRADES"]) > 1
    shell = {**os.environ, "GRADES": "3", "SEED": "x"}
    told = subprocess.run(
        ["make", "--dry-run", "verify"], cwd=ROOT, env=shell, capture_output=True, text=True
    )
    commands = [line.split("harness ")[1] for line in told.stdout.splitlines() if "harness" in line]
    slugs = sorted(folder.parent.name for folder in (ROOT / "problems").glob("*/problem.md"))
    wanted = {f"verify {slug} --grades 3 --seed x" for slug in slugs}
    assert wanted == {command for command in commands if command.startswith("verify")}


def test_what_is_installed_comes_from_the_cache_where_nobody_else_trusts_it() -> None:
    known = {step.get("id"): step for step in steps(load(named("grade")))}
    cache = known["cache"]
    assert cache["uses"].startswith("actions/cache@")
    assert cache["with"]["key"] == "${{ steps.install.outputs.key }}"
    assert "restore-keys" not in cache["with"]  # another harness than the base's
    # Of the default branch's jobs, none in which submitted code runs.
    assert cache["if"] == (
        "inputs.harness == '' && (inputs.install-only == 'true' || "
        "github.event_name == 'pull_request')"
    )
    install = [s for s in steps(load(named("grade"))) if "Install the harness" in s.get("name", "")]
    assert [step["if"] for step in install] == [
        "inputs.harness == '' && steps.cache.outputs.cache-hit != 'true'"
    ]
    named_steps = {step.get("name"): step for step in steps(load(named("grade")))}
    for name in ("Fetch the pull request as git objects", "Grade"):
        assert named_steps[name]["if"] == "inputs.install-only != 'true'"


@pytest.mark.corpus
def test_the_cache_is_found_by_all_that_is_installed(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / ".github/actions/grade").mkdir(parents=True)
    for name in ("pyproject.toml", "constraints.txt", "harness/a.py", "leaderboard/b.py"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(name)
    (root / "tools").mkdir()
    (root / "tools/has_nvcc.py").write_text("x")

    def key(runner: str = "Linux") -> str:
        output = tmp_path / "output"
        output.unlink(missing_ok=True)
        done = bash(
            script(named("grade"), "Name the harness of the base"),
            tmp_path,
            GITHUB_ACTION_PATH=str(root / ".github/actions/grade"),
            GITHUB_OUTPUT=str(output),
            RUNNER_TEMP="/tmp/runner",
            RUNNER_OS=runner,
            RUNNER_ARCH="X64",
        )
        assert done.returncode == 0, done.stderr
        said, where = output.read_text().splitlines()
        assert re.fullmatch(rf"key=kernel-harness-{runner}-X64-[0-9a-f]{{64}}", said)
        assert where == "harness=/tmp/runner/kernel-harness/bin/harness"
        return said

    first = key()
    (root / "harness/a.pyc").write_text("made")
    (root / "README.md").write_text("words")
    assert key() == first
    assert key("macOS") != first
    for name in ("harness/a.py", "constraints.txt", "leaderboard/c.py"):
        before = key()
        (root / name).write_text("other")
        assert key() != before
