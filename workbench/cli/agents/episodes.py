"""`workbench episode`: what agents did, kept as it was; shown, listed, corrected by a person,
written to files.
"""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.agents.patterns import WHY_NOT, read_text
from workbench.cli.output import cut, moment, picked, table, warn
from workbench.cli.parsing import count, file_or_stdin
from workbench.cli.progress import ProgressLine, progressing
from workbench.cli.session import CLI_ACTOR, INTERRUPTED, Session, actor_of
from workbench.cli.verbs import (
    Answer,
    Call,
    Option,
    Verb,
    as_agent,
    changing,
    exporting,
    flag,
    making,
    review_json,
    serving,
    several,
    text,
    unreviewed,
)
from workbench.core.agents.consolidation import STAGES, StageKind, due_at
from workbench.core.agents.episodes.criteria import (
    STRATEGIES,
    Criteria,
    age_of,
    checked,
    cluster_lines,
    compared,
    phase_dates,
    phase_of,
    said_lines,
)
from workbench.core.agents.episodes.episode import Episode, EpisodeUse, unused
from workbench.core.record import InvalidQuery, as_list, as_object
from workbench.core.text import counted, one_line

if TYPE_CHECKING:
    from workbench.core.agents.patterns.statistics import Outlook
    from workbench.services.agents.consolidation import Becomes, Consolidated, Stage
    from workbench.services.agents.episode_finding import FoundEpisode, FoundEpisodes
    from workbench.services.agents.episodes import Found, Opened
    from workbench.services.open import Workbench


# `workbench consolidate`: what agents did and learned is tidied up, stage by stage, and reported.

LISTED = 20
"""Changes of a stage that are listed; --json lists all."""

LONG_CONSOLIDATION = 500
"""Records from which on a stage shows how far it is."""

_ABOUT = f"""Runs these stages in order: {", ".join(kind.id for kind in STAGES)}. Each is one action that
`workbench undo` takes back. Ctrl+c stops between two stages; a run started within a day continues
there. Nothing is lost: similar episodes are archived under the one that represents them, and
patterns that are no longer used stay in the history. --dry-run lists every change. Health shows
the report of the last run and when the next one is due (after a week).

  workbench consolidate --dry-run
  workbench consolidate --stages episodes,validation --report consolidation.md

Every Sunday at three, by cron (`crontab -e`), or by a systemd timer (OnCalendar=Sun 03:00) with
the same command:

  0 3 * * 0  workbench --store /path/to/.workbench consolidate --json >> /path/to/consolidation.log 2>&1"""

_SAYS: "Mapping[Becomes, str]" = {
    "archived": "archived under", "validated": "in use: enough evidence",
    "under_review": "under review: contradicted", "candidate": "a candidate",
    "deprecated": "out of use: worth little", "proposed": "waits in Review:",
}  # fmt: skip


def _opened_to_consolidate(session: Session) -> "AbstractContextManager[Workbench]":
    if session.args.report is not None and session.args.dry_run:
        raise InvalidQuery(
            "A dry run has no report.", "Leave out --report; --json prints what would be done."
        )
    return session.reading() if session.args.dry_run else session.changing()


def consolidate(call: Call) -> Answer:
    from workbench.services.agents.consolidation import done_json

    args, work, line = call.args, call.bench.consolidating, ProgressLine("", LONG_CONSOLIDATION)
    names = [name.strip() for name in args.stages.split(",") if name.strip()]

    def tell(kind: StageKind, done: int, total: int) -> None:
        line.go_on(kind.id)
        line(done, total)

    with progressing(line) as cancelled:
        if args.dry_run:
            done = work.look(names, tell, cancelled)
        else:
            done = work.carry_out(names, tell, cancelled, anew=args.anew)
    if args.report is not None:
        _write(call.session.cwd / args.report, done)
    if left := ", ".join(kind.id for kind in done.left):
        warn(
            f"Stopped. Left: {left}{'' if args.dry_run else '; `workbench consolidate` continues there'}."
        )
    return Answer(
        lambda: done_json(done, dry=args.dry_run),
        lambda: _lines(call, done),
        (),
        INTERRUPTED if done.left else 0,
    )


