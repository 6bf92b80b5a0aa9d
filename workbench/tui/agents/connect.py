"""Connecting an agent: what that writes and does is said first, and taking it back is a key."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from textual.app import App
from textual.content import Content

from workbench.clipboard import copy
from workbench.config import paths
from workbench.core.agents.hook_event import EVENTS_DO, HOOK_FILES, name_of
from workbench.core.record import WorkbenchError
from workbench.core.text import printable
from workbench.services.agents.hooks import (
    Plan,
    carry_out,
    file_of,
    plan_install,
    plan_removal,
    program,
    require_no_agent,
    server,
)
from workbench.services.files.replaced import Replaced
from workbench.services.files.threeway import diff_texts, masked_diff, masked_lines
from workbench.services.safety.masking import masked_text
from workbench.tui.actions import CONNECT
from workbench.tui.app.actions import bindings, footer_entries
from workbench.tui.files.preview import SIGNS, STYLES
from workbench.tui.widgets.content import MUTED, assemble, keyed
from workbench.tui.widgets.dialog import Choice, Choose, TextDialog

NAMES = {"claude-code": "Claude Code", "codex": "Codex", "cursor": "Cursor"}

_LABEL, _EVENT = 9, 20


async def connect(app: App[Any], store: Path | None = None) -> None:
    """Ask which agent and whose settings, and show what connecting it does.

    `store` is the open one; an agent is connected to it by name only where it is not found from its
    folder.
    """
    try:
        require_no_agent()
        here = Path.cwd()
        home, found = Path.home(), paths.find_store(here).folder
    except (WorkbenchError, RuntimeError, OSError) as error:
        app.notify(printable(str(error)), severity="error", markup=False)
        return
    agent = await app.push_screen_wait(
        Choose("Which agent?", [Choice(name, NAMES.get(name, name)) for name in HOOK_FILES])
    )
    if agent is None:
        return
    of_project, of_user = file_of(agent, here, of_user=False), file_of(agent, home, of_user=True)
    choices = [
        Choice("project", "This project, for you alone", paths.from_home(of_project)),
        Choice("user", "All your projects", paths.from_home(of_user)),
    ]
    scope = await app.push_screen_wait(Choose("Where is it to be connected?", choices))
    if scope is not None:
        path = of_user if scope == "user" else of_project
        named = store if store is not None and store.resolve() != found.resolve() else None
        served = (
            paths.from_home(named or found)
            if scope == "project" or named
            else ("the store of the project that a session runs in; without one, your global store")
        )
        await app.push_screen_wait(ConnectDialog(agent, scope, path, named, served))


class ConnectDialog(TextDialog[None]):
    """What connecting an agent writes and does, or that it is connected; and what changes in the
    file.
    """

    BINDINGS = bindings(CONNECT)

    def __init__(self, agent: str, scope: str, path: Path, store: Path | None, served: str) -> None:
        self._client = NAMES.get(agent, agent)
        offered = footer_entries(CONNECT)
        self._agent, self._scope, self._path, self._served = agent, scope, path, served
        self._program = program(store)
        self._replaced = Replaced(paths.replaced_dir())
        self._shows_changes = False
        super().__init__(f"Connect {self._client}", self._drawn(), offered)

    def _drawn(self) -> Content:
        """Say what connecting does, or that the agent is connected; or what changes in the file."""
        try:
            install = self._install()
            plan = self._removal() if install.is_done else install
        except WorkbenchError as error:
            return Content.styled(f"✗ {printable(str(error))}", "bold $text-error")
        return _changed(plan) if self._shows_changes else self._said(plan, install.is_done)

    def _install(self) -> Plan:
        return plan_install(self._agent, self._path, self._program, self._replaced)

    def _removal(self) -> Plan:
        return plan_removal(self._agent, self._path, self._replaced)

    def _said(self, plan: Plan, connected: bool) -> Content:
        if connected:
            file = "has the hooks"
        elif plan.before is None:
            file = "is made, with the hooks"
        else:
            file = "gets the hooks; the rest stays, and a copy is kept"
        undo = f"`workbench hooks remove --agent {self._agent} --{self._scope}`"
        parts = [("Connected, from its next session on.\n\n", "bold $text-success")] * connected
        parts += _row("File", paths.from_home(self._path), file)
        for at, name in enumerate(HOOK_FILES[self._agent].events):
            does = EVENTS_DO.get(name_of(name), "")
            parts += _row("" if at else "Events", f"{name:<{_EVENT}}", does)
        parts += _row("Store", self._served, "receives what is kept")
        parts += _row("Undo", keyed("{connect.undo} here, or"), undo)
        parts += _row(
            "Tools", keyed("not yet: {connect.copy} copies the command that adds them,"), ""
        )
        parts += _row("", server(self._agent, self._program), "")
        if connected and self._agent == "codex":
            parts += _row("Trust", "Codex asks once whether you trust its hooks.", "")
        return assemble(parts)

    def action_write(self) -> None:
        """Write the hooks into the agent's settings."""
        self._carry_out(self._install)

    def action_undo(self) -> None:
        """Take the hooks out again; the file is as it was before them."""
        self._carry_out(self._removal)

    def _carry_out(self, planned: Callable[[], Plan]) -> None:
        """Write what is planned and show how things stand then."""
        try:
            plan = planned()
            if plan.is_done:
                self.app.bell()
            else:
                carry_out(plan, self._replaced)
        except WorkbenchError as error:
            self.app.notify(printable(str(error)), severity="error", markup=False)
        finally:
            self._shows_changes = False
            self.show(self._drawn())

    def action_changes(self) -> None:
        """Show what changes in the file, or what that does again."""
        self._shows_changes = not self._shows_changes
        self.show(self._drawn())

    def action_cancel(self) -> None:
        """Go back from the changes, else close."""
        if self._shows_changes:
            self.action_changes()
        else:
            super().action_cancel()

    def action_copy(self) -> None:
        """Copy how the agent is given the server with its tools."""
        said = copy(server(self._agent, self._program), self.app.copy_to_clipboard)
        self.app.notify(str(said), markup=False)


def _row(label: str, what: str, does: str) -> list[tuple[str, str]]:
    return [
        (f"{label:<{_LABEL}}", MUTED),
        (printable(what), "bold" if label == "File" else ""),
        (f" {does}\n", MUTED),
    ]


def _changed(plan: Plan) -> Content:
    """Return what changes in the file, without the secrets in it."""
    before, after = plan.before or "", plan.after or ""
    lines = masked_diff(diff_texts(before, after), masked_lines((before, after), masked_text))
    gone = [("The file goes: it was not there before.\n", "bold")] * (plan.after is None)
    shown = [(f"{SIGNS[line.kind]} {printable(line.text)}\n", STYLES[line.kind]) for line in lines]
    return assemble([*gone, *shown])
