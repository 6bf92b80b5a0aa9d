"""Health: whether the store is sound, what waits to be settled, and how large it is."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from textual.content import Content

from workbench.bench import care
from workbench.bench.care import Findings, OutsideEdit
from workbench.bench.masking import masked
from workbench.bench.workbench import Workbench
from workbench.core.text import printable
from workbench.store.doctor import Diagnosis
from workbench.tui.content import MUTED, assemble, body, word_diff
from workbench.tui.figures import number
from workbench.tui.health_model import Facts, Row, Section, Watch, figures

if TYPE_CHECKING:
    from workbench.tui.screens.health import HealthScreen

ID = "store"
GOOD, BAD = "✓", "✗"
ERROR = "$text-error"
LISTED = 40


@dataclass(frozen=True, slots=True)
class State:
    """What the doctor found, how many records there are, and the bytes of the journal and the checkpoint."""

    findings: Findings
    memories: int
    bullets: int
    size: int


def gather(bench: Workbench, _watch: Watch) -> State:
    """Read every line of the journal, as `workbench doctor` does."""
    library = bench.library
    findings = bench.care.findings(care.examine(library.folder))
    return State(findings, len(library.memories), len(library.bullets), care.size_of(library.folder))


def rows(facts: Facts) -> Sequence[Row]:
    """Return a row for the journal, for whatever waits, and for the sizes."""
    state = cast(State, facts.found[ID].value)
    findings = state.findings
    found = [_journal(findings.diagnosis)]
    for group, label in findings.unfinished:
        found.append(
            figures(ID, f"unfinished-{group}", BAD, f"not finished: {label}", item=(group, label), style=ERROR)
        )
    if findings.edit is not None:
        text = f"{findings.edit.file} was changed by another program"
        found.append(figures(ID, "edit", BAD, text, item=findings.edit, style=ERROR))
    records = f"{number(state.memories)} memories, {number(state.bullets)} bullets"
    found.append(figures(ID, "size", "", f"{records}, {_bytes(state.size)}", item=state))
    caches = ", ".join(f"{c.name} {_bytes(c.size)}" for c in findings.caches) or "none yet"
    return [*found, figures(ID, "caches", "", f"caches: {caches}", item=state)]


def detail(row: Row, facts: Facts) -> Content:
    """Return what a row means, and what can be done about it."""
    state = cast(State, facts.found[ID].value)
    if isinstance(row.item, OutsideEdit):
        return _edit(row, row.item, facts)
    if isinstance(row.item, tuple):
        group, label = row.item
        hint = f"workbench undo --group {printable(group)}"
        return Content("\n").join(
            [body(label, "bold"), Content(""), body("It was stopped before it was through. What was written is here."),
             assemble([("Take it back with: ", MUTED), (hint, "")])]
        )  # fmt: skip
    diagnosis = state.findings.diagnosis
    parts = [Content.styled("The store", "bold"), body(str(diagnosis.folder), MUTED), Content("")]
    parts.append(body(_sound(diagnosis)))
    parts += [body(f"{BAD} {place}", ERROR) for place in diagnosis.damage[:LISTED]]
    if not diagnosis.is_sound:
        parts.append(body("`workbench doctor --recover` saves everything else into a new store beside this one."))
    if diagnosis.torn:
        parts.append(
            body(f"The last line is unfinished ({diagnosis.torn} bytes) and will be dropped: a crash left it.")
        )
    parts += [body(note, MUTED) for note in diagnosis.notes]
    parts += [Content(""), Content.styled("Caches are made again whenever they are missing or wrong:", MUTED)]
    parts += [body(f"  {c.name}: {c.files} files, {_bytes(c.size)}") for c in state.findings.caches]
    keys = facts.keys
    parts += [Content(""), _key(keys["health.check"], "reads every line again")]
    parts.append(
        _key(keys["health.compact"], "packs the closed files of the journal; the history reads them as before")
    )
    return Content("\n").join(parts)


async def compact(screen: "HealthScreen", row: Row) -> None:
    """Pack, and say what that saved."""
    del row
    packed = await asyncio.to_thread(screen.bench.care.compact)
    if not packed:
        screen.workbench_app.say("Nothing to pack: no closed journal file is unpacked.")
        return
    before, after = sum(p.before for p in packed), sum(p.after for p in packed)
    files = f"{len(packed)} file{'' if len(packed) == 1 else 's'}"
    screen.workbench_app.say(f"Packed {files}: {_bytes(before)} became {_bytes(after)}.")
    screen.gather(ID)


async def accept(screen: "HealthScreen", row: Row) -> None:
    """Take over an outside edit, after a yes."""
    if not isinstance(row.item, OutsideEdit):
        screen.workbench_app.say("Nothing waits here.")
        return
    question = f"Take over what another program changed in {row.item.file}?"
    if await _asked(screen, question, f"{row.item.records} records change as shown. u takes it back.", "take over"):
        count = screen.bench.care.accept_edit()
        screen.workbench_app.say(f"Took over {count} record{'' if count == 1 else 's'}. u takes it back.")
        screen.gather(ID)


async def dismiss(screen: "HealthScreen", row: Row) -> None:
    """Turn an outside edit down, after a yes."""
    if not isinstance(row.item, OutsideEdit):
        screen.workbench_app.say("Nothing waits here.")
        return
    question = f"Turn down what another program changed in {row.item.file}?"
    if await _asked(screen, question, "Its version of the file is kept beside it.", "turn down"):
        screen.workbench_app.say(f"Turned down; kept as {screen.bench.care.dismiss_edit().name}.")
        screen.gather(ID)


async def _asked(screen: "HealthScreen", question: str, detail: str, yes: str) -> bool:
    from workbench.tui.widgets.confirm import Confirm

    asked = Confirm(question, clock=screen.seconds, detail=body(detail), yes=yes)
    return await screen.app.push_screen_wait(asked) or False


def _journal(diagnosis: Diagnosis) -> Row:
    sign = GOOD if diagnosis.is_sound else BAD
    style = "" if diagnosis.is_sound else ERROR
    return figures(ID, "journal", sign, _sound(diagnosis), item=diagnosis, style=style)


def _sound(diagnosis: Diagnosis) -> str:
    count = len(diagnosis.damage)
    state = "every line is sound" if diagnosis.is_sound else f"{count} place{'' if count == 1 else 's'} damaged"
    return f"{state}; {number(diagnosis.entries)} changes up to revision {number(diagnosis.rev)}"


def _edit(row: Row, edit: OutsideEdit, facts: Facts) -> Content:
    keys = facts.keys
    parts = [
        body(f"{edit.file} was changed by another program since revision {edit.base}", "bold"),
        _key(keys["health.apply"], f"takes over {edit.records} record{'' if edit.records == 1 else 's'}"),
        _key(keys["health.refuse"], "turns it down; that file is kept"),
        Content(""),
    ]
    fields = edit.fields[:LISTED]
    shown = fields if row.key in facts.unfolded else masked(fields, facts.bench.safety.masked)
    if shown != fields:
        parts[-1:-1] = [_key(keys["health.unfold"], "shows the secrets that are masked below")]
    for field in shown:
        before, after = (
            ("" if v is None else v if isinstance(v, str) else repr(v)) for v in (field.before, field.after)
        )
        parts.append(body(f"{field.key} {field.field}: ", MUTED) + word_diff(before, after))
    if len(edit.fields) > LISTED:
        parts.append(Content.styled(f"… and {number(len(edit.fields) - LISTED)} more fields", MUTED))
    return Content("\n").join(parts)


def _bytes(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 100_000 else f"{count / 1e3:.1f} kB"


def _key(key: str, text: str) -> Content:
    return assemble([(f"{key:<4}", "bold $text-accent"), (text, "")])


SECTION = Section(
    ID, "Store", gather, rows, detail, "once", {"compact": compact, "apply": accept, "refuse": dismiss}
)  # fmt: skip
