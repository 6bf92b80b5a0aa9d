"""Health: the files that this store has to do with, and what is wrong with them."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

from textual.content import Content

from workbench.core.record import WorkbenchError
from workbench.core.text import printable
from workbench.services.files.checks import Checked, Checks, check_all
from workbench.services.files.imports.paths import as_named
from workbench.services.files.project import project_of
from workbench.services.open import Workbench
from workbench.tui.files.memory_md import cut_said
from workbench.tui.health.reflection import (
    Facts,
    Found,
    Hands,
    InReview,
    Row,
    Section,
    Watch,
    figures,
    goes_there,
    in_review,
    remark,
    told,
)
from workbench.tui.widgets.content import MUTED, assemble, body
from workbench.tui.widgets.figures import number

ID = "files"
SOUND, CLOSED, CHANGED = "✓", "✗", "≠"
SHOWN_SOUND = 12
"""Files without a finding that are listed; of more, how many there are."""

SHOWN_FINDINGS = 12
_BECAME = {
    "changed": "It changed on disk since it was read or written here.",
    "gone": "It is not there any more. What came from it is in the store still.",
}
ERROR, WARN = "$text-error", "$text-warning"


def gather(bench: Workbench, watch: Watch) -> Checks:
    """Look over what changed since the last time."""
    before = watch.before if isinstance(watch.before, Checks) else Checks()
    bench.working_out.run(watch.cancelled, only=("file",))
    return check_all(bench.library, bench.context.now(), before, watch.tell, watch.cancelled)


def rows(facts: Facts) -> Sequence[Row]:
    """Return a row for each file, those with something to say first, or what to do when there is none."""
    checks = cast(Checks, facts.found[ID].value)
    if not checks.files:
        add, take = facts.keys["health.add-file"], facts.keys["app.import"]
        return [remark(ID, "none", f"No files yet. {take} imports one, {add} looks one over.")]
    ordered = sorted(checks.files.values(), key=lambda checked: (checked.became is None, not _speaks(checked)))
    telling = [checked for checked in ordered if _speaks(checked)]
    sound = ordered[len(telling) :]
    found = [_row(checked, facts) for checked in (*telling, *sound[:SHOWN_SOUND])]
    if len(sound) > SHOWN_SOUND:
        found.append(remark(ID, "more", f"and {number(len(sound) - SHOWN_SOUND)} more without a finding"))
    return [*found, *in_review(facts, ID, "files")]


def detail(row: Row, facts: Facts) -> Content:
    """Return what is wrong with a file, or what this part is about."""
    if isinstance(row.item, InReview):
        return told(row.item, facts)
    keys = facts.keys
    checks = cast(Checks, facts.found[ID].value)
    checked = checks.files.get(row.item) if isinstance(row.item, Path) else None
    if checked is None:
        return Content("\n").join([
            Content.styled("Files of this store", "bold"), Content(""),
            Content("Where its playbooks came from, what memories were promoted to, what was imported or exported, "
                    "and the CLAUDE.md, AGENTS.md, MEMORY.md, playbook and LEARNINGS.md files of the project."),
            Content(""),
            _key(keys["list.open"], "shows what is wrong with a file, and each fix before it is made; of one that "
                 "changed on disk since (≠) what differs"),
            _key(keys["health.write-back"], "writes what was changed here back into a folder of notes, seen first"),
            _key(keys["health.add-file"], "looks over a file that you name"),
            _key(keys["health.check"], "looks at all of them again"),
        ])  # fmt: skip
    mask = facts.bench.safety.masked
    parts = [body(mask(checked.file.path.name), "bold"), body(mask(str(checked.file.path.parent)), MUTED)]
    title = f"{checked.linted.title} · " if checked.linted else ""
    parts += [body(f"{title}{checked.file.why}", MUTED), Content("")]
    if checked.became is not None:
        parts += [Content.styled(_BECAME[checked.became], WARN)]
        way = [_key(keys["list.open"], "shows what differs, and takes it into the store")]
        parts += [*(way if checked.became == "changed" else ()), Content("")]
        if checked.became == "gone" and not checked.problem:
            return Content("\n").join(parts)
    if checked.cut is not None:
        parts += [cut_said(checked.cut), Content("")]
    if checked.problem:
        parts.append(body(mask(checked.problem), ERROR if checked.file.expected else ""))
    elif not checked.findings:
        parts.append(Content("Nothing is wrong with it."))
    else:
        parts += _findings(checked)
        parts += [Content(""), _key(keys["list.open"], "shows the fixes, each before it is made")]
    return Content("\n").join(parts)


async def open_file(health: Hands, row: Row) -> None:
    """Show the findings of a file with their fixes and look again when that is closed, or go to what waits."""
    if await goes_there(health, row):
        return
    value = health.facts.found[ID].value
    checked = value.files.get(row.item) if isinstance(value, Checks) and isinstance(row.item, Path) else None
    if checked is None or (checked.became == "gone" and not checked.problem):
        health.open_detail()
        return
    if checked.became == "changed":
        from workbench.tui.files.write_back import take_changes

        await take_changes(health, checked.file.path)
        health.gather(ID)
        return
    from workbench.tui.files.dialog import FindingsDialog

    await health.workbench_app.push_screen_wait(FindingsDialog(checked.file, health.bench))
    health.gather(ID)


async def write_back(health: Hands, row: Row) -> None:
    """Write what was changed here back into the folder of notes that a file is of."""
    from workbench.tui.files import write_back

    if await write_back.write_back(health, row.item if isinstance(row.item, Path) else None):
        health.gather(ID)


async def add_file(health: Hands, row: Row) -> None:
    """Ask for a file and look it over."""
    del row
    from workbench.tui.widgets.texts.prompt import Prompt

    name = await health.workbench_app.push_screen_wait(
        Prompt("Look over which file?", placeholder="its path", check=_missing)
    )
    if name is None:
        return
    path = as_named(name, Path.cwd()).resolve()
    known = health.facts.found.get(ID, Found()).value
    before = known if isinstance(known, Checks) else Checks()
    wanted = replace(before, added=tuple(dict.fromkeys((*before.added, path))))
    bench = health.bench
    checks = await asyncio.to_thread(lambda: check_all(bench.library, bench.context.now(), wanted))
    health.learn(ID, Found(checks))
    health.go_to(ID, path)


def _missing(name: str) -> str | None:
    try:
        found = as_named(name, Path.cwd()).is_file()
    except WorkbenchError as error:
        return error.message
    except (OSError, ValueError):
        found = False
    return None if found else "There is no such file."


def _speaks(checked: Checked) -> bool:
    return checked.became is not None or bool(checked.findings) or (bool(checked.problem) and checked.file.expected)


def _row(checked: Checked, facts: Facts) -> Row:
    path = checked.file.path
    shown = facts.bench.safety.masked(_short(path, project_of(facts.bench.library)))
    if checked.became == "changed":
        return figures(ID, str(path), CHANGED, shown, item=path, style=WARN, more="changed on disk")
    if checked.problem or checked.became == "gone":
        why = "not looked over" if path.exists() else "not there"
        sign, style = (CLOSED, ERROR) if checked.file.expected else ("–", "")
        return figures(ID, str(path), sign, shown, item=path, style=style, more=why)
    more = f"{number(len(checked.cut.below))} not loaded" if checked.cut and checked.cut.below else ""
    count = len(checked.findings)
    return figures(ID, str(path), number(count) if count else SOUND, shown, item=path, more=more)


def _short(path: Path, project: Path | None) -> str:
    """Return a path as one knows it: from the project, from home, or in full."""
    if project is not None and path.is_relative_to(project):
        return str(path.relative_to(project))
    try:
        home = Path.home()
    except RuntimeError:
        return str(path)
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)


def _findings(checked: Checked) -> list[Content]:
    rules = Counter(finding.rule for finding in checked.findings)
    parts = [assemble([(f"{number(n):>5}  ", "bold"), (rule, "$text-accent")]) for rule, n in rules.items()]
    parts.append(Content(""))
    for finding in checked.findings[:SHOWN_FINDINGS]:
        parts.append(assemble([(f"{finding.line:>5}  ", MUTED), (printable(finding.message), "")]))
    if len(checked.findings) > SHOWN_FINDINGS:
        parts.append(Content.styled(f"… and {number(len(checked.findings) - SHOWN_FINDINGS)} more", MUTED))
    return parts


def _key(key: str, text: str) -> Content:
    return assemble([(f"{key:<6}", "bold $text-accent"), (text, "")])


SECTION = Section(
    ID, "Files", gather, rows, detail, "always", {"open": open_file, "add_file": add_file, "write_back": write_back}
)
