"""A package's ``reference.py`` as the judge runs it: trusted, and blamed for what it raises."""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType

import torch
from torch import Tensor

from harness.author.source import first_line, line_of, load_file, named_arguments
from harness.errors import Diagnostic, ProblemError
from harness.text.suggest import did_you_mean
from harness.text.system_errors import machine_fault

Function = Callable[..., object]


def upcast(tensor: Tensor) -> Tensor:
    """A dense copy of ``tensor`` in the widest type of its kind, which may be written to."""
    real = torch.float64 if tensor.is_floating_point() else torch.int64
    wide = torch.complex128 if tensor.is_complex() else real
    return tensor.to(wide, copy=True, memory_format=torch.contiguous_format)


def type_name(tensor: Tensor) -> str:
    """The name of a tensor's element type: ``float64``."""
    return str(tensor.dtype).removeprefix("torch.")


class AuthorsFile:
    """The functions of one file.

    Raises:
        ProblemError: also from its methods; the diagnostic names file, line and function.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._module = self._load()

    def _load(self) -> ModuleType:
        if not self.path.is_file():
            raise self.wrong("", "there is no such file")
        try:
            return load_file(self.path)
        except OSError as error:
            raise machine_fault(error) or self.raised("", error) from error
        except Exception as error:  # the author's code: anything can come
            raise self.raised("", error) from error

    def needed(self, name: str, arguments: Iterable[str], known: Mapping[str, str]) -> Function:
        """The function ``name``, checked to take all these arguments.

        Other ``known`` names are no typos of it; they map to what such a function returns.
        """
        wanted = list(arguments)
        function = getattr(self._module, name, None)
        if not callable(function):
            defined = {n for n, value in vars(self._module).items() if inspect.isfunction(value)}
            hint = did_you_mean(name, sorted(defined.difference(known)))
            write = f"; write def {name}({', '.join(wanted)}), which returns {known[name]}"
            raise self.wrong(name, f"the file defines no such function{hint}{write}")
        try:
            inspect.signature(function).bind(**dict.fromkeys(wanted))
        except TypeError as error:
            raise self._uncallable(name, function, wanted, error) from None
        return function  # type: ignore[no-any-return]

    def optional(self, name: str, arguments: Iterable[str]) -> tuple[Function, list[str]] | None:
        """The function ``name``, with those of the arguments that it names; None if there is none.

        Where it takes any, these are all.
        """
        function = getattr(self._module, name, None)
        if function is None:
            return None
        if not callable(function):
            raise self.wrong(name, "is no function")
        offered = list(arguments)
        try:
            return function, list(named_arguments(function, dict.fromkeys(offered)))
        except TypeError as error:
            raise self._uncallable(name, function, offered, error) from None

    def call(self, name: str, function: Function, arguments: Mapping[str, object]) -> object:
        """What the function returns: computed by the host where a GPU has no room for its work.

        torch.OutOfMemoryError comes through where the host has none, from a graph's capture, and
        where the function had written to its arguments already.
        """
        tensors = list(_tensors(arguments))
        device = next((x.device for x in tensors if x.device.type != "cpu"), None)
        versions = [x._version for x in tensors]
        try:
            return self._call(name, function, arguments)
        except torch.OutOfMemoryError:
            written = versions != [x._version for x in tensors]
            if device is None or written or torch.cuda.is_current_stream_capturing():
                raise
        # Out of the exception's reach, which holds all that the function had made until then.
        torch.cuda.empty_cache()
        host = torch.device("cpu")
        here = {argument: _moved(value, host) for argument, value in arguments.items()}
        return _moved(self._call(name, function, here), device)

    def _call(self, name: str, function: Function, arguments: Mapping[str, object]) -> object:
        try:
            with torch.no_grad():
                return function(**arguments)
        except torch.OutOfMemoryError:
            raise  # the machine's fault, not the author's
        except OSError as error:
            raise machine_fault(error) or self.raised(name, error) from error
        except Exception as error:  # the author's code: anything can come
            raise self.raised(name, error) from error

    def wrong(self, function: str, message: str, line: int = 1) -> ProblemError:
        """The complaint about a function."""
        return ProblemError([Diagnostic(self.path, line, function, message)])

    def raised(self, function: str, error: Exception) -> ProblemError:
        """An exception from the file, with the line of the file it came through last."""
        line = line_of(error, self.path)
        return self.wrong(function, f"{type(error).__name__}: {error}", line)

    def _uncallable(
        self, name: str, function: Function, wanted: list[str], error: TypeError
    ) -> ProblemError:
        message = f"cannot be called with {', '.join(wanted)}: {error}"
        return self.wrong(name, message, first_line(function))


def _tensors(value: object) -> Iterator[Tensor]:
    """The tensors of an argument, or of a mapping of such."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _tensors(each)


def _moved(value: object, device: torch.device) -> object:
    """A tensor on another device, or a mapping of such; anything else as it is."""
    if isinstance(value, Tensor):
        return value.to(device)
    if isinstance(value, Mapping):
        return {name: _moved(each, device) for name, each in value.items()}
    return value
