"""`workbench capture`: what agents' sessions teach, from an event of their hooks or from their
transcripts.
"""

import json
import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench import streams
from workbench.cli.output import moment, picked, say, warn, write_json
from workbench.cli.parsing import add_at, count, path_of
from workbench.cli.session import DONE, INTERRUPTED, Session, actor_of
from workbench.cli.verbs import (
    Answer,
    Call,
    Option,
    Verb,
    flag,
    making_unless_dry,
    reading_at_once,
    text,
    unopened,
    value,
)
from workbench.config import paths
from workbench.core.agents.hook_event import AGENTS, HOOK_FILES, event_of
from workbench.core.agents.transcript.summaries import PASSED
from workbench.core.record import InvalidQuery, UnreadableFile, WorkbenchError
from workbench.core.text import counted, one_line

if TYPE_CHECKING:
    from datetime import datetime

    from workbench.core.agents.transcript.events import Task
    from workbench.core.agents.transcript.summaries import Lesson
    from workbench.services.agents.capture.progress import Place
    from workbench.services.agents.capture.transcripts import Captured, Harvest, Transcripts
    from workbench.services.agents.replay import Change, Given
    from workbench.services.open import Workbench


MOST = 16 * 1024 * 1024
"""Bytes of an event that are read; what is longer is no event."""

_CAPTURE = """`claude-code`, `codex` and `cursor` read one hook event from stdin and store what can be learned
from it. A hook never fails: errors are logged, and `workbench capture status` shows them.
`transcript` reads session files of Claude Code and Codex, or every one in a folder, from where it
stopped last time. It finds corrections by you, failures with their fix, and the sections of
summaries. The most important lessons wait in Review; nothing is stored twice. Each task becomes
an episode with the evidence of its outcome. `brief` prints what an agent is told when a session
begins.

  workbench capture transcript ~/.claude/projects/-home-ann-shop --dry-run"""


def capture(call: Call) -> Answer:
    """Capture from an event or from transcripts, or say how that went so far."""
    args, source = call.args, call.args.source
    if source in AGENTS:
        return _event(call.session, source)
    if source == "status":
        return _status(call)
    if source == "brief":
        return _brief(call)
    if not args.files:
        raise InvalidQuery(
            "There is no transcript to read.",
            "Name files or folders, for instance below ~/.claude/projects or ~/.codex/sessions.",
        )
    with making_unless_dry(call.session) as bench:
        return _transcripts(call, bench)


def _event(session: Session, agent: str) -> Answer:
    """Take one event; whatever happens, the agent goes on."""
    called = ""
    try:
        doc = _read_event()
        event = event_of(doc)
        called = event.called
        from workbench.services.agents.capture.hooks import take

        if context := take(event, _place(session, agent, event.cwd)):
            _give(agent, event.name, event.called, context)
    except WorkbenchError as error:
        _note(session.clock(), agent, called, str(error))
    except (OSError, RecursionError) as error:
        _note(session.clock(), agent, called, f"{type(error).__name__}: {error}")
    return Answer()


def _read_event() -> "dict[str, Any]":
    raw = sys.stdin.buffer.read(MOST + 1)
    if len(raw) > MOST:
        raise UnreadableFile("The event on stdin is longer than 16 MB.", "Nothing was captured.")
    try:
        doc = json.loads(raw.decode("utf-8-sig", errors="replace"))
    except (ValueError, RecursionError) as error:
        raise UnreadableFile(
            "stdin holds no event: it is not JSON.", "Nothing was captured."
        ) from error
    if not isinstance(doc, dict):
        raise UnreadableFile(
            "stdin holds no event: it is not a JSON object.", "Nothing was captured."
        )
    return doc


def _place(session: Session, agent: str, cwd: str) -> "Place":
    """Return where an event's captures go: the store of the folder that the agent works in."""
    from workbench.services.agents.capture.progress import Place

    start = Path(cwd) if cwd and Path(cwd).is_dir() else session.cwd
    explicit = None if session.args.store is None else session.cwd / session.args.store
    store = paths.find_store(start, explicit, by_agent=True).folder
    told_at = HOOK_FILES[agent].told_at
    return Place(
        store, _captures(), f"agent:{AGENTS[agent]}", session.clock, paths.heads_dir(), told_at
    )


