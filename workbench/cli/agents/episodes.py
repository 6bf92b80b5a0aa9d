"""`workbench episode`: what agents did, kept as it was; shown, listed, corrected by a person, written to files."""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.output import cut, fail, moment, say, table, warn, write_json
from workbench.cli.parsing import Commands, Parser, add_command, add_json, add_limit, count, file_or_stdin, wants_json
from workbench.cli.progress import ProgressLine, interruptible
from workbench.cli.safety.flags import Shown, add_secrets, review_json, unreviewed
from workbench.cli.session import CLI_ACTOR, INTERRUPTED, Session, actor_of
from workbench.core.agents.consolidation import STAGES, StageKind, due_at
from workbench.core.agents.episodes.criteria import (
    STRATEGIES,
    Criteria,
    Phase,
    age_of,
    checked,
    cluster_lines,
    compared,
    phase_dates,
    phase_of,
    said_lines,
)
from workbench.core.agents.episodes.episode import Episode, EpisodeUse, unused
from workbench.core.record import InvalidQuery, UnreadableFile, WorkbenchError
from workbench.core.text import counted, one_line

if TYPE_CHECKING:
    from datetime import datetime

    from workbench.core.agents.patterns.statistics import Outlook
    from workbench.services.agents.consolidation import Becomes, Change, Consolidated, Stage
    from workbench.services.agents.episode_finding import FoundEpisode, FoundEpisodes
    from workbench.services.agents.episodes import Opened, Stored
    from workbench.services.agents.experience import Learned
    from workbench.services.open import Workbench


# `workbench consolidate`: what agents did and learned is tidied up, stage by stage, and reported.


LISTED = 20
"""Changes of a stage that are listed; --json lists all."""

LONG_CONSOLIDATION = 500
"""Records from which on a stage shows how far it is."""

_ABOUT = f"""The stages, in this order: {", ".join(kind.id for kind in STAGES)}. Each is an action of its own that
`workbench undo` takes back. Ctrl+c stops between two stages; the next run within a day goes on there. Nothing is lost:
episodes are archived under the one that stands for them, patterns go out of use as history. --dry-run says exactly what
a run would change. The report of the last run stands in Health, too, with when the next one is due (after a week).

  workbench consolidate --dry-run
  workbench consolidate --stages episodes,validation --report consolidation.md

Every Sunday at three, by cron (`crontab -e`), or by a systemd timer (OnCalendar=Sun 03:00) with the same command:

  0 3 * * 0  workbench --store /path/to/.workbench consolidate --json >> /path/to/consolidation.log 2>&1"""

_SAYS: "Mapping[Becomes, str]" = {
    "archived": "archived under",
    "validated": "in use, by its evidence",
    "under_review": "under review: it was contradicted",
    "candidate": "a candidate",
    "deprecated": "out of use: worth little",
    "proposed": "waits in Review:",
}


def add_consolidate(commands: Commands) -> None:
    """Add `consolidate`."""
    parser = add_command(commands, "consolidate", consolidate, "consolidate episodes and patterns", _ABOUT)
    parser.add_argument("--dry-run", action="store_true", help="say what would be done, and do nothing")
    parser.add_argument("--stages", metavar="NAME,…", default="", help="only these (otherwise: all, or those left)")
    parser.add_argument("--anew", action="store_true", help="begin anew, whatever run was broken off")
    parser.add_argument("--report", metavar="FILE", type=Path, help="write the report to a new file, .md or .json")
    add_json(parser)


def consolidate(session: Session) -> int:
    args = session.args
    names = [name.strip() for name in args.stages.split(",") if name.strip()]
    if args.report is not None and args.dry_run:
        raise InvalidQuery("A dry run has no report.", "Leave out --report; --json prints what would be done.")
    line = _Line()
    with session.reading() if args.dry_run else session.changing() as bench, interruptible() as cancelled:
        work = bench.consolidating
        try:
            if args.dry_run:
                done = work.look(names, line, cancelled)
            else:
                done = work.carry_out(names, line, cancelled, anew=args.anew)
        finally:
            line.clear()
        if args.report is not None:
            _write(session.cwd / args.report, done)
        _tell(session, bench, done)
    return INTERRUPTED if done.left else 0


