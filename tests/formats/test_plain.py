"""The plain formats: every record once, readable by the ordinary parsers, hostile text kept as
text.
"""

import csv
import io
import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from tests.formats.samples import COUNTS, NOW, context
from workbench.core.files.format import Parsed
from workbench.core.playbook.book import Book, Bullet, Playbook, Section
from workbench.core.record import UnreadableFile
from workbench.core.stream.memory import Memory
from workbench.formats import ace
from workbench.formats.exports import OUTLETS, export_format, names
from workbench.formats.shared.books import memories_of, playbook_of

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=80)


def memories(*texts: str) -> Parsed:
    """Return memories of these texts."""
    return Parsed(memories=tuple(Memory(f"m-{n}", text, NOW, NOW) for n, text in enumerate(texts)))


def book(*texts: str) -> Parsed:
    """Return a playbook of these texts in one section."""
    bullets = tuple(
        Bullet(f"sai-{n:05d}", "s", text, order=float(n), helpful_imported=n)
        for n, text in enumerate(texts)
    )
    return Parsed(playbooks=(Playbook(Book(), (Section("s", "s", "STRATEGIES & MORE"),), bullets),))


@pytest.mark.slow
@given(st.lists(TEXTS, min_size=1, max_size=4))
def test_json_and_yaml_say_the_same(texts: list[str]) -> None:
    for parsed, name in ((memories(*texts), "memories"), (book(*texts), "bullets")):
        told = json.loads(export_format("json").write(parsed, None))
        assert [row["content"] for row in told[name]] == texts
        read = YAML(typ="safe", pure=True).load(export_format("yaml").write(parsed, None))
        assert [row["content"] for row in read[name]] == texts
        assert [list(row) for row in read[name]] == [list(row) for row in told[name]]


@given(st.lists(TEXTS, min_size=1, max_size=4))
def test_csv_holds_each_record_and_runs_no_formula(texts: list[str]) -> None:
    rows = list(
        csv.DictReader(io.StringIO(export_format("csv").write(memories(*texts), None), newline=""))
    )
    for row, text in zip(rows, texts, strict=True):
        assert row["content"] in (text, f"'{text}")
        assert not row["content"].startswith(("=", "+", "-", "@", "\t", "\r"))


def test_nothing_to_write_is_an_empty_document() -> None:
    assert json.loads(export_format("json").write(Parsed(), None)) == {"memories": []}
    assert YAML(typ="safe", pure=True).load(export_format("yaml").write(Parsed(), None)) == {
        "memories": []
    }
    assert export_format("csv").write(Parsed(), None) == ""
    assert export_format("prompt").write(Parsed(), None) == ""


def test_markdown_keeps_the_lines_of_an_item_together() -> None:
    text = export_format("markdown").write(book("one\n# no heading\n\ntwo"), None)
    body = "- one\n  # no heading\n  \n  two <!-- bullet sai-00000 -->"
    assert text == f"# playbook\n\n## STRATEGIES & MORE\n\n{body}\n"


def test_the_prompt_comes_with_and_without_counts() -> None:
    parsed = book("Zero", "One\nmore")
    assert (
        export_format("prompt").write(parsed, None)
        == "## STRATEGIES & MORE\n- [sai-00000] Zero\n- [sai-00001] One\\nmore\n"
    )
    counted = export_format("prompt-counts").write(parsed, None)
    assert "[sai-00001] helpful=1 harmful=0 :: One\\nmore" in counted
    assert export_format("prompt").write(memories("a\nb"), None) == "- a b\n"


def test_deprecated_bullets_reach_no_agent() -> None:
    playbook = ace.read_playbook(COUNTS, file="x")
    first, *rest = playbook.bullets
    parsed = Parsed(
        playbooks=(replace(playbook, bullets=(replace(first, state="deprecated"), *rest)),)
    )
    for name in ("prompt", "prompt-counts", "markdown"):
        assert first.id not in export_format(name).write(parsed, None)
    assert first.id in export_format("json").write(parsed, None)


def test_memories_become_bullets_and_come_back() -> None:
    parsed = ace.read(COUNTS, context("book.txt"))
    there = memories_of(parsed.playbooks[0], NOW)
    back = playbook_of(there)
    assert [(b.id, b.content, b.helpful_count, b.harmful_count) for b in back.bullets] == [
        (b.id, b.content, b.helpful_count, b.harmful_count) for b in parsed.playbooks[0].bullets
    ]
    assert [s.title for s in back.sections] == [
        s.title for s in parsed.playbooks[0].sections if s.title != "OTHERS"
    ]


def test_every_name_is_an_outlet_and_others_are_refused() -> None:
    assert {export_format(name).name for name in names()} == {known.name for known in OUTLETS}
    with pytest.raises(UnreadableFile, match="format “word”"):
        export_format("word")


def test_a_column_that_no_record_fills_any_more_stays_in_the_table() -> None:
    some = memories("one", "two")
    both = replace(some, memories=(some.memories[0], replace(some.memories[1], user_id="somebody")))
    write = export_format("csv").write
    table = write(both, None)
    assert (
        write(replace(both, memories=both.memories[:1]), table).splitlines()
        == table.splitlines()[:2]
    )
