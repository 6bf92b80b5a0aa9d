"""How a team's database is connected to."""

import time
from typing import Any

import psycopg
import pytest

from workbench.core.record import StoreProblem
from workbench.store.team.connection import Server, read_address


@pytest.mark.parametrize(("seconds", "expected"), [(1.1, 1), (0.0, 3)])
def test_a_server_that_does_not_answer_is_not_waited_for_again_and_again(
    seconds: float, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[int] = []

    def connect(**settings: Any) -> None:
        tries.append(len(tries))
        time.sleep(seconds)
        raise psycopg.OperationalError("timeout expired")

    monkeypatch.setattr(psycopg, "connect", connect)
    server = Server(read_address("postgresql://db.corp/app"))
    for _ in range(3):
        with pytest.raises(StoreProblem):
            server.rows("select 1", ())
    assert len(tries) == expected


@pytest.mark.parametrize(
    ("address", "asked_for"),
    [
        ("postgresql://db.corp/app", "require"),
        ("postgresql://localhost,db.corp/app", "require"),
        ("postgresql://db.corp/app?sslmode=verify-full", "verify-full"),
        ("postgresql://db.corp/app?sslmode=disable", "disable"),
        ("postgresql://127.0.0.1:5433/app", None),
        ("postgresql:///app?host=/run/pg", None),
        ("postgresql:///app", None),
    ],
)
def test_nothing_goes_to_another_machine_unencrypted_unless_somebody_says_so(
    address: str, asked_for: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    def connect(**settings: Any) -> None:
        asked.append(settings.get("sslmode"))
        raise psycopg.OperationalError("server does not support SSL, but SSL was required")

    monkeypatch.setattr(psycopg, "connect", connect)
    for name in ("PGHOST", "PGSSLMODE", "PGSERVICE"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(StoreProblem) as told:
        Server(read_address(address)).rows("select 1", ())
    assert "sslmode=disable" in told.value.hint
    monkeypatch.setenv("PGSSLMODE", "verify-ca")
    with pytest.raises(StoreProblem):
        Server(read_address("postgresql://db.corp/app")).rows("select 1", ())
    assert asked == [asked_for, None]
