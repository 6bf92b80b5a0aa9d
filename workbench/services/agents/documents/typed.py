"""What a person typed over a document whose secrets were masked: the secrets go back to where they were."""

import re

from rapidfuzz.distance import Indel

from workbench.core.record import WorkbenchError

_MARKER = re.compile(r"\[secret: [^\]\n]{1,80}\]")
_HINT = "Nothing was written; your text is kept here. Change that line in an editor of your own."


def put_back(text: str, shown: str, typed: str) -> str:
    """Return `text` with what was typed over `shown`, the same with its secrets masked.

    A line that is as it was shown is as it was; one with a secret may go, or move, as a whole. Raises `WorkbenchError`
    when a line was changed in which a secret stands: what it is to be cannot be told.
    """
    if text == shown:
        return typed
    before, masked, after = (one.split("\n") for one in (text, shown, typed))
    if len(before) != len(masked):
        raise WorkbenchError("A secret in this document goes over several lines.", _HINT)
    held = {line: before[place] for place, line in enumerate(masked) if line != before[place]}
    markers = {marker for line in held for marker in _MARKER.findall(line)}
    lines: list[str] = []
    for code in Indel.opcodes(masked, after):
        if code.tag == "equal":
            lines += before[code.src_start : code.src_end]
        for line in after[code.dest_start : code.dest_end] if code.tag != "equal" else ():
            if line not in held and any(marker in line for marker in markers):
                raise WorkbenchError("A line was changed in which a secret is masked.", _HINT)
            lines.append(held.get(line, line))
    return "\n".join(lines)
