"""Which errors of a database are waited out, for how long, and which are told at once."""

import sqlite3
from typing import Any

import pytest
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, InternalError, OperationalError

from leaderboard import failures
from leaderboard.failures import Patience, StoreError

REFUSED = 'connection failed: connection to server at "db", port 5432 failed: Connection refused'
HOPELESS = [
    'connection failed: FATAL:  password authentication failed for user "judge"',
    "connection failed: fe_sendauth: no password supplied",
    'connection failed: FATAL:  no pg_hba.conf entry for host "10.0.0.7", user "judge"',
    'connection failed: FATAL:  database "contest" does not exist',
    'connection failed: FATAL:  role "judge" does not exist',
    'connection failed: FATAL:  role "judge" is not permitted to log in',
    'connection failed: FATAL:  permission denied for database "contest"',
    "connection failed: server does not support SSL, but SSL was required",
    'connection is bad: invalid sslmode value: "requires"',
    "failed to resolve host 'db': [Errno -2] Name or service not known",
    'could not translate host name "db" to address: Name or service not known',
]
PASSING = [
    REFUSED,
    "connection is bad: connection to server on socket failed: No such file or directory",
    "connection failed: FATAL:  the database system is starting up",
    "connection failed: FATAL:  the database system is shutting down",
    "connection failed: FATAL:  the database system is in recovery mode",
    "connection failed: FATAL:  sorry, too many clients already",
    "connection failed: server closed the connection unexpectedly",
    "connection failed: SSL connection has been closed unexpectedly",
    "connection timeout expired",
    "session is read-only",
    "failed to resolve host 'db': [Errno -3] Temporary failure in name resolution",
]
STATES = ["57P01", "57P02", "57P03", "57P05", "25P03", "25006", "53300", "53200", "08000", "08006"]


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)


def _error(
    text: str, kind: type[DBAPIError] = OperationalError, *, lost: bool = False, **more: Any
) -> DBAPIError:
    raised = Exception(text)
    for name, value in more.items():
        setattr(raised, name, value)
    return kind("SELECT 1", None, raised, connection_invalidated=lost)


@pytest.mark.parametrize("text", PASSING)
@pytest.mark.parametrize("known", [False, True])
def test_a_server_that_is_away_is_waited_for(
    text: str, known: bool, caplog: pytest.LogCaptureFixture
) -> None:
    patience = Patience("postgresql://db")
    for _ in range(3):
        assert patience.wait_after(_error(text), known=known)
    (told,) = caplog.messages  # once
    seconds = 120 if known or "the database system" in text else 10
    assert told == (
        f"postgresql://db: the database does not answer ({' '.join(text.split())}); "
        f"waiting up to {seconds} s"
    )


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("name", ["sqlstate", "pgcode"])
def test_what_a_server_says_by_code_is_waited_out(state: str, name: str) -> None:
    kind = InternalError if state.startswith("25") else OperationalError
    assert Patience("").wait_after(_error("in another language", kind, **{name: state}), known=True)


def test_a_connection_that_was_lost_is_waited_for() -> None:
    assert Patience("").wait_after(_error("whatever", DataError, lost=True), known=True)


@pytest.mark.parametrize("text", HOPELESS)
def test_what_never_worked_is_told_at_once_and_what_did_is_waited_for(text: str) -> None:
    with pytest.raises(StoreError, match="url: "):
        Patience("url").wait_after(_error(text), known=False)
    assert Patience("url").wait_after(_error(text), known=True)


@pytest.mark.parametrize(
    "error",
    [
        _error("syntax error", sqlstate="42601"),
        _error("permission denied for table results", sqlstate="42501"),
        _error("could not extend file: No space left on device", sqlstate="53100"),
        _error("text fields cannot contain NUL", DataError),
        _error("disk is full", sqlite_errorcode=sqlite3.SQLITE_FULL),
    ],
)
def test_other_errors_are_told_at_once(error: DBAPIError) -> None:
    with pytest.raises(StoreError):
        Patience("url").wait_after(error, known=True)


@pytest.mark.parametrize(
    "more",
    [
        {"sqlstate": "40001"},
        {"sqlstate": "40P01"},
        {"sqlstate": "55P03"},
        {"sqlite_errorcode": sqlite3.SQLITE_BUSY},
        {"sqlite_errorcode": sqlite3.SQLITE_LOCKED},
        {"sqlite_errorcode": sqlite3.SQLITE_BUSY | 2 << 8},
    ],
)
def test_another_writer_is_waited_for_in_silence(
    more: dict[str, Any], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    patience = Patience("url")
    assert not patience.wait_after(_error("locked", **more), known=True)
    assert caplog.messages == []
    monkeypatch.setattr(failures, "TURN_FOR", -1.0)
    with pytest.raises(StoreError, match="url: no turn within -1 s: locked"):
        patience.wait_after(_error("locked", **more), known=True)


def test_the_same_id_again_and_again_is_told() -> None:
    patience = Patience("url")
    for _ in range(3):
        patience.wait_after(_error("duplicate key", IntegrityError, sqlstate="23505"), known=True)
    with pytest.raises(StoreError, match="duplicate key"):
        patience.wait_after(_error("duplicate key", IntegrityError, sqlstate="23505"), known=True)


@pytest.mark.parametrize(("known", "limit"), [(True, "AWAY_FOR"), (False, "UNKNOWN_FOR")])
def test_patience_ends(known: bool, limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failures, limit, -1.0)
    with pytest.raises(StoreError, match=r"url: no answer within -1 s: connection failed"):
        Patience("url").wait_after(_error(REFUSED), known=known)
