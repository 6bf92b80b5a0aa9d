"""What a record is about beside its text: two that differ in it are never taken for one."""

from dataclasses import replace
from typing import Any

import pytest

from tests.calls import calls_of
from tests.core.samples import days, memory, read_pair
from workbench.core.duplicates.dedup import identity_of, parted, says_all_the_same, text_key
from workbench.core.duplicates.groups import kept_first
from workbench.core.files.format import Parsed
from workbench.core.playbook.book import Bullet
from workbench.core.stream.memory import FILE_KEY, Memory, Source
from workbench.formats import lint


def named(name: str, **fields: Any) -> Memory:
    return memory(
        content="Likes tea", metadata={FILE_KEY: {"format": "mcp-memory", "name": name}}, **fields
    )


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        (named("Ann"), named("Bob"), "names differ"),
        (memory(user_id="ann"), memory(user_id="bob"), "owners differ"),
        (memory(section="human"), memory(section="persona"), "sections differ"),
        (memory(source=Source(file="a.md")), memory(source=Source(file="b.md")), "files differ"),
        (Bullet("a", "api", "x"), Bullet("b", "db", "x"), "sections differ"),
        (Bullet("a", "s", "x", book="one"), Bullet("b", "s", "x", book="two"), "owners differ"),
        (
            memory(metadata={FILE_KEY: {"format": "a", "key": "k"}}),
            memory(metadata={FILE_KEY: {"format": "b", "name": "n"}}),
            "names differ",
        ),
    ],
)
def test_what_identifies_records_parts_them(
    one: Memory | Bullet, other: Memory | Bullet, said: str
) -> None:
    assert parted(one, other) == parted(other, one) == (said,)
    assert not says_all_the_same(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (named("Ann"), memory(content="Likes tea")),
        (named("Ann", id="a"), named("Ann", id="b")),
        (memory(section="Rules"), memory()),
        (memory(section="Rules"), memory(section="OTHERS")),
        (memory(source=Source(file="a.md")), memory()),
        (
            memory(source=Source("PostToolUse", 3, "a.py")),
            memory(source=Source("PostToolUse", 9, "b.py")),
        ),
        (Bullet("a", "api", "x"), Bullet("b", "others", "x")),
        (memory(metadata={FILE_KEY: "odd"}), memory()),
    ],
)
def test_what_only_one_says_and_where_it_was_noticed_parts_nothing(
    one: Memory | Bullet, other: Memory | Bullet
) -> None:
    assert parted(one, other) == parted(other, one) == ()


def test_a_pair_about_two_things_is_apart_whatever_it_says() -> None:
    pair = read_pair(named("Ann", id="a"), named("Bob", id="b"))
    assert (pair.action, pair.conflicts) == ("propose", ("names differ",))
    assert pair.reasons_against == ("names differ",)
    same = read_pair(named("Ann", id="a"), named("Ann", id="b"))
    assert same.action == "absorb"


def test_a_merge_keeps_the_record_that_a_file_knows_by_its_name() -> None:
    plain = memory("m1", status="promoted", pinned=True)
    assert kept_first([named("Ann", id="m2"), plain])[0].id == "m2"
    assert kept_first([plain, memory("m0", created_at=plain.created_at - days(1))])[0] is plain


def test_equal_in_everything_leaves_out_ids_places_and_counts_only() -> None:
    one = memory(
        "a",
        tags=("t",),
        metadata={"note": "n", FILE_KEY: {"raw": {"id": 1, "x": 1}, "order": ["id"]}},
    )
    again = replace(
        one, id="b", helpful_votes=3, metadata={"note": "n", FILE_KEY: {"raw": {"id": 2, "x": 1}}}
    )
    assert says_all_the_same(one, again)
    assert not says_all_the_same(one, Bullet("a", "", one.content))
    for change in (
        {"tags": ()}, {"content": "Use pnpm"}, {"created_at": one.created_at + days(1)}, {"summary": "s"},
        {"metadata": {"note": "other", FILE_KEY: {"raw": {"x": 1}}}}, {"metadata": {"note": "n"}}, {"section": "Rules"},
        {"metadata": {"note": "n", FILE_KEY: {"raw": {"x": 2}}}}, {"importance_score": 1.0}, {"status": "archived"},
    ):  # fmt: skip
        assert not says_all_the_same(one, replace(again, **change)), change
    bullet = Bullet("a", "s", "x", order=1.0, raw="[a] x", lead=("#",), helpful_imported=2)
    assert says_all_the_same(bullet, Bullet("b", "s", "x"))
    assert not says_all_the_same(bullet, Bullet("b", "t", "x"))
    assert not says_all_the_same(bullet, Bullet("b", "s", "X"))
    assert not says_all_the_same(Bullet("a", "others", "x"), Bullet("b", "general", "x"))


def test_what_records_with_one_text_are_compared_by_is_made_once() -> None:
    same = tuple(memory(f"m{n}", content="Use pnpm", importance_score=float(n)) for n in range(60))
    bullets = "\n".join(f"[rules-{n:05}] helpful=0 harmful=0 :: Use pnpm." for n in range(60))
    parsed = Parsed("jsonl", memories=same)
    assert calls_of([identity_of], lambda: lint.lint_records(parsed, "m.jsonl"))[0] < 60 * 4
    assert (
        calls_of([identity_of], lambda: lint.lint(f"## RULES\n{bullets}\n", "book.txt"))[0] < 60 * 6
    )


def test_case_and_white_space_are_no_part_of_a_texts_key() -> None:
    assert text_key(" Use\tPNPM\n") == text_key("use pnpm") != text_key("use npm")
    assert identity_of(memory(section="  Misc ")) == identity_of(memory())
