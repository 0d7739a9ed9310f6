"""The files: what they say, that they fit where they go, that nothing in them is interpreted."""

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from markdown_it import MarkdownIt
from support import samples
from support.hostile_words import ALL, LINES, NASTY
from support.repositories import CI, GOOD, WRONG, Repo

from harness.ci.annotations import MAX_ANNOTATIONS, Annotation, annotations, command
from harness.ci.changes import ChangeKind
from harness.ci.junit import junit
from harness.ci.lines import failing_line
from harness.ci.markdown import block, code
from harness.ci.report import FileOutcome, Graded, Note, PullRequestReport
from harness.ci.summary import COMMENT_BYTES, SUMMARY_BYTES, comment, summary
from harness.records.build import Build
from harness.records.cases import ShrunkCase, TensorValues
from harness.records.refs import SolutionRef
from harness.records.result import Verdict

COMMIT = "0123456789" * 4
PATH = "solutions/vector-add/alice/one.cu"
MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable("table")


def about(path: str = PATH, name: str = "one") -> dict[str, Any]:
    solution = SolutionRef(author="alice", name=name, language="cuda", hash="h", path=path)
    return {"problem": "vector-add", "solution": solution}


def report(*graded: Graded, **fields: Any) -> PullRequestReport:
    return PullRequestReport.of(
        created=samples.START,
        harness="0.1.0",
        base=COMMIT,
        merge_base=COMMIT,
        head=COMMIT,
        **{"timed": True, "graded": graded, **fields},
    )


def wrong(number: int = 0, message: str = "wrong", **changes: Any) -> Graded:
    name = f"one{number or ''}"
    path = f"solutions/vector-add/alice/{name}.cu"
    result = samples.failed(message=message, **about(path, name), **changes)
    return Graded(path=path, kind=ChangeKind.ADDED, line=7, result=result)


def good() -> Graded:
    return Graded(path=PATH, kind=ChangeKind.ADDED, result=samples.result(**about()))


def test_a_summary_says_verdict_reason_and_replay() -> None:
    text = summary(report(good(), wrong(1)))
    assert text.startswith("## Kernels: 1 of 2 accepted\n")
    assert f"| `ACCEPTED` | `{PATH}` | `float32` | `NVIDIA H100 80GB HBM3` | 1.31" in text
    assert "over `PyTorch eager` |" in text
    assert "### `WRONG_ANSWER` `solutions/vector-add/alice/one1.cu`, line 7" in text
    assert "m=33,n=1,k=7,alpha=-0.5" in text
    assert "harness submit tiled.cu --seed 123456789" in text


def test_the_first_mismatch_is_in_every_report() -> None:
    values = TensorValues(parameter="x", role="input", shape=(2,), values=(1.5, -2.0))
    one = wrong()
    case = one.result.cases[0].model_copy(update={"spec": "m=1"})
    shrunk = ShrunkCase(case=case, trials=3, seconds=2.0, tensors=(values,))
    graded = one.model_copy(update={"result": one.result.model_copy(update={"shrunk": shrunk})})
    first = case.mismatch.first if case.mismatch else None
    assert first is not None
    said = f"[{', '.join(map(str, first.index))}]: expected "
    found = report(graded)
    (annotation,) = annotations(found)
    assert "case: m=1%0A" in annotation
    assert said in annotation
    xml = ET.fromstring(junit(found))
    failure = xml.find(".//failure")
    assert failure is not None
    for text in (summary(found), comment(found), failure.text or ""):
        assert said in text
        assert "input x (2)" in text
        assert "1.5" in text
    assert graded.result.reproduce in (failure.text or "")
    case_ = xml.find(".//testcase")
    assert case_ is not None
    assert float(case_.get("time", "0")) >= 2.0


def test_a_summary_of_a_refusal_names_the_file() -> None:
    refused = report(refused=[Note(path="README.md", reason="lies outside")])
    assert "```text\nREADME.md: lies outside\n```" in summary(refused)
    assert refused.outcome is FileOutcome.REFUSED


