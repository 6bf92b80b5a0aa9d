"""ACE playbooks: what the lines mean, byte-exact rewriting, and what a change touches."""

import difflib
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.formats.samples import BARE, COUNTS, LOOSE, context, sure
from workbench.core.files.format import Parsed
from workbench.core.playbook.book import Book, Bullet, Playbook, Section
from workbench.formats.ace import detect, read, read_playbook, write, write_playbook


def changed(playbook: Playbook, name: str, **values: object) -> Playbook:
    """Return the playbook with one bullet's fields replaced."""
    bullets = tuple(replace(b, **values) if b.id == name else b for b in playbook.bullets)  # type: ignore[arg-type]
    return replace(playbook, bullets=bullets)


def lines_changed(before: str, after: str) -> list[str]:
    """Return the added and removed lines."""
    diff = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)
    return [line for line in diff if line[0] in "+-" and not line.startswith(("+++", "---"))]


def test_the_counts_dialect() -> None:
    playbook = read_playbook(COUNTS, file="notes/team.txt")
    assert (playbook.book.dialect, playbook.book.name) == ("counts", "team")
    assert [(s.id, s.title) for s in playbook.sections] == [
        ("strategies_and_insights", "STRATEGIES & INSIGHTS"),
        ("common_mistakes_to_avoid", "COMMON MISTAKES TO AVOID"),
        ("others", "OTHERS"),
    ]
    first, _, third = playbook.bullets
    assert (first.id, first.helpful_count, first.harmful_count, first.content) == (
        "sai-00001",
        7,
        1,
        "Quote paths.",
    )
    assert (third.section, third.harmful_imported) == ("common_mistakes_to_avoid", 4)


def test_the_bare_dialect() -> None:
    playbook = read_playbook(BARE)
    assert playbook.book.dialect == "bare"
    assert not playbook.book.final_newline
    assert [b.id for b in playbook.bullets] == ["shr-00001", "shr-00005", "misc-00003"]
    assert playbook.bullets[1].content == "Look at the specification [before] a call."


def test_a_loose_file() -> None:
    parsed = read(LOOSE, context("p.txt"))
    (playbook,) = parsed.playbooks
    first, second, third = playbook.bullets
    assert first.content == "dashed\n  and continued\n\n  after a gap"
    assert (first.helpful_count, first.harmful_count, first.neutral_count) == (2, 0, 1)
    assert (second.id, second.aliases, second.content) == ("tips-00002", ("tip-1",), "same id")
    assert (third.id, third.helpful_count) == ("odd id!", 3)
    assert [s.id for s in playbook.sections] == ["tips", "tips-2"]
    assert [s.key for s in playbook.sections] == ["tips", "tips"]
    assert third.section == "tips-2"
    reasons = [str(issue) for issue in parsed.issues]
    assert reasons == [
        "p.txt:1: text above the first heading: kept in the file, not part of the playbook",
        "p.txt:3: text that is no bullet: kept in the file, not part of the playbook",
        "p.txt:9: the id “tip-1” was already used on line 5: read as tips-00002, the old id kept as an alias",
    ]
    assert parsed.records_in == parsed.records_read == 3
    assert [str(note) for note in parsed.mappings] == [
        "counts: a negative count read as 0 (1 record)"
    ]
    assert write(parsed) == LOOSE


def test_bullets_above_the_first_heading() -> None:
    text = "[a-1] helpful=1 harmful=0 :: first\n\n## OTHERS\n[b-2] helpful=0 harmful=0 :: second\n"
    parsed = read(text, context())
    (playbook,) = parsed.playbooks
    assert [s.title for s in playbook.sections] == ["", "OTHERS"]
    assert write_playbook(playbook) == text
    assert [issue.records for issue in parsed.issues] == [0]
    strict = write_playbook(playbook, dialect="counts")
    assert strict.startswith("## OTHERS\n")
    assert {b.id for b in read_playbook(strict).bullets} == {"a-1", "b-2"}


def test_sections_of_one_title_are_numbered() -> None:
    ids = [section.id for section in read_playbook("## Same\n" * 4).sections]
    assert ids == ["same", "same-2", "same-3", "same-4"]


