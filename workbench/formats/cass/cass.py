"""cass playbooks: `playbook.yaml` version 2, `bullets:` with scope, category, content, counts and feedback."""

import re

from workbench.core.files.format import Detection, Format, Parsed, ReadContext
from workbench.formats.cass.entry import NAME

__all__ = ["FORMAT", "NAME", "detect", "read", "write"]

_BULLETS = re.compile(r"^[\"']?bullets[\"']?[ \t]*:", re.MULTILINE)
_MARKS = re.compile(
    r"[ {,-][\"']?(content|category|maturity|helpfulCount|harmfulCount|scope|feedbackEvents)[\"']?[ \t]*:"
)
_OWN = re.compile(r"^(?:schema_version|deprecatedPatterns|totalReflections)[ \t]*:|^  totalReflections:", re.MULTILINE)


def detect(head: str, path: str) -> Detection:
    """Sure when YAML has a list of `bullets` with the keys of cass."""
    del path
    if head.removeprefix("\ufeff").lstrip()[:1] not in ("{", "[", '"') and _BULLETS.search(head):
        marks = len(set(_MARKS.findall(head))) + bool(_OWN.search(head))
        return Detection(NAME, min(0.2 + 0.2 * marks, 0.95), "YAML with a list of “bullets”")
    return Detection(NAME, 0.0, "no YAML list of bullets")


def read(text: str, context: ReadContext) -> Parsed:
    """Read every bullet that can be read. Raises `UnreadableFile` when the text holds no list of bullets."""
    # The YAML parser is loaded when a file needs it: it would slow down every start of the program.
    from workbench.formats.cass import writing as reading

    return reading.read(text, context)


def write(parsed: Parsed, original: str | None = None) -> str:
    """Write the first playbook of `parsed`; with `original`, only what changed in it is new."""
    from workbench.formats.cass import writing

    return writing.write(parsed, original)


FORMAT = Format(
    NAME, "cass playbook (YAML)", detect, read, write, holds="playbook", suffix=".yaml",
    endings=(".yaml", ".yml"), needs_times=True,
)  # fmt: skip