@pytest.mark.parametrize("letter", ["x", "µ", "\U0001d518", "`"])
def test_summaries_and_comments_fit_their_limits(letter: str) -> None:
    build = Build(seconds=1, cached=False, target="sm_90", log=letter * 30_000)
    full = report(
        *(
            wrong(number, letter * 5000, verdict=Verdict.COMPILE_ERROR, cases=(), build=build)
            for number in range(1, 150)
        )
    )
    text = comment(full)
    assert COMMENT_BYTES / 2 < len(text.encode("utf-8")) <= COMMENT_BYTES
    assert text.endswith("… the rest does not fit here; report.json has everything.\n")
    # Whole sections, so that no fence is left open.
    assert "does not fit" in outside_of_code(text)


@pytest.mark.parametrize("limit", [1000, 20_000, 200_000])
def test_a_summary_keeps_to_its_limit(limit: int) -> None:
    full = report(*(wrong(number, "x" * 3000) for number in range(1, 150)))
    assert len(summary(full, limit).encode("utf-8")) <= limit


def outside_of_code(text: str) -> str:
    """What Markdown makes of ``text``, but for what is code in it."""
    html = MARKDOWN.render(text)
    html = re.sub(r"<pre><code.*?</code></pre>", "", html, flags=re.DOTALL)
    return re.sub(r"<code>.*?</code>", "", html, flags=re.DOTALL)


MARK = "ZQZ"


@pytest.mark.parametrize(
    "words",
    [
        MARK,
        f"`{MARK}`",
        f"``` \n{MARK}\n```\n{MARK}",
        "`" * 40 + f"\n{MARK}",
        f"~~~\n{MARK}\n~~~",
        f"| {MARK} | {MARK}",
        f"\\| {MARK} \\`{MARK}",
        f"</details><img src=x onerror={MARK}>",
        f"<!-- {MARK}",
        f"@{MARK} #1 {MARK}/{MARK}#1",
        f"[{MARK}](http://{MARK})",
        f"\n\n# {MARK}\n\n- {MARK}\n",
        f"\r\n{MARK}\r{MARK}\x0b{MARK}\u2028{MARK}",
        f"</code></pre>{MARK}",
        f"    {MARK}",
        MARK + ALL + MARK,
        MARK + LINES + MARK,
    ],
)
def test_text_of_a_submission_is_not_interpreted_as_markdown(words: str) -> None:
    failed = wrong(
        1, words, verdict=Verdict.COMPILE_ERROR, cases=(), output=words, reproduce=words,
        build=Build(seconds=1, cached=False, target=words, log=words),
    )  # fmt: skip
    unranked = samples.unranked(words, **about())
    texts = [
        summary(report(Graded(path=PATH, kind=ChangeKind.ADDED, result=unranked), failed)),
        summary(
            report(
                good(),
                fault=words,
                deleted=(words,),
                ignored=(words, "b"),
                skipped=(Note(path=words, reason=words),),
            )
        ),
        comment(report(refused=[Note(path=words, reason=words)])),
        f"| {code(words)} | end |",
        block(words),
    ]
    for text in texts:
        assert MARK in text
        assert MARK not in outside_of_code(text)
        assert "@octocat" not in outside_of_code(text)
    table = MARKDOWN.render(f"| a | b |\n|---|---|\n| {code(words)} | end |\n")
    assert table.count("<td>") == 2


@settings(max_examples=60)
@given(words=NASTY)
def test_code_spans_keep_any_text_as_code(words: str) -> None:
    for text in (f"a {code(words)} b", f"a\n\n{block(words)}\nb"):
        shown = re.sub(r"\s", "", outside_of_code(text))
        assert shown in ("<p>ab</p>", "<p>a</p><p>b</p>")


def test_annotations_are_escaped_as_the_runner_reads_them() -> None:
    line = command(Annotation("a,b:c%.cu", 3, "T:1,2", "50% of\r\nit: x, y"))
    assert line == "::error file=a%2Cb%3Ac%25.cu,line=3,title=T%3A1%2C2::50%25 of%0Ait: x, y"


@settings(max_examples=60)
@given(path=NASTY, message=NASTY)
def test_an_annotation_is_one_command(path: str, message: str) -> None:
    line = command(Annotation(path, 1, "Refused", message))
    assert len(line.splitlines()) == 1
    match = re.fullmatch(r"::error file=([^:,]*),line=1,title=Refused::(.*)", line)
    assert match is not None
    assert not re.search(r"%(?!25|0A|0D|3A|2C)", line)


