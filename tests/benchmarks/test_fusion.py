"""What is made of profiles and grades, and what the page and the figure show of it."""

import json
import math
import re
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest
from support.samples import interval, measurement, result, score

from benchmarks import plots
from benchmarks.fusion import page, profiles
from benchmarks.fusion.collect import fusion
from benchmarks.fusion.grades import graded, graded_as, read_results
from benchmarks.fusion.profiles import Ceilings, Seen, ceilings_of, kept, profiled
from benchmarks.fusion.rows import fused_seconds, launches, mean, row, table, total, unfused_seconds
from benchmarks.fusion.ways import FUSED, HAND, LIBRARY, UNFUSED, WAYS, Way, ways
from harness.commands.exchange import write_export
from harness.errors import MachineError
from harness.records.profile import KernelProfile, Profile
from harness.records.refs import DeviceRef, SolutionRef
from harness.records.result import Result
from harness.records.ruling import Action, rule

SLUG = "gemm-bias-relu"
CARD = "NVIDIA Made Up 1"
B, P = 2e12, 5e14


def kernel(name: str, us: float | None, read: float | None, written: float | None) -> KernelProfile:
    seconds = None if us is None else us * 1e-6
    return KernelProfile(
        name=name, grid="", block="", duration_s=seconds, read_bytes=read, written_bytes=written
    )


def calls(way: Way, *kernels: KernelProfile) -> list[Profile]:
    """The same launches for each timed shape."""
    cases = way.problem.timed_cases(emulated=False)
    return [Profile(spec=case.spec, kernels=kernels, one_call=True) for case in cases]


def grade(way: Way, speedup: float = 1.5, **changes: Any) -> Result:
    assert way.file is not None
    solution = SolutionRef(
        author="samples",
        name=way.file.stem,
        language="triton",
        hash=way.hash,
        path=f"solutions/{way.problem.slug}/samples/{way.file.name}",
    )
    measured = tuple(
        measurement(100e-6, speedup, spec=case.spec, kernels=1.0, baseline_kernels=3.0)
        for case in way.problem.timed_cases(emulated=False)
    )
    fields: dict[str, Any] = {
        "problem": way.problem.slug,
        "problem_hash": way.problem.hash,
        "solution": solution,
        "language": "triton",
        "dtype": way.dtype,
        "device": DeviceRef(kind="cuda", name=CARD),
        "measurements": measured,
        "score": score(speedup),
    }
    return result(**fields | changes)


@pytest.fixture
def three() -> list[Way]:
    """All ways have files, whatever samples there are."""
    return [
        Way(
            name=each.name, problem=each.problem, dtype=each.dtype, file=each.file or Path(__file__)
        )
        for each in ways(SLUG)
    ]


UNFUSED_CALL = (
    kernel("add", 40.0, 3e8, 1e8),
    kernel("product", 90.0, 1e8, 3e8),
    kernel("max", 41.0, 2e8, 2e8),
)


def seen(three: Sequence[Way], **missing: str) -> Seen:
    found = {
        three[0].key: missing.get(UNFUSED) or calls(three[0], *UNFUSED_CALL),
        three[1].key: missing.get(LIBRARY) or calls(three[1], kernel("lt", 80.0, 1e8, 2e8)),
        three[2].key: missing.get(HAND) or calls(three[2], kernel("mine", 80.0, 1e8, 1.5e8)),
    }
    return Seen(ceilings=Ceilings(bandwidth=B, peaks={SLUG: P}), calls=found)


@pytest.fixture
def whole(three: list[Way]) -> dict[str, Any]:
    """What a run writes, with all that can be known."""
    results = {three[1].key: grade(three[1], 1.5), three[2].key: grade(three[2], 0.9)}
    return {
        "what": "fusion", "date": "2026-11-25", "card": CARD, "driver": "1.2", "torch": "3",
        "triton": "4", "bandwidth": B, "problems": [row(three, seen(three), results)],
    }  # fmt: skip