def _captures() -> Path:
    found = paths.captures_dir()
    if found is None:
        raise WorkbenchError("Your home folder cannot be found.", "Set HOME to an absolute path.")
    return found


def _give(agent: str, name: str, called: str, context: str) -> None:
    """Print what the agent is given, in the form of its hooks, or as it is for a hook of another
    form.
    """
    if HOOK_FILES[agent].is_flat:
        print(json.dumps({"additional_context": context}))
        return
    if name != called:
        say(context)
        return
    print(json.dumps({"hookSpecificOutput": {"hookEventName": name, "additionalContext": context}}))


def note_broken(code: int) -> None:
    """Keep in the log that a hook would have ended with an exit code; where it arose stands in a
    report of its own.
    """
    from datetime import UTC, datetime

    _note(datetime.now(UTC), "", "", f"It would have ended with exit code {code}.")


def _note(at: "datetime", agent: str, event: str, problem: str) -> None:
    from workbench.services.agents.capture.progress import note

    folder = paths.captures_dir()
    if folder is None or not note(folder, at, agent, event, problem):
        warn(f"{agent} {event}: {problem}".strip())


def _transcripts(call: Call, bench: "Workbench") -> Answer:
    from workbench.core.runtime import Stopped
    from workbench.services.agents.capture.reading import transcripts_in

    args, way = call.args, bench.transcripts
    files = transcripts_in([call.session.cwd / path for path in args.files])
    try:
        harvest = _read(way, files, again=args.again)
    except Stopped:
        warn("Stopped: nothing was stored, and nothing counts as read.")
        return Answer(code=INTERRUPTED)
    captured = None if args.dry_run else way.keep(harvest)
    made, seen = (captured.created, captured.counted) if captured else (None, None)
    json = {
        "transcripts": len(files),
        "lessons": [_lesson_json(one) for one in harvest.lessons],
        "seen_again": [{"memory": id, **_lesson_json(one)} for id, one in harvest.again],
        "unresolved": harvest.waiting,
        "passed_over": dict(harvest.reasons),
        "episodes": [
            {**picked(task, "id", "outcome", "evidence"), "task": one_line(task.text, 200)}
            for task in harvest.tasks
        ],
        "stored": made and [memory.id for memory in made],
        "counted": seen and [memory.id for memory in seen],
    }
    return Answer(json, _harvest_lines(harvest, captured, len(files), args.limit))


def _read(way: "Transcripts", files: "tuple[Path, ...]", *, again: bool) -> "Harvest":
    from time import monotonic

    from workbench.cli.progress import ProgressLine, progressing

    total = sum(file.stat().st_size for file in files if file.is_file())
    line = ProgressLine("bytes of transcripts", 1 << 22, monotonic)
    done = 0
    with progressing(line) as cancelled:

        def tick(more: int) -> bool:
            nonlocal done
            done += more
            line(min(done, total), total)
            return cancelled()

        return way.read(files, again=again, tick=tick)


def _harvest_lines(
    harvest: "Harvest", captured: "Captured | None", files: int, limit: int
) -> Iterator[str]:
    """Say what transcripts teach: what counts most first, then what was passed over, and what
    became of it.
    """
    found, tasks = harvest.lessons, harvest.tasks
    waits = counted(sum(one.waits for one in found), "of them waits", "of them wait")
    lessons = counted(len(found), "new lesson")
    yield f"{counted(files, 'transcript')}: {lessons}, {waits} for a decision."
    for place, lesson in enumerate(found[:limit], 1):
        seen = f", in {lesson.sessions} sessions" if lesson.sessions > 1 else ""
        yield f"\n{place:>2}. {lesson.kind}{seen}, {'waits for a decision' if lesson.waits else 'noted'}"
        yield from (f"    {line}" for line in lesson.text.splitlines())
    if len(found) > limit:
        yield f"\n… and {len(found) - limit:,} more (-n shows more)."
    if found:
        yield ""
    yield from _task_lines(tasks, limit)
    yield from _rest_lines(harvest, captured)


