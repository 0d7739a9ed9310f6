"""The options by which nvcc finds libraries."""

from pathlib import Path

from support.toolkits import add_headers, add_shared, libraries, toolkit

from harness.languages.build.linking import header_options, link_options


def test_headers_of_packages_go_last_and_those_of_nvcc_are_not_named(tmp_path: Path) -> None:
    packages = tmp_path / "site-packages/nvidia/cu13"
    other = toolkit(tmp_path / "local/cuda-13.1")
    own = toolkit(tmp_path / "own")
    for root, name in ((packages, "cublas"), (other, "cufft"), (own, "cusparse")):
        add_headers(root / "include", name)
        add_shared(root / "lib", name)
    here = libraries(tmp_path, own / "bin/nvcc")
    found = [here.find(name) for name in ("cublas", "cufft", "cusparse")]
    assert list(header_options(found, here.nvcc)) == [
        *("-isystem", str(other / "include")),
        *("-isystem", str(packages / "include")),
    ]
    folders = [str(root / "lib") for root in (packages, other, own)]
    assert list(link_options(found)) == [
        *(f"-L{folders[0]}", "-l:libcublas.so.13", f"-L{folders[1]}", "-l:libcufft.so.13"),
        *(f"-L{folders[2]}", "-l:libcusparse.so.13", "-Xlinker=--disable-new-dtags"),
        *(f"-Xlinker=-rpath,{folder}" for folder in folders),
    ]


def test_headers_alone_link_nothing(tmp_path: Path) -> None:
    add_headers(tmp_path / "clone/include", "cutlass")
    here = libraries(tmp_path, tmp_path / "bin/nvcc", CUTLASS_PATH=str(tmp_path / "clone"))
    assert list(link_options([here.find("cutlass")])) == []
