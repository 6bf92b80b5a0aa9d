"""Flagged memories: one that is folded away is opened, and one may be let out as it is."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from textual.content import Content

from workbench.core.playbook.book import Bullet
from workbench.core.record import WorkbenchError
from workbench.core.safety import Finding, Override
from workbench.core.stream.memory import Memory
from workbench.core.text import one_line
from workbench.services.safety.masking import masked_name
from workbench.services.safety.safety import Safety
from workbench.services.safety.suspicion import findings_of
from workbench.services.safety.trust import Arrived
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.host import Host
from workbench.tui.app.saving import Preview
from workbench.tui.widgets.content import (
    BLANK,
    MUTED,
    assemble,
    body,
    highlight,
    joined,
    key_of,
    muted,
    undo,
)
from workbench.tui.widgets.dialog import Prompt, sure
from workbench.tui.widgets.figures import absolute, amount, number

# How flagged text looks: its mark, the reasons, and what stands for it while it is folded away.


FLAGGED = "⚑"
STYLE = "bold $text-warning"
FOUND = "bold reverse $text-warning"


@dataclass(frozen=True, slots=True)
class Flags:
    """What is flagged in a record: the words of its flags, what was found in its text, and the
    permission it has.

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
    words = safety.flags(record)
    if not words:
        return NO_FLAGS
    reasons = tuple(dict.fromkeys(finding.reason for finding in findings_of(record, safety.sorts)))
    return Flags(words, reasons, safety.findings(record.content), safety.override(record))


def flag_lines(flags: Flags) -> list[Content]:
    """Return why a text is flagged, what may be done about it, and the key that opens it while it
    is folded.
    """
    if not flags.words:
        return []
    parts = [(f"{FLAGGED} {', '.join(flags.words)}\n", STYLE)]
    parts += [(f"  {one_line(reason, 200)}\n", "$text-warning") for reason in flags.reasons]
    parts += _permission(flags)
    if not flags.folded:
        parts[-1] = (parts[-1][0].rstrip("\n"), parts[-1][1])
    else:
        parts += [
            ("The text is folded. ", MUTED),
            (flags.opens, "bold $text-accent"),
            (" shows it.", MUTED),
        ]
    return [assemble(parts), BLANK]


def shown_text(text: str, found: Sequence[Finding]) -> Content:
    """Return a whole text in which what was found stands out."""
    return highlight(text, [(finding.start, finding.end) for finding in found], FOUND)


def missing(reason: str) -> str | None:
    """Return what is wrong with the reason of a permission, or `None`."""
    return None if reason else "Give a reason."


def _permission(flags: Flags) -> list[tuple[str, str]]:
    given, key = flags.permission, (flags.allows, "bold $text-accent")
    if given is not None:
        why = f": {one_line(given.reason, 200)}" if given.reason else ""
        said = f"allowed to be exported since {absolute(given.at)}{why}\n"
        return [(said, ""), *([key, (" takes that back\n", MUTED)] if flags.allows else [])]
    held = ("Held back from promotion and export unless imported and unchanged; ", MUTED)
    return [held, key, (" allows it.\n", MUTED)] if flags.allows else []


# The one question about a store that came from elsewhere: what came, who wrote it, what is flagged.


ACTORS = 6
LISTED = 8


async def ask(app: Host) -> None:
    """Ask whether what came is taken over, and do it after a yes; without one nothing can be
    changed.
    """
    try:
        app.bench.trust.require_own()
        arrived = await asyncio.to_thread(app.bench.trust.arrived)
        question = "Trust this store? It came from elsewhere."
        if await sure(app, question, _told(arrived), "trust it", "keep it read-only"):
            await asyncio.to_thread(app.bench.trust.accept, arrived)
            app.say("Trusted from now on.")
        else:
            app.say(
                "Read-only: nothing is served, promoted or changed. The question waits in Review.",
                "warning",
            )
    except WorkbenchError as error:
        app.say(str(error), "error")


def _told(arrived: Arrived) -> Content:
    """Return what came, in lines; the names of actors are stored text."""
    changes = amount(arrived.changes, "change is", "changes are")
    lines = [body(f"{changes} not known on this machine, written by:")]
    actors = sorted(arrived.actors.items(), key=lambda one: -one[1])
    lines += [
        body(f"  {actor or '(nobody named)'}: {number(count)}") for actor, count in actors[:ACTORS]
    ]
    if len(actors) > ACTORS:
        lines.append(muted(f"  and {len(actors) - ACTORS} more"))
    memories = amount(arrived.memories, "memory", "memories")
    bullets = amount(arrived.bullets, "bullet")
    held = f"In it: {memories} and {bullets}"
    lines.append(body(f"{held}; {number(len(arrived.flagged))} flagged."))
    lines += [body(f"  {held.line}", "$text-warning") for held in arrived.flagged[:LISTED]]
    lines.append(muted("Until you trust it, nothing is served to agents, promoted or changed."))
    return joined(*lines)


class FlaggedMemories:
    """Knows what is flagged in a memory, which one was unfolded last, and asks why one may be
    exported.
    """

    def __init__(self, area: AreaScreen) -> None:
        self._app, self._safety = area.workbench_app, area.bench.safety
        self._bench = area.bench
        self._unfolded = ("", "")

    def flags_of(self, memory: Memory) -> Flags:
        """Return what is flagged in a memory, and whether its text is folded away."""
        flags = flags_of(self._safety, memory)
        if not flags.words:
            return flags
        folded = self._unfolded != (memory.id, memory.content)
        return replace(
            flags,
            folded=folded,
            opens=key_of("stream.unfold"),
            allows=key_of("stream.allow"),
        )

    def unfold(self, memory: Memory) -> bool:
        """Show the text of a flagged memory, until another one was opened; tell whether it is one."""
        flagged = bool(self._safety.flags(memory))
        if flagged:
            self._unfolded = (memory.id, memory.content)
        return flagged

    async def allow(self, memory: Memory) -> None:
        """Let a flagged memory be exported and promoted as it is, after asking why; again takes
        that back.
        """
        id, preview = memory.id, Preview(self._bench, again="enter", line=True)

        def withdraw() -> None:
            self._safety.withdraw(id)
            self._app.say(f"{id} is held back again. {undo()} takes that back.")

        def allow(_: str) -> None:
            with preview.writing(f"allow {id}"):
                self._safety.allow(id, preview.text)

        if not self._safety.flags(memory):
            self._app.say(f"{id} is not flagged; it may be exported as it is.")
        elif self._safety.override(memory) is not None:
            self._app.change(withdraw)
        else:
            title = f"Allow {masked_name(id, self._safety.masked)}: reason"
            ask = Prompt(title, placeholder="a reason", check=missing, take=allow, preview=preview)
            if await self._app.push_screen_wait(ask):
                self._app.say(f"{id} may be exported as it is. {undo()} takes that back.")