class TestWays:
    def test_each_problem_has_its_type(self) -> None:
        types = {slug: ways(slug)[0].dtype for slug in FUSED}
        assert set(types.values()) == {"float16", "float32", "complex64"}
        assert (types["matmul-bias-relu"], types["fft-filter"]) == ("float32", "complex64")
        assert ways("softmax", "bfloat16")[2].dtype == "bfloat16"

    @pytest.mark.parametrize("slug", FUSED)
    def test_named_files_are_there_and_for_that_type(self, slug: str) -> None:
        from harness.languages.read import read_solution
        from harness.solution.model import Solution

        for way, name in zip(ways(slug)[1:], FUSED[slug], strict=True):
            assert (way.file is not None) == (name is not None), f"{slug} has no {name}"
            if way.file is not None:
                solution = read_solution(way.file)
                assert isinstance(solution, Solution)
                assert solution.dtypes is None or way.dtype in solution.dtypes

    def test_what_there_is_not(self) -> None:
        with pytest.raises(SystemExit, match="the problems are gemm-bias, "):
            ways("vector-add")
        with pytest.raises(SystemExit, match="fft-filter has complex64, complex128"):
            ways("fft-filter", "float16")


class TestGrades:
    def test_the_newest_of_this_very_file(self, three: list[Way]) -> None:
        way = three[2]
        old, new = (grade(way, 1 + n, created=datetime(2026, 3, n, tzinfo=UTC)) for n in (1, 2))
        other = grade(way, created=datetime(2026, 4, 1, tzinfo=UTC), dtype="bfloat16")
        assert graded_as(way, [new, old, other], CARD) is new

    @pytest.mark.parametrize(
        ("changes", "why"),
        [
            ({"dtype": "bfloat16"}, "no result of triton.py"),
            ({"solution": {"hash": "0" * 64}}, "no result of this triton.py"),
            ({"problem": {"hash": "p0"}}, "results of another version of the problem"),
            ({"device": DeviceRef(kind="cuda", name="another")}, f"no result of {CARD}"),
            ({"effort": "verdict"}, "no more than a rough time"),
        ],
    )
    def test_what_does_not_fit(
        self, three: list[Way], changes: dict[str, Any], why: str, tmp_path: Path
    ) -> None:
        file = tmp_path / "triton.py"
        file.write_text("def solution(): ...")
        way = replace(three[2], file=file)
        whole = grade(way)
        parts = {
            key: getattr(whole, key).model_copy(update=value) if isinstance(value, dict) else value
            for key, value in changes.items()
        }
        assert graded_as(way, [whole.model_copy(update=parts)], CARD) == why
        assert graded_as(way, [whole.model_copy(update=parts), whole], CARD) is whole

    def test_without_a_file_and_of_the_baseline(self, three: list[Way]) -> None:
        none = Way(name=LIBRARY, problem=three[0].problem, dtype="float16", file=None)
        assert graded_as(none, [], CARD) == "no such sample"
        assert isinstance(graded_as(three[0], [], CARD), str)

    def test_exports_and_lines_are_read_but_for_what_was_ruled(
        self, three: list[Way], tmp_path: Path
    ) -> None:
        good, bad, plain = (grade(three[2]) for _ in range(3))
        ruling = rule(bad.id, Action.INVALIDATED, who="us", reason="wrong card")
        export, lines = tmp_path / "export.jsonl", tmp_path / "lines.jsonl"
        with export.open("w") as file:
            write_export([good, bad], lambda: [ruling], file)
        lines.write_text(plain.to_json() + "\n")
        assert {each.id for each in read_results([export, lines])} == {good.id, plain.id}

    def test_one_command_grades_all_files_of_a_type(self, three: list[Way]) -> None:
        given: list[tuple[str, ...]] = []

        def submit(*arguments: str) -> list[dict[str, Any]]:
            given.append(arguments)
            return [json.loads(grade(three[2]).to_json())]

        (found,) = graded(three, submit)
        assert found.solution.hash == three[2].hash
        (arguments,) = given
        assert arguments[:2] == (str(three[1].file), str(three[2].file))
        assert arguments[2:4] == ("--dtype", "float16")