def _lines(call: Call, done: "Consolidated") -> Iterator[str]:
    if done.again:
        yield "Continuing the interrupted run."
    for stage in done.stages:
        yield from _stage_lines(call, stage)
    if done.run is not None and not done.left and (due := due_at(done.run)) is not None:
        yield f"The next one is due {moment(due)}."


def _stage_lines(call: Call, stage: "Stage") -> Iterator[str]:
    plan, dry = stage, call.args.dry_run
    parts = [f"{counted(plan.looked, 'record')} looked at"]
    if plan.changes:
        parts.append(f"{len(plan.changes):,} {'would change' if dry else 'changed'}")
    if plan.measured:
        parts.append(f"{plan.measured:,} {'would be measured' if dry else 'measured'} anew")
    facts = (f"{name.replace('_', ' ')} {value:,.0f}" for name, value in plan.facts.items())
    yield f"{stage.kind.title}: {', '.join((*parts, *facts))}"
    for change in plan.changes[:LISTED]:
        id, by = (one_line(call.shown(text), 80) for text in (change.id, change.by))
        yield f"  {id}  {_SAYS[change.becomes]} {by}".rstrip()
    if len(plan.changes) > LISTED:
        yield f"  and {len(plan.changes) - LISTED:,} more"


def _write(file: Path, done: "Consolidated") -> None:
    from workbench.core.files.replacing import replace_file
    from workbench.services.agents.consolidation import markdown, run_json

    if done.run is not None:
        as_json = file.suffix == ".json"
        replace_file(
            file,
            json.dumps(run_json(done.run), indent=2) + "\n" if as_json else markdown(done.run),
            None,
        )


# Episodes as they are printed: a line each, or one whole; and the options that say which are meant.

LONG = 1_000
"""Episodes from which on the first search shows how far it is."""

_TASK, _LINE, _ROW_LINE = 70, 160, 200

_CRITERIA = {
    "--domain": "only of this domain", "--type": "only of this type of task",
    "--outcome": "only that ended so: success, partial, failure", "--tag": "only with this tag",
    "--phase": "only in this phase: active, mature, aged, archived, deleted",
    "--tool": "only where this tool was used", "--applied": "only where this strategy was applied",
    "--in-session": "only of this agent session", "--since": "only newer: 7d, 36h, 2026-11-21",
    "--until": "only older",
}  # fmt: skip


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


def row_of(bench: "Workbench", episode: Episode, use: EpisodeUse | None) -> dict[str, object]:
    """Return the head of an episode as JSON values."""
    use = use or unused(episode.id)
    return {
        **picked(episode, "id", "timestamp:at", "outcome", "task_type:type", "domain", "tags", "status"),
        "phase": phase_of(episode, bench.context.now()), "hash": episode.hash,
        **picked(use, "access_count", "last_accessed:last_accessed_at"), "references": len(use.referenced_by),
        **picked(episode, "approved", "captured"), **review_json(bench, episode),
    }  # fmt: skip


def _row(call: Call, one: Episode, task: str | None) -> tuple[str, ...]:
    tags = f"  #{' #'.join(one.tags)}" if one.tags else ""
    said = one_line(call.shown(f"{task or '(its file cannot be read)'}{tags}"), _TASK)
    where = one_line(call.shown("/".join(name for name in (one.domain, one.type) if name)), 24)
    ended = f"{one.outcome.lower()}{', by capture' if one.captured else ''}"
    phase = phase_of(one, call.bench.context.now())
    name = call.shown.name(one.id)
    return name, moment(one.at), ended, phase, where, unreviewed(call.bench, one) + said


def list_episodes(call: Call) -> Answer:
    """List episodes, the latest first."""
    bench = call.bench
    found = bench.episode_finder.listed(criteria_of(call.session))
    shown = cut(found, call.args.limit)
    none = "No episodes yet; `workbench episode add FILE` adds one."

    def rows() -> list[dict[str, object]]:
        uses = bench.episodes.uses()
        return [row_of(bench, one, uses.get(one.id)) for one in shown]

    def lines() -> list[str]:
        tasks = [bench.episodes.task_of(one) for one in shown]
        if unread := tasks.count(None):
            warn(
                f"Of {unread:,} the file beside the store cannot be read; `workbench doctor` names them."
            )
        return table([_row(call, one, task) for one, task in zip(shown, tasks, strict=True)])

    return Answer(rows, lines, [] if found else ["None matches." if bench.episodes.all() else none])


