"""Episodes as they are printed: a line each, or one whole; and the options that say which are meant."""

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from workbench.cli.output import moment, say, table, warn
from workbench.cli.parsing import Parser
from workbench.cli.safety.flags import Shown, unreviewed
from workbench.cli.session import Session
from workbench.core.agents.episodes.cluster import cluster_lines
from workbench.core.agents.episodes.criteria import Criteria, Phase, checked, phase_dates, phase_of
from workbench.core.agents.episodes.episode import Episode, EpisodeUse, unused
from workbench.core.record import UnreadableFile
from workbench.core.text import one_line

if TYPE_CHECKING:
    from datetime import datetime

    from workbench.services.agents.episodes.keeping import Opened
    from workbench.services.open import Workbench

SHOWN = 20
"""Episodes that are listed when nobody says how many."""

_TASK, _LINE = 70, 200

_CRITERIA = (
    ("--domain", "only of this domain"),
    ("--type", "only of this type of task"),
    ("--outcome", "only that ended so: success, partial, failure"),
    ("--tag", "only with this tag"),
    ("--phase", "only in this phase: active, mature, aged, archived, deleted"),
    ("--tool", "only where this tool was used"),
    ("--applied", "only where this strategy was applied"),
    ("--in-session", "only of this agent session"),
    ("--since", "only newer: 7d, 36h, 2026-11-21"),
    ("--until", "only older"),
)


def add_criteria(parser: Parser) -> None:
    """Add the options that say which episodes are meant; read them with `criteria_of`."""
    for name, about in _CRITERIA:
        parser.add_argument(name, metavar="WHEN" if name in ("--since", "--until") else "X", default="", help=about)


def no_criteria(parser: Parser) -> None:
    """Let a command go without those options as if none had been given."""
    parser.set_defaults(**{name[2:].replace("-", "_"): "" for name, _ in _CRITERIA})


def criteria_of(session: Session) -> Criteria:
    """Return which episodes the arguments mean; raises `InvalidQuery`."""
    args = session.args
    since, until = session.time(args.since), session.time(args.until, last=True)
    return checked(
        Criteria(
            args.domain, args.type, args.outcome, args.tag, args.phase, args.in_session, args.tool, args.applied,
            since, until,
        )
    )  # fmt: skip


def row_of(episode: Episode, use: EpisodeUse | None, now: "datetime") -> dict[str, object]:
    """Return the head of an episode as JSON values."""
    counted = use or unused(episode.id)
    return {
        "id": episode.id, "timestamp": episode.at, "outcome": episode.outcome, "task_type": episode.type,
        "domain": episode.domain, "tags": episode.tags, "status": episode.status, "phase": phase_of(episode, now),
        "hash": episode.hash, "access_count": counted.access_count, "last_accessed": counted.last_accessed_at,
        "references": len(counted.referenced_by), "approved": episode.approved, "captured": episode.captured,
    }  # fmt: skip


def say_rows(bench: "Workbench", found: Sequence[Episode], now: "datetime") -> None:
    """Print heads, a line each, with what the task was."""
    mask, rows, unread = bench.safety.masked, list[tuple[str, ...]](), 0
    for one in found:
        task = bench.episodes.task_of(one)
        unread += task is None
        tags = f"  #{' #'.join(one.tags)}" if one.tags else ""
        said = unreviewed(bench, one) + one_line(mask(f"{task or '(its file cannot be read)'}{tags}"), _TASK)
        where = one_line(mask("/".join(name for name in (one.domain, one.type) if name)), 24)
        ended = f"{one.outcome.lower()}{', by capture' if one.captured else ''}"
        rows.append((one.id, moment(one.at), ended, phase_of(one, now), where, said))
    for line in table(rows) if rows else ():
        say(line)
    if unread:
        warn(f"Of {unread:,} the file beside the store cannot be read; `workbench doctor` names them.")


def print_whole(opened: "Opened", doc: Mapping[str, object], shown: Shown) -> None:
    """Print an episode with all it says, part by part."""
    head, use = opened.episode, opened.use
    began = phase_dates(head)
    last = f", last {moment(use.last_accessed_at)}" if use.last_accessed_at is not None else ""
    marks = ("approved" if head.approved else "", "by capture" if head.captured else "")
    rows = [
        ("id", head.id),
        ("when", f"{moment(head.at)} · {opened.phase}{_next(opened, began)}"),
        ("outcome", " · ".join(part for part in (head.outcome.lower(), *marks) if part)),
        ("domain", shown(head.domain)), ("type", shown(head.type)), ("session", shown(opened.body.session)),
        ("tags", shown(", ".join(head.tags))),
        ("read", f"{use.access_count:,}×{last} · {len(use.referenced_by):,} rest on it"),
    ]  # fmt: skip
    for line in table([row for row in rows if row[1]]):
        say(line)
    for line in cluster_lines(opened.cluster, head.id) if opened.cluster is not None else ():
        say(shown(line))
    for part in ("task", "execution", "outcome", "reflection"):
        say(f"\n{part}")
        _say_part(doc.get(part), "  ")
    for note in opened.notes:
        say(f"\nnote, {moment(note.at)}: {shown(note.text)}")


def _next(opened: "Opened", began: "Mapping[Phase, datetime]") -> str:
    """Say when the next phase begins, where one does by age."""
    phases = list(began)
    if opened.phase not in phases[:-1] or opened.episode.status != "active":
        return ""
    after = phases[phases.index(opened.phase) + 1]
    return f", {after} from {moment(began[after])[:10]}"


def _say_part(value: object, indent: str) -> None:
    if isinstance(value, Mapping):
        for name, item in value.items():
            if isinstance(item, Mapping | list | tuple) and item:
                say(f"{indent}{name}:")
                _say_part(item, indent + "  ")
            elif item not in (None, "", [], {}, ()):
                say(f"{indent}{name}: {one_line(str(item), _LINE)}")
    elif isinstance(value, list | tuple):
        for item in value:
            if isinstance(item, Mapping):
                said = " · ".join(f"{name}: {one_line(str(part), 80)}" for name, part in item.items())
                say(f"{indent}- {one_line(said, _LINE)}")
            else:
                say(f"{indent}- {one_line(str(item), _LINE)}")


def read_stdin() -> str:
    """Return what stdin says; raises `UnreadableFile`."""
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        what = f"byte 0x{error.object[error.start]:02x} at offset {error.start:,}"
        raise UnreadableFile(f"stdin is not UTF-8 text: {what}.", "Nothing was stored.") from error
