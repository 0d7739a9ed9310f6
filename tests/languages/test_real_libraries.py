"""NVIDIA's own libraries, where they are installed: they link, and a GPU computes right with them.

``HARNESS_TEST_LIBRARIES`` may name a further folder of packages to look into.
"""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from support.tools import needs_nvcc

from harness.device.choose import open_device
from harness.grading.grader import Grader
from harness.grading.job import Job, Options
from harness.languages import LANGUAGES, cuda
from harness.languages.build.cache import Cache
from harness.languages.build.libraries import Libraries, LibraryNotFound, libraries_for
from harness.languages.build.linking import fails_to_link
from harness.languages.build.toolchain import Nvcc, find_host_compiler, find_nvcc
from harness.languages.read import read_solution
from harness.problem.format.load import load_problem
from harness.problem.libraries import LIBRARIES
from harness.progress.progress import NoProgress
from harness.solution.model import Artifact, Solution, Target

pytestmark = [pytest.mark.nvcc, needs_nvcc]

ROOT = Path(__file__).parents[2]
FILES = Path(__file__).parent / "files/libraries"
PRODUCTS = {
    FILES / "cublas.cu": "gemm-alpha-beta",
    FILES / "cutlass.cu": "gemm-alpha-beta",
    ROOT / "solutions/gemm-bias-relu/samples/cutlass.cu": "gemm-bias-relu",
}
"""Files, each named after its library, and what they solve."""
each_product = pytest.mark.parametrize(
    "file", PRODUCTS, ids=[f"{slug}-{file.stem}" for file, slug in PRODUCTS.items()]
)

Find = Callable[[str], None]


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Find:
    """Skips the test where a library is not installed."""
    more = [Path(each) for each in filter(None, [os.environ.get("HARNESS_TEST_LIBRARIES")])]

    def everywhere(nvcc: Nvcc) -> Libraries:
        here = libraries_for(nvcc)
        return replace(here, site_packages=(*here.site_packages, *more))

    monkeypatch.setattr(cuda, "libraries_for", everywhere)

    def find(name: str) -> None:
        try:
            everywhere(find_nvcc()).find(name)
        except LibraryNotFound as missing:
            pytest.skip(str(missing))

    return find


def solution(file: Path) -> Solution:
    read = read_solution(file, problem=PRODUCTS[file])
    assert isinstance(read, Solution), read
    return read


@pytest.mark.parametrize("name", LIBRARIES)
def test_it_links(name: str, installed: Find, cache: Cache) -> None:
    installed(name)
    nvcc = find_nvcc()
    found = cuda.libraries_for(nvcc).find(name)
    assert found.version
    assert fails_to_link(found, nvcc, find_host_compiler(), cache) == ""


@pytest.mark.corpus
@each_product
def test_a_product_builds(file: Path, installed: Find, cache: Cache) -> None:
    installed(file.stem)
    read, problem = solution(file), load_problem(ROOT / "problems" / PRODUCTS[file])
    dtype = (read.dtypes or problem.dtypes)[0]
    for cached in (False, True):
        made = LANGUAGES["cuda"].build(read, problem, dtype, Target(kind="cuda"), cache)
        assert isinstance(made, Artifact), made
        assert made.build.cached is cached
    print(f"{file.name}: {made.build.seconds:.1f} s")
    assert [each.name for each in made.build.libraries] == [file.stem]


@pytest.mark.gpu
@pytest.mark.timed
@each_product
def test_a_product_is_right_and_captured(file: Path, installed: Find) -> None:
    installed(file.stem)
    read = solution(file)
    problem = load_problem(ROOT / "problems" / PRODUCTS[file])
    job = Job(path=str(read.path), solution=read, problem=problem)
    with Grader(open_device("cuda"), NoProgress()) as grader:
        result = grader.grade(job, Options(quick=True))
    assert result.accepted, result.message
    assert result.build is not None
    assert [each.name for each in result.build.libraries] == [file.stem]
    assert all(each.captured for each in result.measurements)
