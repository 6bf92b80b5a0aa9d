"""The tables of the manual that come from the product's own: written between their markers in
`workbench/help`.

    python -m tests.manual   # writes them anew

A page says `<!-- generated: NAME -->` … `<!-- end -->`; `TABLES` says what stands between the two.
"""

import re
import textwrap
from argparse import SUPPRESS, Action, ArgumentParser, _HelpAction, _SubParsersAction
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import reduce
from itertools import chain
from pathlib import Path

from workbench.cli.main import build_parser
from workbench.cli.session import MEANINGS
from workbench.config.loading import Settings
from workbench.config.settings_reading import KEYS
from workbench.core.agents.actors import ENVIRONMENT
from workbench.core.files.formats import known_formats
from workbench.core.playbook import filter as playbook_filter
from workbench.core.review.kinds import GROUPS, KINDS
from workbench.core.stream import filter as stream_filter
from workbench.core.stream.confidence import RULES
from workbench.core.tuning.profile import BUILT_IN, FACTORS
from workbench.formats.exports import OUTLETS
from workbench.services.agents.api import TOOLS, ToolEntry
from workbench.tui import actions as shared
from workbench.tui import duplicates
from workbench.tui.agents import experience
from workbench.tui.app.actions import Action as Key
from workbench.tui.app.actions import all_keys, display_key, key_names, sentence
from workbench.tui.app.areas import AREAS
from workbench.tui.playbook import pane
from workbench.tui.review import inbox
from workbench.tui.safety import FLAGGED
from workbench.tui.stream import memory_view
from workbench.tui.stream.screen import IS_FLAGGED

PAGES = Path(__file__).parents[1] / "workbench" / "help"
COMMAND = "python -m tests.manual"

_MARKED = re.compile(r"(<!-- generated: (.+?) -->\n).*?(<!-- end -->)", re.DOTALL)
_WIDTH, _COLUMN, _KEYS = 70, 26, 14
_NO_LIMIT = 99
_IN_LISTS = ("list", "mark", "link", "text", "slider", "dialog", "record", "evidence")
"""The first part of the ids of actions that are listed once for all areas and dialogs."""


def generated(page: str) -> str:
    """Return a page with its tables made anew. Raises `KeyError` for a table that there is not."""
    return _MARKED.sub(lambda found: f"{found[1]}\n{TABLES[found[2]]()}\n\n{found[3]}", page)


def _table(heads: Iterable[str], lines: Iterable[Iterable[str]]) -> str:
    heads = list(heads)
    cells = [[cell.replace("|", "\\|") for cell in line] for line in lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in (heads, ["---"] * len(heads), *cells))


def _code(text: str) -> str:
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def _hanging(left: str, right: str, column: int) -> list[str]:
    """Return two columns of a block of text, the right one wrapped."""
    lines = textwrap.wrap(
        right, _WIDTH - column, break_long_words=False, break_on_hyphens=False
    ) or [""]
    if len(left) > column - 2:
        return [left, *(" " * column + line for line in lines)]
    return [f"{left:<{column}}{lines[0]}".rstrip(), *(" " * column + line for line in lines[1:])]


def _keys(actions: Iterable[Key]) -> str:
    return _table(
        ("key", "what it does", "action"),
        (
            (
                " ".join(_code(display_key(key)) for key in key_names(action.keys)),
                action.tooltip or sentence(action.label),
                _code(action.id),
            )
            for action in actions
        ),
    )


def _own(actions: Iterable[Key]) -> list[Key]:
    return [action for action in actions if action.id.partition(".")[0] not in _IN_LISTS]


def _in_lists() -> str:
    many = (
        shared.LIST,
        shared.MARKS,
        shared.LINKS,
        (shared.READ_ON,),
        shared.SLIDER,
        shared.on_row(),
        shared.ON_DIALOG,
    )
    rest = (action for table in AREAS for action in (*table.actions.own, *table.actions.shared))
    dialogs = (action for table in AREAS.dialogs for action in (*table.own, *table.shared))
    held: dict[str, Key] = {}
    for action in (*chain(*many), *rest, *dialogs):
        if action not in _own([action]):
            held.setdefault(action.id, action)
    return _keys(held.values())


