"""What a database's errors mean: another writer, a server that is away, or something to be told."""

import logging
import random
import re
import sqlite3
import time

from sqlalchemy.exc import DBAPIError, IntegrityError, InternalError, OperationalError

from harness.text.plain import visible

TURN_FOR = 120.0
"""Seconds after which a writer that never got its turn gives up."""

AWAY_FOR = 120.0
"""Seconds that a server may be away, as while it is restarted, before a transaction is given up."""

UNKNOWN_FOR = 10.0
"""The same for one that never answered: the address may be wrong."""

_COLLISIONS = 3
"""How often somebody else may have added the same just before."""

_TURN_STATES = frozenset({"40001", "40P01", "55P03"})
"""PostgreSQL: serialization failure, deadlock, lock timeout."""

_AWAY_STATES = frozenset({"57P01", "57P02", "57P03", "57P05", "25P03", "25006", "53200", "53300"})
"""PostgreSQL: shut down, crashed, starting, cut off for being idle, read-only, out of memory or of
connections; besides class 08, lost connections."""

_HOPELESS = re.compile(
    r"authentication failed|no password supplied|no pg_hba\.conf entry|does not exist"
    r"|not permitted to log in|[Pp]ermission denied|does not support SSL|invalid \w+ value"
    r"|failed to resolve host(?!.*Errno -3)|could not translate host name(?!.*[Tt]emporary)",
    re.DOTALL,
)
"""What libpq says, without a code, of connections that waiting does not help; -3 is a name server
that does not answer."""

_REMEDIES = {
    sqlite3.SQLITE_NOTADB: "name another file in HARNESS_STORE, or with --store",
    sqlite3.SQLITE_CORRUPT: "save what can be read with `sqlite3 FILE .recover | sqlite3 NEW`",
    sqlite3.SQLITE_FULL: "make room there, or name another store",
    sqlite3.SQLITE_IOERR: "is its disk full or broken, or the size of files limited (ulimit -f)?",
    sqlite3.SQLITE_READONLY: "copy the file to where you may write, and name the copy",
    sqlite3.SQLITE_CANTOPEN: (
        "is it a file that you may read, in a folder that you may write, and are there few open "
        "files (ulimit -n)? Else copy it, with the -wal beside it, and name the copy"
    ),
}

_log = logging.getLogger(__name__)


class StoreError(Exception):
    """The store cannot be used, or refused a result; the message says why and what to do."""


class WrongStoreError(StoreError):
    """What was named can be no store."""


class Patience:
    """For how long the database at ``url`` (shown) is asked again to do one transaction."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._began = time.monotonic()
        self._away_since: float | None = None
        self._collisions = 0
        self._pause = 0.005

    def wait_after(self, error: DBAPIError, *, known: bool) -> bool:
        """Wait a little before the next attempt; whether the server was away.

        ``known``: it has answered before. That it is away is logged once.

        Raises:
            StoreError: another attempt would not help, or there were enough.
        """
        away = False
        if isinstance(error, IntegrityError):
            # On PostgreSQL another writer has just added the same id: look again.
            self._collisions += 1
            if self._collisions > _COLLISIONS:
                raise self._failed(error)
        elif _awaits_turn(error):
            if time.monotonic() > self._began + TURN_FOR:
                raise self._failed(error, f"no turn within {TURN_FOR:.0f} s")
        elif _is_away(error, known=known):
            away = True
            self._require_hope(error, AWAY_FOR if known or _is_starting(error) else UNKNOWN_FOR)
        else:
            raise self._failed(error)
        # Writers that collided spread out.
        time.sleep(self._pause * random.uniform(0.5, 1.5))  # noqa: S311 (no secret)
        self._pause = min(self._pause * 2, 1.0)
        return away

    def _require_hope(self, error: DBAPIError, seconds: float) -> None:
        if self._away_since is None:
            self._away_since = time.monotonic()
            _log.warning(
                "%s: the database does not answer (%s); waiting up to %.0f s",
                *(self._url, explain(error), seconds),
            )
        if time.monotonic() > self._away_since + seconds:
            raise self._failed(error, f"no answer within {seconds:.0f} s")

    def _failed(self, error: DBAPIError, what: str = "") -> StoreError:
        told = StoreError(": ".join(filter(None, (self._url, what, explain(error)))))
        told.__cause__ = error
        return told


def _awaits_turn(error: DBAPIError) -> bool:
    """Whether another writer was in the way."""
    code = _sqlite_code(error)
    if code is None:
        return _state(error) in _TURN_STATES
    return code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _is_away(error: DBAPIError, *, known: bool) -> bool:
    """Whether the server is not there, or not ready, as while it is restarted."""
    if error.connection_invalidated:
        return True
    if _sqlite_code(error) is not None or not isinstance(error, OperationalError | InternalError):
        return False
    state = _state(error)
    if state is None:  # libpq has no code for a connection that was refused or lost
        return known or not _HOPELESS.search(str(error.orig))
    return state.startswith("08") or state in _AWAY_STATES


def _is_starting(error: DBAPIError) -> bool:
    """Whether it is the right server, about to come or to go."""
    return _state(error) == "57P03" or "the database system is" in str(error.orig)


def is_damaged_text(error: DBAPIError) -> bool:
    """Whether SQLite stumbled over a text that is no UTF-8."""
    raised = error.orig
    return isinstance(raised, sqlite3.OperationalError) and "Could not decode" in str(raised)


def explain(error: DBAPIError) -> str:
    """What the database said, in a line, with what to do about it."""
    text = visible(" ".join(str(error.orig).split()))
    remedy = _REMEDIES.get(_sqlite_code(error) or 0)
    return f"{text}: {remedy}" if remedy else text


def _sqlite_code(error: DBAPIError) -> int | None:
    code = getattr(error.orig, "sqlite_errorcode", None)
    return None if code is None else int(code) & 0xFF


def _state(error: DBAPIError) -> str | None:
    """PostgreSQL's code, as psycopg and psycopg2 call it."""
    return getattr(error.orig, "sqlstate", None) or getattr(error.orig, "pgcode", None)