def _task_lines(tasks: "Sequence[Task]", limit: int) -> Iterator[str]:
    for task in tasks[:limit]:
        said = one_line(task.evidence or "no evidence", 120)
        yield f"Episode {task.id}, {task.outcome.lower()} ({said}): {one_line(task.text, 80)}"
    if len(tasks) > limit:
        yield f"… and {counted(len(tasks) - limit, 'more episode')}."


def _rest_lines(harvest: "Harvest", captured: "Captured | None") -> Iterator[str]:
    if harvest.again:
        yield f"The store has {len(harvest.again):,} more of them from other sessions."
    if harvest.waiting:
        yield f"{counted(harvest.waiting, 'failure')} not resolved yet."
    if harvest.passed:
        told = (f"{PASSED[reason]} ({count:,})" for reason, count in dict(harvest.reasons).items())
        yield f"Passed over: {', '.join(told)}."
    if captured is None:
        yield "Dry run: nothing was stored."
    elif captured.created or captured.counted or captured.episodes:
        again = f", {len(captured.counted):,} counted once more" if captured.counted else ""
        again += f", and {counted(len(captured.episodes), 'episode')}" if captured.episodes else ""
        yield f"Stored {len(captured.created):,}{again}. What waits for a decision is in Review."


def _lesson_json(lesson: "Lesson") -> "dict[str, object]":
    names = ("sessions", "session", "at", "turn", "speaker", "file")
    return {
        **picked(lesson, "kind", "type:observation_type", "text", "weight"),
        "status": "candidate" if lesson.waits else "signal",
        **picked(lesson, *names),
    }


def _brief(call: Call) -> Answer:
    """Print a brief at once: a hook waits for it, not for the caches that are kept afterwards, nor
    for long.
    """
    from workbench.services.agents.context import make_brief

    with reading_at_once(call.session) as bench:
        actor = actor_of(Namespace(actor=call.args.for_agent))
        brief = make_brief(bench.context, bench.tuning, bench.playbooks, actor)
        none = "No brief yet: nothing is pinned, confirmed or in a playbook."
        try:
            if call.wants_json:
                write_json({"text": brief, "characters": len(brief)})
            else:
                say(brief or none)
            sys.stdout.flush()
        except BrokenPipeError:
            streams.let_go()
    return Answer()


def _status(call: Call) -> Answer:
    from workbench.cli.agents.hooks import failure_lines
    from workbench.services.agents.capture.hooks import past

    store = call.session.choice().folder
    found = past(_captures(), store)
    counts = dict(found.passed.most_common())
    lines = [f"{counted(found.sessions, 'session')} followed for {store}."]
    if found.passed:
        lines.append(f"Passed over: {', '.join(found.passed_words)}.")
    if found.waiting:
        held = counted(found.waiting, "event")
        lines.append(
            f"{held} could not be stored while another process held the store; the next event stores them."
        )
    return Answer(
        {"sessions": found.sessions, "passed_over": counts, **picked(found, "failures", "waiting")},
        [*lines, *failure_lines(found.failures)],
    )


# `workbench replay`: what an agent would have been given at each step of a session, then and now.


_REPLAY = """For each prompt, subagent task and failure in a Claude Code session: what the agent would have
been served at that moment, and what it would be served now. Both use the present model and
profile, ranked as of that moment. Nothing counts as read. Memories that were purged since cannot
be shown.

  workbench replay ~/.claude/projects/-home-ann-shop/0b5e6a34.jsonl -n 5"""

_THEN: "dict[Change, str]" = {
    "gone": "is gone", "archived": "is archived", "held": "is held back", "below": "is not served now", "later": "",
    "": "",
}  # fmt: skip
_NOW: "dict[Change, str]" = {
    "later": "did not exist yet", "archived": "was archived", "held": "was held back", "below": "was not served then",
    "gone": "", "": "",
}  # fmt: skip


