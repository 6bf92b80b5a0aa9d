"""`workbench purge`: afterwards no byte of the store says what was erased."""

import gzip
import sys
from io import StringIO
from pathlib import Path

import pytest

from tests.cli.conftest import NOW, Cli, files_of
from workbench.config import drafts
from workbench.config.paths import state_dir
from workbench.core.stream.memory import Memory
from workbench.store.library import Library

SECRET = "the vault opens with marmalade-9912 on Tuesdays"
REASON = "because the vault opens with marmalade-9912 on Tuesdays"


def everything(folder: Path) -> bytes:
    """Return every byte below a folder, packed files unpacked as well."""
    data = b""
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        raw = path.read_bytes()
        data += raw + (gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else b"")
    return data


@pytest.fixture
def secret(demo: Cli) -> str:
    """Store a secret, embed it, vote on it, edit it, judge it, and propose a merge with it."""
    demo.ok("ingest", SECRET, "--type", "gotcha")
    (id,) = [line.split()[0] for line in demo.ok("list", "marmalade-9912").splitlines()[:1]]
    demo.ok("vote", id, "helpful", "--reason", REASON)
    demo.ok("vote", id, "harmful", "--reason", REASON, "--actor", "claude")
    demo("search", SECRET)
    demo.ok("ingest", "not the vault opens with marmalade-9912 on Tuesdays")
    query = f'{{"query": "vault", "relevant": {{"{id}": 3}}}}\n'
    demo.ok("import", demo.write("queries.jsonl", query))
    assert b"marmalade-9912" in everything(demo.store)
    return id


@pytest.mark.slow
def test_nothing_of_the_text_is_left_anywhere(demo: Cli, secret: str) -> None:
    other = next(
        line.split()[0]
        for line in demo.ok("list", "marmalade-9912").splitlines()
        if secret not in line
    )
    typed = drafts.folder_of(state_dir(), demo.store)
    drafts.keep(typed, drafts.Item(f"memories/{secret}"), drafts.Draft(f"{SECRET}, or", "", NOW))
    assert b"marmalade" in everything(typed)
    result = demo("purge", secret, other, "--yes-erase", secret, "--yes-erase", other)
    assert result.code == 0, result.err
    assert everything(typed) == b""
    assert f"Erased {secret}, {other}, 2 votes, 1 judgment" in result.out
    assert "journal.jsonl" in result.out
    assert "cache" in result.out
    left = everything(demo.store)
    for text in (b"marmalade", b"vault opens"):
        assert text not in left
    assert demo("show", secret).code == 2
    assert demo.ok("doctor")
    lines = demo.ok("history", secret)
    assert "(purged)" in lines or "ingest" in lines
    assert demo("search", "how do we deploy").code == 0


