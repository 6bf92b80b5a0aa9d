"""Replacing across the store: all places are found, the chosen ones change in one action, and
nothing else does.
"""

from pathlib import Path

import pytest

from tests.services.conftest import NOON, Open, memory, put
from workbench.config.loading import Settings
from workbench.core.playbook.book import Book, Bullet, Section
from workbench.core.record import Conflict, InvalidQuery, InvalidRecord
from workbench.core.stream.confidence import SavedView
from workbench.core.tuning.judgment import SavedQuery
from workbench.services.open import Workbench, open_workbench
from workbench.services.promotion.promotion import Target
from workbench.services.stream.replacing import Replaceable, Wanted

NAME = Wanted("authd", "gatekeeper", word=True)
SECRET = "ghp_" + "Kq7vR2xT9mZ4pL8sW3nB6yC1dF5gH0jAeXuQ"


@pytest.fixture
def bench(tmp_path: Path, open_bench: Open) -> Workbench:
    """A project with an old name in two memories, a title, a bullet and an archived memory."""
    folder = tmp_path / "project"
    folder.mkdir()
    bench = open_bench(folder=folder / ".workbench")
    put(
        bench,
        memory("m1", "Restart authd after a deploy; authd keeps no state.", status="confirmed"),
        memory("m2", "The port is 8443.", summary="Where authd listens"),
        memory("m3", "authdaemon is another program."),
        memory("m4", "authd is old.", status="archived", archived_reason="done"),
        Book("main", name="main"),
        Section("ops", "ops", "OPS"),
        Bullet("ops-00001", "ops", "Ask before you stop authd."),
        Bullet("ops-00002", "ops", "Never stop the database."),
    )
    return bench


def state(bench: Workbench) -> dict[str, str]:
    found = {m.id: f"{m.summary}|{m.content}" for m in bench.library.memories.all()}
    return found | {b.id: b.content for b in bench.library.bullets.all()}


def content(record: Replaceable) -> str:
    assert not isinstance(record, Section)
    return record.content


def test_every_place_is_found_and_only_chosen_ones_change(bench: Workbench) -> None:
    places = bench.replacing.places(NAME)
    assert {place.name: place.count for place in places} == {"m1": 2, "m2": 1, "main/ops-00001": 1}
    before = state(bench)
    chosen = [place for place in places if place.name != "m2"]
    bench.replacing.carry_out(NAME, chosen)
    assert state(bench) == before | {
        "m1": "|Restart gatekeeper after a deploy; gatekeeper keeps no state.",
        "ops-00001": "Ask before you stop gatekeeper.",
    }
    assert "2 records" in bench.history.undo()
    assert state(bench) == before


def test_case_and_parts_of_words_as_asked(bench: Workbench) -> None:
    assert {p.name for p in bench.replacing.places(Wanted("authd", "x"))} >= {"m1", "m3"}
    assert not bench.replacing.places(Wanted("AUTHD", "x"))
    assert len(bench.replacing.places(Wanted("AUTHD", "x", ignore_case=True))) == 4
    with pytest.raises(InvalidQuery):
        bench.replacing.places(Wanted(" ", "x"))


def test_a_replacement_is_text_and_no_pattern(bench: Workbench) -> None:
    places = bench.replacing.places(Wanted("8443.", r"\1\g<0>"))
    assert [content(place.after) for place in places] == [r"The port is \1\g<0>"]


def test_files_of_chosen_records_follow_on_a_word_and_come_back(
    bench: Workbench, tmp_path: Path
) -> None:
    bench.promotion.carry_out(bench.promotion.plan(["m1"], Target("block", "AGENTS.md")))
    file = tmp_path / "project" / "AGENTS.md"
    before, records = file.read_bytes(), state(bench)
    chosen = [place for place in bench.replacing.places(NAME) if place.name == "m1"]
    copies = bench.replacing.copies(chosen)
    assert [copy.name for copy in copies.updated] == ["AGENTS.md"]
    bench.replacing.carry_out(NAME, chosen, copies)
    assert file.read_bytes() == before.replace(b"authd", b"gatekeeper")
    bench.history.undo()
    assert file.read_bytes() == before
    assert state(bench) == records


def test_a_bullet_that_is_not_chosen_stays(bench: Workbench) -> None:
    bench.promotion.carry_out(bench.promotion.plan(["m1"], Target("playbook", "main/ops")))
    bullet = (bench.stream.get("m1").promoted_to or "").partition("/")[2]
    before = bench.playbooks.bullet("main", bullet).content
    chosen = [place for place in bench.replacing.places(NAME) if place.name == "m1"]
    copies = bench.replacing.copies(chosen)
    assert copies.copies == ()
    bench.replacing.carry_out(NAME, chosen, copies)
    assert bench.playbooks.bullet("main", bullet).content == before


def test_what_changed_meanwhile_refuses_all_of_it(bench: Workbench) -> None:
    places = bench.replacing.places(NAME)
    bench.stream.edit("m2", "The port is 9443.")
    before = state(bench)
    with pytest.raises(Conflict):
        bench.replacing.carry_out(NAME, places)
    assert state(bench) == before