def test_annotations_are_limited_to_those_that_github_shows() -> None:
    lines = annotations(report(*(wrong(number) for number in range(1, 31))))
    assert len(lines) == MAX_ANNOTATIONS
    assert lines[-1] == "::error title=More failures::21 more are in the job's summary"
    assert len(annotations(report(wrong(1), good()))) == 1


def test_annotations_are_printed_on_github_only(
    repo: Repo, ci: CI, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.write("solutions/vector-add/alice/first.py", WRONG)
    repo.commit()
    ci()
    assert "::error" not in capsys.readouterr().out
    ci(annotate=True)
    assert "::error file=solutions/vector-add/alice/first.py,line=3," in capsys.readouterr().out
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    ci()
    assert "::error file=" in capsys.readouterr().out
    ci(annotate=False)
    assert "::error" not in capsys.readouterr().out


def test_refusals_are_annotated(repo: Repo, ci: CI, capsys: pytest.CaptureFixture[str]) -> None:
    repo.write(b"a\n::error::b,c.md", "x")
    repo.commit()
    assert ci(annotate=True).status == 2
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("::error file=a\\n\\x3a%3Aerror%3A%3Ab%2Cc.md,line=1,title=Refused::")


def test_the_summary_is_appended_to_that_of_the_job(
    repo: Repo, ci: CI, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "step"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(place))
    repo.write("solutions/vector-add/alice/first.py", GOOD + "# again\n")
    repo.commit()
    place.write_text("x" * (SUMMARY_BYTES - 500))
    ci()
    assert place.stat().st_size == SUMMARY_BYTES - 500
    place.write_text("x" * 10 + "\n")
    ended = ci()
    assert place.read_text() == "x" * 10 + "\n" + (ended.out / "summary.md").read_text()
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path))
    assert "GITHUB_STEP_SUMMARY=" in str(ci().error)


@pytest.mark.parametrize("words", [ALL, LINES, "\0\x1b\ud800\ufffe\uffff]]>&<", "x" * 100_000])
def test_junit_is_well_formed_xml(words: str) -> None:
    internal = wrong(2, words, verdict=Verdict.INTERNAL_ERROR, cases=())
    text = junit(report(good(), wrong(1, words, output=words), internal, fault=words))
    suites = ET.fromstring(text)
    assert [suite.get("name") for suite in suites] == ["pull request", "vector-add"]
    suite = suites[1]
    counts = {key: suite.get(key) for key in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "3", "failures": "1", "errors": "1", "skipped": "0"}
    assert [case.get("line") for case in suite] == ["1", "7", "7"]


@pytest.mark.parametrize(
    ("message", "log", "line"),
    [
        (f"{PATH}:4: error: no", "", 4),
        ("ptxas said no", f"{PATH}:2: warning: w\n{PATH}:5: error: e", 5),
        ("ptxas said no", f"{PATH}:5:7: fatal error: e", 5),
        ("ptxas said no", f"{PATH}:2: note: n", 2),
        (f"{PATH}:999: error", "", 3),
        (f"{PATH}:0: error", "", 3),
        (f"{PATH}:{'9' * 5000}", "", 3),
        ("elsewhere.cu:4: error", "", 3),
        ("", "", 3),
    ],
)
def test_a_failure_is_annotated_at_its_line(message: str, log: str, line: int) -> None:
    source = "#define X\n\nextern void solution (int n)\n{\n}\n"
    build = Build(seconds=1, cached=False, target="sm_90", log=log)
    result = samples.failed(message=message or "wrong", build=build, **about())
    assert failing_line(result, source) == line


def test_a_failure_without_an_entry_point_is_annotated_at_the_first_line() -> None:
    assert failing_line(samples.failed(**about()), "") == 1


def test_a_report_survives_json() -> None:
    full = report(good(), wrong(1), deleted=("a\udc80",))
    again = PullRequestReport.from_json(full.to_json())
    assert again.to_json() == full.to_json()  # not themselves: NaN is no NaN
    assert full.deleted == ("a\\udc80",)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"outcome": "accepted"}, "outcome: 'accepted', and it is 'not accepted'"),
        ({"outcome": "fine"}, "outcome: "),
        ({"schema": 2}, "report schema 2, this harness reads 1"),
        ({"head": "main"}, "head: "),
        ({"more": 1}, "more: Extra inputs"),
        ({"graded": {}}, "graded: "),
    ],
)
def test_a_report_with_wrong_fields_is_refused(changes: dict[str, Any], words: str) -> None:
    data = json.loads(report(wrong(1)).to_json()) | changes
    with pytest.raises(ValueError, match=re.escape(words)):
        PullRequestReport.from_json(json.dumps(data))