@pytest.mark.parametrize("text", [COUNTS, BARE, LOOSE])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("start", ["", "\n\n"])
def test_unchanged_means_the_same_bytes(text: str, newline: str, start: str) -> None:
    exact = (start + text).replace("\n", newline)
    assert write_playbook(read_playbook(exact)) == exact


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(("text", "name"), [(COUNTS, "sai-00002"), (BARE, "shr-00005")])
def test_a_changed_text_changes_one_line(text: str, name: str, newline: str) -> None:
    exact = text.replace("\n", newline)
    after = write_playbook(changed(read_playbook(exact), name, content="two\nlines\r\nor three"))
    gone, new = lines_changed(exact, after)
    assert name in gone
    assert new.endswith(r"two\nlines\nor three")
    assert after.count(newline) == exact.count(newline)


def test_a_changed_line_of_a_file_with_mixed_line_ends_keeps_its_own() -> None:
    mixed = COUNTS.replace("paths.\n", "paths.\r\n")
    after = write_playbook(changed(read_playbook(mixed), "sai-00001", content="Quote all."))
    assert after == mixed.replace("Quote paths.", "Quote all.")


def test_votes_change_the_line_in_the_counts_dialect_only() -> None:
    after = write_playbook(changed(read_playbook(COUNTS), "err-00003", helpful_votes=2))
    assert (
        lines_changed(COUNTS, after)[1] == "+[err-00003] helpful=3 harmful=4 :: Never guess an id."
    )
    assert write_playbook(changed(read_playbook(BARE), "shr-00005", helpful_votes=2)) == BARE


def test_a_duplicate_keeps_its_line_until_it_is_edited() -> None:
    after = write_playbook(changed(read_playbook(LOOSE), "tips-00002", content="other"))
    assert lines_changed(LOOSE, after) == [
        "-[tip-1] helpful=0 harmful=0 :: same id",
        "+[tips-00002] helpful=0 harmful=0 :: other",
    ]


def test_a_renamed_section_and_a_new_bullet() -> None:
    playbook = read_playbook(COUNTS)
    first, *rest = playbook.sections
    new = Bullet("err-00004", "common_mistakes_to_avoid", "Read the log.", order=3.5)
    grown = replace(
        playbook, sections=(replace(first, title="RULES"), *rest), bullets=(*playbook.bullets, new)
    )
    assert lines_changed(COUNTS, write_playbook(grown)) == [
        "-## STRATEGIES & INSIGHTS",
        "+## RULES",
        "+[err-00004] helpful=0 harmful=0 :: Read the log.",
    ]


def test_a_new_section_follows_a_blank_line_and_deprecated_bullets_go() -> None:
    playbook = changed(read_playbook(COUNTS), "err-00003", state="deprecated")
    new = Section("verification", "verification", "VERIFICATION", order=9.0)
    text = write_playbook(replace(playbook, sections=(*playbook.sections, new)))
    assert text.endswith("## COMMON MISTAKES TO AVOID\n\n## OTHERS\n\n## VERIFICATION\n")


def test_a_bullet_of_a_section_that_is_gone_is_not_lost() -> None:
    playbook = read_playbook(COUNTS)
    text = write_playbook(replace(playbook, sections=playbook.sections[:1]))
    assert text.split("\n## ")[1].startswith("OTHERS\n[err-00003]")
    kept = write_playbook(replace(playbook, sections=playbook.sections[1:]))
    assert kept.count("## OTHERS") == 1
    assert len(read_playbook(kept).bullets) == 3


def test_a_playbook_that_was_never_a_file() -> None:
    sections = (
        Section("formulas", "formulas", "FORMULAS", order=1),
        Section("empty", "empty", "EMPTY", order=2),
    )
    bullets = (
        Bullet("form-00002", "formulas", "b", order=2),
        Bullet("form-00001", "formulas", " a\nb ", order=1),
    )
    text = write_playbook(Playbook(Book(), sections, bullets))
    assert text == (
        "## FORMULAS\n[form-00001] helpful=0 harmful=0 :: a\\nb\n[form-00002] helpful=0 harmful=0 :: b\n"
        "\n## EMPTY\n\n## OTHERS\n"
    )
    assert write(Parsed(playbooks=(Playbook(Book()),))) == "## OTHERS\n"


def test_a_strict_export_is_one_line_a_bullet_and_starts_with_a_heading() -> None:
    text = write_playbook(read_playbook(LOOSE), dialect="counts")
    assert text.startswith("## Tips:\n")
    assert r"[tip-1] helpful=2 harmful=0 :: dashed\n  and continued\n\n  after a gap" in text
    assert "[tips-00002] helpful=0 harmful=0 :: same id\n" in text
    assert text.endswith("## OTHERS\n")
    assert (
        write_playbook(read_playbook(BARE), dialect="counts").count("helpful=0 harmful=0 :: ") == 3
    )
    assert (
        write_playbook(read_playbook(COUNTS), dialect="bare").split("\n")[1]
        == "[sai-00001] Quote paths."
    )