def test_a_secret_in_the_replacement_is_masked_as_shown(bench: Workbench) -> None:
    wanted = Wanted("8443", SECRET)
    places = bench.replacing.places(wanted)
    assert SECRET not in content(places[0].after)
    bench.replacing.carry_out(wanted, places)
    assert bench.stream.get("m2").content == content(places[0].after)
    assert SECRET not in str(next(iter(bench.history.events())))


def test_what_does_not_fit_is_named_and_refused(bench: Workbench) -> None:
    wanted = Wanted("8443", "8" * 10_000)
    places = bench.replacing.places(wanted)
    assert [place.misfit for place in places] == ["long"]
    with pytest.raises(InvalidRecord):
        bench.replacing.carry_out(wanted, places)
    assert [place.misfit for place in bench.replacing.places(Wanted("The port is 8443.", ""))] == [
        "empty"
    ]


def test_names_are_places_of_their_own_when_asked_for_and_else_counted(tmp_path: Path) -> None:
    views = (SavedView("authd things", "tag:authd"), SavedView("others", "tag:x"))
    bench = open_workbench(
        tmp_path / "store", profiles=tmp_path / "none", settings=Settings(views=views)
    )
    put(
        bench,
        memory("m1", "Restart authd.", tags=("authd", "ops"), category="authd"),
        memory("m2", "The port is 8443.", tags=("authd", "gatekeeper")),
        memory("m3", "Old.", tags=("authd",), status="archived", archived_reason="done"),
        Book("main", name="main"),
        Section("authd", "authd_rules", "AUTHD RULES"),
        Section("ops", "about_authd", "About authd:", order=1.0),
        SavedQuery("q1", "why does authd restart", NOON),
    )
    stays = {"tag": 1, "category": 1, "section": 1, "query": 1, "view": 1}
    assert dict(bench.replacing.elsewhere(NAME)) == stays
    assert [place.name for place in bench.replacing.places(NAME)] == ["m1"]
    wanted = NAME._replace(names=True)
    assert dict(bench.replacing.elsewhere(wanted)) == {"query": 1, "view": 1}
    places = bench.replacing.places(wanted)
    assert sorted(place.name for place in places) == ["m1", "m2", "section main/ops"]
    before = bench.library.sections.get("main/ops")
    bench.replacing.carry_out(wanted, places)
    assert bench.library.memories.get("m1").tags == ("gatekeeper", "ops")
    assert bench.library.memories.get("m1").category == "gatekeeper"
    assert bench.library.memories.get("m2").tags == ("gatekeeper",)
    assert bench.library.memories.get("m3").tags == ("authd",)
    after = bench.library.sections.get("main/ops")
    assert after.id == "ops"
    assert after.title == "About gatekeeper:"
    assert after.key == "about_gatekeeper"
    bench.history.undo()
    assert bench.library.sections.get("main/ops") == before
    assert bench.library.memories.get("m2").tags == ("authd", "gatekeeper")


def test_a_title_that_a_section_has_already_or_that_would_be_empty_is_no_place(
    tmp_path: Path, open_bench: Open
) -> None:
    bench = open_bench(folder=tmp_path / "store")
    sections = (Section("a", "old", "Old"), Section("b", "new", "New", order=1.0))
    put(bench, Book("main", name="main"), *sections)
    assert [p.misfit for p in bench.replacing.places(Wanted("Old", "New", names=True))] == ["taken"]
    assert [p.misfit for p in bench.replacing.places(Wanted("Old", "", names=True))] == ["empty"]
    with pytest.raises(InvalidRecord):
        bench.replacing.carry_out(
            Wanted("Old", "New"), bench.replacing.places(Wanted("Old", "New", names=True))
        )


def test_titles_that_would_come_to_say_the_same_are_no_places_together(
    tmp_path: Path, open_bench: Open
) -> None:
    bench = open_bench(folder=tmp_path / "store")
    sections = (Section("a", "flip_go", "FLIP GO"), Section("b", "go_flip", "GO FLIP", order=1.0))
    put(bench, Book("main", name="main"), *sections)
    places = bench.replacing.places(Wanted("GO", "", names=True))
    assert [(place.name, place.misfit) for place in places] == [
        ("section main/a", ""),
        ("section main/b", "taken"),
    ]


def test_tags_are_counted_as_they_are_and_stay_lines(tmp_path: Path, open_bench: Open) -> None:
    bench = open_bench(folder=tmp_path / "store")
    put(bench, memory("m1", "See issue #3.", tags=("ci", "go  on"), category="ci"))
    assert [place.count for place in bench.replacing.places(Wanted("#", "no. ", names=True))] == [1]
    wanted = Wanted("ci", "build\nserver", word=True, names=True)
    bench.replacing.carry_out(wanted, bench.replacing.places(wanted))
    named = bench.library.memories.get("m1")
    assert named.tags == ("build server", "go  on")
    assert named.category == "build server"
