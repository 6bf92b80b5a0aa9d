"""Skillbook JSON: `{skills: {id: …}, sections: {name: [ids]}, next_id, …}`; older files say `bullets` for `skills`."""

import re

from workbench.core.files.format import Detection, Format
from workbench.formats.skillbook.entry import NAME
from workbench.formats.skillbook.reading import read
from workbench.formats.skillbook.writing import write

__all__ = ["FORMAT", "NAME", "detect", "read", "write"]

_TOP = re.compile(r'^\s*\{\s*"(?:skills|bullets|sections|next_id|schema_version)"\s*:')
_MARKS = re.compile(r'"(?:next_id|similarity_decisions|justification|helpful|harmful|neutral)"\s*:')
_RECORDS = re.compile(r'"(?:skills|bullets)"\s*:\s*\{')


def detect(head: str, path: str) -> Detection:
    """Sure when an object holds `skills` (or `bullets`) by id and their counts."""
    del path
    if _TOP.match(head.removeprefix("\ufeff")) and _RECORDS.search(head):
        marks = len(set(_MARKS.findall(head)))
        return Detection(NAME, 0.95 if marks else 0.5, "a JSON object of “skills” by id")
    return Detection(NAME, 0.0, "no JSON object of skills")


FORMAT = Format(NAME, "skillbook (JSON)", detect, read, write, holds="playbook", suffix=".json")