class TestRoofline:
    def test_one_kernel_takes_the_longer_of_both(self) -> None:
        assert fused_seconds(5e14, 2e12, B, P) == 1.0
        assert fused_seconds(5e14, 4e12, B, P) == 2.0
        assert fused_seconds(1e15, 2e12, B, P) == 2.0
        assert fused_seconds(None, 2e12, B, None) == 1.0  # integers have no peak
        assert fused_seconds(None, 2e12, B, P) is fused_seconds(1.0, None, B, P) is None

    def test_all_operations_are_those_of_the_longest_launch(self) -> None:
        seconds = unfused_seconds(UNFUSED_CALL, 2e11, B, P)
        assert seconds == pytest.approx(4e8 / B + 2e11 / P + 4e8 / B)
        memory = unfused_seconds(UNFUSED_CALL, 1.0, B, P)
        assert memory == pytest.approx(12e8 / B)

    def test_what_a_launch_moves_must_be_known(self) -> None:
        blind = (*UNFUSED_CALL, kernel("blind", None, None, 1.0))
        assert unfused_seconds(blind, 1.0, B, P) is None

    def test_sums_and_means(self) -> None:
        assert (total([1.0, 2.0]), total([1.0, None]), total([])) == (3.0, None, None)
        assert mean([2.0, 8.0]) == pytest.approx(4.0)
        assert (mean([2.0, None]), mean([])) == (None, None)


class TestRow:
    def test_the_prediction_follows_from_the_unfused_launches(self, whole: dict[str, Any]) -> None:
        (found,) = whole["problems"]
        for shape in found["shapes"]:
            one = max(shape["bytes"] / B, shape["flops"] / P)
            unfused = 4e8 / B + max(4e8 / B, shape["flops"] / P) + 4e8 / B
            assert shape["predicted"] == pytest.approx(unfused / one)
        logs = [math.log(shape["predicted"]) for shape in found["shapes"]]
        assert math.log(found["predicted"]) == pytest.approx(sum(logs) / len(logs))
        assert found["not_predicted"] == ""

    def test_launches_and_bytes_of_each_way(self, whole: dict[str, Any]) -> None:
        (found,) = whole["problems"]
        first = {way: found["ways"][way]["shapes"][0] for way in WAYS}
        assert [first[way]["launches"] for way in WAYS] == [3, 1, 1]
        assert [first[way]["read_bytes"] for way in WAYS] == [6e8, 1e8, 1e8]
        assert [first[way]["written_bytes"] for way in WAYS] == [6e8, 2e8, 1.5e8]
        assert first[UNFUSED]["gain"] is None
        assert first[HAND]["gain"] == pytest.approx(interval(0.9, 0.004).model_dump())
        assert found["ways"][LIBRARY]["gain"]["value"] == 1.5
        assert json.loads(json.dumps(whole, allow_nan=False)) == whole

    def test_without_a_profile_nothing_is_predicted(self, three: list[Way]) -> None:
        results = {three[2].key: grade(three[2])}
        found = row(three, seen(three, unfused="ncu is not there"), results)
        assert (found["predicted"], found["not_predicted"]) == (None, "ncu is not there")
        assert found["ways"][UNFUSED]["not_profiled"] == "ncu is not there"
        # The records count kernels, too: those of the baseline stand beside any file's.
        assert launches(found["ways"][UNFUSED]) == "3"
        assert found["ways"][LIBRARY]["not_measured"] == "no such sample"

    def test_without_a_roofline_nothing_is_predicted(self, three: list[Way]) -> None:
        without = Seen(ceilings=None, calls=seen(three).calls)
        found = row(three, without, {})
        assert found["not_predicted"] == "the card's roofline was not measured"

    def test_the_table_says_what_is_missing(self, three: list[Way], whole: dict[str, Any]) -> None:
        lines = list(table(whole["problems"]))
        assert lines[1].startswith(f"{SLUG} | float16 | 3, 1, 1 | ")
        assert lines[1].endswith("× | 1.500× ± 0.004 | 0.9000× ± 0.0019")
        nothing = row(three, Seen(ceilings=None, calls={}), {})
        line = list(table([nothing]))[1]
        assert line == (
            f"{SLUG} | float16 | ?, ?, ? | not profiled | no such sample | no such sample"
        )


