"""The addresses of stores that a team shares, and the files that name one."""

import json
import os
import shlex
from pathlib import Path

import pytest

from workbench.core import team
from workbench.core.record import StoreProblem


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgresql://ann@db.corp/app?store=notes", "notes at db.corp/app"),
        ("postgres://db.corp/app", "main at db.corp/app"),
        ("postgresql://a.corp:5432,b.corp:5433/app?store=x", "x at a.corp:5432,b.corp:5433/app"),
        ("postgresql://[::1]:5432/app?sslmode=verify-full&sslrootcert=system", "main at [::1]:5432/app"),
        ("postgresql://ann%40corp@/app?host=/run/pg&port=5433&store=x", "x at this machine/app"),
        ("postgresql:///app?host=%2Frun%2Fpg&store=x", "x at this machine/app"),
        ("postgresql://db.corp?channel_binding=require&store=x", "x at db.corp"),
    ],
)  # fmt: skip
def test_an_address_is_shown_with_every_host_that_it_leads_to(address: str, shown: str) -> None:
    assert team.shown(team.checked(address)) == shown
    assert shlex.split(f"'{address}'") == [address]


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://db.corp/app?hostaddr=6.6.6.6",
        "postgresql://db.corp/app?hos%74addr=6.6.6.6",
        "postgresql://db.corp/app?host=evil.example",
        "postgresql://db.corp/app?host=/tmp/evil",
        "postgresql:///app?host=/tmp/x,evil.example",
        "postgresql:///app?host=/tmp/x%2Cevil.example",
        "postgresql://db.corp/app?service=x",
        "postgresql://db.corp/app?passfile=/etc/x",
        "postgresql://db.corp/app?sslkeylogfile=/etc/x",
        "postgresql://db.corp/app?sslpassword=Kept4Nobody",
        "postgresql://db.corp/app?p%61ssword=Kept4Nobody",
        "postgresql://db.corp/app?store=a#&password=Kept4Nobody",
        "postgresql://ann:Kept4Nobody@db.corp/app",
        "postgresql://ann:Kept4Nobody@evil@db.corp/app",
        "postgresql://db.corp/app?sslkey=engine:x",
        "postgresql://db.corp/app?options=-csearch_path%3Devil",
        "postgresql://db.corp/app?application_name=x",
        "postgresql://db.corp/app?store=x';id;'",
        "postgresql://db.corp/app?store=$(id)",
        "postgresql://db.corp/app?store=x\n",
        "postgresql://db.corp/app\x1b[2J?store=x",
        "postgresql://db.c\u043erp/app",
        "postgresql://[x/app",
        "mysql://db.corp/app",
        "postgresql:db.corp",
    ],
)
def test_an_address_that_says_more_than_it_shows_is_refused(address: str) -> None:
    with pytest.raises(StoreProblem) as told:
        team.checked(address)
    assert told.value.hint
    assert "Kept4Nobody" not in f"{told.value} {told.value.hint}"


def test_a_file_that_names_no_store_is_refused_without_reading_all_of_it(tmp_path: Path) -> None:
    file = tmp_path / "store.json"
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large").write_bytes(b" " * (1 << 20) + b'{"store": "postgresql://db.corp/app"}')
    (tmp_path / "deep").write_text("[" * 16_000)
    for target in ("/dev/zero", "/dev/stdin", "pipe", "large", "deep", "."):
        file.symlink_to(target)
        with pytest.raises(StoreProblem):
            team.address_in(file)
        assert team.member_in(file) is None
        file.unlink()
    assert team.address_in(file) == ""
    file.write_text(json.dumps({"store": "postgresql://db.corp/app"}))
    assert team.address_in(file) == "postgresql://db.corp/app"
