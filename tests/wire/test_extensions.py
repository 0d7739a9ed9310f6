"""Requests for extensions: read strictly, and told apart by what decides a build."""

import json
import os
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.wire.extensions import (
    MAX_EXTENSIONS,
    NEUTRAL_NAME,
    ROOM,
    ExtensionRequest,
    SourceFile,
    read_requests,
    write_request,
)
from harness.wire.memory import sealed_memory

PLAIN = ExtensionRequest(
    name="vadd",
    sources=(SourceFile(name="main.cpp", text="PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {}"),),
)


@pytest.fixture
def memory() -> Iterator[int]:
    fd = sealed_memory("asked", ROOM)
    yield fd
    os.close(fd)


def _with_text(text: str) -> ExtensionRequest:
    return replace(PLAIN, sources=(SourceFile(name="main.cpp", text=text),))


def test_what_is_written_is_read_once_each(memory: int) -> None:
    place, wanted = 0, [PLAIN, _with_text("ä \0 \n\ud800"), replace(PLAIN, cflags=("-O3",))]
    for request in (*wanted, PLAIN):
        place = write_request(memory, place, request)
    assert list(read_requests(memory)) == wanted


def test_what_does_not_fit_is_not_written(memory: int) -> None:
    with pytest.raises(ValueError, match="4 MiB"):
        write_request(memory, 0, _with_text("x" * ROOM))
    assert read_requests(memory) == ()


@pytest.mark.parametrize(
    "written",
    [
        b"",
        b"\n",
        b"not json\n",
        b"[" * 100_000,
        b'{"name": 1e999999}\n',
        b"9" * 100_000 + b"\n",
        b'{"name": "a", "sources": [], "more": 1}\n',
        b'{"name": "a", "sources": [{"name": "a.cpp", "text": 7}]}\n',
        b'{"name": "a", "sources": {"0": 1}}\n',
        b"\xff\xfe\n",
        b'{"name": "a", "sources": [{"name": "../../judge.cpp", "text": ""}]}\n',
        b'{"name": "a", "sources": [{"name": "/etc/a.cpp", "text": ""}]}\n',
        b'{"name": "\\u001b[31m", "sources": [{"name": "a.cpp", "text": ""}]}\n',
    ],
    ids=range(13),
)
def test_what_is_no_request_ends_the_reading(memory: int, written: bytes) -> None:
    place = write_request(memory, 0, PLAIN)
    os.pwrite(memory, written, place)
    assert read_requests(memory) == (PLAIN,)


@given(st.binary(max_size=300))
def test_any_bytes_are_some_requests_or_none(written: bytes) -> None:
    fd = sealed_memory("asked", ROOM)
    os.pwrite(fd, written, 0)
    assert isinstance(read_requests(fd), tuple)
    os.close(fd)


def test_more_than_the_most_are_not_read(memory: int) -> None:
    place = 0
    for number in range(MAX_EXTENSIONS + 9):
        place = write_request(memory, place, _with_text(f"// {number}"))
    assert len(read_requests(memory)) == MAX_EXTENSIONS


def test_a_flood_of_one_request_is_one(memory: int) -> None:
    line = json.dumps({"name": "a", "sources": [{"name": "a.c", "text": ""}]}).encode() + b"\n"
    os.pwrite(memory, line * (ROOM // len(line)), 0)
    assert len(read_requests(memory)) == 1


class TestDigest:
    def test_a_name_that_no_source_mentions_decides_nothing(self) -> None:
        other = replace(PLAIN, name="vadd_1234")
        assert other.digest == PLAIN.digest
        assert other.built_name == NEUTRAL_NAME

    @pytest.mark.parametrize(
        "text", ["PYBIND11_MODULE(vadd, m) {}", "TORCH_LIBRARY(TORCH_EXTENSION_NAME, m) {}"]
    )
    def test_a_name_in_a_source_does(self, text: str) -> None:
        one = _with_text(text)
        assert one.built_name == "vadd"
        assert replace(one, name="vadd2").digest != one.digest

    @pytest.mark.parametrize(
        "change",
        [
            {"cflags": ("-O3",)},
            {"cuda_cflags": ("-O3",)},
            {"ldflags": ("-lm",)},
            {"include_paths": ("/usr/include",)},
            {"with_cuda": True},
            {"python_module": False},
            {"sources": (SourceFile(name="main.cc", text=PLAIN.sources[0].text),)},
        ],
    )
    def test_all_else_decides(self, change: dict[str, object]) -> None:
        assert replace(PLAIN, **change).digest != PLAIN.digest


class TestFault:
    def test_there_is_none_in_an_honest_request(self) -> None:
        assert PLAIN.fault() == ""

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            ({"name": "a-b"}, "no identifier"),
            ({"name": "a b"}, "no identifier"),
            ({"name": ""}, "no identifier"),
            ({"sources": ()}, "no sources"),
            ({"sources": (SourceFile(name="../x.cpp", text=""),)}, "no name of a C"),
            ({"sources": (SourceFile(name="-o.cpp", text=""),)}, "no name of a C"),
            ({"sources": (SourceFile(name="@a.cpp", text=""),)}, "no name of a C"),
            ({"sources": (SourceFile(name="a.so", text=""),)}, "no name of a C"),
            ({"sources": PLAIN.sources * 2}, "same name"),
            ({"cflags": ("-O3",) * 300}, "options"),
            ({"ldflags": ("-l" + "m" * 3000,)}, "options"),
        ],
    )
    def test_what_cannot_be_built_is_said(self, change: dict[str, object], words: str) -> None:
        assert words in replace(PLAIN, **change).fault()