class _Line:
    """The progress of the stage that is at work."""

    def __init__(self) -> None:
        self._stage, self._line = "", ProgressLine("", LONG_CONSOLIDATION)

    def __call__(self, kind: StageKind, done: int, total: int) -> None:
        """Show how far a stage is."""
        if kind.id != self._stage:
            self.clear()
            self._stage, self._line = kind.id, ProgressLine(kind.id, LONG_CONSOLIDATION)
        self._line(done, total)

    def clear(self) -> None:
        """Take the line away."""
        self._line.clear()


def _tell(session: Session, bench: "Workbench", done: "Consolidated") -> None:
    from workbench.services.agents.consolidation import done_json

    dry, shown = session.args.dry_run, Shown(bench)
    if wants_json(session.args):
        write_json(shown(done_json(done, dry=dry)))
        return
    if done.again:
        say("Going on with the run that was broken off.")
    for one in done.stages:
        for text in _lines(one, dry, shown):
            say(text)
    if done.left:
        left = ", ".join(kind.id for kind in done.left)
        warn(f"Stopped. Left: {left}." if dry else f"Stopped. Left: {left}; `workbench consolidate` goes on there.")
    elif done.run is not None and (due := due_at(done.run)) is not None:
        say(f"The next one is due {moment(due)}.")


def _lines(stage: "Stage", dry: bool, shown: Shown) -> Iterator[str]:
    plan = stage.plan
    parts = [f"{counted(plan.looked, 'record')} looked at"]
    if plan.changes:
        parts.append(f"{len(plan.changes):,} {'would change' if dry else 'changed'}")
    if plan.measured:
        parts.append(f"{plan.measured:,} {'would be measured' if dry else 'measured'} anew")
    facts = (f"{name.replace('_', ' ')} {value:,.0f}" for name, value in plan.facts.items())
    yield f"{stage.kind.title}: {', '.join((*parts, *facts))}"
    yield from (f"  {_line(change, shown)}" for change in plan.changes[:LISTED])
    if len(plan.changes) > LISTED:
        yield f"  and {len(plan.changes) - LISTED:,} more"


def _line(change: "Change", shown: Shown) -> str:
    by = f" {one_line(shown(change.by), 80)}" if change.by else ""
    return f"{one_line(shown(change.id), 80)}  {_SAYS[change.becomes]}{by}"


def _write(file: Path, done: "Consolidated") -> None:
    import json

    from workbench.core.files.replacing import replace_file
    from workbench.services.agents.consolidation import markdown, run_json

    if done.run is not None:
        as_json = file.suffix == ".json"
        text = json.dumps(run_json(done.run), indent=2) + "\n" if as_json else markdown(done.run)
        replace_file(file, text, None)


# Episodes as they are printed: a line each, or one whole; and the options that say which are meant.


SHOWN = 20
"""Episodes that are listed when nobody says how many."""

_TASK, _ROW_LINE = 70, 200

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
        for line in said_lines(doc.get(part), "  ", lambda text: one_line(text, _ROW_LINE)):
            say(line)
    for note in opened.notes:
        say(f"\nnote, {moment(note.at)}: {shown(note.text)}")


def _next(opened: "Opened", began: "Mapping[Phase, datetime]") -> str:
    """Say when the next phase begins, where one does by age."""
    phases = list(began)
    if opened.phase not in phases[:-1] or opened.episode.status != "active":
        return ""
    after = phases[phases.index(opened.phase) + 1]
    return f", {after} from {moment(began[after])[:10]}"