def show_episode(call: Call) -> Answer:
    opened = call.bench.episodes.open(call.args.id)
    trace = call.args.trace or not opened.is_closed
    if not trace:
        warn(f"It is {opened.phase}, so its trace is folded; --trace shows it.")
    doc = opened.doc(trace=trace)
    told = {
        "phase": opened.phase,
        "notes": [picked(note, "id", "at", "actor", "text") for note in opened.notes],
        "trace_is_open": trace,
        "consolidated": opened.cluster,
    }
    return Answer(
        lambda: {**doc, **told, **review_json(call.bench, opened.episode)},
        lambda: _whole(call, opened, doc),
    )


def _whole(call: Call, opened: "Opened", doc: Mapping[str, object]) -> Iterator[str]:
    """Yield an episode with all it says, part by part."""
    head, use, shown = opened.episode, opened.use, call.shown
    if mark := unreviewed(call.bench, head):
        yield mark.rstrip()
    last = f", last {moment(use.last_accessed_at)}" if use.last_accessed_at is not None else ""
    marks = (
        head.outcome.lower(),
        "approved" if head.approved else "",
        "by capture" if head.captured else "",
    )
    rows = {
        "id": head.id, "when": f"{moment(head.at)} · {opened.phase}{_next(opened)}",
        "outcome": " · ".join(filter(None, marks)), "domain": head.domain, "type": head.type,
        "session": opened.body.session, "tags": ", ".join(head.tags),
        "read": f"{use.access_count:,}×{last} · {len(use.referenced_by):,} cite it",
    }  # fmt: skip
    yield from table([(name, shown(value)) for name, value in rows.items() if value])
    if opened.cluster is not None:
        yield from map(shown, cluster_lines(opened.cluster, head.id))
    for part in ("task", "execution", "outcome", "reflection"):
        yield f"\n{part}"
        yield from said_lines(shown(doc.get(part)), "  ", lambda text: one_line(text, _ROW_LINE))
    for note in opened.notes:
        yield f"\nnote, {moment(note.at)}: {shown(note.text)}"


def _next(opened: "Opened") -> str:
    """Say when the next phase begins, where one does by age."""
    began = phase_dates(opened.episode)
    phases = list(began)
    if opened.phase not in phases[:-1] or opened.episode.status != "active":
        return ""
    after = phases[phases.index(opened.phase) + 1]
    return f", {after} from {moment(began[after])[:10]}"


# What comes in: episodes that are kept, and one that counts for the patterns that it names.


def _given(call: Call) -> tuple[tuple["Found", ...], str]:
    """Return the episodes that a file, a folder or stdin holds, and its name. Raises
    `UnreadableFile`.
    """
    from workbench.services.agents import episodes

    if call.args.file == "-":
        found = episodes.episodes_in(read_text(call.session, "-"), "stdin")
        return tuple(episodes.checked_docs(found, "stdin")), "stdin"
    path = call.session.cwd / os.fsdecode(call.args.file)
    return episodes.found_in(path), episodes.name_of(Path(path.name))


def add_episodes(call: Call) -> Answer:
    from workbench.services.agents import episodes

    found, name = _given(call)
    if actor_of(call.args) == CLI_ACTOR:
        stored, group = episodes.bring(call.bench.context, found, name)
    else:
        docs = [one.doc for one in found]
        stored, group = tuple(call.bench.episodes.store_all(docs, session=call.args.session)), ""
    new = [one for one in stored if one.is_new]
    masked = dict.fromkeys(name for one in stored for name in one.masked)
    known = f"; {len(stored) - len(new):,} were already stored" if len(new) < len(stored) else ""
    done = f"Stored {counted(len(new), 'episode')}{known}."
    if len(stored) == 1:
        done = _kept(
            stored[0].is_new, f"{stored[0].episode.id} ({stored[0].episode.outcome.lower()})"
        )
    rows = [{"id": one.episode.id, "is_new": one.is_new, "masked": one.masked} for one in stored]
    return Answer(
        {"stored": rows, "group": group},
        [done + (f" Masked: {', '.join(masked)}." if masked else "")],
    )


