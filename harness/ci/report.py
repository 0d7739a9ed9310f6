"""What became of a pull request: one record, written as JSON and read back as untrusted data.

``docs/reference/pull-request.schema.json`` is its JSON schema. Text in it is as untrusted as that
of a :class:`~harness.result.Result`.
"""

import json
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from harness.ci.changes import ChangeKind
from harness.ci.policy import place_of
from harness.records.fields import Created, Name, Record, Text, require_schema
from harness.records.result import Result, Verdict

SCHEMA: Literal[1] = 1
MAX_BYTES = 64 << 20
"""Of a report that is read: each result's logs are capped, and so is their number."""

_MAX_COMPLAINTS = 5

Commit = Annotated[str, Field(pattern=r"^([0-9a-f]{40}|[0-9a-f]{64})$")]


class FileOutcome(StrEnum):
    """What the whole comes to."""

    ACCEPTED = "accepted"
    NOT_ACCEPTED = "not accepted"
    NOTHING = "nothing to grade"
    REFUSED = "refused"
    FAULT = "fault"


class Note(Record):
    """A path, and what is to be said of it."""

    path: Text
    reason: Text


class Graded(Record):
    """A submission and its result; ``line`` is where its failure is, in the file."""

    path: Name
    kind: ChangeKind
    old_path: Text = ""
    line: int = Field(default=1, ge=1)
    result: Result

    @model_validator(mode="after")
    def _result_of_this_file(self) -> Self:
        place = place_of(self.path)
        if place is None:
            raise ValueError(f"{self.path!a} is not the path of a submission")
        if self.kind is ChangeKind.DELETED:
            raise ValueError(f"{self.path!a} is gone, and cannot have been graded")
        solution = self.result.solution
        if solution.path != self.path or self.result.problem.slug != place.problem:
            raise ValueError(f"the result is not that of {self.path!a}")
        # What could not be read as a submission has neither author nor name.
        named = (solution.author, solution.name) != ("", "")
        if named and (solution.author, solution.name) != (place.author, place.file[:-3]):
            raise ValueError(f"the result names another author or file than {self.path!a}")
        return self


class PullRequestReport(Record):
    """All that was found out about a pull request.

    ``base`` is the commit that problems were taken from, ``merge_base`` the one that changes are
    counted from, ``head`` the one that submissions were taken from. ``timed`` says whether times
    were taken, ``executable_required`` whether NOT_EXECUTABLE_HERE counts as a failure.
    ``skipped`` are submissions that cannot be graded yet, ``ignored`` changes that are none.
    ``fault`` is what stopped the grading, if it was not a submission's doing.

    Raises:
        pydantic.ValidationError: (a ValueError) the fields do not belong together.
    """

    schema_version: Literal[1] = Field(default=SCHEMA, alias="schema")
    created: Created
    harness: Name
    base: Commit
    merge_base: Commit
    head: Commit
    timed: bool
    executable_required: bool = True
    outcome: FileOutcome
    graded: tuple[Graded, ...] = ()
    deleted: tuple[Text, ...] = ()
    ignored: tuple[Text, ...] = ()
    skipped: tuple[Note, ...] = ()
    refused: tuple[Note, ...] = ()
    fault: Text = ""

    @property
    def failures(self) -> tuple[Graded, ...]:
        """Those that were not accepted, as far as that counts."""
        return tuple(each for each in self.graded if fails(each.result, self.executable_required))

    @model_validator(mode="after")
    def _outcome_follows(self) -> Self:
        follows = _outcome(self.graded, self.failures, self.refused, self.fault)
        if self.outcome is not follows:
            raise ValueError(f"outcome: {str(self.outcome)!r}, and it is {str(follows)!r}")
        if len({each.path for each in self.graded}) != len(self.graded):
            raise ValueError("a file is graded twice")
        return self

    @classmethod
    def of(
        cls,
        *,
        graded: Sequence[Graded] = (),
        refused: Sequence[Note] = (),
        fault: str = "",
        executable_required: bool = True,
        **fields: Any,
    ) -> Self:
        """A report with the outcome that follows from the rest."""
        failures = [each for each in graded if fails(each.result, executable_required)]
        return cls(
            outcome=_outcome(graded, failures, refused, fault),
            graded=tuple(graded),
            refused=tuple(refused),
            fault=fault,
            executable_required=executable_required,
            **fields,
        )

    def to_json(self, indent: int | None = None) -> str:
        """One JSON object."""
        return self.model_dump_json(by_alias=True, indent=indent)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what :meth:`to_json` wrote, or what somebody says it wrote.

        Raises:
            ValueError: not such a record, or one of another schema version; in one line, with the
                keys that are wrong.
        """
        try:
            data = json.loads(text)
        except RecursionError as error:
            raise ValueError("nested too deep") from error
        require_schema(data, SCHEMA, what="report")
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            raise ValueError(_complaints(error)) from error


def fails(result: Result, executable_required: bool = True) -> bool:
    """Whether ``result`` keeps a pull request from being accepted."""
    if result.verdict is Verdict.NOT_EXECUTABLE_HERE:
        return executable_required
    return not result.accepted


def _outcome(
    graded: Sequence[Graded], failures: Sequence[Graded], refused: Sequence[Note], fault: str
) -> FileOutcome:
    if refused:
        return FileOutcome.REFUSED
    if fault or any(each.result.verdict is Verdict.INTERNAL_ERROR for each in graded):
        return FileOutcome.FAULT
    if failures:
        return FileOutcome.NOT_ACCEPTED
    return FileOutcome.ACCEPTED if graded else FileOutcome.NOTHING


def _complaints(error: ValidationError) -> str:
    found = [
        f"{'.'.join(map(str, each['loc'])) or 'the whole'}: {each['msg']}"
        for each in error.errors(include_url=False, include_input=False)[:_MAX_COMPLAINTS]
    ]
    more = error.error_count() - len(found)
    return "; ".join(found) + (f"; and {more} more" if more > 0 else "")
