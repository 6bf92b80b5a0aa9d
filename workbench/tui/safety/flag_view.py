"""How flagged text looks: its mark, the reasons, and what stands for it while it is folded away."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from textual.content import Content

from workbench.core.override import Override
from workbench.core.playbook.book import Bullet
from workbench.core.safety import Finding
from workbench.core.stream.memory import Memory
from workbench.core.text import one_line
from workbench.services.safety.flagging import findings_of
from workbench.services.safety.safety import Safety
from workbench.tui.widgets.content import MUTED, assemble, highlight
from workbench.tui.widgets.figures import absolute

FLAGGED = "⚑"
STYLE = "bold $text-warning"
FOUND = "bold reverse $text-warning"


@dataclass(frozen=True, slots=True)
class Flags:
    """What is flagged in a record: the words of its flags, what was found in its text, and the permission it has.

    `folded` says that the text is not to be shown; `opens` and `allows` are the keys for that.
    """

    words: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    found: tuple[Finding, ...] = ()
    permission: Override | None = None
    folded: bool = False
    opens: str = ""
    allows: str = ""


NO_FLAGS = Flags()


def flags_of(safety: Safety, record: Memory | Bullet) -> Flags:
    """Return what is flagged in a record, nothing for nearly all."""
    words = safety.flags(record) if isinstance(record, Memory) else safety.flags_bullet(record)
    if not words:
        return NO_FLAGS
    reasons = tuple(dict.fromkeys(finding.reason for finding in findings_of(record, safety.sorts)))
    return Flags(words, reasons, safety.findings(record.content), safety.override(record))


def flag_lines(flags: Flags) -> list[Content]:
    """Return why a text is flagged, what may be done about it, and the key that opens it while it is folded."""
    if not flags.words:
        return []
    parts = [(f"{FLAGGED} {', '.join(flags.words)}\n", STYLE)]
    parts += [(f"  {one_line(reason, 200)}\n", "$text-warning") for reason in flags.reasons]
    parts += _standing(flags)
    if not flags.folded:
        parts[-1] = (parts[-1][0].rstrip("\n"), parts[-1][1])
    else:
        parts += [("The text is folded away. ", MUTED), (flags.opens, "bold $text-accent"), (" shows it.", MUTED)]
    return [assemble(parts), Content("")]


def shown_text(text: str, found: Sequence[Finding]) -> Content:
    """Return a whole text in which what was found stands out."""
    return highlight(text, [(finding.start, finding.end) for finding in found], FOUND)


def masked_line(text: str, flags: Flags, masked: Callable[[str], str]) -> str:
    """Return a line as a list may show it: secrets masked."""
    return masked(text) if "secret" in flags.words else text


def masked_bullet(safety: Safety, bullet: Bullet) -> str | None:
    """Return the text of a flagged bullet without its secrets, `None` for one that is not flagged."""
    return safety.masked(bullet.content) if safety.flags_bullet(bullet) else None


def missing(reason: str) -> str | None:
    """Return what is wrong with the reason of a permission, or `None`."""
    return None if reason else "Say why, in a few words."


def _standing(flags: Flags) -> list[tuple[str, str]]:
    if flags.permission is not None:
        why = f": {one_line(flags.permission.reason, 200)}" if flags.permission.reason else ""
        said = f"allowed to be exported since {absolute(flags.permission.at)}{why}\n"
        key = [(flags.allows, "bold $text-accent"), (" takes that back\n", MUTED)] if flags.allows else []
        return [(said, ""), *key]
    if not flags.allows:
        return []
    return [
        ("Held back from promotion and export unless imported and unchanged; ", MUTED),
        (flags.allows, "bold $text-accent"),
        (" allows it.\n", MUTED),
    ]