def read_stdin() -> str:
    """Return what stdin says; raises `UnreadableFile`."""
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        what = f"byte 0x{error.object[error.start]:02x} at offset {error.start:,}"
        raise UnreadableFile(f"stdin is not UTF-8 text: {what}.", "Nothing was stored.") from error


# `workbench episode learn`: an episode is kept, and counts for the patterns that it names.


_LEARN = """FILE holds one episode, as `episode add` takes it. The patterns that metadata.patterns_applied names, by id
or name, gain evidence for or against them; those in reflection.patterns_discovered become candidates. Memories whose
ids metadata.memories_applied names count as applied with success where it was one. Where patterns stand is not decided
by that: `workbench pattern validate` does. What is there already, word for word, changes nothing.

  workbench episode learn run.json --insight "look for the rule first" --json"""

_OUTLOOKS: "Mapping[Outlook, str]" = {
    "insufficient": "too few to say more", "candidate": "not sure enough yet", "validated": "enough to be used",
    "under_review": "speaks against it",
}  # fmt: skip


def add_learning(verbs: Commands) -> None:
    """Add `learn` to the verbs of `episode`."""
    parser = add_command(verbs, "learn", learn_episode, "keep one, and count it for the patterns it names", _LEARN)
    parser.add_argument("file", type=file_or_stdin, help="a file, or - for stdin")
    parser.add_argument("--insight", metavar="TEXT", action="append", default=[], help="what is to be learned from it")
    parser.add_argument("--actor", metavar="NAME", help="the agent that did it, and whose word it is (otherwise: you)")
    parser.add_argument("--session", metavar="S", default="", help="the agent session, where the episode names none")
    add_json(parser)


def learn_episode(session: Session) -> int:
    """Learn from an episode, and say what that came to."""
    from workbench.services.agents import episodes
    from workbench.services.agents.experience import Learning

    args = session.args
    if args.file == "-":
        found = episodes.checked_docs(episodes.episodes_in(read_stdin(), "stdin"), "stdin")
    else:
        found = episodes.found_in(session.cwd / os.fsdecode(args.file))
    if len(found) != 1:
        raise InvalidQuery(f"There are {len(found):,} episodes; one is learned from at a time.", "Nothing was stored.")
    with session.changing(makes=True) as bench:
        learned = Learning(bench.context, bench.patterns).learn(found[0].doc, args.insight, session=args.session)
    if wants_json(args):
        write_json(learned.doc)
    else:
        _say(learned)
    return 0


def _say(learned: "Learned") -> None:
    stored = learned.stored
    done = "Stored as" if stored.is_new else "There already, word for word:"
    masked = f" Masked: {', '.join(stored.masked)}." if stored.masked else ""
    ended = f"{stored.episode.outcome.lower()}, {counted(learned.insights, 'insight')}"
    say(f"{done} {stored.episode.id} ({ended}).{masked}")
    for one in learned.evidence:
        new = "new candidate, " if one.is_new else ""
        many = f"{one.successes:,} of {counted(one.episodes, 'application')} succeeded"
        say(f"  {one.pattern}  {new}{many}: {_OUTLOOKS[one.outlook]}")
    for id in learned.surer:
        say(f"  {id}  applied with success")
    for left in learned.not_taken:
        warn(f"“{left.name}” became no pattern: {left.why}")


# What was found of episodes, as it is printed: a line and what it says, and how each score came about.


_LINE = 160

_WHY = {
    "held": "held back for what the text says",
    "unapproved": "left out: agents.serve gives this agent only what a person wrote or approved",
}


def found_json(bench: "Workbench", answer: "FoundEpisodes") -> dict[str, object]:
    return {
        "query": answer.query,
        "strategy": answer.strategy,
        "fitting": answer.fitting,
        "episodes": [_json(one) | review_json(bench, one.episode) for one in answer.found],
    }