def _kept(is_new: bool, what: str) -> str:
    return f"{'Stored as' if is_new else 'Already stored, word for word:'} {what}."


_OUTLOOKS: "Mapping[Outlook, str]" = {
    "insufficient": "too few applications", "candidate": "not enough confidence yet",
    "validated": "enough evidence to be used",
    "under_review": "evidence against it",
}  # fmt: skip


def learn_episode(call: Call) -> Answer:
    """Learn from an episode, and say what that came to."""
    from workbench.services.agents.consolidation import Learning

    found, _ = _given(call)
    if len(found) != 1:
        raise InvalidQuery(
            f"There are {len(found):,} episodes; give one at a time.",
            "Nothing was stored.",
        )
    learning = Learning(call.bench.context, call.bench.patterns)
    learned = learning.learn(found[0].doc, call.args.insight, session=call.args.session)
    stored = learned.stored
    masked = f" Masked: {', '.join(stored.masked)}." if stored.masked else ""
    ended = f"{stored.episode.outcome.lower()}, {counted(learned.insights, 'insight')}"
    lines = [_kept(stored.is_new, f"{stored.episode.id} ({ended})") + masked]
    for one in learned.evidence:
        finding, id = one.finding, one.before.id
        many = f"{finding.successes:,} of {counted(finding.episodes, 'application')} succeeded"
        new = "new candidate, " if id in learned.new else ""
        lines.append(f"  {id}  {new}{many}: {_OUTLOOKS[one.outlook]}")
    lines += [f"  {id}  applied with success" for id in learned.surer]
    left = [f"“{name}” was not made a pattern: {why}" for name, why in learned.not_taken]
    return Answer(learned.doc, lines, left)


# What was found of episodes, as it is printed: a line and what it says, and how each score came
# about.


def find_episodes(call: Call) -> Answer:
    """Print the episodes that a strategy finds."""
    args = call.args
    criteria = replace(
        criteria_of(call.session), prefer_recent=args.prefer_recent, only_successful=args.only_successful,
        every=args.every,
    )  # fmt: skip
    if args.actor is not None:
        return _give(call, criteria)
    finder, line = call.bench.episode_finder, ProgressLine("what is searched of episodes", LONG)
    with progressing(line) as cancelled:
        finder.prepare(args.strategy, line, cancelled)
    answer = finder.find(args.query, args.strategy, criteria, args.limit)
    none = "No matching episode." if answer.query else "None matches."
    return Answer(
        lambda: found_json(call.bench, answer),
        lambda: _found_lines(call, answer),
        [] if answer.found else [none],
    )


def _give(call: Call, criteria: Criteria) -> Answer:
    """Print what an agent is given, and count it."""
    args = call.args
    if not call.bench.trust.standing.trusted:
        return Answer({})
    with as_agent(call) as api:
        answer = api.find_episodes(args.query, args.strategy, criteria, args.limit)
    return Answer(answer, lambda: _given_lines(answer))


def _given_lines(answer: Mapping[str, object]) -> Iterator[str]:
    for row in as_list(answer["episodes"]):
        score = f"  {row['score']}" if "score" in row else ""
        yield f"{row['id']}  {row['timestamp']}  {row['outcome']}{score}"
        yield str(row["text"])
    for why, number in as_object(answer["left_out"]).items():
        warn(f"{counted(number, 'episode was', 'episodes were')} {WHY_NOT[why]}.")


def found_json(bench: "Workbench", answer: "FoundEpisodes") -> dict[str, object]:
    episodes = [_found_row(one) | review_json(bench, one.episode) for one in answer.found]
    return {**picked(answer, "query", "strategy", "fitting"), "episodes": episodes}


def _found_row(one: "FoundEpisode") -> dict[str, object]:
    scored = picked(one, "score:total", "score_parts:parts") if one.terms is not None else {}
    return {
        **picked(one.episode, "id", "timestamp:at", "outcome"), "phase": one.phase,
        **picked(one.episode, "domain", "task_type:type", "tags"),
        **picked(one.digest, "task", "result", "lessons", "failure", "session_id:session"), **scored,
        "shared": one.shared,
    }  # fmt: skip


