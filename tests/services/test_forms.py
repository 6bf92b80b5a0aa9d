"""Records as forms: every field as a line, only what was changed is saved, as one action that undo
takes back.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.services.conftest import Open, memory, put
from workbench.core.playbook.book import Book, Bullet, Section
from workbench.core.record import Conflict, InvalidRecord
from workbench.core.stream.memory import Memory
from workbench.services.forms import (
    TEXT,
    BadDocument,
    BulletForm,
    MemoryForm,
    ProposalForm,
    UnfitValue,
    Values,
    document_of,
    line_of,
    memory_fields,
    memory_values,
    read_document,
)
from workbench.services.open import Workbench

LONG = "The first line says it. The second says more.\nAnd a last one."


@pytest.fixture
def bench(open_bench: Open) -> Workbench:
    bench = open_bench()
    put(
        bench,
        memory("m-1", LONG, summary="The first line says it.", tags=("ci",), related=("m-2",)),
        memory(
            "m-2",
            "Another one.",
            summary="Quite another title",
            observation_type="odd",
            tags=("ci", "x"),
        ),
        memory("m-3", "A third one.", importance_score=7.5),
    )
    return bench


def stored(bench: Workbench, id: str = "m-1") -> Memory:
    return bench.library.memories.get(id)


def saved(bench: Workbench, values: Values, id: str = "m-1") -> Memory:
    form = MemoryForm(bench, id)
    form.write(values, {name: form.values[name] or "" for name in values})
    return stored(bench, id)


def added(bench: Workbench, values: Values) -> Memory:
    form = MemoryForm(bench)
    form.write(values, {})
    return stored(bench, form.ids[0])


# One memory


def test_a_form_holds_every_field_as_a_line(bench: Workbench) -> None:
    assert MemoryForm(bench, "m-1").values == {
        TEXT: LONG, "title": "", "type": "general", "memory type": "episodic", "importance": "5", "tags": "ci",
        "category": "", "section": "", "related": "m-2", "note": "",
    }  # fmt: skip
    assert MemoryForm(bench, "m-2").values["title"] == "Quite another title"
    assert MemoryForm(bench, "m-3").values["importance"] == "7.5"
    assert [field.name for field in MemoryForm(bench).fields] == list(
        MemoryForm(bench, "m-1").values
    )[1:]


def test_what_was_changed_is_written_and_nothing_else_and_one_undo_takes_it_back(
    bench: Workbench,
) -> None:
    before, rev = stored(bench), bench.library.revision
    after = saved(
        bench,
        {"importance": "8,5", "tags": " auth , ci,", "note": "ask  Ruth", "category": "gotcha"},
    )
    assert after.importance_score == 8.5
    assert after.tags == ("auth", "ci")
    assert after.note == "ask Ruth"
    assert after.category == "gotcha"
    assert after.content == before.content
    assert after.summary == before.summary
    assert after.related == before.related
    assert bench.library.revision == rev + 1
    bench.history.undo()
    assert stored(bench) == before
    assert saved(bench, {"note": "x"}).note == "x"
    assert "note" not in saved(bench, {"note": ""}).metadata


def test_a_title_that_was_cut_from_the_text_follows_it_and_one_of_its_own_stays(
    bench: Workbench,
) -> None:
    assert saved(bench, {TEXT: "New words."}).line == "New words."
    assert saved(bench, {TEXT: "New words."}, "m-2").line == "Quite another title"
    assert saved(bench, {TEXT: "Newer words.", "title": "Said"}).line == "Said"
    assert saved(bench, {"title": ""}).line == "Newer words."


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("importance", "11", "Importance goes from 0 to 10, not to 11"),
        ("importance", "-1", "not to -1"),
        ("importance", "nan", "Importance goes from 0 to 10"),
        ("importance", "much", "“much” is not a number: 0 to 10"),
        ("importance", "", "An importance is required"),
        ("type", "eror", "“eror” is not a type: error?"),
        ("type", "", "A type is required"),
        ("memory type", "semantics", "“semantics” is not a memory type: semantic?"),
        ("tags", "ci, two words", "“two words” has a space"),
        ("related", "m-9", "memory m-9"),
        ("related", "m-2 m-1", "A memory is not related to itself"),
    ],
)
def test_what_a_field_cannot_hold_is_refused_with_its_name(
    bench: Workbench, field: str, value: str, said: str
) -> None:
    rev = bench.library.revision
    with pytest.raises(UnfitValue) as refused:
        saved(bench, {"category": "gotcha", field: value})
    assert refused.value.field == field
    assert said in refused.value.message
    assert len(refused.value.message) < 60, "it stands beside the field"
    assert bench.library.revision == rev


def test_the_beginning_of_only_one_value_stands_for_it(bench: Workbench) -> None:
    assert saved(bench, {"type": "got", "memory type": "sem"}).observation_type == "gotcha"
    assert stored(bench).memory_type == "semantic"
    with pytest.raises(UnfitValue, match="“test_” is not a type"):
        saved(bench, {"type": "test_"})


def test_what_a_memory_has_of_its_own_may_stay(bench: Workbench) -> None:
    put(bench, memory("m-4", "x", observation_type="odd", tags=("two words",)))
    after = saved(bench, {"type": "odd", "tags": "two words, ci"}, "m-4")
    assert after.observation_type == "odd"
    assert after.tags == ("two words", "ci")


def test_what_somebody_else_changed_is_a_conflict_only_where_it_was_changed_here(
    bench: Workbench,
) -> None:
    form = MemoryForm(bench, "m-1")
    bench.stream.edit("m-1", "Theirs.")
    with pytest.raises(Conflict):
        form.write({TEXT: "Mine.", "tags": "a"}, {TEXT: LONG, "tags": "ci"})
    assert stored(bench).tags == ("ci",)
    form.write({"tags": "a"}, {"tags": "ci"})
    assert stored(bench).content == "Theirs."
    assert stored(bench).tags == ("a",)


# Several memories, and new ones


def test_several_memories_show_what_they_share(bench: Workbench) -> None:
    shared = MemoryForm(bench, "m-1", "m-2").values
    assert shared["tags"] is None
    assert shared["type"] is None
    assert shared["memory type"] == "episodic"
    assert shared["category"] == ""
    assert TEXT not in shared


def test_only_what_is_touched_is_set_on_all_of_them_and_one_undo_takes_it_back(
    bench: Workbench,
) -> None:
    before, rev = [stored(bench, id) for id in ("m-1", "m-2", "m-3")], bench.library.revision
    form = MemoryForm(bench, "m-1", "m-2", "m-3")
    form.write({"category": "gotcha", "importance": "5"}, {})
    assert form.changed == 3
    assert {stored(bench, id).category for id in ("m-1", "m-2", "m-3")} == {"gotcha"}
    assert stored(bench, "m-2").tags == ("ci", "x")
    assert bench.library.revision == rev + 1
    bench.history.undo()
    assert [stored(bench, id) for id in ("m-1", "m-2", "m-3")] == before
    form.write({"importance": "5"}, {})
    assert form.changed == 1


def test_tags_of_several_are_added_and_taken_away_by_their_signs(bench: Workbench) -> None:
    MemoryForm(bench, "m-1", "m-2").write({"tags": "+auth, -x"}, {})
    assert stored(bench, "m-1").tags == ("ci", "auth")
    assert stored(bench, "m-2").tags == ("ci", "auth")
    MemoryForm(bench, "m-1", "m-2").write({"tags": "one"}, {})
    assert stored(bench, "m-2").tags == ("one",)
    assert saved(bench, {"tags": "+auth"}).tags == ("+auth",), (
        "of one memory a sign is part of the tag"
    )


def test_a_new_memory_has_what_was_said_and_the_usual_for_the_rest(bench: Workbench) -> None:
    rev = bench.library.revision
    made = added(
        bench,
        {
            TEXT: "Never deploy on a Friday.",
            "type": "gotcha",
            "tags": "deploy",
            "title": "",
            "note": "n",
        },
    )
    assert made.content == "Never deploy on a Friday."
    assert made.observation_type == "gotcha"
    assert made.memory_type == "episodic"
    assert made.tags == ("deploy",)
    assert made.importance_score == 8.0
    assert made.note == "n"
    assert made.status == "signal"
    assert bench.library.revision == rev + 1
    assert (
        added(bench, {TEXT: "Something else altogether.", "importance": "2"}).importance_score
        == 2.0
    )
    bench.history.undo()
    bench.history.undo()
    assert bench.library.memories.find(made.id) is None


def test_a_new_memory_that_repeats_one_is_refused_and_so_is_one_without_a_text(
    bench: Workbench,
) -> None:
    rev = bench.library.revision
    with pytest.raises(InvalidRecord, match="m-3 already says this"):
        added(bench, {TEXT: "A third one.", "tags": "new"})
    with pytest.raises(InvalidRecord, match="text is empty"):
        added(bench, {TEXT: " \n", "tags": "new"})
    with pytest.raises(UnfitValue):
        added(bench, {TEXT: "Quite new.", "importance": "12"})
    assert bench.library.revision == rev


# Bullets


@pytest.fixture
def book(bench: Workbench) -> Workbench:
    put(
        bench,
        Book("main", name="main"),
        Section("rules", "rules", "## RULES"),
        Section("others", "others", "## OTHERS", order=1),
        Bullet("r-1", "rules", "First."),
        Bullet("r-2", "rules", "Second.", order=1),
        Bullet("o-1", "others", "Third."),
    )
    return bench


def test_a_bullet_has_a_text_and_a_section_and_both_go_in_one_action(book: Workbench) -> None:
    form, rev = BulletForm(book, "main", "r-1"), book.library.revision
    assert form.values == {TEXT: "First.", "section": "RULES"}
    assert [(field.name, field.choices) for field in form.fields] == [
        ("section", ("RULES", "OTHERS"))
    ]
    form.write({TEXT: "Said better.", "section": "others"}, {TEXT: "First.", "section": "RULES"})
    assert book.playbooks.bullet("main", "r-1").content == "Said better."
    assert book.playbooks.bullet("main", "r-1").section == "others"
    assert book.library.revision == rev + 1
    book.history.undo()
    assert form.read() == {TEXT: "First.", "section": "RULES"}


def test_a_section_that_is_not_there_is_refused_and_a_conflict_writes_nothing(
    book: Workbench,
) -> None:
    form = BulletForm(book, "main", "r-1")
    with pytest.raises(UnfitValue, match="“mistakes”: RULES, OTHERS"):
        form.write({"section": "mistakes"}, {"section": "RULES"})
    with pytest.raises(Conflict):
        form.write({TEXT: "Mine.", "section": "OTHERS"}, {TEXT: "Before.", "section": "RULES"})
    assert form.read() == {TEXT: "First.", "section": "RULES"}


def test_several_bullets_move_together_and_a_new_one_stands_at_the_end(book: Workbench) -> None:
    form = BulletForm(book, "main", "r-1", "r-2")
    assert form.values == {"section": "RULES"}
    assert BulletForm(book, "main", "r-1", "o-1").values == {"section": None}
    form.write({"section": "OTHERS"}, {})
    assert [b.id for b in book.playbooks.open("main").in_section("others")] == ["o-1", "r-1", "r-2"]
    new = BulletForm(book, "main", section=book.playbooks.open("main").sections[0])
    assert new.values == {TEXT: "", "section": "RULES"}
    new.write({TEXT: "A new one."}, {})
    assert book.playbooks.bullet("main", new.ids[0]).section == "rules"


# Proposals


def test_a_candidate_gets_other_words_and_fields_in_one_action_and_waits_on(
    bench: Workbench,
) -> None:
    put(bench, memory("c-1", "Proposed.", status="candidate", citations=("m-1",)))
    (proposal,) = bench.review.queue()
    form, rev = ProposalForm(bench, proposal), bench.library.revision
    with pytest.raises(UnfitValue):
        form.write({"importance": "11"}, {"importance": form.values["importance"] or ""})
    with pytest.raises(Conflict):
        form.write({"tags": "a"}, {"tags": "b"})
    assert stored(bench, "c-1").status == "candidate"
    assert bench.library.revision == rev
    form.write({TEXT: "Better.", "tags": "a"}, {TEXT: "Proposed.", "tags": ""})
    after = stored(bench, "c-1")
    assert after.content == "Better."
    assert after.tags == ("a",)
    assert after.status == "candidate"
    assert bench.library.revision == rev + 1
    bench.history.undo()
    assert stored(bench, "c-1").content == "Proposed."


# Documents


def test_a_document_is_front_matter_and_the_text(bench: Workbench) -> None:
    values, fields = memory_values(stored(bench)), memory_fields()
    document = document_of(values, fields)
    assert document.splitlines()[:3] == ["---", "title:", "type: general"]
    assert document.endswith(f"---\n{LONG}")
    assert read_document(document, values, fields) == {}
    changed = (
        document.replace("tags: ci", "TAGS:  ci, auth ")
        .replace("note:\n", "")
        .replace("And a last", "A last")
    )
    assert read_document(changed, values, fields) == {
        "tags": "ci, auth",
        TEXT: LONG.replace("And a last", "A last"),
    }
    assert line_of(document, "importance") == 5


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("---\ntitle", "title", 1, "begin below a line of ---"),
        ("note:\n---\n", "note:\n", 12, "end with a line of ---"),
        ("tags: ci", "tgas: ci", 6, "there is no field “tgas”"),
        ("tags: ci", "ci", 6, "“ci” is not a field"),
        ("category:", "tags: x", 7, "tags appears twice"),
    ],
)
def test_a_bad_document_is_refused_by_its_line(
    bench: Workbench, old: str, new: str, line: int, said: str
) -> None:
    values, fields = memory_values(stored(bench)), memory_fields()
    document = document_of(values, fields).replace(old, new)
    with pytest.raises(BadDocument) as bad:
        read_document(document, values, fields)
    assert bad.value.line == line
    assert f"Line {line}: " in str(bad.value)
    assert said in str(bad.value)


LINE = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), max_size=12)


@pytest.mark.slow
@given(st.text(max_size=80), st.lists(LINE, max_size=4), LINE)
def test_a_document_gives_back_what_it_was_made_of(text: str, tags: list[str], title: str) -> None:
    values = memory_values(memory("m", text, summary=title, tags=tuple(tags)))
    assert read_document(document_of(values, memory_fields()), values, memory_fields()) == {}