def _json(one: "FoundEpisode") -> dict[str, object]:
    head, digest = one.episode, one.digest
    row: dict[str, object] = {
        "id": head.id, "timestamp": head.at, "outcome": head.outcome, "phase": one.phase, "domain": head.domain,
        "task_type": head.type, "tags": head.tags, "task": digest.task, "result": digest.result,
        "lessons": digest.lessons, "failure": digest.failure, "session_id": digest.session,
    }  # fmt: skip
    if one.terms is not None:
        row["score"] = one.total
        row["score_parts"] = [part._asdict() for part in one.parts]
    return {**row, "shared": list(one.shared)}


def say_found(bench: "Workbench", answer: "FoundEpisodes", shown: Shown, *, explain: bool) -> None:
    """Print an answer for a person."""
    for one in answer.found:
        head, digest = one.episode, one.digest
        score = f"{one.total:.3f}  " if one.terms is not None else ""
        where = "/".join(name for name in (head.domain, head.type) if name)
        say(shown(f"{score}{head.id}  {moment(head.at)}  {head.outcome.lower()}  {one.phase}  {where}".rstrip()))
        for label, text in (("task", digest.task), ("lessons", digest.lessons), ("failure", digest.failure)):
            if text:
                say(f"  {label}: {unreviewed(bench, head)}{one_line(shown(text), _LINE)}")
        if one.shared:
            named = [feature for feature in one.shared if not feature.startswith("line:")]
            same = len(one.shared) - len(named)
            lines = [f"{same} of its lines"] if same else []
            say(shown(f"  alike in: {', '.join((*named, *lines))}"))
        if explain:
            for part in one.parts:
                note = _note(one, part.term)
                say(f"  {part.term:<11}{part.value:.3f} × {part.weight:g} = {part.weighted:.3f}{note}")


def _note(one: "FoundEpisode", term: str) -> str:
    if term == "recency":
        return f"  ({one.age_days:,.0f} days)"
    return f"  ({one.episode.outcome.lower()})" if term == "success" else ""


def say_given(answer: Mapping[str, object]) -> None:
    """Print what an agent is given."""
    rows = answer["episodes"]
    for row in rows if isinstance(rows, list) else ():
        score = f"  {row['score']}" if "score" in row else ""
        say(f"{row['id']}  {row['timestamp']}  {row['outcome']}{score}")
        say(str(row["text"]))
    left_out = answer["left_out"]
    for why, number in left_out.items() if isinstance(left_out, Mapping) else ():
        warn(f"{counted(number, 'episode was', 'episodes were')} {_WHY[why]}.")


_EPISODE = """What an agent did, from the task to the outcome. An episode is never changed: notes, tags and deletion
(with a way back) are a person's, agents only add. Without a verb: the latest ones.

  workbench episode add run.json
  workbench episode find "the build fails on the new runner" --strategy failure"""

_ADD = """FILE is JSON as `episode show --json` prints it, a list of such objects or one on each line, or a file that
agent-playbook wrote (episodic/*.json); a folder is looked through. At least task.original_input and outcome.status are
there; what is wrong is named by file, field and path, and nothing is stored then. Ids and embeddings are kept, secrets
are masked. What is there already, word for word, is left as it is."""

_SHOW = """From 180 days on the trace stays closed until --trace asks for it; what is in it is found all the same."""

_LIST = """The latest first, archived and deleted ones with --phase archived and --phase deleted."""

_FIND = """Strategies: semantic (like QUERY), structured (by --domain, --type, …), hybrid (both), temporal (the latest,
by --since and --in-session), failure (QUERY is what an error says; what failed alike, and what was done about it).
The score: 0.5 likeness + 0.2 recency + 0.15 success + 0.1 use + 0.05 domain. Past 180 days only what is much alike is
found, past a year only with --every or --phase archived. With --for-agent secrets are masked, what gives orders is
held back, and it is counted as read.

  workbench episode find "pnpm install fails on the runner" --strategy failure --explain"""

