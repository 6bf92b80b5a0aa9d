"""Backups from the command line, and what the doctor says of them."""

from datetime import timedelta
from pathlib import Path

import pytest

from tests.cli.conftest import NOW, Cli, files_of
from tests.cli.shared import left_in, put
from tests.safety.fresh import fresh
from workbench.core.stream.memory import Memory
from workbench.services.health.backup import held
from workbench.store.library import Library


@pytest.mark.slow
def test_a_backup_is_restored_as_the_same_store(demo: Cli) -> None:
    out = demo.ok("backup", "b.tar.gz")
    revision = demo.json("stats")["revision"]
    assert f"revision {revision:,}, every byte checked" in out
    assert "SHA-256" in out
    restored = demo.bare("restore", "b.tar.gz", "new")
    assert (restored.code, restored.err) == (0, "")
    assert demo.bare("--store", "new", "list", "-n", "0", "--json").out == demo.ok(
        "list", "-n", "0", "--json"
    )
    assert str(demo.cwd / "b.tar.gz") in demo.ok("doctor")
    said = demo.json("backup", "b.tar.gz", "--force")
    assert said["revision"] == revision
    assert said["counts"]["memories"] > 0
    assert demo("backup", "b.tar.gz").code == 2
    assert demo.bare("restore", "b.tar.gz", "new").code == 2
    assert demo("restore", "b.tar.gz", "other").code == 2


def test_the_doctor_says_that_there_is_none(demo: Cli) -> None:
    assert "none yet" in demo.ok("doctor")


def test_a_backup_changes_nothing_in_the_store(demo: Cli) -> None:
    before = files_of(demo.store)
    demo.ok("backup", "b.tar.gz")
    assert files_of(demo.store) == before


def test_the_doctor_names_what_a_killed_backup_left_and_the_next_one_removes_it(demo: Cli) -> None:
    (demo.cwd / "kept").mkdir()
    demo.ok("backup", "kept/one.wbk")
    left = demo.cwd / "kept" / ".workbench-backup-x7.tmp"
    left.write_bytes(b"cut off")
    assert str(left) in demo.ok("doctor")
    demo.ok("backup", "kept/two.wbk")
    assert sorted(path.name for path in left.parent.iterdir()) == ["one.wbk", "two.wbk"]


def test_a_clock_that_was_set_back_is_said_by_the_doctor_and_by_a_search(cli: Cli) -> None:
    cli.ok("append", "deploys fail on friday")
    assert "dated in the future" not in cli.ok("doctor")
    library, later = Library(cli.store), NOW + timedelta(days=365)
    with library.transaction("cli", "put") as tx:
        tx.put(Memory("mem-20270320-0000007", "deploys fail on monday", later, later))
    warning = "1 memory is dated after 2026-03-20T18:00+00:00, this machine's clock, and left out."
    assert warning in cli("search", "deploys").err
    assert warning in cli("search", "deploys", "--for-agent", "x").err
    assert warning not in cli("search", "deploys", "--now", "2028-01-01").err
    assert "1 memory is dated in the future" in cli.ok("doctor")


def test_what_is_no_backup_is_one_sentence(cli: Cli) -> None:
    cli.write("b", "text")
    result = cli.bare("restore", "b", "new")
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert sorted(Path(cli.cwd).iterdir()) == [cli.cwd / "b"]


@pytest.mark.slow
def test_a_backup_says_how_many_secrets_it_holds_and_is_masked_when_asked(cli: Cli) -> None:
    old, new, kept = (fresh(seed)["github"].secret for seed in ("old", "new", "kept"))
    put(cli, m1=f"key {old}", m2="fine")
    put(cli, m1=f"key {new}", m3=f"a test key {kept}")
    cli.ok("allow", "m3", "--reason", "a test key")
    plain = cli("backup", "plain.tar.gz")
    assert (plain.code, plain.err) == (0, "It contains 2 secrets; --mask leaves them out.\n")
    before = files_of(cli.store)
    masked = cli("backup", "masked.tar.gz", "--mask")
    assert (masked.code, masked.err) == (0, "2 secrets masked in it.\n")
    assert files_of(cli.store) == before
    for name, left in (("plain", True), ("masked", False)):
        cli.bare("restore", f"{name}.tar.gz", name)
        assert [bool(left_in(cli.cwd / name, secret)) for secret in (old, new, kept)] == [
            left,
            left,
            True,
        ]
    restored = cli.bare("--store", "masked", "list")
    assert "[secret: GitHub token]" in restored.out
    assert cli.bare("--store", "masked", "doctor").code == 0
    assert cli("backup", "masked.tar.gz", "--mask").code == 2


def test_a_backup_without_secrets_says_nothing_of_them(cli: Cli) -> None:
    put(cli, m1="fine")
    assert cli("backup", "a.tar.gz").err == cli("backup", "b.tar.gz", "--mask").err == ""


def test_one_record_is_counted_as_one(cli: Cli) -> None:
    put(cli, m1="fine")
    assert "1 memory" in cli.ok("backup", "b.tar.gz")
    assert (
        held({"books": 1, "queries": 1, "kept_pairs": 1, "votes": 2})
        == "1 book, 1 query, 1 kept pair, 2 votes"
    )
