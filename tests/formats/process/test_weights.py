"""What a reference's module holds is told with what decides its values."""

import torch
from torch import Tensor, nn

from harness.formats.process.weights import held, hold, told_weights
from harness.runner.entry.construction import seed_all


class Layers(nn.Module):
    """Weights of each kind; one parameter twice, and one without elements."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 2)
        self.same = nn.Linear(3, 2, bias=False)
        self.same.weight = self.layer.weight
        self.norm = nn.BatchNorm1d(2)
        self.none = nn.Parameter(torch.empty(0))
        self.register_buffer("mask", torch.ones(2, dtype=torch.bool))

    def forward(self, x: Tensor) -> Tensor:
        """Changes what the norm has seen."""
        found: Tensor = self.norm(self.layer(x))
        return found


def made(seed: int, kind: type[nn.Module] = Layers) -> nn.Module:
    seed_all(seed)
    return kind()


def told(kind: type[nn.Module] = Layers) -> dict[str, tuple[str, tuple[int, ...], str]]:
    used = made(1, kind)
    if kind is Layers:
        used(torch.rand(4, 3))
    found = told_weights(held(made(1, kind)), held(made(2, kind)), used)
    return {each.name: (each.dtype, each.shape, each.kind) for each in found}


def test_kinds() -> None:
    assert told() == {
        "self.layer.weight": ("float32", (2, 3), "drawn"),
        "self.layer.bias": ("float32", (2,), "drawn"),
        "self.norm.weight": ("float32", (2,), "initial"),
        "self.norm.bias": ("float32", (2,), "initial"),
        "self.norm.running_mean": ("float32", (2,), "changed"),
        "self.norm.running_var": ("float32", (2,), "changed"),
        "self.norm.num_batches_tracked": ("int64", (), "changed"),
        "self.mask": ("bool", (2,), "buffer"),
    }


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.GRU(2, 2)


class Packed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("packed", torch.zeros(2).to(torch.float8_e5m2))


class Many(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(1, 1) for _ in range(81))


class Growing(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(torch.initial_seed() + 1))


def test_some_modules_keep_theirs() -> None:
    for kind in (Recurrent, Packed, Many, Growing):
        assert told(kind) == {}, kind


def test_values_take_the_place_of_what_is_held() -> None:
    module = made(1)
    mask = torch.zeros(2, dtype=torch.bool)
    hold(module, {"self.layer.weight": torch.ones(2, 3), "self.mask": mask, "x": torch.ones(1)})
    now = held(module)
    assert bool((now["self.layer.weight"] == 1).all())
    assert not bool(now["self.mask"].any())
    assert now["self.layer.bias"].equal(held(made(1))["self.layer.bias"])