_APPROVE = """An agent that is served approved texts only (agents.serve = approved) gets it from then on; the others get
it without the remark that nobody looked at it. Look first: `episode show ID --trace`."""

_DELETE = """It is served to nobody any more and kept for 30 days; `episode restore` and `workbench undo` bring it back.
`workbench purge ID` erases one for good, the file beside the store too."""

_ARCHIVE = """An archived episode is kept whole and found only on request (`episode find --every`, `--phase archived`);
`episode restore` brings it back. By age alone an episode counts as archived after a year."""

_PURGE = """Erases the episodes that were deleted at least 30 days ago, their files beside the store too, as `workbench
purge` does; there is no undo. Each id has to be typed, or given as --yes-erase ID."""

_EXPORT = """Without IDs every episode that is not deleted. TARGET is a file (a list), or a folder: one file for each.
Secrets were masked when they came in."""


LONG = 1_000
"""Episodes from which on the first search shows how far it is."""


def add_commands(commands: Commands) -> None:
    episode = add_command(commands, "episode", list_episodes, "keep, show and find what agents did", _EPISODE)
    episode.set_defaults(limit=SHOWN, json=False)
    no_criteria(episode)
    verbs = episode.add_subparsers(title="what to do", metavar="VERB", prog=episode.prog, parser_class=Parser)
    adding = add_command(verbs, "add", add_episodes, "keep what an agent did", _ADD, example="run.json --actor claude")
    adding.add_argument("file", type=file_or_stdin, help="a file or a folder, or - for stdin")
    adding.add_argument("--actor", metavar="NAME", help="the agent that did it, and whose word it is (otherwise: you)")
    adding.add_argument("--session", metavar="S", default="", help="the agent session, where the episode names none")
    add_learning(verbs)
    showing = add_command(verbs, "show", show_episode, "show one, whole", _SHOW, example="ep-20261124-0000007 --trace")
    showing.add_argument("id")
    showing.add_argument("--trace", action="store_true", help="open the trace of an old one, too")
    add_secrets(showing)
    listing = add_command(
        verbs, "list", list_episodes, "list them by time", _LIST, example="--outcome FAILURE --since 7d"
    )
    add_criteria(listing)
    add_limit(listing, SHOWN)
    _add_finding(verbs)
    _add_corrections(verbs)
    writing = add_command(
        verbs, "export", export_episodes, "write them to files", _EXPORT, example="episodes/ --dialect agent-playbook"
    )
    writing.add_argument("target", type=Path, help="a file, or a folder")
    writing.add_argument("ids", metavar="ID", nargs="*", help="which ones (otherwise: all)")
    writing.add_argument("--dialect", choices=("episode", "agent-playbook"), default="episode", help="the form of it")
    for parser in (adding, showing, listing, writing):
        add_json(parser)
    add_consolidate(commands)


def _add_finding(verbs: Commands) -> None:
    finding = add_command(verbs, "find", find_episodes, "find those that matter for a task or an error", _FIND)
    finding.add_argument("query", nargs="?", default="", help="a task, or what an error says")
    finding.add_argument("--strategy", choices=STRATEGIES, default="semantic", help="how (default: semantic)")
    finding.add_argument("-k", "--limit", metavar="N", type=count, default=5, help="how many (default: 5)")
    finding.add_argument("--prefer-recent", action="store_true", help="none older than 30 days")
    finding.add_argument("--only-successful", action="store_true", help="none that failed, or only in part")
    finding.add_argument("--every", action="store_true", help="archived ones, too")
    finding.add_argument("--explain", action="store_true", help="say how each score came about")
    about = "serve this agent: what it is served is kept as read by it"
    finding.add_argument("--for-agent", metavar="NAME", dest="actor", help=about)
    finding.add_argument("--session", metavar="S", default="", help="with --for-agent: the agent's session")
    add_criteria(finding)
    add_secrets(finding)
    add_json(finding)


