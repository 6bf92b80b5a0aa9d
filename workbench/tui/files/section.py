"""Health: the files that this store has to do with, what is wrong with them, and the two ways between both."""

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from textual.content import Content

from workbench.core.record import WorkbenchError
from workbench.core.runtime import Cancelled, Progress
from workbench.core.stream.memory import Memory
from workbench.core.text import one_line, printable
from workbench.services.files.checks import Checked, Checks, check_all
from workbench.services.files.exporting import parts_of
from workbench.services.files.folders import FolderPlan, folders_of
from workbench.services.files.importing import Difference
from workbench.services.files.paths import as_named
from workbench.services.files.threeway import SIGNS, DiffLine, masked_diff, masked_lines
from workbench.services.safety.texts import place_of
from workbench.tui.files.findings import FindingsDialog, cut_said
from workbench.tui.health.sections import BAD, BLANK, ERROR, GOOD, WARN, Row, Section, joined, key_line, more, title
from workbench.tui.widgets.content import MUTED, assemble, body, keyed, undo
from workbench.tui.widgets.figures import amount, number
from workbench.tui.widgets.texts.prompt import Prompt

LISTED = 12
"""Files without a finding, and findings of a file, that are listed; of more, how many there are."""

LINES, WIDTH, FILES = 16, 100, 4
"""Lines of a difference that are shown, how much of each, and files that are named as left alone."""

_BECAME = {
    "changed": "It changed on disk since it was read or written here.",
    "gone": "It is not there any more. What came from it is in the store still.",
}
_WHY = {
    "changed": "it changed on disk since",
    "unplaced": "what was changed has no place in it",
    "forgotten": "its note was forgotten; only the command removes it",
    "unreadable": "it could not be read or written",
}
_STYLES = {"added": "$text-success", "removed": "$text-error", "place": MUTED, "note": MUTED}