def _dialogs() -> str:
    """Return the keys of each dialog, as a block of text: as tables they were a page that takes
    long to build.
    """
    parts = []
    for table in AREAS.dialogs:
        if held := _own((*table.own, *table.shared)):
            lines = [
                line
                for action in held
                for line in _hanging(
                    all_keys(action),
                    f"{action.tooltip or sentence(action.label)} ({action.id})",
                    _KEYS,
                )
            ]
            parts.append("\n".join((f"## {sentence(table.title)}", "", "```text", *lines, "```")))
    return "\n\n".join(parts)


def parsers(parser: ArgumentParser, about: str = "") -> Iterator[tuple[str, ArgumentParser]]:
    """Yield every command with its sentence, those below a command behind it."""
    for action in parser._actions:
        if isinstance(action, _SubParsersAction):
            abouts = {choice.dest: choice.help or "" for choice in action._choices_actions}
            for name, below in action.choices.items():
                yield abouts.get(name, about), below
                yield from parsers(below)


def options(parser: ArgumentParser) -> list[Action]:
    """Return the arguments of a command that are not those of every command."""
    left_out = _HelpAction, _SubParsersAction
    every = (
        action
        for action in parser._actions
        if not isinstance(action, left_out) and action.help != SUPPRESS
    )
    return [action for action in every if "--store" not in action.option_strings]


def _option(action: Action) -> str:
    metavar = action.metavar or ("" if action.option_strings else action.dest)
    if not metavar and action.choices is not None:
        metavar = "{" + ",".join(map(str, action.choices)) + "}"
    value = " ".join(metavar) if isinstance(metavar, tuple) else metavar
    return " ".join(filter(None, (", ".join(action.option_strings), value)))


def example(parser: ArgumentParser) -> list[str]:
    """Return the calls of a command that its help shows."""
    text = f"{parser.description or ''}\n{parser.epilog or ''}"
    return re.findall(rf"^ +({re.escape(parser.prog)}(?: .*)?)$", text, re.MULTILINE)


def _commands() -> str:
    parts = []
    for about, parser in parsers(build_parser()):
        _, _, name = parser.prog.partition(" ")
        described = [
            line
            for action in options(parser)
            for line in _hanging(
                _option(action),
                (action.help or "").replace("%(default)s", str(action.default)),
                _COLUMN,
            )
        ]
        calls = [f"$ {call}" for call in example(parser)[:1]]
        block = [*calls, *([""] if calls and described else []), *described]
        heading = "###" if " " not in name else "####"
        parts.append(
            "\n".join(
                (f"{heading} {name}", "", f"{sentence(about)}.", "", "```text", *block, "```")
            )
        )
    return "\n\n".join(parts)


def _settings() -> str:
    def default(attribute: str) -> str:
        value: object = reduce(getattr, attribute.split("."), Settings())
        if value is None or value == ():
            return '""'
        if isinstance(value, bool):
            return str(value).lower()
        return f"{value:g}" if isinstance(value, int | float) else f'"{value}"'

    lines = ((_code(key.name), key.about, key.expected, _code(default(key.place))) for key in KEYS)
    return _table(("setting", "meaning", "expected", "default"), lines)


def _formats() -> str:
    written = {outlet.name for outlet in OUTLETS}
    read = [
        (_code(f.name), f.title, "yes", "yes" if f.name in written else "") for f in known_formats()
    ]
    also = [
        (
            _code(outlet.name),
            outlet.title,
            f"as {_code(outlet.reader)}" if outlet.reader else "",
            "yes",
        )
        for outlet in OUTLETS
        if outlet.name not in {f.name for f in known_formats()}
    ]
    return _table(("format", "file", "read", "written"), (*read, *also))


def _filter(lines: Iterable[tuple[str, str]]) -> str:
    shown = (
        (" ".join(_code(part) for part in re.split(r" {2,}", what)), finds) for what, finds in lines
    )
    return _table(("write", "finds"), shown)


