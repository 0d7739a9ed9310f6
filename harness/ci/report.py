"""The report on a pull request: one record, written as JSON and read back as untrusted data.

``docs/reference/pull-request.schema.json`` is its JSON schema. Its texts are as untrusted as
those of a :class:`~harness.records.result.Result`.
"""

import json
import re
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Annotated, Literal, Self, TypeVar

from pydantic import ConfigDict, FailFast, Field, ValidationError, model_validator

from harness.ci.changes import ChangeKind
from harness.ci.policy import MAX_SUBMISSIONS, Note, place_of
from harness.records.fields import Created, Name, Record, Text, require_schema
from harness.records.result import Result, Verdict

SCHEMA: Literal[1] = 1
MAX_BYTES = 32 << 20
"""Most bytes of a report that is read: its results are capped in size and number."""

MAX_LISTED = 500
"""Most paths of a kind in a report, with a line for the rest."""

_MAX_VALUES = 1_000_000
_MAX_COMPLAINTS = 5
_MAX_LISTED_COMPLAINTS = 1000
_STRINGS = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\Z)', re.DOTALL)

T = TypeVar("T")

Commit = Annotated[str, Field(pattern=r"^([0-9a-f]{40}|[0-9a-f]{64})$")]


Listed = Annotated[tuple[T, ...], Field(max_length=MAX_LISTED + 1), FailFast()]
"""A list that is read no further than its first mistake."""


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

    @property
    def author(self) -> str:
        """Whose folder the file lies in."""
        place = place_of(self.path)
        return place.author if place else ""

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
        named = (solution.author, solution.name, solution.hash) != ("", "", "")
        stem = PurePosixPath(place.file).stem
        if named and (solution.author, solution.name) != (place.author, stem):
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
    graded: Annotated[tuple[Graded, ...], Field(max_length=MAX_SUBMISSIONS), FailFast()] = ()
    """The graded submissions, in the order of the changes."""
    deleted: Listed[Text] = ()
    """Paths of deleted submissions."""
    ignored: Listed[Text] = ()
    """Paths of changes that are no submissions."""
    skipped: Listed[Note] = ()
    """Submissions that cannot be graded yet."""
    refused: Listed[Note] = ()
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
        for each in self.graded:
            if self.author and each.author != self.author:
                raise ValueError(
                    f"{each.path!a} is not in the folder of the author {self.author!a}"
                )
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
        bare = _STRINGS.sub("", text)
        values = sum(map(bare.count, ",[{"))
        if values > _MAX_VALUES:
            raise ValueError(f"it has {values:,} values, and at most {_MAX_VALUES:,} are read")
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
    count = error.error_count()
    if count > _MAX_LISTED_COMPLAINTS:  # each of which would be made to show the first
        return f"{count:,} values of it are wrong"
    found = [
        f"{'.'.join(map(str, each['loc'])) or 'the whole'}: {each['msg']}"
        for each in error.errors(include_url=False, include_input=False)[:_MAX_COMPLAINTS]
    ]
    more = count - len(found)
    return "; ".join(found) + (f"; and {more} more" if more > 0 else "")
