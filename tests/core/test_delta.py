"""Playbook operations: only what they name changes, line by line."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.samples import NOW, assert_sound, days, file_lines, playbook
from workbench.core.playbook.book import Book, Bullet, Playbook, Section
from workbench.core.playbook.operations import (
    BULLET_COUNTS,
    Add,
    CreateMeta,
    Delete,
    Merge,
    Move,
    Operation,
    Reorder,
    Update,
    apply,
    find_bullet,
)
from workbench.core.record import Conflict, InvalidRecord, UnknownRecord

BOOK = playbook()
LINES = [
    "## RULES", "[rul-00001] one", "", "# about two", "[rul-00002] two", "# about three", "[rul-00003] three",
    "", "## APIS", "# about four", "[api-00004] four", "", "## OTHERS", "",
]  # fmt: skip


def ids(book: Playbook, section: str) -> list[str]:
    return [b.id for b in book.in_section(section)]


def without(lines: list[str], *gone: str) -> list[str]:
    return [line for line in lines if line not in gone]


def test_the_sample_reads_as_its_file() -> None:
    """The ground on which the other tests stand."""
    assert file_lines(BOOK) == LINES
    assert_sound(BOOK)


@pytest.mark.parametrize("name", ["apis", "APIS", "APIs:"])
def test_add_appends_to_the_section(name: str) -> None:
    """By id, key or title; the id counts on over the whole file."""
    book = apply(BOOK, Add(name, "first\nsecond"), NOW)
    added = book.in_section("apis")[-1]
    assert (added.id, added.content, added.created_at) == ("apis-00005", "first\nsecond", NOW)
    assert (added.raw, added.lead, added.order) == (None, (), 1.0)
    assert file_lines(book) == [*LINES[:11], "<apis-00005> first\nsecond", *LINES[11:]]


def test_add_to_an_empty_section_and_with_an_id() -> None:
    """The bullet follows its heading."""
    book = apply(BOOK, Add("others", "five", id="own-1"), NOW)
    assert file_lines(book) == [*LINES[:13], "<own-1> five", ""]
    assert apply(BOOK, Add("others", "five"), NOW).bullets[-1].id == "misc-00005"


def test_add_counts_aliases_and_refuses_taken_ids() -> None:
    """An alias still means its bullet."""
    merged = apply(BOOK, Merge(("rul-00001", "api-00004"), "both"), NOW)
    assert apply(merged, Add("rules", "x"), NOW).in_section("rules")[-1].id == "rule-00005"
    for taken in ("rul-00001", "api-00004", ""):
        with pytest.raises(InvalidRecord, match="is empty or taken"):
            apply(merged, Add("rules", "x", id=taken), NOW)


def test_update_renders_one_line_anew() -> None:
    """By its id or an alias of it; the same text changes nothing at all."""
    book = apply(BOOK, Update("rul-00002", "zwei"), NOW)
    assert file_lines(book) == [
        "<rul-00002> zwei" if line == "[rul-00002] two" else line for line in LINES
    ]
    assert apply(BOOK, Update("rul-00002", "two"), NOW) is BOOK
    merged = apply(BOOK, Merge(("rul-00001", "rul-00002"), "both"), NOW)
    assert find_bullet(apply(merged, Update("rul-00002", "new"), NOW), "rul-00001").content == "new"


def test_delete_hands_its_lines_to_the_next_bullet() -> None:
    """No other line of the file changes."""
    book = apply(BOOK, Delete("rul-00002"), NOW)
    assert file_lines(book) == without(LINES, "[rul-00002] two")
    assert book.in_section("rules")[1].lead == ("", "# about two", "# about three")


def test_delete_hands_its_lines_to_the_next_section_or_the_tail() -> None:
    """When nothing follows in the section, or in the book."""
    book = apply(BOOK, Delete("rul-00003"), NOW)
    assert file_lines(book) == without(LINES, "[rul-00003] three")
    assert book.sections[1].lead == ("# about three", "")
    short = replace(BOOK, sections=BOOK.sections[:2])
    cut = apply(short, Delete("api-00004"), NOW)
    assert file_lines(cut) == without(file_lines(short), "[api-00004] four")
    assert cut.book.tail == ("# about four", "")


def test_delete_does_not_follow_an_alias() -> None:
    """That would remove more than was meant."""
    merged = apply(BOOK, Merge(("rul-00001", "rul-00002"), "both"), NOW)
    with pytest.raises(UnknownRecord, match="rul-00002 was merged into rul-00001"):
        apply(merged, Delete("rul-00002"), NOW)


def test_merge_sums_and_keeps_names() -> None:
    """Counts once, old ids as aliases, one line anew, the others gone."""
    marked = tuple(
        replace(
            b,
            helpful_imported=i,
            helpful_votes=1,
            harmful_votes=i,
            neutral_count=2,
            aliases=(f"old-{i}",),
        )
        for i, b in enumerate(BOOK.bullets)
    )
    start = replace(
        BOOK,
        bullets=(
            replace(marked[0], last_feedback_at=NOW - days(1)),
            *marked[1:3],
            replace(marked[3], pinned=True),
        ),
    )
    book = apply(
        start,
        Merge(("rul-00003", "api-00004", "rul-00003", "old-3"), "both", keep_id="api-00004"),
        NOW,
    )
    kept = find_bullet(book, "api-00004")
    assert [getattr(kept, name) for name in BULLET_COUNTS] == [5, 0, 2, 0, 5, 4]
    assert (kept.content, kept.pinned, kept.state, kept.last_feedback_at) == (
        "both",
        True,
        "active",
        None,
    )
    assert set(kept.aliases) == {"old-3", "old-2", "rul-00003"}
    assert file_lines(book) == [
        "<api-00004> both" if line == "[api-00004] four" else line
        for line in without(LINES, "[rul-00003] three")
    ]
    merges = kept.metadata["merged"]
    assert isinstance(merges, list)
    assert [r["id"] for r in merges[0]["records"]] == ["api-00004", "rul-00003"]
    later = apply(book, Merge(("api-00004", "rul-00001"), "all"), NOW)
    assert find_bullet(later, "rul-00001").last_feedback_at == NOW - days(1)


def test_merge_of_deprecated_bullets_stays_deprecated() -> None:
    """One active source is enough to keep it alive."""
    shelved = replace(BOOK, bullets=tuple(replace(b, state="deprecated") for b in BOOK.bullets))
    assert (
        apply(shelved, Merge(("rul-00001", "rul-00002"), "x"), NOW).bullets[0].state == "deprecated"
    )


def test_move_within_and_between_sections() -> None:
    """The line travels as it is, what stood above it stays."""
    book = apply(BOOK, Move("rul-00002", "apis", 0), NOW)
    rest = without(LINES, "[rul-00002] two")
    at = rest.index("## APIS") + 1
    assert file_lines(book) == [*rest[:at], "[rul-00002] two", *rest[at:]]
    assert find_bullet(book, "rul-00002").order < find_bullet(book, "api-00004").order
    up = apply(BOOK, Move("rul-00003", "rules", 0), NOW)
    assert ids(up, "rules") == ["rul-00003", "rul-00001", "rul-00002"]
    middle = apply(BOOK, Move("api-00004", "rules", 1), NOW)
    assert ids(middle, "rules") == ["rul-00001", "api-00004", "rul-00002", "rul-00003"]
    assert find_bullet(middle, "api-00004").order == 0.5
    assert [b for b in middle.bullets if b.id.startswith("rul")] == list(BOOK.bullets[:3])
    assert ids(apply(BOOK, Move("rul-00001", "rules"), NOW), "rules")[-1] == "rul-00001"


def test_moving_to_where_it_is_changes_nothing() -> None:
    """Not even the lines above it."""
    assert apply(BOOK, Move("rul-00002", "rules", 1), NOW) is BOOK
    assert apply(BOOK, Move("rul-00003", "rules"), NOW) is BOOK


@pytest.mark.parametrize("position", [-1, 4])
def test_move_outside_the_section(position: int) -> None:
    """A position is not guessed either."""
    with pytest.raises(InvalidRecord, match=f"no position {position}"):
        apply(BOOK, Move("api-00004", "rules", position), NOW)


def test_orders_are_renumbered_only_when_there_is_no_room() -> None:
    """Equal orders leave none."""
    flat = replace(BOOK, bullets=tuple(replace(b, order=0.0) for b in BOOK.bullets))
    moved = apply(flat, Move("api-00004", "rules", 1), NOW)
    assert [b.order for b in moved.in_section("rules")] == [0.0, 1.0, 2.0, 3.0]


def test_reorder_leaves_the_lines_between_in_place() -> None:
    """Only the bullets change places, and take the orders of their new ones."""
    book = apply(BOOK, Reorder("rules", ("rul-00003", "rul-00001", "rul-00002")), NOW)
    assert file_lines(book) == [
        "## RULES", "[rul-00003] three", "", "# about two", "[rul-00001] one", "# about three", "[rul-00002] two",
        *LINES[7:],
    ]  # fmt: skip
    assert [b.order for b in book.in_section("rules")] == [0.0, 1.0, 2.0]


@pytest.mark.parametrize(
    "order",
    [
        ("rul-00001",),
        ("rul-00001", "rul-00002", "rul-00002"),
        ("rul-00001", "rul-00002", "api-00004"),
    ],
)
def test_reorder_must_name_every_bullet_once(order: tuple[str, ...]) -> None:
    """Or bullets would be lost."""
    with pytest.raises(InvalidRecord, match="every bullet of “RULES” once"):
        apply(BOOK, Reorder("rules", order), NOW)


def test_create_meta_makes_section_and_bullet() -> None:
    """At the end of the book, parted by a blank line."""
    book = apply(BOOK, CreateMeta("## Meta\n strategies", "think"), NOW)
    section = book.sections[-1]
    assert (section.id, section.key, section.title, section.order) == (
        "meta_strategies",
        "meta_strategies",
        "Meta strategies",
        3.0,
    )
    assert file_lines(book) == [*LINES[:13], "", "<Meta strategies>", "<meta-00005> think", ""]
    empty = apply(Playbook(Book()), CreateMeta("Rules", section_id="r1"), NOW)
    assert (empty.sections, empty.bullets) == ((Section("r1", "rules", "Rules"),), ())


def test_create_meta_in_a_section_that_exists() -> None:
    """Adds the bullet there; without one there is nothing to do."""
    assert ids(apply(BOOK, CreateMeta("APIS", "five"), NOW), "apis") == ["api-00004", "apis-00005"]
    with pytest.raises(InvalidRecord, match="“APIS” already exists"):
        apply(BOOK, CreateMeta("APIS"), NOW)
    with pytest.raises(InvalidRecord, match="needs a name"):
        apply(BOOK, CreateMeta(" # ", "x"), NOW)
    with pytest.raises(InvalidRecord, match="“rules” is taken"):
        apply(BOOK, CreateMeta("New", "x", section_id="rules"), NOW)


@pytest.mark.parametrize(
    ("op", "says"),
    [
        (Add("nowhere", "x"), "no section “nowhere”"), (Update("rul-9", "x"), "no bullet rul-9"),
        (Merge(("rul-00001", "rul-9"), "x"), "no bullet rul-9"), (Delete("rul-9"), "no bullet rul-9"),
        (Merge(("rul-00001", "rul-00002"), "x", keep_id="rul-9"), "no bullet rul-9"),
        (Move("rul-9", "rules"), "no bullet rul-9"), (Move("rul-00001", "nowhere"), "no section “nowhere”"),
        (Reorder("nowhere", ()), "no section “nowhere”"), (Reorder("rules", ("rul-9",)), "no bullet rul-9"),
    ],
)  # fmt: skip
def test_what_does_not_exist_is_named(op: Operation, says: str) -> None:
    """Never guessed."""
    with pytest.raises(UnknownRecord, match=f"{says}.*not changed"):
        apply(BOOK, op, NOW)


@pytest.mark.parametrize(
    "op",
    [Add("rules", " "), Update("rul-00001", "\n"), Merge(("rul-00001", "rul-00002"), "")],
    ids=lambda o: type(o).__name__,
)
def test_a_bullet_needs_text(op: Operation) -> None:
    """An empty line would not be read back."""
    with pytest.raises(InvalidRecord, match="needs text"):
        apply(BOOK, op, NOW)


def test_merges_that_make_no_sense() -> None:
    """One bullet, twice the same, a keeper from outside."""
    for sources in ((), ("rul-00001",), ("rul-00001", "rul-00001")):
        with pytest.raises(InvalidRecord, match="at least two different bullets"):
            apply(BOOK, Merge(sources, "x"), NOW)
    with pytest.raises(InvalidRecord, match="api-00004 is not among"):
        apply(BOOK, Merge(("rul-00001", "rul-00002"), "x", keep_id="api-00004"), NOW)


def test_what_several_carry_is_a_conflict() -> None:
    """Duplicate ids and titles exist in real files; the rest of the book can still be edited."""
    double = replace(BOOK, bullets=(*BOOK.bullets, Bullet("rul-00001", "others", "again")))
    with pytest.raises(Conflict, match="Several bullets carry the id rul-00001"):
        apply(double, Update("rul-00001", "x"), NOW)
    assert find_bullet(apply(double, Update("rul-00002", "x"), NOW), "rul-00002").content == "x"
    twins = replace(BOOK, sections=(*BOOK.sections, Section("rules-2", "rules", "Rules")))
    with pytest.raises(Conflict, match=r"“RULES”.* rules, rules-2"):
        apply(twins, Add("RULES", "x"), NOW)
    with pytest.raises(Conflict, match="Several sections"):
        apply(twins, CreateMeta("Rules", "x"), NOW)
    assert ids(apply(twins, Add("rules-2", "x"), NOW), "rules-2") == ["rule-00005"]


def test_a_titled_section_wins_over_the_headless_one() -> None:
    """Bullets above the first heading share the key of OTHERS."""
    headless = replace(BOOK, sections=(Section("top", "others", ""), *BOOK.sections))
    assert ids(apply(headless, Add("OTHERS", "x"), NOW), "others") == ["misc-00005"]
    alone = replace(headless, sections=(headless.sections[0], *BOOK.sections[:2]))
    assert apply(alone, CreateMeta("OTHERS", "x"), NOW).sections[-1].title == "OTHERS"


def test_a_bullet_whose_section_is_gone_is_refused() -> None:
    orphan = replace(BOOK, bullets=(*BOOK.bullets, Bullet("x-1", "lost", "x")))
    with pytest.raises(InvalidRecord, match="x-1 is in section “lost”"):
        apply(orphan, Add("rules", "x"), NOW)


operations = st.one_of(
    st.builds(Add, st.sampled_from(["rules", "apis", "others", "meta"]), st.just("new")),
    st.builds(Update, st.sampled_from([b.id for b in BOOK.bullets]), st.sampled_from(["changed", "one"])),
    st.builds(Delete, st.sampled_from([b.id for b in BOOK.bullets])),
    st.builds(
        Merge, st.lists(st.sampled_from([b.id for b in BOOK.bullets]), max_size=3).map(tuple), st.just("merged")
    ),
    st.builds(
        Move, st.sampled_from([b.id for b in BOOK.bullets]), st.sampled_from(["rules", "apis", "others"]),
        st.none() | st.integers(0, 4),
    ),
    st.builds(CreateMeta, st.sampled_from(["Meta", "Rules"]), st.sampled_from(["", "text"])),
)  # fmt: skip


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(st.lists(operations, max_size=8))
def test_any_history_keeps_the_book_whole(history: list[Operation]) -> None:
    """Invariants hold, orders increase, lines that are no bullets are never lost, counts never
    appear from nothing.
    """
    book = replace(BOOK, bullets=tuple(replace(b, helpful_votes=1) for b in BOOK.bullets))
    for op in history:
        try:
            after = apply(book, op, NOW)
        except (UnknownRecord, InvalidRecord):
            continue
        assert_sound(after)
        for section in after.sections:
            orders = [b.order for b in after.in_section(section.id)]
            assert orders == sorted(set(orders))
        assert [b.section for b in after.bullets] == [
            b.section for s in after.sections for b in after.in_section(s.id)
        ]
        lost = 1 if isinstance(op, Delete) else 0
        votes = [sum(b.helpful_votes for b in x.bullets) for x in (book, after)]
        assert votes[0] - lost <= votes[1] <= votes[0] or isinstance(op, Delete)
        comments = [line for line in file_lines(after) if line.startswith("# ")]
        assert sorted(comments) == ["# about four", "# about three", "# about two"]
        book = after