def _confidence() -> str:
    def most(points: int, times: int) -> str:
        return "no limit" if times == _NO_LIMIT else f"{points * times:+d}".replace("-", "−")

    lines = (
        (rule.words.replace(" {times}", ""), f"{rule.points:+d}".replace("-", "−"), most(rule.points, rule.most),
         rule.why)
        for rule in RULES
    )  # fmt: skip
    return _table(("evidence", "points", "at most", "why"), lines)


def _profiles() -> str:
    lines = (
        (_code(p.name), f"{p.recency:g}", f"{p.importance:g}", f"{p.relevance:g}", p.about)
        for p in BUILT_IN
    )
    return _table(("profile", "recency", "importance", "relevance", "about"), lines)


def _tools() -> str:
    def when(tool: ToolEntry) -> str:
        first = (tool.call.__doc__ or "").strip().splitlines()[0]
        return first + ("" if tool.group == "few" else f" (`--tools {tool.group}`)")

    lines = ((_code(t.name), "yes" if t.writes else "", when(t)) for t in TOOLS)
    return _table(("tool", "writes", "when"), lines)


SYMBOLS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "memories": (
        *((sign, status) for status, sign in memory_view.SYMBOLS.items()),
        (memory_view.PINNED, "pinned"),
        (memory_view.UNREAD, "new since you last looked"),
        (memory_view.LONG, "a long text, of which the row shows the beginning"),
        (FLAGGED, "flagged: a secret, orders to an agent, or hidden characters"),
    ),
    "review": (
        *((kind.sign, kind.label) for kind in KINDS.values() if kind.sign),
        (inbox.MARK, "flagged"),
    ),
    "playbook": (
        (pane.HIGH, "high performing: more than 5 helpful and fewer than 2 harmful marks"),
        (pane.PROBLEMATIC, "problematic: at least as many harmful marks as helpful ones"),
        (pane.DEPRECATED, "deprecated"),
        (pane.PINNED, "pinned"),
        (pane.DISPUTED, "disputed: votes and the outcomes of runs contradict each other"),
        (pane.CUT, "over the token budget, so agents are not served it"),
    ),
    "duplicates": tuple((sign, duplicates.WORDS[kind]) for kind, sign in duplicates.SIGNS.items()),
    "tune": tuple((factor.glyph, f"{factor.label}: {factor.words}") for factor in FACTORS),
    "agents": (
        *(
            (sign, f"pattern: {state.replace('_', ' ')}")
            for state, sign in experience.SIGNS.items()
        ),
        *(
            (sign, f"episode: {state.lower()}")
            for state, (sign, _) in experience.OUTCOME_SIGNS.items()
        ),
    ),
}
"""The signs of rows, and what each says."""


TABLES: Mapping[str, Callable[[], str]] = {
    **{f"keys {area.id}": lambda area=area: _keys(_own(area.actions.own)) for area in AREAS},  # type: ignore[misc]
    **{
        f"symbols {where}": lambda signs=signs: _table(
            ("sign", "meaning"), ((_code(a), b) for a, b in signs)
        )  # type: ignore[misc]
        for where, signs in SYMBOLS.items()
    },
    "keys everywhere": lambda: _keys(AREAS.everywhere),
    "keys lists": _in_lists,
    "keys dialogs": _dialogs,
    "commands": _commands,
    "exit codes": lambda: _table(
        ("code", "meaning"), ((f"{code}", meaning) for code, meaning in MEANINGS.items())
    ),
    "settings": _settings,
    "formats": _formats,
    "filter stream": lambda: _filter((*stream_filter.HELP, IS_FLAGGED)),
    "filter playbook": lambda: _filter(playbook_filter.HELP),
    "confidence": _confidence,
    "review groups": lambda: _table(
        ("group", "what a decision does"), ((one.title, one.about) for one in GROUPS)
    ),
    "profiles": _profiles,
    "tools": _tools,
    "agent variables": lambda: _table(
        ("variable", "agent"), ((_code(k), agent) for k, agent in ENVIRONMENT.items())
    ),
}


if __name__ == "__main__":
    for path in sorted(PAGES.glob("*.md")):
        path.write_text(generated(path.read_text("utf-8")), "utf-8")