def test_an_id_that_the_bare_form_cannot_carry_is_written_with_counts() -> None:
    playbook = changed(read_playbook(BARE), "shr-00005", id="two words", aliases=())
    assert "[two words] helpful=0 harmful=0 :: Look" in write_playbook(playbook)
    tricky = changed(read_playbook(BARE), "shr-00005", content="helpful=3 harmful=1 :: not a count")
    assert (
        read_playbook(write_playbook(tricky)).bullets[1].content
        == "helpful=3 harmful=1 :: not a count"
    )


@pytest.mark.parametrize(
    "line",
    [
        "[1, 2] list",
        "[link1](http://x)",
        "- [ ] todo",
        "- [x] done",
        "[note] text",
        "[" + "i" * 201 + "] helpful=1 harmful=0 :: x",
        "[2024] a year",
        "[a-1",
        f"[{'a1' * 101}] x",
    ],
)
def test_brackets_that_are_no_ids(line: str) -> None:
    assert read_playbook(f"## A\n{line}\n").bullets == ()


def test_detection() -> None:
    assert sure(detect(COUNTS, "x")) > 0.9
    assert sure(detect(BARE.replace("\n", "\r\n"), "x")) > 0.8
    assert sure(detect("## STRATEGIES\n\n## OTHERS\n", "x")) > 0.5
    assert sure(detect("# Notes\n\n## [LRN-1] correction\n- **Area**: docs\n", "x")) == 0.0


def test_the_hostile_playbook_is_read_and_written_back() -> None:
    path = Path(__file__).parents[2] / "fixtures" / "hostile" / "playbook.txt"
    text = path.read_bytes().decode()
    playbook = read_playbook(text)
    assert write_playbook(playbook) == text
    assert max(len(bullet.content) for bullet in playbook.bullets) == 60_000
    assert len(playbook.bullets) == 11
    assert (
        read_playbook(write_playbook(playbook, dialect="counts")).bullets[3].content == "n" * 60_000
    )


pieces = st.sampled_from(
    ["[a-1] ", "[b-00002] ", "[a-1]", "- ", "helpful=3 harmful=1 :: ", "helpful=1, neutral=2, harmful=-4 ::", "## ",
     "### A:", "#", "text", " ", "\t", "::", "\n", "\n", "\r\n", "\r", "\n\n", "\ufeff", "\x85", "\u2028", "]", "["]
)  # fmt: skip


@given(st.lists(pieces, max_size=25).map("".join))
@settings(max_examples=200, deadline=None)
@example("")
@example("\n")
@example("\r\n\n")
@example("## A\n[a-1] x\r\n[a-1] y")
def test_any_text_is_written_back_exactly(text: str) -> None:
    playbook = read_playbook(text)
    assert write_playbook(playbook) == text
    ids = [bullet.id for bullet in playbook.bullets]
    assert len(set(ids)) == len(ids)
    assert len({section.id for section in playbook.sections}) == len(playbook.sections)


plain = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=30).map(
    lambda t: t.strip()
)


@pytest.mark.slow
@given(
    st.lists(plain, min_size=1, max_size=6),
    st.lists(plain, min_size=6, max_size=6),
    st.sampled_from(["counts", "bare"]),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    st.integers(0, 5),
)
@settings(max_examples=80, deadline=None)
def test_edits_are_read_back(
    texts: list[str], edits: list[str], dialect: str, newline: str, final: bool, edited: int
) -> None:
    counts = " helpful=1 harmful=0 ::" if dialect == "counts" else ""
    lines = ["## A", *(f"[a-{n:05d}]{counts} t{text}" for n, text in enumerate(texts, 1))]
    before = newline.join(lines) + (newline if final else "")
    playbook = read_playbook(before)
    assert write_playbook(playbook) == before
    target = playbook.bullets[edited % len(texts)]
    after = write_playbook(changed(playbook, target.id, content=edits[0]))
    again = read_playbook(after)
    want = [edits[0] if bullet.id == target.id else bullet.content for bullet in playbook.bullets]
    assert [bullet.content for bullet in again.bullets] == want
    differing = sum(
        a != b for a, b in zip(before.split(newline), after.split(newline), strict=True)
    )
    assert differing == (0 if edits[0] == target.content else 1)