@pytest.mark.slow
def test_without_a_yes_nothing_is_erased(
    demo: Cli, secret: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = files_of(demo.store)
    monkeypatch.setattr(sys, "stdin", StringIO(""))
    result = demo("purge", secret)
    assert (result.code, result.out) == (2, "")
    assert f"--yes-erase {secret}" in result.err
    result = demo("purge", secret, "--yes-erase", "mem-other")
    assert result.code == 2
    assert files_of(demo.store) == before


class Typed(StringIO):
    """What a person types at a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.slow
def test_the_id_has_to_be_typed(demo: Cli, secret: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Typed("yes\n"))
    result = demo("purge", secret)
    assert result.code == 2
    assert f"That is not {secret}. Nothing was erased." in result.err
    assert demo("show", secret).code == 0
    monkeypatch.setattr(sys, "stdin", Typed(f"{secret}\n"))
    assert demo("purge", secret).code == 0
    assert demo("show", secret).code == 2


def test_what_never_was_cannot_be_erased(demo: Cli) -> None:
    result = demo("purge", "mem-none", "--yes-erase", "mem-none")
    assert (result.code, result.err) == (
        2, "workbench: mem-none was never in this store. Nothing was erased.\n",
    )  # fmt: skip


@pytest.mark.slow
def test_a_bullet_can_be_erased_too_also_after_it_was_deleted(demo: Cli) -> None:
    demo.ok("import", demo.write("one.txt", f"## A\n[a-00001] helpful=0 harmful=0 :: {SECRET}\n"))
    demo.ok("undo")
    assert b"marmalade" in everything(demo.store)
    assert demo("purge", "a-00001", "--yes-erase", "a-00001").code == 0
    assert b"marmalade" not in everything(demo.store)


def test_an_erased_memory_cannot_be_brought_back(cli: Cli) -> None:
    cli.ok("append", SECRET)
    cli.ok("purge", "mem-20260320-0000001", "--yes-erase", "mem-20260320-0000001")
    assert cli("undo").code == 2
    assert cli("undo", "--rev", "1").code == 2
    assert b"marmalade" not in everything(cli.store)


def test_pairs_kept_apart_are_named_among_what_goes(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = Library(cli.store, lambda: NOW)
    with library.transaction("cli", "some memories") as tx:
        for id in "ab":
            tx.put(Memory(id, SECRET, NOW, NOW))
    library.close()
    cli.ok("dedup")
    cli.ok("review", "reject", "--kind", "merge", "--yes")
    monkeypatch.setattr(sys, "stdin", Typed("b\n"))
    assert "This erases b, 1 proposal, 1 kept-apart pair for good." in cli("purge", "b").err
    assert "Erased a." in cli.ok("purge", "a", "--yes-erase", "a")


@pytest.mark.slow
def test_what_was_promoted_goes_from_the_files_too(demo: Cli, secret: str) -> None:
    demo.store = demo.store.rename(demo.cwd / ".workbench")
    demo.write("CLAUDE.md", "# Mine\n")
    demo("allow", secret)
    demo.ok("review", "promote", secret, "--to", "memory", "--name", "vault", "--title", "Vault")
    demo.ok("undo")
    demo.ok("review", "promote", secret, "--to", "CLAUDE.md")
    assert b"marmalade-9912" in (demo.cwd / "CLAUDE.md").read_bytes()
    result = demo("purge", secret, "--yes-erase", secret)
    assert result.code == 0
    assert "removed from: CLAUDE.md" in result.out
    assert (demo.cwd / "CLAUDE.md").read_text() == "# Mine\n"
    assert b"marmalade-9912" not in everything(demo.store)
    assert not list(demo.cwd.glob(".claude/memory/*"))


def test_a_file_that_somebody_changed_is_named(demo: Cli, secret: str) -> None:
    demo.store = demo.store.rename(demo.cwd / ".workbench")
    demo("review", "promote", secret, "--to", "CLAUDE.md")
    path = demo.cwd / "CLAUDE.md"
    path.write_text(path.read_text().replace("the vault", "our vault"))
    result = demo("purge", secret, "--yes-erase", secret)
    line = next(n for n, text in enumerate(path.read_text().splitlines(), 1) if "our vault" in text)
    assert result.code == 1
    assert f"The text may still be in {path}:{line}, which was edited by hand." in result.err
    assert b"marmalade-9912" not in everything(demo.store)
    before = files_of(demo.store)
    again = demo("purge", secret, "--yes-erase", secret)
    assert (again.code, f"may still be in {path}:{line}" in again.err) == (1, True)
    assert "already erased" in again.out
    assert files_of(demo.store) == before, "no revision for nothing"
    path.write_text("# Mine\n")
    assert demo("purge", secret, "--yes-erase", secret).code == 0


@pytest.mark.slow
def test_an_entry_that_was_deleted_by_hand_is_no_leftover(demo: Cli, secret: str) -> None:
    demo.store = demo.store.rename(demo.cwd / ".workbench")
    demo("review", "promote", secret, "--to", "CLAUDE.md")
    (demo.cwd / "CLAUDE.md").write_text("# Mine\n\nNothing of it.\n")
    assert demo("purge", secret, "--yes-erase", secret).code == 0


def test_a_purge_is_not_passed_over_by_undo(cli: Cli) -> None:
    cli.ok("append", "use pnpm in this repository")
    cli.ok("append", SECRET)
    id = "mem-20260320-0000002"
    cli.ok("purge", id, "--yes-erase", id)
    assert "purge 1 record\n" in cli.ok("history", "-n", "1")
    before = files_of(cli.store)
    result = cli("undo")
    assert (result.code, files_of(cli.store)) == (2, before)
    assert result.err.startswith(
        "workbench: The purge cannot be undone. The change before it is: ingest "
    )
    rev = result.err.partition("--rev ")[2].partition("`")[0]
    cli.ok("undo", "--rev", rev)
    assert "pnpm" not in cli("list").out
    cli.ok("append", "something new")
    assert "something new" in cli.ok("list")
    cli.ok("undo")


def test_what_was_done_again_after_a_purge_is_undone(cli: Cli) -> None:
    cli.ok("append", SECRET)
    cli.ok("append", "use pnpm in this repository")
    cli.ok("undo")
    id = "mem-20260320-0000001"
    cli.ok("purge", id, "--yes-erase", id)
    cli.ok("redo")
    assert "pnpm" in cli.ok("list")
    cli.ok("undo")
    assert "pnpm" not in cli("list").out
    assert cli("undo").err.startswith("workbench: Nothing to undo.")
