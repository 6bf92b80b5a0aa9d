"""How much of MEMORY.md Claude Code loads."""

from workbench.formats.textedit import lines

MAX_LINES = 200
"""How many lines of MEMORY.md Claude Code loads."""

MAX_BYTES = 25_000
"""How many bytes of MEMORY.md Claude Code loads."""


def cut_at(text: str) -> tuple[int, str] | None:
    """Return the first line that is not loaded whole, and which limit it is below; `None` when all are loaded.

    Empty lines at the end do not count.
    """
    size = 3 if text.startswith("\ufeff") else 0
    for line in lines(text):
        size += len(line.text.encode(errors="replace"))
        if line.text.strip() and (line.number > MAX_LINES or size > MAX_BYTES):
            return line.number, f"line {MAX_LINES}" if line.number > MAX_LINES else f"byte {MAX_BYTES:,}"
        size += 2 if text[line.end : line.end + 2] == "\r\n" else 1
    return None
