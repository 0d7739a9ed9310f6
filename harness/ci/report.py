"""The report on a pull request: one record, written as JSON and read back as untrusted data.

``docs/reference/pull-request.schema.json`` is its JSON schema. Its texts are as untrusted as
those of a :class:`~harness.records.result.Result`.
"""

import json
from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, ValidationError, model_validator

from harness.ci.changes import ChangeKind
from harness.ci.policy import Note, place_of
from harness.records.fields import Created, Name, Record, Text, require_schema
from harness.records.result import Result, Verdict

SCHEMA: Literal[1] = 1
MAX_BYTES = 64 << 20
"""Most bytes of a report that is read: its results are capped in size and number."""

_MAX_COMPLAINTS = 5

Commit = Annotated[str, Field(pattern=r"^([0-9a-f]{40}|[0-9a-f]{64})$")]


class FileOutcome(StrEnum):
    """The verdict on a whole pull request."""

    ACCEPTED = "accepted"
    NOT_ACCEPTED = "not accepted"
    NOTHING = "nothing to grade"
    REFUSED = "refused"
    FAULT = "fault"


class Graded(Record):
    """A submission and its result; ``line`` is the line of the file that failed."""

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
    """Everything found out about a pull request.

    Raises:
        pydantic.ValidationError: (a ValueError) the fields do not belong together.
    """

    model_config = ConfigDict(use_attribute_docstrings=True)  # for the JSON schema

    schema_version: Literal[1] = Field(default=SCHEMA, alias="schema")
    """Version of this schema."""
    created: Created
    """When the report was made."""
    harness: Name
    """Version of the harness."""
    base: Commit
    """The commit that problems were taken from."""
    merge_base: Commit
    """The commit that changes are counted from."""
    head: Commit
    """The commit that submissions were taken from."""
    author: Text = ""
    """The one author whose files might change; empty if nobody said who."""
    timed: bool
    """Whether times were taken."""
    executable_required: bool = True
    """Whether NOT_EXECUTABLE_HERE is a failure."""
    outcome: FileOutcome
    """The verdict on the whole, which follows from the other fields."""
    graded: tuple[Graded, ...] = ()
    """The graded submissions, in the order of the changes."""
    deleted: tuple[Text, ...] = ()
    """Paths of deleted submissions."""
    ignored: tuple[Text, ...] = ()
    """Paths of changes that are no submissions."""
    skipped: tuple[Note, ...] = ()
    """Submissions that cannot be graded yet."""
    refused: tuple[Note, ...] = ()
    """Changes that are not allowed; then nothing was graded."""
    fault: Text = ""
    """What stopped the grading, if it was not a submission's doing."""

    @property
    def failures(self) -> tuple[Graded, ...]:
        """The submissions that were not accepted, as far as that counts."""
        ignored = None if self.executable_required else Verdict.NOT_EXECUTABLE_HERE
        failed = (each for each in self.graded if not each.result.accepted)
        return tuple(each for each in failed if each.result.verdict is not ignored)

    def _follows(self) -> FileOutcome:
        if self.refused:
            return FileOutcome.REFUSED
        if self.fault or any(e.result.verdict is Verdict.INTERNAL_ERROR for e in self.graded):
            return FileOutcome.FAULT
        if self.failures:
            return FileOutcome.NOT_ACCEPTED
        return FileOutcome.ACCEPTED if self.graded else FileOutcome.NOTHING

    @model_validator(mode="after")
    def _outcome_follows(self) -> Self:
        follows = self._follows()
        if self.outcome is not follows:
            raise ValueError(f"outcome: {str(self.outcome)!r}, and it is {str(follows)!r}")
        if len({each.path for each in self.graded}) != len(self.graded):
            raise ValueError("a file is graded twice")
        return self

    @classmethod
    def of(cls, **fields: object) -> Self:
        """A report of ``fields`` and the outcome that follows from them."""
        draft = cls.model_construct(None, **fields)
        return cls.model_validate({**fields, "outcome": draft._follows()})

    def to_json(self, indent: int | None = None) -> str:
        """One JSON object."""
        return self.model_dump_json(by_alias=True, indent=indent)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what :meth:`to_json` wrote, or a forgery of it.

        Raises:
            ValueError: not such a record, or one of another schema version; one line that names
                the wrong keys.
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


def _complaints(error: ValidationError) -> str:
    found = [
        f"{'.'.join(map(str, each['loc'])) or 'the whole'}: {each['msg']}"
        for each in error.errors(include_url=False, include_input=False)[:_MAX_COMPLAINTS]
    ]
    more = error.error_count() - len(found)
    return "; ".join(found) + (f"; and {more} more" if more > 0 else "")
