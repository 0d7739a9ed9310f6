"""The folder of a site is replaced as a whole, and nothing else ever is."""

import subprocess
import sys
from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.site import folder
from harness.site.folder import MARKER, replaced


def _make(out: Path, text: str) -> None:
    with replaced(out) as new:
        (new / "index.html").write_text(text, encoding="utf-8")


def test_it_is_made_and_replaced_as_a_whole(tmp_path: Path) -> None:
    out = tmp_path / "a" / "site"
    _make(out, "one")
    (out / "old.html").touch()
    _make(out, "two")
    assert sorted(path.name for path in out.iterdir()) == [MARKER, "index.html"]
    assert (out / "index.html").read_text("utf-8") == "two"
    assert list(out.parent.iterdir()) == [out]
    assert out.stat().st_mode & 0o500 == 0o500


def test_where_names_cannot_be_exchanged_it_is_replaced_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder, "_exchanged", lambda *_: False)
    for text in ("one", "two"):
        _make(tmp_path / "site", text)
    assert (tmp_path / "site/index.html").read_text("utf-8") == "two"
    assert list(tmp_path.iterdir()) == [tmp_path / "site"]


def test_an_empty_folder_may_be_used(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    _make(tmp_path / "site", "one")
    assert (tmp_path / "site/index.html").is_file()


@pytest.mark.parametrize("kind", ["file", "folder", "link"])
def test_what_is_not_a_site_is_left_alone(tmp_path: Path, kind: str) -> None:
    out = tmp_path / "mine"
    if kind == "file":
        out.write_text("mine", encoding="utf-8")
    elif kind == "folder":
        out.mkdir()
        (out / "thesis.tex").write_text("mine", encoding="utf-8")
    else:
        (tmp_path / "real").mkdir()
        out.symlink_to(tmp_path / "real")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(UsageError, match="name a"):
        _make(out, "one")
    assert sorted(tmp_path.rglob("*")) == before


def test_a_build_that_fails_leaves_the_former_site(tmp_path: Path) -> None:
    out = tmp_path / "site"
    _make(out, "one")
    with pytest.raises(ZeroDivisionError), replaced(out) as new:
        (new / "index.html").write_text("two", encoding="utf-8")
        raise ZeroDivisionError
    assert (out / "index.html").read_text("utf-8") == "one"
    assert list(tmp_path.iterdir()) == [out]


def test_a_build_that_is_killed_leaves_the_former_site(tmp_path: Path) -> None:
    out = tmp_path / "site"
    _make(out, "one")
    script = (
        "import os, signal, sys, pathlib\n"
        "from harness.site.folder import replaced\n"
        "with replaced(pathlib.Path(sys.argv[1])) as new:\n"
        "    (new / 'index.html').write_text('two')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, out], check=False, timeout=60)
    assert done.returncode == -9
    assert (out / "index.html").read_text("utf-8") == "one"
    assert len(list(tmp_path.iterdir())) == 2
    _make(out, "three")
    assert list(tmp_path.iterdir()) == [out]


def test_a_build_that_is_still_running_keeps_its_folder(tmp_path: Path) -> None:
    with replaced(tmp_path / "site") as new:
        (new / "index.html").write_text("slow", encoding="utf-8")
        _make(tmp_path / "site", "fast")
        assert (new / "index.html").is_file()
    assert (tmp_path / "site/index.html").read_text("utf-8") == "slow"