class Files(Section[Checks]):
    """The files that this store has to do with, and what is wrong with them."""

    ID, TITLE = "files", "Files"

    def look(self, tell: Progress, cancelled: Cancelled) -> Checks:
        """Look over what changed since the last time."""
        self.bench.working_out.run(cancelled, only=("file",))
        return self._check(self.value if self.known else Checks(), tell, cancelled)

    def _check(self, before: Checks, tell: Progress, cancelled: Cancelled) -> Checks:
        return check_all(self.bench.library, self.bench.context.now(), before, tell, cancelled)

    def rows(self) -> Sequence[Row]:
        """Return a row for each file, those with something to say first, or what to do when there is none."""
        files = self.value.files.values()
        if not files:
            return [
                self.remark("none", keyed("No files yet. {app.import} imports one, {health.add-file} looks one over."))
            ]
        telling = sorted(filter(_speaks, files), key=lambda checked: checked.became is None)
        sound = [checked for checked in files if not _speaks(checked)]
        found = [self._row(checked) for checked in (*telling, *sound[:LISTED])]
        if len(sound) > LISTED:
            found.append(self.remark("more", f"and {number(len(sound) - LISTED)} more without a finding"))
        return [*found, *self.in_review("files")]

    def _row(self, checked: Checked) -> Row:
        path, figure, style, remark = checked.file.path, GOOD, "", ""
        if checked.became == "changed":
            figure, style, remark = "≠", WARN, "changed on disk"
        elif checked.problem or checked.became == "gone":
            figure, style = (BAD, ERROR) if checked.file.expected else ("–", "")
            remark = "not looked over" if path.exists() else "not there"
        else:
            figure = number(len(checked.findings)) if checked.findings else GOOD
            remark = f"{number(len(checked.cut.below))} not loaded" if checked.cut and checked.cut.below else ""
        shown = self.masked(_short(path, self.bench.promotion.project))
        return self.row(str(path), figure, shown, item=path, style=style, more=remark)

    def detail(self, row: Row) -> Content:
        """Return what is wrong with a file, or what this part is about."""
        checked = self._at(row)
        if checked is None:
            return joined(
                title("Files of this store"), BLANK,
                Content("Where its playbooks came from, what memories were promoted to, what was imported or exported, "
                        "and the CLAUDE.md, AGENTS.md, MEMORY.md, playbook and LEARNINGS.md files of the project."),
                BLANK,
                key_line("list.open", "shows what is wrong with a file, and each fix before it is made; of one that "
                         "changed on disk since (≠) what differs"),
                key_line("health.write-back", "writes what was changed here back into a folder of notes, seen first"),
                key_line("health.add-file", "looks over a file that you name"),
                key_line("health.check", "looks at all of them again"),
            )  # fmt: skip
        path, kind = checked.file.path, f"{checked.linted.title} · " if checked.linted else ""
        parts = [body(self.masked(path.name), "bold"), body(self.masked(str(path.parent)), MUTED)]
        parts += [body(f"{kind}{checked.file.why}", MUTED), BLANK]
        if checked.became in _BECAME:
            parts.append(Content.styled(_BECAME[checked.became], WARN))
            if checked.became == "changed":
                parts.append(key_line("list.open", "shows what differs, and takes it into the store"))
            parts.append(BLANK)
        if checked.cut is not None:
            parts += [cut_said(checked.cut), BLANK]
        if checked.problem:
            parts.append(body(self.masked(checked.problem), ERROR if checked.file.expected else ""))
        elif checked.findings:
            parts += [*_findings(checked), BLANK, key_line("list.open", "shows the fixes, each before it is made")]
        elif checked.became != "gone":
            parts.append(Content("Nothing is wrong with it."))
        return joined(*parts)

    def _at(self, row: Row) -> Checked | None:
        return self.value.files.get(row.item) if isinstance(row.item, Path) else None

    # What the keys do

    async def open(self, row: Row) -> bool:
        """Show the findings of a file with their fixes, or what differs; look again when that is closed."""
        checked = self._at(row)
        if checked is None or (checked.became == "gone" and not checked.problem):
            return False
        if checked.became == "changed":
            await self._take_changes(checked.file.path)
        else:
            await self.app.push_screen_wait(FindingsDialog(checked.file, self.bench))
        self.gather()
        return True

    async def add_file(self, row: Row) -> None:
        """Ask for a file and look it over."""
        del row
        ask = Prompt("Look over which file?", placeholder="its path", check=_missing)
        name = await self.app.push_screen_wait(ask)
        if name is None:
            return
        path = as_named(name, Path.cwd()).resolve()
        before = self.value if self.known else Checks()
        wanted = replace(before, added=tuple(dict.fromkeys((*before.added, path))))
        self.value = await asyncio.to_thread(self._check, wanted, lambda _done, _total: None, lambda: False)
        self.known = True
        self.screen.post_message(self.Changed(self))
        self.screen.call_later(self.go, path)

    async def _take_changes(self, path: Path) -> None:
        """Show what differs in a file, and take its side on a yes."""
        found = await asyncio.to_thread(self.bench.difference, path)
        name, plan = self.masked(path.name), found.plan
        detail = joined(*self._diff(found.lines), BLANK, self._outcome(found))
        question = f"{name} changed on disk." if plan is None else f"Take what {name} says now?"
        yes, no = ("close", "close") if plan is None else ("take it", "leave both")
        agreed = await self.asked(question, detail, yes, no)
        if plan is not None and agreed:
            await asyncio.to_thread(self.bench.importer.carry_out, plan)
            self.app.say(f"{name} is as the store knows it. {undo()} takes it back.")

    def _outcome(self, found: Difference) -> Content:
        """Say what taking the file's side does, or why nothing can be taken."""
        if found.plan is None:
            return body(self.masked(found.problem) or "It brings no records into the store.", MUTED)
        new, replaced = len(found.plan.records) - len(found.plan.replaced), len(found.plan.replaced)
        said = f"{new:,} new, {replaced:,} replaced in the store; undo brings back what it says now."
        return assemble([(f"{said} Export writes the other way round.", MUTED)])

    async def write_back(self, row: Row) -> None:
        """Show what writing changed notes back into their folder does, and write them on a yes."""
        at = row.item if isinstance(row.item, Path) else None
        plan, held = await asyncio.to_thread(self._planned, at)
        name, count = self.masked(plan.root.name), amount(len(plan.edits), "file")
        question = f"Write {count} of {name}?" if plan.edits else f"Nothing to write back into {name}."
        yes, no = ("write", "leave them") if plan.edits else ("close", "close")
        agreed = await self.asked(question, joined(*self._written(plan, held)), yes, no)
        if plan.edits and agreed:
            done = await asyncio.to_thread(self.bench.folder_exporter.write, plan)
            more_left = len(done.left) > len(plan.left)
            left = f" {amount(len(done.left), 'file')} left as it was." if more_left else ""
            self.app.say(f"Wrote {amount(len(done.edits), 'file')} of {name}.{left} {undo()} takes it back.")
            self.gather()

    def _planned(self, at: Path | None) -> tuple[FolderPlan, int]:
        """Return what would be written, without what is held back, and how many records that are."""
        root, folders = self._folder(at), self.bench.folder_exporter
        plan = folders.plan(root)
        refused = (one.record for one in self.bench.safety.refusals(parts_of(plan.parsed)))
        held = frozenset(place_of(record) for record in refused if isinstance(record, Memory))
        return (folders.plan(root, without=held) if held else plan), len(held)

    def _folder(self, at: Path | None) -> Path:
        """Return the folder that a file was read with, or the only one there is. Raises `WorkbenchError`."""
        roots = folders_of(self.bench.library)
        here = [root for root in roots if at is not None and at.is_relative_to(root)] or roots
        if not here:
            told = "No folder of notes was imported into this store."
            raise WorkbenchError(told, "An import of a folder makes one.")
        if len(here) > 1:
            names = ", ".join(root.name for root in here[:FILES])
            told = f"Several folders were imported: {names}."
            raise WorkbenchError(told, "Go to a file of the one that is meant first.")
        return here[0]

    def _written(self, plan: FolderPlan, held: int) -> list[Content]:
        """Return the differences, then what is left alone and what has no place in the files."""
        lines = [line for edit in plan.edits for line in (DiffLine("place", edit.name), *edit.lines())]
        parts = self._diff(lines)
        for one in plan.left[:FILES]:
            reason = f": {one.reason}" if one.reason else ""
            parts.append(body(self.masked(f"{one.name} is left as it is: {_WHY[one.why]}{reason}."), MUTED))
        parts += more(len(plan.left), FILES, "more left as they are")
        if held:
            parts.append(Content.styled(f"{number(held)} held back: text that gives orders.", MUTED))
        if plan.unplaced:
            stays = ", ".join(f"{what} of {count:,}" for what, count in sorted(plan.unplaced.items()))
            parts.append(Content.styled(f"Kept in the store only, as the notes have no place for it: {stays}.", MUTED))
        return parts

    def _diff(self, lines: Sequence[DiffLine]) -> list[Content]:
        shown = masked_diff(lines[:LINES], masked_lines((line.text for line in lines), self.masked))
        parts = [body(one_line(f"{SIGNS[line.kind]}{line.text}", WIDTH), _STYLES.get(line.kind, "")) for line in shown]
        return [*parts, *more(len(lines), LINES, "more lines")]


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


def _short(path: Path, project: Path | None) -> str:
    """Return a path as one knows it: from the project, from home, or in full."""
    if project is not None and path.is_relative_to(project):
        return str(path.relative_to(project))
    try:
        home = Path.home()
    except RuntimeError:
        return str(path)
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)


def _findings(checked: Checked) -> Iterable[Content]:
    for rule, count in Counter(finding.rule for finding in checked.findings).items():
        yield assemble([(f"{number(count):>5}  ", "bold"), (rule, "$text-accent")])
    yield BLANK
    for finding in checked.findings[:LISTED]:
        yield assemble([(f"{finding.line:>5}  ", MUTED), (printable(finding.message), "")])
    yield from more(len(checked.findings), LISTED)