def _found_lines(call: Call, answer: "FoundEpisodes") -> Iterator[str]:
    """Yield an answer for a person."""
    shown = call.shown
    for one in answer.found:
        head, digest = one.episode, one.digest
        score = f"{one.total:.3f}  " if one.terms is not None else ""
        where = "/".join(name for name in (head.domain, head.type) if name)
        yield shown(
            f"{score}{head.id}  {moment(head.at)}  {head.outcome.lower()}  {one.phase}  {where}".rstrip()
        )
        for label in ("task", "lessons", "failure"):
            if said := getattr(digest, label):
                yield f"  {label}: {unreviewed(call.bench, head)}{one_line(shown(said), _LINE)}"
        if one.shared:
            named = [feature for feature in one.shared if not feature.startswith("line:")]
            same = len(one.shared) - len(named)
            yield shown(
                f"  same:  {', '.join((*named, *([f'{same} of its lines'] if same else [])))}"
            )
        notes = {
            "recency": f"  ({one.age_days:,.0f} days)",
            "success": f"  ({head.outcome.lower()})",
        }
        for part in one.parts if call.args.explain else ():
            of = f"{part.value:.3f} × {part.weight:g} = {part.weighted:.3f}"
            yield f"  {part.term:<11}{of}{notes.get(part.term, '')}"


# What a person corrects, compares, erases and writes to files


def note_episode(call: Call) -> Answer:
    call.bench.episodes.note(call.args.id, call.args.text)
    return Answer(lines=[f"Noted on {call.args.id}."])


def tag_episode(call: Call) -> Answer:
    args = call.args
    if not (args.add or args.remove):
        raise InvalidQuery(
            "No tag to add or remove.",
            "Nothing was changed; name one with --add or --remove.",
        )
    now = call.bench.episodes.tag(args.id, args.add, args.remove)
    return Answer(lines=[f"Tags of {args.id}: {', '.join(map(call.shown, now.tags)) or 'none'}."])


def approve_episode(call: Call) -> Answer:
    """Stand by an episode, or no longer."""
    id, withdraw = call.args.id, call.args.withdraw
    call.bench.episodes.approve(id, withdraw=withdraw)
    return Answer(
        lines=[
            f"{id} is no longer approved."
            if withdraw
            else f"{id} is approved. `workbench undo` takes that back."
        ]
    )


def delete_episode(call: Call) -> Answer:
    id = call.bench.episodes.delete(call.args.id).id
    return Answer(lines=[f"Deleted {id}. `workbench episode restore {id}` brings it back."])


def restore_episode(call: Call) -> Answer:
    return Answer(lines=[f"{call.bench.episodes.restore(call.args.id).id} is back."])


def archive_episodes(call: Call) -> Answer:
    """Archive episodes by id, or those that are older than so many days."""
    args, episodes, now = call.args, call.bench.episodes, call.bench.context.now()
    if bool(args.ids) == (args.older_than is not None):
        raise InvalidQuery(
            "Name episodes, or an age with --older-than, and not both.", "Nothing was changed."
        )
    old = (one for one in episodes.all() if one.status == "active")
    ids = args.ids or [one.id for one in old if age_of(one.at, now) > args.older_than]
    if ids:
        episodes.archive(ids)
    back = " `workbench undo` brings them back." if ids else ""
    return Answer(lines=[f"Archived {counted(len(ids), 'episode')}.{back}"])


def compare_episodes(call: Call) -> Answer:
    """Show what two episodes say, part by part."""
    left, right = (call.bench.episodes.open(id).body for id in call.args.ids)
    parts = [
        (name, call.shown(one), call.shown(other)) for name, one, other in compared(left, right)
    ]
    lines = []
    for name, one, other in parts:
        both = [f"  {n}  {one_line(text, 200) or 'nothing'}" for n, text in ((1, one), (2, other))]
        lines += [f"{name}: {one_line(one, 200)}"] if one == other else [name, *both]
    return Answer(
        {name: {"first": one, "second": other, "same": one == other} for name, one, other in parts},
        lines,
    )


