"""Letta agent files: `*.af`, the memory blocks `{label, value, limit, …}`; some are JSON inside a JSON string."""

import re

from workbench.core.files.format import Detection, Format
from workbench.formats.letta.reading import NAME, read
from workbench.formats.letta.writing import write

__all__ = ["FORMAT", "NAME", "detect", "read", "write"]

_MARKS = re.compile(
    r'\\?"(agent_type|llm_config|embedding_config|block_ids|core_memory|tool_rules|blocks|memory_blocks)\\?"\s*:'
)


def detect(head: str, path: str) -> Detection:
    """Sure when an object, or one in a string, has the keys of an agent; the suffix `.af` helps."""
    start = head.removeprefix("\ufeff").lstrip()[:1]
    marks = len(set(_MARKS.findall(head))) if start in ("{", '"') else 0
    if marks == 0:
        return Detection(NAME, 0.0, "no JSON object of an agent")
    sure = min(0.2 * marks + (0.4 if path.lower().endswith(".af") else 0.0), 0.95)
    return Detection(NAME, sure, "the JSON of an agent" + (" in a string" if start == '"' else ""))


FORMAT = Format(NAME, "Letta agent file", detect, read, write, suffix=".af")