def replay(call: Call) -> Answer:
    """Replay a session's steps and show what differs."""
    from workbench.cli.progress import ProgressLine, progressing
    from workbench.cli.search import profile_in_use

    args, bench, at = call.args, call.bench, call.session.at()
    if not bench.trust.standing.trusted:
        return Answer()  # what came from elsewhere is no agent's to read, and that was said
    steps = bench.replay.steps(call.session.cwd / args.file)
    wanted = steps[: args.limit] if args.limit else steps
    line = ProgressLine("steps", 3)
    with progressing(line) as cancelled:

        def tick(done: int, total: int) -> bool:
            line(done, total)
            return cancelled()

        found = list(
            bench.replay.run(wanted, args.agent, k=args.k, profile=args.profile, rev=at, tick=tick)
        )
    used = profile_in_use(call)
    about = {"profile": used.name, "profile_from": used.origin}
    json = [
        {
            **picked(one.step, "kind", "at", "text"),
            **picked(one, "revision:rev", "purged_since:purged", "then", "now"),
            **about,
        }
        for one in found
    ]
    stopped = len(found) < len(wanted)
    if stopped:
        warn(f"Stopped after {len(found):,} of {len(wanted):,} steps.")

    def lines() -> Iterator[str]:
        yield f"Ranked under {used}."
        for one in found:
            purged = f", {one.purged:,} purged since" if one.purged else ""
            text = one_line(bench.safety.masked(one.step.text), 100)
            yield f"{moment(one.step.at)}  {one.step.kind}: {text}"
            yield from _given_lines(f"then (revision {one.rev}{purged})", one.then, _THEN)
            yield from _given_lines("now", one.now, _NOW)
            yield ""
        if steps and not stopped:
            changed = sum({g.id for g in one.then} != {g.id for g in one.now} for one in found)
            then, now = sum(not one.then for one in found), sum(not one.now for one in found)
            many = f"{len(found):,} of {len(steps):,} steps"
            yield f"{many}; {changed:,} would be served differently now."
            yield f"Nothing relevant at {then:,} of them then, at {now:,} now."

    none = [] if steps else ["This session has no prompt, task or failure."]
    return Answer(json, lines, none, INTERRUPTED if stopped else DONE)


def _given_lines(title: str, given: "Sequence[Given]", words: "dict[Change, str]") -> Iterator[str]:
    yield f"    {title}:" if given else f"    {title}: nothing relevant"
    for one in given:
        remark = f"  [{words[one.change]}]" if words[one.change] else ""
        yield f"      {one.relevance:.3f}  {one.id}  {one_line(one.line, 80)}{remark}"


_SOURCES = (*AGENTS, "transcript", "status", "brief")

OPTIONS: Mapping[str, Option] = {
    "source": value("SOURCE", f"one of: {', '.join(_SOURCES)}", choices=_SOURCES),
    "files": value("FILE", "transcripts, or folders of them", type=path_of),
    "--dry-run": flag("show what would be stored, without storing it"),
    "--for-agent": value("NAME", "with brief: the agent (claude)", default="claude"),
    "--again": flag("read transcripts from the start again"),
    "file": {"type": path_of, "help": "a session's transcript"},
    "--at": lambda parser: add_at(parser, "the store at this revision or time, for every step"),
    "-k": value("N", "how many are served at most (default: the profile's k)", type=count),
    "--profile": text("the retrieval profile (default: the one in use)", "NAME"),
    "--agent": value("NAME", "the agent that would be served (claude)", default="claude"),
}

VERBS = (
    Verb("capture", capture, "store lessons from agents' sessions",
         "source files* --dry-run --for-agent --again limit=10 mixed --json", _CAPTURE, None, unopened),
    Verb("replay", replay, "show what an agent would have been served in a session",
         "file --at -k --profile --agent limit=20 --json", _REPLAY, None),
)  # fmt: skip