def purge_episodes(call: Call) -> Answer:
    """Erase the episodes whose retention is over."""
    from workbench.cli.health import erase, require_agreement

    args, bench = call.args, call.bench
    now = bench.context.now()
    ids = [
        o.id
        for o in bench.episodes.all()
        if o.deleted_at and age_of(o.deleted_at, now) >= args.older_than
    ]
    if not ids:
        return Answer(
            lines=[f"No episode was deleted at least {counted(args.older_than, 'day')} ago."]
        )
    plan = bench.eraser.plan(ids)
    require_agreement(ids, args.yes_erase, plan)
    return Answer(code=erase(bench, plan))


def export_episodes(call: Call) -> Answer:
    """Write episodes to a file or a folder."""
    from workbench.services.agents import episodes

    args, bench, target = call.args, call.bench, call.session.cwd / call.args.target
    bench.library.require_trust()
    ids = args.ids or [one.id for one in bench.episodes.all() if one.status != "deleted"]
    docs = list(episodes.written(bench.context, ids, args.dialect))
    paths = episodes.write_files(target, docs)
    return Answer(
        {"episodes": len(docs), "files": list(map(str, paths))},
        [f"Wrote {counted(len(docs), 'episode')} to {target}."],
    )


_EPISODE = """An episode records what an agent did, from the task to the outcome. It is never changed: agents
only add episodes, and you add notes and tags or delete them (which can be taken back). Without a
verb: the latest ones.

  workbench episode add run.json
  workbench episode find "the build fails on the new runner" --strategy failure"""

_ADD = """FILE is JSON as printed by `episode show --json` (one object, a list, or one per line), a file
written by agent-playbook (episodic/*.json), or a folder of such files. task.original_input and
outcome.status are required. If anything is invalid, the file, field and path are named and
nothing is stored. Ids and embeddings are kept, secrets are masked. An episode that is already
there, word for word, is skipped."""

_LEARN = """FILE holds one episode, as for `episode add`. Patterns named in metadata.patterns_applied (by id
or name) gain evidence for or against them; those in reflection.patterns_discovered become
candidates. Memories named in metadata.memories_applied count as applied successfully if the
episode succeeded. The status of a pattern does not change until `workbench pattern validate`. An
episode that is already there, word for word, changes nothing.

  workbench episode learn run.json --insight "look for the rule first" --json"""

_SHOW = """The trace of an episode older than 180 days is folded; --trace shows it. Search still covers it."""

_LIST = """Newest first. --phase archived and --phase deleted list those."""

_FIND = """Strategies: semantic (similar to QUERY), structured (by --domain, --type, …), hybrid (both),
temporal (newest first, by --since and --in-session), failure (QUERY is an error message; finds
similar failures and what fixed them). Score: 0.5 similarity + 0.2 recency + 0.15 success + 0.1
use + 0.05 domain. Episodes older than 180 days need a high similarity; those older than a year
are found only with --every or --phase archived. With --for-agent secrets are masked, flagged text
is held back, and the access is counted.

  workbench episode find "pnpm install fails on the runner" --strategy failure --explain"""

_APPROVE = """Agents that are served approved texts only (agents.serve = "approved") get the episode from then
on; other agents get it without the “unreviewed” mark. Read it first: `episode show ID --trace`."""

_DELETE = """A deleted episode is no longer served and is kept for 30 days; `episode restore` and `workbench
undo` bring it back. `workbench purge ID` erases one for good, with its file beside the store."""

_ARCHIVE = """An archived episode is kept in full but found only on request (`episode find --every`, `--phase
archived`); `episode restore` brings it back. Episodes older than a year count as archived."""

_PURGE = """Erases episodes deleted at least 30 days ago, with their files beside the store, as `workbench
purge` does. There is no undo. Type each id to confirm, or give --yes-erase ID."""

_EXPORT = """Without IDs: every episode that is not deleted. TARGET is a file (a list) or a folder (one file
each). Secrets were masked when the episodes were stored."""

_ID = "ep-20261124-0000007"
_ACTOR = "the agent that reports it (default: you)"

