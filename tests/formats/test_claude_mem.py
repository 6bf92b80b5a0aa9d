"""claude-mem and mem0: observations from the database and its export, and the results of
`get_all()`.
"""

import json
import os
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.formats.others import CLAUDE_MEM, MEM0, claude_mem_database
from tests.formats.samples import NOW, context, sure
from workbench.core.record import UnreadableFile
from workbench.core.stream.memory import FILE_KEY
from workbench.core.text import MAX_KEPT
from workbench.formats import claude_mem, mem0
from workbench.formats import claude_mem as claude_mem_db
from workbench.formats.opening import read_file

EXPORT = claude_mem.read(CLAUDE_MEM, context("export.json"))


def test_an_export() -> None:
    fixed, title = EXPORT.memories
    assert (fixed.summary, fixed.content) == (
        "Login fixed",
        "The token was not refreshed.\n- TTL is 60 s",
    )
    assert (fixed.observation_type, fixed.memory_type, fixed.session_id) == (
        "code_change",
        "episodic",
        "s1",
    )
    assert fixed.created_at == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert fixed.tags == ("auth", "jwt")
    assert fixed.metadata == {
        "project": "p", "type": "bugfix", "subtitle": "token refresh", "facts": ["TTL is 60 s"],
        "files_modified": ["auth.py"], FILE_KEY: {"format": "claude-mem", "name": "Login fixed", "project": "p"},
    }  # fmt: skip
    assert (title.content, title.observation_type) == ("Only a title", "general")
    assert [(issue.line, issue.records) for issue in EXPORT.issues] == [(9, 1), (9, 2)]
    assert EXPORT.records_in == 5


def test_the_database_gives_the_same_memories(tmp_path: Path) -> None:
    path = claude_mem_database(tmp_path / "mem.db")
    parsed = read_file(path, context=context(str(path)))
    assert parsed.memories == EXPORT.memories
    reasons = [(issue.line, issue.reason, issue.records) for issue in parsed.issues]
    assert reasons == [
        (1, "prompts are not read (2 of them)", 2),
        (3, "row 3 of observations: it says nothing: no title, narrative, facts or text", 1),
    ]
    assert parsed.records_in == 5
    assert parsed.digest == ""


SUMMARY = {
    "id": 4, "memory_session_id": "s1", "project": "p", "request": "Mend the login", "investigated": "The token store",
    "learned": "Tokens live 60 s.", "completed": "They are renewed.", "next_steps": "", "files_read": '["auth.py"]',
    "files_edited": None, "notes": None, "created_at": "2026-01-02T03:05:00.000Z", "created_at_epoch": 1767323100000,
}  # fmt: skip


def test_session_summaries_of_an_export() -> None:
    rows = [SUMMARY, {"id": 5, "request": "Only asked"}, 7, SUMMARY]
    text = json.dumps({"observations": [], "summaries": rows, "prompts": [{}]}, indent=1)
    parsed = claude_mem.read(text, context("export.json"))
    (one,) = parsed.memories
    assert one.content == (
        "Request: Mend the login\nLearned: Tokens live 60 s.\n"
        "Completed: They are renewed.\nInvestigated: The token store"
    )
    assert (one.summary, one.session_id, one.category) == (
        "Mend the login",
        "s1",
        "session summary",
    )
    assert (one.observation_type, one.memory_type, one.status) == ("insight", "episodic", "signal")
    assert one.created_at == datetime(2026, 1, 2, 3, 5, tzinfo=UTC)
    assert one.metadata["files_read"] == ["auth.py"]
    assert "files_edited" not in one.metadata
    assert [issue.reason for issue in parsed.issues] == [
        "it says nothing beside what was asked for", "not a session summary: expected a JSON object",
        f"the id “{one.id}” was already used on line 4", "prompts are not read (1 of them)",
    ]  # fmt: skip
    assert parsed.records_in == 5
    assert sure(claude_mem.detect('{"totalObservations": 0, "summaries": [', "e.json")) > 0.3
    alone = json.dumps({"exportedAt": "2026-01-05", "summaries": [SUMMARY]})
    assert claude_mem.read(alone, context()).memories == parsed.memories


def test_session_summaries_of_a_database(tmp_path: Path) -> None:
    path = claude_mem_database(tmp_path / "mem.db")
    names = ", ".join(SUMMARY)
    with closing(sqlite3.connect(path)) as database:
        database.execute(f"CREATE TABLE session_summaries ({names})")
        places = ", ".join("?" * len(SUMMARY))
        rows = [
            tuple(SUMMARY.values()),
            tuple(
                {**SUMMARY, "id": 5, "learned": "", "completed": "", "investigated": ""}.values()
            ),
        ]
        database.executemany(f"INSERT INTO session_summaries VALUES ({places})", rows)
        database.commit()
    parsed = read_file(path, context=context(str(path)))
    export = claude_mem.read(json.dumps({"observations": [], "summaries": [SUMMARY]}), context())
    assert parsed.memories == (*EXPORT.memories, *export.memories)
    assert any(
        issue.reason.startswith("row 2 of session_summaries: it says nothing")
        for issue in parsed.issues
    )