class TestEarlierRuns:
    def test_launches_are_taken_where_all_is_as_it_was(
        self, three: list[Way], whole: dict[str, Any]
    ) -> None:
        data = json.loads(json.dumps(whole))
        found = kept(three, data, CARD)
        expected = seen(three).calls
        for way in three:
            theirs, ours = found[way.key], expected[way.key]
            assert not isinstance(theirs, str) and not isinstance(ours, str)
            assert [p.kernels for p in theirs] == [p.kernels for p in ours]
        assert ceilings_of(data, CARD) == seen(three).ceilings

    @pytest.mark.parametrize("other", ["problem_hash", "dtype", "file", "card", "kernels"])
    def test_and_not_where_something_changed(
        self, three: list[Way], whole: dict[str, Any], other: str
    ) -> None:
        data = json.loads(json.dumps(whole))
        problem = data["problems"][0]
        if other == "file":
            problem["ways"][HAND]["hash"] = sha256(b"").hexdigest()
        elif other == "kernels":
            problem["ways"][HAND]["shapes"][1]["kernels"] = []
        elif other != "card":
            problem[other] = "another"
        assert three[2].key not in kept(three, data, "another" if other == "card" else CARD)

    def test_without_a_gpu_the_rest_is_not_known(
        self, three: list[Way], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("harness.device.present.gpu_present", lambda: False)
        known = {three[0].key: calls(three[0], *UNFUSED_CALL)}
        found = profiled(three, known, None, 1.0)
        assert found.ceilings is None
        assert found.calls[three[0].key] == known[three[0].key]
        assert found.calls[three[1].key] == "not profiled yet"

    def test_what_is_all_known_needs_no_card(
        self, three: list[Way], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delattr("harness.device.present.gpu_present")
        there = seen(three)
        assert profiled(three, there.calls, there.ceilings, 1.0) == there

    def test_a_run_puts_old_launches_and_new_times_together(
        self, tmp_path: Path, three: list[Way], whole: dict[str, Any], monkeypatch: Any
    ) -> None:
        monkeypatch.setattr("benchmarks.fusion.collect.ways", lambda *_: three)
        before, lines = tmp_path / "before.json", tmp_path / "lines.jsonl"
        before.write_text(json.dumps(whole))
        lines.write_text("".join(grade(way, 2.0).to_json() + "\n" for way in three[1:]))

        def never(*_: str) -> list[dict[str, Any]]:
            raise AssertionError("there are results")

        found = fusion([SLUG], card="", submit=never, results=[lines], profiles=before)
        assert (found["card"], found["date"], found["triton"]) == (CARD, "2026-11-25", "4")
        (problem,) = found["problems"]
        assert problem["predicted"] == whole["problems"][0]["predicted"]
        assert problem["ways"][HAND]["gain"]["value"] == 2.0

    def test_other_data_are_refused(self, tmp_path: Path) -> None:
        other = tmp_path / "repeat.json"
        other.write_text('{"what": "repeat"}')
        with pytest.raises(SystemExit, match="has not written it"):
            fusion([SLUG], card="", submit=lambda *_: [], profiles=other)


class TestOnTheCard:
    """Without one: what is built and profiled is made up."""

    @pytest.fixture
    def launched(self, three: list[Way], monkeypatch: pytest.MonkeyPatch) -> Any:
        def launched(told: Any, built: Any, seconds: float = 60.0) -> Any:
            monkeypatch.setattr("harness.judge.profile.profile_each", lambda *_, **__: told)
            other: Any = None
            until = time.monotonic() + seconds
            return profiles._launches(other, three[2], other, built, Path("ncu"), until)

        return launched

    def test_one_run_tells_of_all_shapes(self, launched: Any) -> None:
        assert launched([1, 2, 3], object()) == [1, 2, 3]
        assert launched("it failed", object()) == "it failed"

    def test_what_is_not_built_is_not_run(self, launched: Any) -> None:
        assert launched([1], "nvcc said no") == "nvcc said no"

    def test_no_way_is_begun_when_time_is_up(self, launched: Any) -> None:
        assert launched([1], object(), seconds=-1.0) == "no time was left for it"

    def test_why_a_way_is_not_built(
        self, three: list[Way], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("harness.session.programs.timed_program", lambda built: (built,))

        def building(answer: object) -> Any:
            def build(*_: object, **__: object) -> object:
                if isinstance(answer, Exception):
                    raise answer
                return answer

            return SimpleNamespace(build=build)

        assert profiles._built(building("made"), three[2]) == ("made",)
        assert profiles._built(building(MachineError("no room")), three[2]) == "no room"
        missing = replace(three[2], file=None)
        assert profiles._built(building("made"), missing) == "no such sample"


class TestPage:
    def test_what_is_committed_is_what_the_data_make(self) -> None:
        assert page.PAGE.read_text(encoding="utf-8") == page.made(), "python -m benchmarks.plots"

    def test_without_data_nothing_is_said(self) -> None:
        text = page.with_tables(page.PAGE.read_text(encoding="utf-8"), {})
        assert f"<!-- measured -->\n{page.NOTHING}\n<!-- end of measured -->" in text

    def test_newest_card_first_with_its_figure(self, whole: dict[str, Any]) -> None:
        older = {**whole, "card": "NVIDIA Old", "date": "2026-01-01"}
        text = page.with_tables(
            "<!-- measured -->\n<!-- end of measured -->\n",
            {"fusion-old": older, "fusion-new": whole},
        )
        assert re.findall("^## (.*)$", text, re.MULTILINE) == [CARD, "NVIDIA Old"]
        assert "](../data/plots/fusion-new.svg)" in text
        assert "The roofline: 2.00 TB/s, float16 500 TFLOP/s." in text

    def test_all_ways_of_all_shapes(self, whole: dict[str, Any]) -> None:
        text = page.with_tables("<!-- measured -->\n<!-- end of measured -->", {"f": whole})
        lines = [line for line in text.splitlines() if line.startswith("|")][2:]
        (problem,) = whole["problems"]
        assert len(lines) == 3 * len(problem["shapes"]) + 2
        spec, predicted = problem["shapes"][0]["spec"], problem["shapes"][0]["predicted"]
        assert (
            lines[0] == f"| {spec.replace(',', ', ')} | unfused | 3 | 572 MiB | 572 MiB | 1 | 1 |"
        )
        shown = f"{predicted:.2f}×"
        assert lines[2] == f"|  | hand | 1 | 95.4 MiB | 143 MiB | {shown} | 0.900× ± 0.004 |"
        assert lines[-2].startswith("| geometric mean | library |  |  |  | ")
        assert lines[-1].endswith("× | 0.9000× ± 0.0019 |")

    def test_what_is_missing_is_said(self, three: list[Way], whole: dict[str, Any]) -> None:
        noisy = score(1.2, ranked=False, unranked_reason="noisy")
        found = row(
            three,
            seen(three, unfused="no | counters\nhere."),
            {three[2].key: grade(three[2], score=noisy)},
        )
        text = page.with_tables(
            "<!-- measured -->\n<!-- end of measured -->", {"f": {**whole, "problems": [found]}}
        )
        assert "No bytes of unfused: no counters here." in text
        assert "No time of library: no such sample." in text
        assert "The time of hand is not ranked." in text

    def test_a_page_without_a_place_is_refused(self) -> None:
        with pytest.raises(ValueError, match="no one place"):
            page.with_tables("nothing", {})


class TestPlot:
    def test_what_is_known_is_drawn(self, three: list[Way], whole: dict[str, Any]) -> None:
        nothing = row(three, Seen(ceilings=None, calls={}), {})
        text = plots.fusion({**whole, "problems": [*whole["problems"], nothing]})
        root = ElementTree.fromstring(text)
        names = [node.text for node in root.iter("{http://www.w3.org/2000/svg}text")]
        assert names.count(SLUG) == 2
        assert f"{SLUG}, library: 1.500× ± 0.004" in text
        assert f"{SLUG}, hand: 0.9000× ± 0.0019" in text
        diamonds = [n for n in root.iter() if n.tag.endswith("path")]
        assert len(diamonds) == 2  # one in the legend
        assert "docs/explanation/fusion.md" in text

    def test_nothing_known_is_a_figure_too(self, three: list[Way], whole: dict[str, Any]) -> None:
        nothing = row(three, Seen(ceilings=None, calls={}), {})
        root = ElementTree.fromstring(plots.fusion({**whole, "problems": [nothing]}))
        names = [node.text for node in root.iter("{http://www.w3.org/2000/svg}text")]
        assert names.count(SLUG) == 1
        assert len([n for n in root.iter() if n.tag.endswith("path")]) == 1  # that of the legend

    @pytest.mark.parametrize(
        ("low", "high", "expected"),
        [(0.9, 1.5, [0.5, 1, 2]), (1, 1, [1, 2]), (0.1, 5, [0.1, 0.2, 0.5, 1, 2, 5])],
    )
    def test_the_axis_ends_at_round_values(
        self, low: float, high: float, expected: list[float]
    ) -> None:
        assert plots._round_values(low, high) == pytest.approx(expected)