OPTIONS: Mapping[str, Option] = {
    **{name: text(about, "WHEN" if name in ("--since", "--until") else "X") for name, about in _CRITERIA.items()},
    "file": {"type": file_or_stdin, "help": "a file or a folder, or - for stdin"},
    "file:one": {"type": file_or_stdin, "help": "a file, or - for stdin"},
    "--actor": {"metavar": "NAME", "help": _ACTOR},
    "--session": text("the agent session, if the episode names none", "S"),
    "--insight": several("TEXT", "a lesson from it"),
    "--trace": flag("show the trace of old ones too"),
    "query": {"default": "", "help": "a task or an error message"},
    "--strategy": {"choices": STRATEGIES, "default": "semantic", "help": "how (default: semantic)"},
    "-k": lambda parser: parser.add_argument(
        "-k", "--limit", metavar="N", type=count, default=5, help="how many (default: 5)"
    ),
    "--prefer-recent": flag("none older than 30 days"),
    "--only-successful": flag("only successful ones"),
    "--every": flag("include archived ones"), "--explain": flag("show how each score is computed"),
    "--add": several("T", "a tag; repeatable"), "--remove": several("T", "a tag to remove; repeatable"),
    "--withdraw": flag("withdraw the approval"),
    "ids": {"metavar": "ID", "help": "which ones"}, "ids:two": {"metavar": "ID", "nargs": 2},
    "ids*:all": {"metavar": "ID", "help": "which ones (otherwise: all)"},
    "--older-than": {"metavar": "DAYS", "type": count, "help": "or all active ones older than DAYS"},
    "--older-than:30": {"metavar": "DAYS", "type": count, "default": 30, "help": "deleted at least DAYS days ago (30)"},
    "--yes-erase": several("ID", "confirm erasing this id"),
    "target": {"type": Path, "help": "a file, or a folder"},
    "--dialect": {"choices": ("episode", "agent-playbook"), "default": "episode", "help": "the file's dialect"},
    "--dry-run": flag("show what would be done, without doing it"),
    "--stages": text("only these stages (default: all, or the remaining ones)", "NAME,…"),
    "--anew": flag("start over instead of continuing an interrupted run"),
    "--report": {"metavar": "FILE", "type": Path, "help": "write the report to a new file, .md or .json"},
}  # fmt: skip

_WHICH = " ".join(_CRITERIA)

_VERBS = (
    Verb("add", add_episodes, "add episodes", "file --actor --session --json", _ADD,
         "run.json --actor claude", making),
    Verb("learn", learn_episode, "add one and count it as evidence for its patterns",
         "file:one --insight --actor --session --json", _LEARN, None, making),
    Verb("show", show_episode, "show one in full", "id --trace --show-secrets --json", _SHOW, f"{_ID} --trace"),
    Verb("list", list_episodes, "list episodes, newest first", f"{_WHICH} limit=20 --json", _LIST,
         "--outcome FAILURE --since 7d"),
    Verb("find", find_episodes, "find episodes that fit a task or an error",
         "query? --strategy -k --prefer-recent --only-successful --every --explain --for-agent --session:agent "
         f"{_WHICH} --show-secrets --json", _FIND, None, serving),
    Verb("note", note_episode, "add a note to one", "id text", "", f'{_ID} "the runner was out of disk"',
         changing),
    Verb("tag", tag_episode, "change the tags of one", "id --add --remove", "", f"{_ID} --add deploy --remove draft",
         changing),
    Verb("approve", approve_episode, "approve an episode", "id --withdraw", _APPROVE, _ID, changing),
    Verb("archive", archive_episodes, "archive episodes", "ids* --older-than", _ARCHIVE,
         "--older-than 180", changing),
    Verb("compare", compare_episodes, "compare two episodes", "ids:two --show-secrets --json", "",
         "ep-20260320-0000042 ep-20260318-0000040"),
    Verb("purge", purge_episodes, "erase deleted episodes for good", "--older-than:30 --yes-erase", _PURGE,
         "--older-than 90", changing),
    Verb("delete", delete_episode, "delete one (can be restored)", "id", _DELETE, _ID, changing),
    Verb("restore", restore_episode, "restore one", "id", "", _ID, changing),
    Verb("export", export_episodes, "export episodes to files", "target ids*:all --dialect --json", _EXPORT,
         "episodes/ --dialect agent-playbook", exporting),
)  # fmt: skip

VERBS = (
    Verb("episode", list_episodes, "add, show and find episodes", "", _EPISODE, None, below=_VERBS),
    Verb("consolidate", consolidate, "consolidate episodes and patterns",
         "--dry-run --stages --anew --report --json", _ABOUT, None, _opened_to_consolidate),
)  # fmt: skip
