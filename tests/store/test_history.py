from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.calls import calls_of
from tests.store.helpers import delete, memory, open_journal, open_library, put
from workbench.store import entry, history
from workbench.store.entry import Doc
from workbench.store.history import FieldEvent


def test_who_changed_what_and_when(tmp_path: Path) -> None:
    journal = open_journal(tmp_path)
    put(journal, 1, {"id": "x1", "a": 1})
    put(journal, 1, {"id": "x1", "n": 2}, actor="agent:claude-code")
    put(journal, 2, {"id": "x2"})
    with journal.transaction("mcp", "read", kind="access") as staged:
        staged.put("t", "1", {"id": "x1", "n": 5})
    seen = list(history.Past(journal).events(("t", "x1")))
    assert [(e.rev, e.at, e.actor, e.label, e.kind) for e in seen] == [
        (2, "2026-11-21T12:00:00Z", "agent:claude-code", "put 1", "edit"),
        (1, "2026-11-21T12:00:00Z", "human", "put 1", "edit"),
    ]
    assert seen[0].fields == (
        FieldEvent("t", "x1", "a", 1, None),
        FieldEvent("t", "x1", "n", None, None, step=2),
    )
    assert [e.rev for e in history.Past(journal).events()] == [3, 2, 1]
    assert [e.rev for e in history.Past(journal).events(accesses=True)] == [4, 3, 2, 1]
    assert list(history.Past(journal).events(("t", "nope"))) == []


def test_of_a_large_transaction_only_the_changes_asked_for_are_read(tmp_path: Path) -> None:
    journal = open_journal(tmp_path)
    with journal.transaction("import:x", "import") as staged:
        for n in range(200):
            staged.put("t", str(n), {"id": f"x{n}", "a": n})
    found: list[tuple[str, str]] = []

    def read(count: int) -> None:
        found[:] = [
            (key, c.doc)
            for _, key, c in history.Past(journal).changes_of("t", [f"x{n}" for n in range(count)])
        ]

    assert calls_of([entry._change], lambda: read(2)) == [2]
    assert found == [("x1", "1"), ("x0", "0")]
    assert calls_of([entry._change], lambda: read(100)) == [100]
    assert len(found) == 100


def test_a_record_that_is_gone_keeps_its_name_in_the_history(tmp_path: Path) -> None:
    journal = open_journal(tmp_path)
    put(journal, 1, {"id": "x1", "a": 1})
    put(journal, 1, {"id": "x1", "a": 2})
    delete(journal, 1)
    put(journal, 2, {"id": "x1", "a": 3})
    assert [{f.key for f in e.fields} for e in history.Past(journal).events()] == [{"x1"}] * 4
    assert [e.rev for e in history.Past(journal).events(("t", "x1"))] == [4, 3, 2, 1]
    assert [history.Past(journal).at_revision("t", "x1", rev) for rev in range(5)] == [
        None, {"id": "x1", "a": 1}, {"id": "x1", "a": 2}, None, {"id": "x1", "a": 3},
    ]  # fmt: skip


def test_a_revision_that_is_not_there_yet(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no revision 1"):
        history.Past(open_journal(tmp_path)).at_revision("t", "x", 1)


steps = st.lists(
    st.tuples(
        st.integers(1, 3), st.none() | st.dictionaries(st.sampled_from("abn"), st.integers(0, 2))
    ),
    max_size=12,
)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(steps, st.sampled_from([400, 1 << 20]))
def test_the_past_is_what_it_was(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[int, Doc | None]], size: int
) -> None:
    journal = open_journal(tmp_path_factory.mktemp("s"), segment_bytes=size)
    past = [journal.state.snapshot()]
    for doc_id, doc in changes:
        rev = journal.rev
        if doc is None:
            delete(journal, doc_id)
        else:
            put(journal, doc_id, {"id": f"x{doc_id}", **doc})
        if journal.rev > rev:
            past.append(journal.state.snapshot())
    for rev, tables in enumerate(past):
        assert journal.tables_at(rev).get("t", {}) == tables.get("t", {})
        for doc_id in (1, 2, 3):
            assert history.Past(journal).at_revision("t", f"x{doc_id}", rev) == tables.get(
                "t", {}
            ).get(str(doc_id))


def test_keys_of_playbooks_are_found_in_the_past(tmp_path: Path) -> None:
    from workbench.core.playbook.book import Bullet

    library = open_library(tmp_path)
    bullet = Bullet("b-00001", "s", "text", book="other")
    with library.transaction("human", "add") as tx:
        tx.put(bullet)
        tx.put(memory(1))
    with library.transaction("human", "gone") as tx:
        tx.delete(bullet)
    doc = history.Past(library.journal).at_revision("bullets", "other/b-00001", 1)
    assert doc is not None
    assert doc["content"] == "text"
    assert history.doc_ids(library.journal, "bullets", "main/b-00001") == []
    action = history.Past(library.journal).action_of("2")
    assert action is not None
    history.Past(library.journal).undo(action, "human")
    assert [
        e.target for e in history.Past(library.journal).events(("bullets", "other/b-00001"))
    ] == [2, 0, 0]