@pytest.mark.slow
@given(
    st.dictionaries(
        st.sampled_from([*SUMMARY]),
        st.one_of(st.none(), st.text(max_size=5), st.integers(), st.lists(st.text(max_size=3))),
    )
)
@settings(max_examples=60, deadline=None)
def test_any_summary_is_read_or_named(row: dict[str, object]) -> None:
    parsed = claude_mem.read(
        json.dumps({"observations": [], "summaries": [row]}), context("e.json")
    )
    assert parsed.records_in == 1
    assert len(parsed.memories) + sum(issue.records for issue in parsed.issues) == 1


def test_the_database_is_only_read(tmp_path: Path) -> None:
    folder = tmp_path / "closed #1?"
    folder.mkdir()
    path = claude_mem_database(folder / "mem.db")
    before = path.read_bytes()
    path.chmod(0o400)
    folder.chmod(0o500)
    try:
        assert read_file(path, context=context()).records_read == 2
    finally:
        folder.chmod(0o700)
    assert path.read_bytes() == before
    assert os.listdir(folder) == ["mem.db"]  # noqa: PTH208


def test_a_database_in_use_is_read_with_its_log(tmp_path: Path) -> None:
    path = claude_mem_database(tmp_path / "mem.db")
    with closing(sqlite3.connect(path)) as busy:
        busy.execute(
            "INSERT INTO observations (id, type, title, created_at_epoch) VALUES (20, 'decision', 'New', 1)"
        )
        busy.commit()
        assert read_file(path, context=context()).records_read == 3
        busy.execute("BEGIN IMMEDIATE")
        assert read_file(path, context=context()).records_read == 3


@pytest.mark.parametrize("ways", range(4))
def test_broken_databases(tmp_path: Path, ways: int) -> None:
    path = claude_mem_database(tmp_path / "mem.db")
    data = path.read_bytes()
    broken = (
        data[:5000],
        data[:100] + b"\xff" * 5000,
        b"text, no database",
        data[:4096] + b"\0" * (len(data) - 4096),
    )
    path.write_bytes(broken[ways])
    with pytest.raises(UnreadableFile):
        read_file(path, format="claude-mem-db", context=context())


def test_databases_of_others(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE notes (title TEXT)")
        database.execute("CREATE VIEW observations AS SELECT title FROM notes")
        database.commit()
    with pytest.raises(UnreadableFile, match="no known format"):
        read_file(path, context=context())
    with pytest.raises(UnreadableFile, match="no table “observations”"):
        read_file(path, format="claude-mem-db", context=context())
    with pytest.raises(UnreadableFile, match="File not found:"):
        read_file(tmp_path / "missing.db", format="claude-mem-db", context=context())
    with pytest.raises(UnreadableFile, match="no SQLite database"):
        claude_mem_db.refuse_text("x", context())


def test_odd_values_in_the_database(tmp_path: Path) -> None:
    path = tmp_path / "odd.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute(
            "CREATE TABLE observations (title, narrative, facts, score, created_at_epoch)"
        )
        rows = [
            (b"\xff\0raw", "n" * 3, '["broken', 9e999, "soon"),
            ("t", "x" * MAX_KEPT, '["f"]', 1, 2**40),
        ]
        database.executemany("INSERT INTO observations VALUES (?, ?, ?, ?, ?)", rows)
        database.commit()
    parsed = read_file(path, context=context())
    first, second = parsed.memories
    assert (first.content, first.created_at) == ('nnn\n- ["broken', NOW)
    assert "\0" not in first.summary
    assert (len(second.content), second.metadata["facts"]) == (MAX_KEPT, ["f"])
    assert {note.field for note in parsed.mappings} >= {"facts", "created_at_epoch", "type"}


def test_mem0() -> None:
    parsed = mem0.read(MEM0, context("mem0.json"))
    tea, bath = parsed.memories
    assert (tea.id, tea.content, tea.user_id, tea.tags) == ("m1", "Likes tea", "ann", ("food",))
    assert tea.created_at == datetime(2026, 1, 2, 11, 4, 5, tzinfo=UTC)
    assert tea.metadata == {"hash": "h", "metadata": {"k": 1}, "score": 0.5}
    assert (bath.user_id, bath.metadata) == ("local", {"hash": "i"})
    assert [(issue.line, issue.records) for issue in parsed.issues] == [(5, 1)]
    assert parsed.records_in == 3


def test_mem0_lists_and_broken_results() -> None:
    text = '[{"memory": "a"},\n {"id": "1", "memory": " "}, 7, {"id": "1", "memory": "b", "categories": 5},\n' \
        ' {"id": "1", "memory": "c"}, {"memory": '  # fmt: skip
    parsed = mem0.read(text, context("m.json"))
    assert [m.content for m in parsed.memories] == ["a", "b"]
    assert (
        parsed.memories[0].id
        == mem0.read(text, replace(context(), now=NOW.replace(year=2027))).memories[0].id
    )
    assert [(issue.line, issue.records) for issue in parsed.issues] == [
        (2, 1),
        (2, 1),
        (3, 1),
        (3, 1),
    ]
    for nothing in ("{}", '{"results": 1}', "7", "["):
        with pytest.raises(UnreadableFile):
            mem0.read(nothing, context())
    for nothing in ("{}", '{"observations": 1}', "[]"):
        with pytest.raises(UnreadableFile):
            claude_mem.read(nothing, context())
