"""What is wrong with a playbook file, and that each fix puts just that right."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.core.files.lint import LintFinding
from workbench.formats import ace
from workbench.formats.lint import lint

CLEAN = "## HARD RULES\n[hr-00001] helpful=1 harmful=0 :: Ask first.\n\n## OTHERS\n"


def only(text: str, rule: str) -> LintFinding:
    """Return the one finding of a rule."""
    (found,) = [f for f in lint(text, "book.txt") if f.rule == rule]
    return found


def fixed(text: str, rule: str) -> str:
    fix = only(text, rule).fix
    assert fix is not None
    return fix.applied(text)


def test_nothing_is_wrong_with_a_clean_file() -> None:
    assert lint(CLEAN, "book.txt") == []
    assert lint(CLEAN.replace("\n", "\r\n"), "book.txt") == []


def test_an_id_that_is_used_twice_is_renumbered() -> None:
    text = CLEAN.replace("\n\n##", "\n[hr-00001] helpful=0 harmful=0 :: Another.\n\n##")
    found = only(text, "duplicate-id")
    assert (found.line, found.message) == (3, "the id “hr-00001” is already used on line 2")
    assert fixed(text, "duplicate-id") == text.replace(
        "[hr-00001] helpful=0", "[hr-00002] helpful=0"
    )


def test_equal_texts_become_one_with_the_sum_of_counts() -> None:
    text = CLEAN.replace("\n\n##", "\n[hr-00002] helpful=4 harmful=2 :: Ask first.\n\n##")
    assert only(text, "duplicate-text").line == 3
    assert fixed(text, "duplicate-text") == CLEAN.replace(
        "helpful=1 harmful=0", "helpful=5 harmful=2"
    )


@pytest.mark.parametrize(
    "second",
    [
        "[hr-00002] helpful=4 harmful=2 :: ASK  first.",
        "[hr-00002] helpful=4 harmful=2 neutral=1 :: Ask first.",
        "[hr-00002] helpful=4 harmful=-2 :: Ask first.",
        "[hr-00002] Ask first.",
    ],
)
def test_what_is_not_equal_in_everything_is_told_and_stays(second: str) -> None:
    found = only(CLEAN.replace("\n\n##", f"\n{second}\n\n##"), "duplicate-text")
    assert (found.line, found.fix) == (3, None)


def test_one_rule_of_two_services_is_no_duplicate() -> None:
    text = (
        "## BILLING\n[bil-00001] helpful=1 harmful=0 :: Restart after a deploy.\n"
        "## SEARCH\n[sea-00002] helpful=1 harmful=0 :: Restart after a deploy.\n"
        "## OTHERS\n[misc-00003] helpful=1 harmful=0 :: Restart after a deploy.\n"
    )
    found = only(text, "duplicate-text")
    assert (found.line, found.fix) == (6, None)
    equal = text + "## SEARCH\n[sea-00004] helpful=2 harmful=0 :: Restart after a deploy.\n"
    *_, last = (f for f in lint(equal, "book.txt") if f.rule == "duplicate-text")
    assert last.fix is not None
    assert (
        last.fix.applied(equal)
        == text.replace("[sea-00002] helpful=1", "[sea-00002] helpful=3") + "## SEARCH\n"
    )


def test_an_id_of_another_section_is_renamed_unless_that_is_taken() -> None:
    text = CLEAN.replace("hr-00001", "fin-00001")
    assert fixed(text, "wrong-slug") == CLEAN
    assert (
        lint(
            CLEAN.replace("HARD RULES", "STRATEGIES & INSIGHTS").replace("hr-", "sai-"), "book.txt"
        )
        == []
    )
    taken = text.replace("\n\n##", "\n[hr-00001] helpful=0 harmful=0 :: Other.\n\n##")
    assert only(taken, "wrong-slug").fix is None


def test_text_above_the_first_heading_goes_to_others() -> None:
    text = f"My rules\n{CLEAN}"
    assert "reference updater fails" in only(text, "text-above").message
    assert fixed(text, "text-above") == f"{CLEAN}[misc-00002] helpful=0 harmful=0 :: My rules\n"
    both = f"One\nTwo\n{CLEAN}[misc-00005] helpful=0 harmful=0 :: Three.\n"
    assert [f.fix.label[-10:] for f in lint(both, "b.txt") if f.fix and f.rule == "text-above"] == [
        "misc-00006", "misc-00007",
    ]  # fmt: skip
    bare = "My rules\n## A B\n[ab-00001] text\n"
    assert (
        fixed(bare, "text-above") == "## A B\n[ab-00001] text\n\n## OTHERS\n[misc-00002] My rules\n"
    )


def test_a_line_that_belongs_to_no_bullet_becomes_one() -> None:
    text = CLEAN.replace("RULES\n", "RULES\nRead this.\n")
    assert only(text, "orphan-line").line == 2
    assert fixed(text, "orphan-line") == CLEAN.replace(
        "RULES\n", "RULES\n[hr-00002] helpful=0 harmful=0 :: Read this.\n"
    )


def test_a_line_after_a_bullet_belongs_to_it() -> None:
    assert lint(CLEAN.replace("first.\n", "first.\n  and then wait\n"), "book.txt") == []


def test_a_deep_heading_is_raised() -> None:
    assert fixed(CLEAN.replace("## HARD", "#### HARD"), "deep-heading") == CLEAN


@pytest.mark.parametrize(
    "line",
    ["- [hr-00001] helpful=1 harmful=0 :: Ask first.", "[hr-00001] helpful=1, harmful=0 :: Ask first.",
     "[hr-00001] helpful=1 neutral=3 harmful=0 :: Ask first.", "[hr-00001] helpful=1 harmful=-2 :: Ask first."],
)  # fmt: skip
def test_a_bullet_the_reference_does_not_take_is_written_strictly(line: str) -> None:
    text = CLEAN.replace("[hr-00001] helpful=1 harmful=0 :: Ask first.", line)
    assert fixed(text, "loose-bullet") == CLEAN


def test_others_is_added() -> None:
    text = CLEAN.partition("\n\n##")[0]
    assert fixed(text, "no-others") == CLEAN
    assert fixed(f"{text}\n", "no-others") == CLEAN


LINES = st.sampled_from(
    ["## HARD RULES", "### DEEP", "## OTHERS", "", "text", "[hr-00001] helpful=1 harmful=0 :: a", "[x-2] bare",
     "- [fin-00003] helpful=1, harmful=2 :: B", "[hr-00009] helpful=0 harmful=0 :: A", "  more", "\ufeff## BOM"]
)  # fmt: skip


@pytest.mark.slow
@settings(max_examples=150)
@given(st.lists(LINES, max_size=9), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_fixing_one_thing_after_the_other_ends_in_a_clean_file(
    chosen: list[str], newline: str, final: bool
) -> None:
    text = newline.join(chosen) + (newline if final else "")
    words = {word for line in chosen for word in ("text", "bare", "more") if word in line}
    for _ in range(60):
        fixes = [f.fix for f in lint(text, "book.txt") if f.fix is not None]
        if not fixes:
            break
        text = fixes[0].applied(text)
    assert not [f for f in lint(text, "book.txt") if f.fix is not None]
    assert all(word in text for word in words)
    playbook = ace.read_playbook(text, file="book.txt")
    assert len({b.id for b in playbook.bullets}) == len(playbook.bullets)