def _add_corrections(verbs: Commands) -> None:
    noting = add_command(
        verbs, "note", note_episode, "note something on one", example='ep-20261124-0000007 "the runner was out of disk"'
    )
    noting.add_argument("id")
    noting.add_argument("text")
    tagging = add_command(
        verbs, "tag", tag_episode, "give one other tags", example="ep-20261124-0000007 --add deploy --remove draft"
    )
    tagging.add_argument("id")
    tagging.add_argument("--add", metavar="T", action="append", default=[], help="a tag; several times")
    tagging.add_argument("--remove", metavar="T", action="append", default=[], help="a tag that goes; several times")
    approving = add_command(
        verbs, "approve", approve_episode, "approve an episode", _APPROVE, example="ep-20261124-0000007"
    )
    approving.add_argument("id")
    approving.add_argument("--withdraw", action="store_true", help="withdraw the approval")
    archiving = add_command(
        verbs,
        "archive",
        archive_episodes,
        "archive episodes, found on request only",
        _ARCHIVE,
        example="--older-than 180",
    )
    archiving.add_argument("ids", metavar="ID", nargs="*", help="which ones")
    archiving.add_argument("--older-than", metavar="DAYS", type=count, help="or all active ones that are older")
    comparing = add_command(
        verbs, "compare", compare_episodes, "show how two differ", example="ep-20260320-0000042 ep-20260318-0000040"
    )
    comparing.add_argument("ids", metavar="ID", nargs=2)
    add_secrets(comparing)
    add_json(comparing)
    purging = add_command(
        verbs, "purge", purge_episodes, "erase deleted ones for good", _PURGE, example="--older-than 90"
    )
    purging.add_argument("--older-than", metavar="DAYS", type=count, default=30, help="deleted so long ago (30)")
    purging.add_argument("--yes-erase", metavar="ID", action="append", default=[], help="agree to erase this id")
    for name, handler, about, more in (
        ("delete", delete_episode, "delete one, with a way back", _DELETE),
        ("restore", restore_episode, "bring one back", ""),
    ):
        parser = add_command(verbs, name, handler, about, more, example="ep-20261124-0000007")
        parser.add_argument("id")


def add_episodes(session: Session) -> int:
    """Store what a file, a folder or stdin holds, and say what became of it."""
    from workbench.services.agents import episodes

    args = session.args
    if args.file == "-":
        text, name = read_stdin(), "stdin"
        found = episodes.checked_docs(episodes.episodes_in(text, name), name)
    else:
        path = session.cwd / os.fsdecode(args.file)
        found, name = episodes.found_in(path), episodes.name_of(Path(path.name))
    with session.changing(makes=True) as bench:
        if actor_of(args) == CLI_ACTOR:
            brought = episodes.bring(bench.context, found, name)
            stored, group = brought.stored, brought.group
        else:
            docs = [one.doc for one in found]
            stored, group = tuple(bench.episodes.store_all(docs, session=args.session)), ""
    _report(session, stored, group)
    return 0


def _report(session: Session, stored: "tuple[Stored, ...]", group: str) -> None:
    if wants_json(session.args):
        rows = [{"id": one.episode.id, "is_new": one.is_new, "masked": list(one.masked)} for one in stored]
        write_json({"stored": rows, "group": group})
        return
    new = [one for one in stored if one.is_new]
    masked = dict.fromkeys(name for one in stored for name in one.masked)
    said = f" Masked: {', '.join(masked)}." if masked else ""
    if len(stored) == 1:
        one = stored[0]
        done = "Stored as" if one.is_new else "There already, word for word:"
        say(f"{done} {one.episode.id} ({one.episode.outcome.lower()}).{said}")
        return
    known = f"; {len(stored) - len(new):,} were there already" if len(new) < len(stored) else ""
    say(f"Stored {counted(len(new), 'episode')}{known}.{said}")


