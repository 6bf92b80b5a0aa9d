"""The size of a playbook that is kept up is the size of its text, whatever changes."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.calls import calls_of
from workbench.core.playbook.book import Book, Bullet, BulletState, Playbook, Section
from workbench.formats.ace import writing
from workbench.formats.ace.size import BookSize
from workbench.formats.ace.writing import write_playbook

TEXTS = st.text("ab Ä字[]:=#-\\\r\n", max_size=12)
PLACES = st.sampled_from(["one", "two", "others", "nowhere"])
RAWS = st.none() | st.builds("{}{}".format, st.sampled_from(["", "\ufeff"]), TEXTS)
LEADS = st.lists(st.sampled_from(["", " ", "a remark"]), max_size=2).map(tuple)
STATES: st.SearchStrategy[BulletState] = st.sampled_from(["active", "active", "deprecated"])
IDS = [f"x-{number:05}" for number in range(1, 5)]


@st.composite
def bullets(draw: st.DrawFn, name: str) -> Bullet:
    """A bullet whose line says what it says, something else, or is not there."""
    content, up = draw(TEXTS), draw(st.integers(0, 12))
    raw = draw(RAWS | st.just(f"[{name}] helpful={up} harmful=0 :: {content}") | st.just(f"[{name}] {content}"))
    return Bullet(
        name, draw(PLACES), content, order=draw(st.integers(0, 3)), helpful_imported=up, raw=raw, lead=draw(LEADS),
        state=draw(STATES),
    )  # fmt: skip


@st.composite
def sections(draw: st.DrawFn) -> tuple[Section, ...]:
    """Some of the sections, in any order."""
    found = []
    for name in draw(st.sets(st.sampled_from(["one", "two", "others"]))):
        title = draw(TEXTS | st.just(name))
        raw = draw(RAWS | st.just(f"## {title}"))
        found.append(Section(name, name, title, order=draw(st.integers(0, 3)), raw=raw, lead=draw(LEADS)))
    return tuple(found)


@st.composite
def books(draw: st.DrawFn) -> Book:
    """A book of either dialect, with any line ends and any end."""
    return Book(
        dialect=draw(st.sampled_from(["counts", "bare"])), newline=draw(st.sampled_from(["\n", "\r\n"])),
        final_newline=draw(st.booleans()), tail=draw(LEADS),
    )  # fmt: skip


@st.composite
def histories(draw: st.DrawFn) -> list[Playbook]:
    """States of one playbook: each differs from the one before in a bullet, in the sections, or in the book."""
    states = [Playbook(draw(books()), draw(sections()), tuple(draw(bullets(name)) for name in IDS))]
    for _ in range(draw(st.integers(0, 6))):
        last, what = states[-1], draw(st.sampled_from(["bullet", "gone", "sections", "book", "back"]))
        if what == "bullet":
            new = draw(st.sampled_from(IDS).flatmap(bullets))
            states.append(replace(last, bullets=(*(b for b in last.bullets if b.id != new.id), new)))
        elif what == "gone":
            states.append(replace(last, bullets=last.bullets[1:]))
        elif what == "sections":
            states.append(replace(last, sections=draw(sections())))
        elif what == "book":
            states.append(replace(last, book=draw(books())))
        else:
            states.append(draw(st.sampled_from(states)))
    return states


@pytest.mark.slow
@given(histories())
def test_the_size_is_that_of_the_text_after_any_changes(states: list[Playbook]) -> None:
    size = BookSize()
    for playbook in states:
        assert size.characters(playbook) == len(write_playbook(playbook))


def test_a_change_measures_only_what_changed() -> None:
    rules = Section("rules", "rules", "RULES")
    many = Playbook(Book(), (rules,), tuple(Bullet(f"r-{n:05}", "rules", f"Rule {n}.") for n in range(318)))
    size = BookSize()
    assert calls_of([writing.bullet_lines], lambda: size.characters(many)) == [318]
    voted = replace(many, bullets=(replace(many.bullets[0], helpful_votes=10), *many.bullets[1:]))
    assert calls_of([writing.bullet_lines], lambda: size.characters(voted)) == [1]
    assert calls_of([writing.bullet_lines], lambda: size.characters(voted)) == [0]
