"""The command palette: finds an action by its name, and below those by what it does or what else it
is called.
"""

import asyncio
from collections.abc import Iterable
from typing import ClassVar, cast

from textual.binding import Binding, BindingType
from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.theme import ThemeProvider

from workbench.core.words import words
from workbench.tui.app.area import TURN_S
from workbench.tui.app.host import Command, Host
from workbench.tui.app.private_names import Guarded
from workbench.tui.widgets.content import muted

BELOW = 0.01
"""Which share of its score a hit in a description has at most: every name that matches stands above
it.
"""

KEY, NAME = 10, 26
"""Cells of the columns of keys and of names."""

SYNONYMS = (
    frozenset(("forget", "delete", "remove", "archive", "trash")),
    frozenset(("find", "search", "filter", "look", "grep")),
    frozenset(("edit", "change", "correct", "fix", "modify")),
    frozenset(("replace", "rename", "substitute")),
    frozenset(("vote", "helpful", "like", "useful", "upvote")),
    frozenset(("harmful", "dislike", "wrong", "downvote")),
    frozenset(("undo", "revert", "back", "restore")),
    frozenset(("approve", "accept", "confirm")),
    frozenset(("reject", "decline", "dismiss")),
    frozenset(("later", "postpone", "skip", "snooze", "defer")),
    frozenset(("theme", "colours", "colors", "dark", "light")),
    frozenset(("import", "load", "read", "take")),
    frozenset(("export", "write", "save")),
    frozenset(("history", "log", "changes", "blame", "audit", "revision", "past", "was")),
    frozenset(("promote", "publish", "claude.md", "agents.md")),
    frozenset(("quit", "exit", "leave", "close")),
    frozenset(
        (
            "help",
            "keys",
            "shortcuts",
            "bindings",
            "remap",
            "keybindings",
        )
    ),
    frozenset(
        ("settings", "config", "configuration", "configure", "preferences", "options", "setup")
    ),
    frozenset(("metrics", "eval", "evaluate", "evaluation", "measure")),
    frozenset(("store", "stores", "project", "database", "workspace")),
    frozenset(("pin", "star", "favourite", "favorite", "keep")),
    frozenset(("duplicates", "duplicate", "same", "dedup", "merge")),
    frozenset(
        ("agents", "connect", "hook", "hooks", "mcp", "claude", "codex", "cursor", "install")
    ),
    frozenset(("health", "doctor", "trend", "trends", "better", "stats", "statistics", "diagnose")),
    frozenset(("symbols", "legend", "icons", "signs")),
    frozenset(("started", "demo", "tutorial", "begin", "introduction", "quickstart")),
    frozenset(("allow", "flag", "flags", "flagged", "secret", "suspicious")),
    frozenset(("budget", "tokens", "limit", "size")),
    frozenset(("reflect", "reflection", "insights", "summarise", "summarize")),
    frozenset(("suggestions", "curate", "curator")),
    frozenset(("mark", "select", "tick")),
    frozenset(("tune", "tuning", "weights", "sliders", "ranking", "decay", "embeddings", "model")),
    frozenset(("context", "recall", "served", "preview")),
    frozenset(("still", "stale", "outdated", "contradiction")),
    frozenset(("archive", "hide", "expire")),
)
"""Words that people use for one thing; a word of a row stands for all it stands with here."""


class Palette(Provider):
    """Lists every action; a search looks at names as Textual does, and at whole words of
    descriptions.
    """

    @property
    def _commands(self) -> Iterable[Command]:
        return cast(Host, self.app).commands(self.screen)

    async def discover(self) -> Hits:
        """Yield everything as the app orders it: what is done here comes first."""
        await asyncio.sleep(TURN_S)
        for command in self._commands:
            drawn = _drawn(command, Content(command.title))
            yield DiscoveryHit(drawn, command.run, command.title)

    async def search(self, query: str) -> Hits:
        """Yield what a query finds: names with words that begin so, then descriptions and synonyms
        that hold them.

        Names that only have its letters here and there come last: they are what was typed by
        mistake.
        """
        matcher = self.matcher(query)
        asked = words(query)
        for command in self._commands:
            name = command.title
            score, share = matcher.match(name), described(asked, f"{name} {command.help}")
            drawn = _drawn(command, matcher.highlight(name))
            if score > 0 and all(
                any(own.startswith(word) for own in words(name)) for word in asked
            ):
                yield Hit(score, drawn, command.run, name)
            elif share:
                drawn = _drawn(command, Content(name))
                yield Hit(share * BELOW, drawn, command.run, name)
            elif score > 0:
                yield Hit(score * BELOW * BELOW, drawn, command.run, name)


def _drawn(command: Command, name: Content) -> Content:
    """Return a row: the key, the name, what it does."""
    key = Content.styled(f"{command.key:<{KEY}}", "bold $text-accent")
    gap = " " * max(2, NAME - len(command.title))
    return key + name + muted(f"{gap}{command.help}")


class Themes(ThemeProvider):
    """Lists the themes, the one in use first and marked as such."""

    async def discover(self) -> Hits:
        in_use = self.app.theme
        for name, callback in sorted(self.commands, key=lambda command: command[0] != in_use):
            yield DiscoveryHit(name, callback, help="in use" if name == in_use else None)


class ManualPalette(Guarded, CommandPalette):
    """The palette of actions, from which the manual opens as from anywhere else."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("f1", "manual", "manual")]

    def action_manual(self) -> None:
        """Open the manual in place of the palette."""
        app = self.app
        self.dismiss()
        app.call_later(app.run_action, "manual")


def theme_palette() -> CommandPalette:
    """Return the palette that lists the themes only."""
    return CommandPalette([Themes], placeholder="Search for themes…")


def described(asked: list[str], text: str) -> float:
    """Return how well words begin those of a text or of their synonyms, 0…1; 0 unless all of them
    do.

    The text's own words count double.
    """
    own = words(text)
    also = {word for group in SYNONYMS if not group.isdisjoint(own) for word in group}
    found = 0.0
    for word in asked:
        if any(each.startswith(word) for each in own):
            found += 1.0
        elif len(word) > 2 and any(each.startswith(word) for each in also):
            found += 0.5
        else:
            return 0.0
    return found / len(asked) if asked else 0.0