@pytest.mark.parametrize(
    "text", ["", "[]", "null", "{", "[" * 100_000, '{"schema": ' + "9" * 5000 + "}", "NaN"]
)
def test_a_report_that_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".") as told:
        PullRequestReport.from_json(text)
    assert "\n" not in str(told.value)


def test_a_file_of_any_language_has_a_report() -> None:
    for name in ("one.cu", "one.ptx", "one.py", "a..ptx"):
        path = f"solutions/vector-add/alice/{name}"
        result = samples.result(**about(path, Path(name).stem))
        assert Graded(path=path, kind=ChangeKind.ADDED, result=result).author == "alice"


def test_a_report_is_about_files_of_its_author() -> None:
    assert report(good(), author="alice").author == "alice"
    for author in ("bob", "Alice", "al"):
        with pytest.raises(ValueError, match="is not in the folder of the author"):
            report(good(), author=author)
    assert report(refused=[Note(path=PATH, reason="not his")], author="bob").graded == ()


def forged(kind: str) -> str:
    whole = report(good()).to_json()
    match kind:
        case "empty objects":
            return '{"schema":1,"graded":[' + "{}," * 5_300_000 + "{}]}"
        case "few empty objects":
            return '{"schema":1,"graded":[' + "{}," * 400_000 + "{}]}"
        case "unknown keys":
            return whole[:-1] + "".join(f',"k{n}":1' for n in range(900_000)) + "}"
        case "cases":
            return whole.replace('"cases":[', '"cases":[' + "{}," * 400_000)
        case "samples":
            return whole.replace('"samples_s":[', '"samples_s":[' + '"x",' * 900_000)
        case "quotes":
            return '"' * (32 << 20)
    raise AssertionError(kind)


COSTLY = ["empty objects", "few empty objects", "unknown keys", "cases", "samples", "quotes"]
_READ = """
import resource, sys, time
from harness.ci.report import PullRequestReport
text = sys.stdin.read()
started = time.process_time()
try:
    PullRequestReport.from_json(text)
except ValueError as error:
    assert len(str(error)) < 2000, len(str(error))
    print(time.process_time() - started, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.corpus
@pytest.mark.parametrize("kind", COSTLY)
def test_a_forged_report_costs_little(kind: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _READ],
        input=forged(kind),
        capture_output=True,
        text=True,
        check=True,
    )
    seconds, kib = map(float, done.stdout.split())
    assert seconds < 15  # 1 to 2 where nothing else is at work
    assert kib < 1 << 20


def test_lists_of_a_report_are_bounded() -> None:
    for field in ("deleted", "ignored"):
        report(**{field: ["a"] * 501})
        with pytest.raises(ValueError, match="at most 501 items"):
            report(**{field: ["a"] * 502})
    for field in ("skipped", "refused"):
        with pytest.raises(ValueError, match="at most 501 items"):
            report(**{field: [Note(path="a", reason="b")] * 502})
    report(*(wrong(number) for number in range(1, 201)))
    with pytest.raises(ValueError, match="at most 200 items"):
        report(*(wrong(number) for number in range(1, 202)))


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("solutions/vector-add/bob/one.cu", "the result is not that of"),
        ("solutions/softmax/alice/one.cu", "the result is not that of"),
        ("../../etc/passwd", "is not the path of a submission"),
    ],
)
def test_a_result_of_another_file_is_refused(path: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Graded(path=path, kind=ChangeKind.ADDED, result=samples.result(**about()))
    with pytest.raises(ValueError, match="another author or file"):
        Graded(path=PATH, kind=ChangeKind.ADDED, result=samples.result(**about(name="two")))
    with pytest.raises(ValueError, match="is gone"):
        Graded(path=PATH, kind=ChangeKind.DELETED, result=samples.result(**about()))
    with pytest.raises(ValueError, match="graded twice"):
        report(good(), good())