def show_episode(session: Session) -> int:
    args = session.args
    with session.reading() as bench:
        opened, shown = bench.episodes.open(args.id), Shown(bench, secrets=args.show_secrets)
        trace = args.trace or not opened.is_closed
        doc = shown(opened.doc(trace=trace))
        notes = [{"id": note.id, "at": note.at, "actor": note.actor, "text": shown(note.text)} for note in opened.notes]
        if wants_json(args):
            told = {"phase": opened.phase, "notes": notes, "trace_is_open": trace, "consolidated": opened.cluster}
            write_json({**doc, **told, **review_json(bench, opened.episode)})
        else:
            if mark := unreviewed(bench, opened.episode):
                say(mark.rstrip())
            print_whole(opened, doc, shown)
        if not trace:
            warn(f"It is {opened.phase}, so its trace stays closed; --trace opens it.")
        shown.remark()
    return 0


def list_episodes(session: Session) -> int:
    """List episodes, the latest first."""
    args = session.args
    with session.reading() as bench:
        found = bench.episodes.listed(criteria_of(session))
        shown = cut(found, args.limit)
        uses, now = bench.episodes.uses(), bench.context.now()
        if wants_json(args):
            told = Shown(bench, how="`workbench episode show ID --show-secrets` shows them")
            write_json([told(row_of(one, uses.get(one.id), now)) | review_json(bench, one) for one in shown])
            told.remark()
            return 0
        say_rows(bench, shown, now)
        if not found:
            is_all = not len(bench.episodes.all())
            warn("There are no episodes yet; `workbench episode add FILE` keeps one." if is_all else "None matches.")
    return 0


def find_episodes(session: Session) -> int:
    """Print the episodes that a strategy finds."""
    args = session.args
    if args.actor is not None and args.show_secrets:
        raise InvalidQuery("Agents are not shown secrets.", "Leave out --show-secrets or --for-agent.")
    criteria = replace(
        criteria_of(session), prefer_recent=args.prefer_recent, only_successful=args.only_successful, every=args.every
    )
    if args.actor is not None:
        return _give(session, criteria)
    line = ProgressLine("what is searched of episodes", LONG)
    with session.reading() as bench, interruptible() as cancelled:
        shown = Shown(bench, secrets=args.show_secrets)
        try:
            bench.episode_finder.prepare(args.strategy, line, cancelled)
        except WorkbenchError as error:
            if not cancelled():
                raise
            line.clear()
            fail(error)
            return INTERRUPTED
        finally:
            line.clear()
        answer = bench.episode_finder.find(args.query, args.strategy, criteria, args.limit)
        if wants_json(args):
            write_json(shown(found_json(bench, answer)))
        else:
            say_found(bench, answer, shown, explain=args.explain)
            if not answer.found:
                warn("No episode has to do with it." if answer.query else "None matches.")
        shown.remark()
    return 0


def _give(session: Session, criteria: Criteria) -> int:
    """Print what an agent is given, and count it."""
    from workbench.services.agents.giving import EpisodeGiving
    from workbench.services.agents.reading_log import Asked

    args = session.args
    with session.changing(actor_of(args), trusted=False) as bench:
        if not bench.trust.standing.trusted:
            if wants_json(args):
                write_json({})
            return 0
        giving = EpisodeGiving(bench.context, bench.episode_finder, bench.safety, Asked("cli", args.session))
        answer = giving.find(args.query, args.strategy, criteria, args.limit)
    if wants_json(args):
        write_json(answer)
    else:
        say_given(answer)
    return 0


def note_episode(session: Session) -> int:
    with session.changing() as bench:
        bench.episodes.note(session.args.id, session.args.text)
    say(f"Noted on {session.args.id}.")
    return 0


def tag_episode(session: Session) -> int:
    args = session.args
    if not (args.add or args.remove):
        raise InvalidQuery("There is no tag to add or remove.", "Nothing was changed; name one with --add or --remove.")
    with session.changing() as bench:
        now = bench.episodes.tag(args.id, args.add, args.remove)
        tags = ", ".join(map(bench.safety.masked, now.tags))
    say(f"Tags of {args.id}: {tags or 'none'}.")
    return 0


