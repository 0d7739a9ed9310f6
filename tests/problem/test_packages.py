"""What the references of packages compute and draw, beside what verifying them shows."""

import math
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from harness.author.source import load_file

PROBLEMS = Path(__file__).parents[2] / "problems"
SPARSE = load_file(PROBLEMS / "sparse-matvec" / "reference.py")
ATTENTION = load_file(PROBLEMS / "attention" / "reference.py")


@st.composite
def shapes(draw: st.DrawFn) -> dict[str, int]:
    """Sizes of a sparse matrix that there are entries for."""
    rows, cols = draw(st.integers(1, 80)), draw(st.integers(1, 80))
    nnz = draw(st.integers(1, rows * cols))
    longest = draw(st.integers(-(-nnz // rows), min(cols, nnz)))
    return {"rows": rows, "cols": cols, "nnz": nnz, "longest": longest}


@settings(max_examples=60, deadline=None)
@given(shapes(), st.sampled_from(["declared", "rows", "constant"]), st.integers(0, 10**6))
def test_sparse_matrices_are_as_promised(sizes: dict[str, int], family: str, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    made = SPARSE.draw(generator, family, **sizes)
    row_ptr, col_idx = made["row_ptr"], made["col_idx"]
    lengths = torch.diff(row_ptr)
    assert (int(row_ptr[0]), int(row_ptr[-1])) == (0, sizes["nnz"])
    assert (int(lengths.min()) >= 0, int(lengths.max())) == (True, sizes["longest"])
    assert 0 <= int(col_idx.min()) <= int(col_idx.max()) < sizes["cols"]
    row = torch.repeat_interleave(torch.arange(sizes["rows"]), lengths)
    assert bool((torch.diff(row * sizes["cols"] + col_idx) > 0).all()), "they ascend in each row"

    entries, x = (
        torch.randn(sizes[n], generator=generator, dtype=torch.float64) for n in ("nnz", "cols")
    )
    dense = torch.zeros(sizes["rows"], sizes["cols"], dtype=torch.float64)
    dense[row, col_idx] = entries
    found = SPARSE.reference(row_ptr, col_idx, entries, x, **sizes)
    assert torch.allclose(found, dense @ x)
    found = SPARSE.magnitude(row_ptr, col_idx, entries, x, **sizes)
    assert torch.allclose(found, dense.abs() @ x.abs())


def test_rows_of_sparse_matrices_differ() -> None:
    sizes = {"rows": 4000, "cols": 5000, "nnz": 40000, "longest": 3000}
    lengths = {
        family: torch.diff(SPARSE.draw(torch.Generator(), family, **sizes)["row_ptr"])
        for family in ("declared", "constant")
    }
    assert 0.2 < float((lengths["declared"] == 0).double().mean()) < 0.35
    assert int(lengths["declared"].sort().values[-20]) > 100
    assert int(lengths["constant"].sort().values[-2]) <= 10


@pytest.mark.parametrize("at_once", [1 << 22, 700])
def test_sparse_rows_are_gathered_in_blocks(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SPARSE, "_AT_ONCE", at_once)
    sizes = {"rows": 300, "cols": 900, "nnz": 5000, "longest": 800}
    made = SPARSE.draw(torch.Generator(), "declared", **sizes)
    terms = torch.arange(5000, dtype=torch.float64)
    row = torch.repeat_interleave(torch.arange(300), torch.diff(made["row_ptr"]))
    wanted = torch.zeros(300, dtype=torch.float64).index_add_(0, row, terms)
    assert torch.equal(SPARSE._row_sums(terms, made["row_ptr"]), wanted)


@pytest.mark.parametrize("at_once", [1 << 22, 2000])
@pytest.mark.parametrize(("seq_q", "seq_k"), [(1, 1), (1, 70), (33, 33), (20, 75)])
def test_attention_is_that_of_pytorch(
    at_once: int, seq_q: int, seq_k: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ATTENTION, "_AT_ONCE", at_once)
    generator = torch.Generator().manual_seed(seq_k)

    def normal(*shape: int) -> Tensor:
        return torch.randn(shape, generator=generator, dtype=torch.float64)

    query, key, value = normal(2, 6, seq_q, 16), normal(2, 2, seq_k, 16), normal(2, 2, seq_k, 16)
    sizes = {"batch": 2, "q_heads": 6, "kv_heads": 2, "group": 3, "head_dim": 16}
    given = (query, key, value, 0.25)
    mask = torch.ones(seq_q, seq_k, dtype=torch.bool).tril(seq_k - seq_q)
    wanted = torch.nn.functional.scaled_dot_product_attention(
        query, key, value, attn_mask=mask, scale=0.25, enable_gqa=True
    )
    found = ATTENTION.reference(*given, seq_q=seq_q, seq_k=seq_k, **sizes)
    assert torch.allclose(found, wanted)
    summed = ATTENTION.magnitude(*given, seq_q=seq_q, seq_k=seq_k, **sizes)
    assert bool((summed >= wanted.abs() * (1 - 1e-9)).all())
    if seq_k == 1:  # one term: it is all there is
        assert math.isclose(float((summed - wanted.abs()).abs().max()), 0.0, abs_tol=1e-12)
