"""Random playbooks and random changes: votes add up, ids stay unique, files are read as they were
written.
"""

import json
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.samples import assert_sound
from tests.services.conftest import bring
from workbench.core.files.format import ReadContext
from workbench.core.playbook.book import Bullet
from workbench.core.record import WorkbenchError
from workbench.formats import ace
from workbench.services.open import Workbench, open_workbench

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
BOOK = "book"

TEXTS = st.text('abc ÄßΩ字[]:=#-*`"\\', min_size=1, max_size=24).map(str.strip).filter(bool)
LINES = st.lists(
    st.tuples(TEXTS, st.integers(0, 9), st.integers(0, 9), st.booleans()), min_size=2, max_size=7
)
PLACE = st.integers(0, 40)

Act = tuple[str, int, int, str]
ACTS: st.SearchStrategy[list[Act]] = st.lists(
    st.tuples(
        st.sampled_from(
            ["add", "update", "merge", "delete", "move", "split", "avoid", "deprecate", "restore", "helpful", "harmful",
             "shift", "pin", "section", "equals", "curator", "tags"]
        ),
        PLACE, PLACE, TEXTS,
    ),
    max_size=9,
)  # fmt: skip


def file_of(lines: list[tuple[str, int, int, bool]], *, bare: bool) -> str:
    """A playbook with a blank line and a second section somewhere, in either dialect."""
    out = ["## RULES"]
    for number, (text, up, down, breaks) in enumerate(lines, 1):
        out += ["", "## APIS TO USE"] if breaks and "## APIS TO USE" not in out else []
        out.append(f"[x-{number:05}] {'' if bare else f'helpful={up} harmful={down} :: '}{text}")
    return "\n".join([*out, "", "## OTHERS", ""])


def sums(bullets: list[Bullet]) -> tuple[int, int]:
    return sum(b.helpful_count for b in bullets), sum(b.harmful_count for b in bullets)


def reply(bench: Workbench, kind: str, first: str, second: str, text: str) -> object:
    """Let a Curator or a Reflector suggest something of everything, and accept what is possible."""
    curator = [
        {"type": "ADD", "section": "RULES", "content": text}, {"type": "ADD", "section": "nowhere", "content": text},
        {"type": "UPDATE", "bullet_id": first, "content": text}, {"type": "DELETE", "bullet_id": "z-9"},
        {"type": "MERGE", "source_ids": [first, second], "content": text}, {"type": "DELETE", "bullet_id": second},
        {"type": "CREATE_META", "section_name": "META", "content": text},
    ]  # fmt: skip
    tags = [
        {"id": first, "tag": "helpful"},
        {"id": first, "tag": "harmful"},
        {"bullet": second, "tag": "neutral"},
    ]
    told = (
        {"operations": curator} if kind == "curator" else {"key_insight": text, "bullet_tags": tags}
    )
    read = bench.curating.read(json.dumps(told))
    cards = bench.curating.cards(BOOK, read)
    return bench.curating.apply(
        BOOK, read, [c.suggested for c in cards if c.suggested and not c.problem]
    )


def carry_out(bench: Workbench, act: Act) -> bool:
    """Do one thing to bullets that are there; return whether it was possible."""
    kind, one, other, text = act
    playbook = bench.playbooks.open(BOOK)
    ids = [b.id for b in playbook.bullets]
    if not ids and kind != "add":
        return False
    first, second = (ids[one % len(ids)], ids[other % len(ids)]) if ids else ("", "")
    section = playbook.sections[other % len(playbook.sections)].id
    books = bench.playbooks
    acts: dict[str, Callable[[], object]] = {
        "add": lambda: books.add(BOOK, section, text),
        "update": lambda: books.edit(BOOK, first, text),
        "merge": lambda: bench.bullet_duplicates.merge(BOOK, [first, second], text, second),
        "delete": lambda: books.delete(BOOK, [first]),
        "move": lambda: books.move(BOOK, [first], section),
        "split": lambda: bench.bullet_duplicates.part(BOOK, first),
        "avoid": lambda: books.avoid(BOOK, list(dict.fromkeys([first, second]))),
        "deprecate": lambda: books.deprecate(
            BOOK, [first], text, second if first != second else ""
        ),
        "restore": lambda: books.restore(BOOK, [first]),
        "helpful": lambda: books.vote(BOOK, [first], "helpful"),
        "harmful": lambda: books.vote(BOOK, list(dict.fromkeys([first, second])), "harmful"),
        "shift": lambda: books.shift(BOOK, first, 1 if one % 2 else -1),
        "pin": lambda: books.pin(BOOK, [first]),
        "section": lambda: books.add_section(BOOK, text),
        "equals": lambda: bench.bullet_duplicates.merge_same(
            BOOK, bench.bullet_duplicates.same(BOOK)
        ),
        "curator": lambda: reply(bench, "curator", first, second, text),
        "tags": lambda: reply(bench, "reflector", first, second, text),
    }
    before = bench.library.journal.rev
    try:
        acts[kind]()
    except WorkbenchError:
        assert bench.library.journal.rev == before, "what is refused changes nothing"
        return False
    return bench.library.journal.rev > before


def check(bench: Workbench, act: Act, before: list[Bullet], *, bare: bool) -> None:
    """Check what must hold after every change."""
    playbook = bench.playbooks.open(BOOK)
    assert_sound(playbook)
    names = [name for b in playbook.bullets for name in (b.id, *b.aliases)]
    assert len(names) == len(set(names)), "no id means two bullets"
    old, new, kind = sums(before), sums(list(playbook.bullets)), act[0]
    if kind in ("helpful", "harmful", "tags"):
        assert sum(abs(n - o) for n, o in zip(new, old, strict=True)) <= 4
    else:
        gone = sums([b for b in before if b.id not in names])
        assert new == (old[0] - gone[0], old[1] - gone[1]), f"{kind} neither makes nor loses votes"
    text = ace.write_playbook(bench.playbooks.open(BOOK))
    (again,) = ace.FORMAT.read(text, ReadContext(NOW, "book.txt")).playbooks
    living = [b for b in playbook.bullets if b.state != "deprecated"]
    assert [told(b, bare=bare) for b in again.bullets] == [told(b, bare=bare) for b in living]
    assert ace.write_playbook(again) == text


def told(bullet: Bullet, *, bare: bool) -> tuple[str, str, int, int]:
    """What the file tells of a bullet; the bare dialect has no counts."""
    counts = (0, 0) if bare else (bullet.helpful_count, bullet.harmful_count)
    return (bullet.id, bullet.content, *counts)


@settings(max_examples=30, deadline=None)
@given(LINES, ACTS, st.booleans())
def test_any_changes_keep_votes_ids_and_the_file_and_can_all_be_taken_back(
    lines: list[tuple[str, int, int, bool]], acts: list[Act], bare: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{BOOK}.txt"
        path.write_text(file_of(lines, bare=bare))
        bench = open_workbench(Path(folder) / "store", profiles=Path(folder), clock=lambda: NOW)
        bring(bench, path)
        assert ace.write_playbook(bench.playbooks.open(BOOK)) == file_of(lines, bare=bare)
        states = []
        for act in acts:
            before = bench.playbooks.open(BOOK)
            if carry_out(bench, act):
                states.append(before)
                check(bench, act, list(before.bullets), bare=bare)
        for before in reversed(states):
            bench.history.undo()
            assert bench.playbooks.open(BOOK) == before, "each undo goes back exactly one change"
        assert ace.write_playbook(bench.playbooks.open(BOOK)) == file_of(lines, bare=bare)
        for _ in states:
            bench.history.redo()
        bench.close()