def approve_episode(session: Session) -> int:
    """Stand by an episode, or no longer."""
    id, withdraw = session.args.id, session.args.withdraw
    with session.changing() as bench:
        bench.episodes.approve(id, withdraw=withdraw)
    say(f"{id} is approved no longer." if withdraw else f"{id} is approved. `workbench undo` takes that back.")
    return 0


def delete_episode(session: Session) -> int:
    """Delete an episode, with a way back."""
    with session.changing() as bench:
        bench.episodes.delete(session.args.id)
    say(f"Deleted {session.args.id}. `workbench episode restore {session.args.id}` brings it back.")
    return 0


def archive_episodes(session: Session) -> int:
    """Archive episodes by id, or those that are older than so many days."""
    args = session.args
    if bool(args.ids) == (args.older_than is not None):
        raise InvalidQuery("Name episodes, or an age with --older-than, and not both.", "Nothing was changed.")
    with session.changing() as bench:
        now = bench.context.now()
        old = (one for one in bench.episodes.all() if one.status == "active")
        ids = args.ids or [one.id for one in old if age_of(one.at, now) > args.older_than]
        if ids:
            bench.episodes.archive(ids)
    say(f"Archived {counted(len(ids), 'episode')}.{' `workbench undo` brings them back.' if ids else ''}")
    return 0


def compare_episodes(session: Session) -> int:
    """Show what two episodes say, part by part."""
    args = session.args
    with session.reading() as bench:
        shown = Shown(bench, secrets=args.show_secrets)
        left, right = (bench.episodes.open(id).body for id in args.ids)
        parts = [(name, shown(one), shown(other)) for name, one, other in compared(left, right)]
        shown.remark()
    if wants_json(args):
        write_json({name: {"first": one, "second": other, "same": one == other} for name, one, other in parts})
        return 0
    for name, one, other in parts:
        say(f"{name}: {one_line(one, 200)}" if one == other else f"{name}\n  1  {one_line(one, 200) or 'nothing'}")
        if one != other:
            say(f"  2  {one_line(other, 200) or 'nothing'}")
    return 0


def purge_episodes(session: Session) -> int:
    """Erase the episodes whose retention is over."""
    from workbench.cli.health.purge import erase, require_agreement

    args = session.args
    with session.changing() as bench:
        now = bench.context.now()
        ids = [o.id for o in bench.episodes.all() if o.deleted_at and age_of(o.deleted_at, now) >= args.older_than]
        if not ids:
            say(f"No episode was deleted {counted(args.older_than, 'day')} ago or earlier.")
            return 0
        plan = bench.eraser.plan(ids)
        require_agreement(ids, args.yes_erase, plan)
        return erase(bench, plan)


def restore_episode(session: Session) -> int:
    """Bring an episode back."""
    with session.changing() as bench:
        bench.episodes.restore(session.args.id)
    say(f"{session.args.id} is back.")
    return 0


def export_episodes(session: Session) -> int:
    """Write episodes to a file or a folder."""
    from workbench.services.agents import episodes

    args = session.args
    target: Path = session.cwd / args.target
    with session.reading(approved=True) as bench:
        bench.library.require_trust()
        ids = args.ids or [one.id for one in bench.episodes.all() if one.status != "deleted"]
        docs = list(episodes.written(bench.context, ids, args.dialect))
        if target.suffix == ".json":
            paths = episodes.write_list(target, [doc for _, doc in docs])
        else:
            paths = episodes.write_each(target, docs)
    if wants_json(args):
        write_json({"episodes": len(docs), "files": [str(path) for path in paths]})
    else:
        say(f"Wrote {counted(len(docs), 'episode')} to {target}.")
    return 0
