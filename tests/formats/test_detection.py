"""Telling formats apart: every sample is detected as itself, by content and under a name that says
nothing.
"""

from pathlib import Path

import pytest

from tests.formats.others import CLAUDE_MD, LETTA, TEXTS, TOPIC_MD, claude_mem_database
from tests.formats.samples import BARE, COUNTS, GENAGENTS, LOOSE, NODES, context
from workbench.core.files.formats import detect, format_named, known_formats
from workbench.formats.opening import read_file, read_text

OLDER = {
    "lifecycle": '{"id": "a", "timestamp": "2026-02-11T10:23:00Z", "type": "gotcha", "context": "c"}\n',
    "ace": COUNTS,
    "queries": '{"query": "q", "relevant": {"a": 1}}\n',
    "genagents": GENAGENTS,
    "generative-agents": NODES,
}
ALL = {**OLDER, **{name: text for name, (_, text) in TEXTS.items()}}
BY_NAME_ONLY = {"claude-memory"}
VARIANTS = [
    ("ace", BARE), ("ace", LOOSE), ("claude-memory", TOPIC_MD), ("letta", '"' + LETTA.replace('"', '\\"') + '"'),
    ("learnings", "## 2026-01-02 - Title\n- **Context**: x\n"), ("beads", '{"_type":"memory","key":"k","value":"v"}\n'),
    ("mem0", '[{"id": "1", "memory": "x", "hash": "h", "user_id": "u"}]'),
    ("skillbook", '{"bullets": {"a": {"content": "x", "helpful": 1}}, "sections": {}, "next_id": 1}'),
    ("letta", '{"agent_type": "a", "core_memory": [{"label": "l", "value": "v"}], "llm_config": {}}'),
    ("cass", "bullets:\n  - {content: x, category: y, maturity: candidate}\n"),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(ALL))
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_every_sample_is_first_of_all_its_own_format(name: str, newline: str, start: str) -> None:
    text = start + ALL[name].replace("\n", newline)
    found = detect(TEXTS[name][0] if name in BY_NAME_ONLY else "file", text)
    assert found[0].format == name
    assert found[0].reason
    assert all(found[0].confidence - other.confidence > 0.2 for other in found[1:])


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(TEXTS))
def test_the_usual_file_name_does_not_mislead(name: str) -> None:
    path, text = TEXTS[name]
    assert detect(f"/home/ann/{path}", text)[0].format == name
    for other, (_, content) in TEXTS.items():
        if other not in BY_NAME_ONLY | {name} and name not in BY_NAME_ONLY:
            assert detect(path, content)[0].format == other


@pytest.mark.parametrize(("name", "text"), VARIANTS)
def test_variants(name: str, text: str) -> None:
    assert detect("file", text)[0].format == name


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    ["# Notes\n\n## Ideas\n- one\n", "{}", '{"observations": []}', '{"results": [1]}', '{"patterns": {}}',
     "bullets: []\n", '{"type":"entity"}\n', "hello\n", "- [ ] todo\n- [x] done\n", '"text"', '{"message": "hi"}\n'],
)  # fmt: skip
def test_what_is_of_no_format(text: str) -> None:
    assert detect("file", text) == ()


def test_a_database(tmp_path: Path) -> None:
    path = claude_mem_database(tmp_path / "mem.db")
    assert [found.format for found in detect(path, read_text(path))] == ["claude-mem-db"]
    assert read_file(path, context=context(str(path))).format == "claude-mem-db"


def test_claude_md_is_known_by_its_name() -> None:
    assert detect("x/CLAUDE.md", CLAUDE_MD)[0].format == "instructions"
    assert detect("x/notes.md", CLAUDE_MD) == ()
    block = (
        "# Notes\n\n<!-- memory-workbench:begin -->\n- [a-1] Alpha\n<!-- memory-workbench:end -->\n"
    )
    assert detect("x/notes.md", block) == ()


def test_every_format_is_found_by_its_name() -> None:
    assert all(format_named(known.name) is known for known in known_formats())
    assert set(TEXTS) <= {known.name for known in known_formats()}
