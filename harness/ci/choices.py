"""The options of ``harness ci``. Keep imports cheap: loaded for every command."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class CiChoices:
    """What to grade and how, what may change, and where the reports go."""

    base: str | None = None
    """Branch or commit that problems are taken from; None: the branch in ``GITHUB_BASE_REF``."""
    head: str = "HEAD"
    """Branch or commit that submissions are taken from."""
    device: str = "auto"
    """``auto``, ``cuda`` or ``cpu``."""
    check_only: bool = False
    """Give verdicts without timing."""
    functional_times: bool = False
    """Take times without a GPU, too."""
    author: str | None = None
    """The only author whose files may change, in upper or lower case; None: any single author."""
    any_author: bool = False
    """Files of several authors may change."""
    other_changes: bool = False
    """Ignore changed files that are no submissions, instead of refusing them."""
    accept_not_executable: bool = False
    """NOT_EXECUTABLE_HERE is no failure."""
    out: Path = Path("build/ci")
    """Folder for the reports."""
    annotate: bool | None = None
    """Print failures as GitHub annotations; None: if ``GITHUB_ACTIONS`` is ``true``."""
    limit_s: float | None = None
    """Seconds of wall time after which the rest is skipped; None: never."""
