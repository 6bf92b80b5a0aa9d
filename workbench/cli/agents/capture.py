"""`workbench capture`: what agents' sessions teach, from an event of their hooks or from their
transcripts.
"""

import json
import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench import streams
from workbench.cli.output import moment, say, warn, write_json
from workbench.cli.parsing import (
    Commands,
    add_at,
    add_command,
    add_json,
    add_limit,
    count,
    path_of,
    wants_json,
)
from workbench.cli.session import Session, actor_of
from workbench.cli.tuning.profile import profile_in_use
from workbench.config import paths
from workbench.core.agents.hook_event import AGENTS, HOOK_FILES, event_of
from workbench.core.agents.transcript.summaries import PASSED
from workbench.core.record import InvalidQuery, UnreadableFile, WorkbenchError
from workbench.core.text import counted, one_line

if TYPE_CHECKING:
    from datetime import datetime

    from workbench.core.agents.transcript.summaries import Lesson, Reason
    from workbench.services.agents.capture.progress import Place
    from workbench.services.agents.capture.transcripts import Captured, Harvest, Transcripts
    from workbench.services.agents.replay import Change, Given, Replayed


CANCELLED = 130

MOST = 16 * 1024 * 1024
"""Bytes of an event that are read; what is longer is no event."""

_CAPTURE = """claude-code, codex and cursor read one event of a hook on stdin, keep what it teaches, and never fail:
errors are logged, which `workbench capture status` shows. `transcript` reads session files of Claude
Code and Codex, or all in a folder, from where they were left: corrections by a person, failures with what resolved
them, summaries by their sections. What counts most waits for your decision in Review; nothing is stored twice. Each
task becomes an episode, with what says how it ended. `brief` prints what an agent is told when a session begins.

  workbench capture transcript ~/.claude/projects/-home-ann-shop --dry-run"""


def add_commands(commands: Commands) -> None:
    parser = add_command(commands, "capture", capture, "keep what agents' sessions teach", _CAPTURE)
    sources = (*AGENTS, "transcript", "status", "brief")
    parser.mixes = True
    parser.add_argument(
        "source", metavar="SOURCE", choices=sources, help=f"one of: {', '.join(sources)}"
    )
    parser.add_argument(
        "files", metavar="FILE", nargs="*", type=path_of, help="transcripts, or folders of them"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="show what would be stored, and store nothing"
    )
    parser.add_argument(
        "--for-agent", metavar="NAME", default="claude", help="with brief: the agent (claude)"
    )
    parser.add_argument(
        "--again", action="store_true", help="read transcripts from their beginning"
    )
    add_limit(parser, 10)
    add_json(parser)
    add_replay(commands)


def capture(session: Session) -> int:
    """Capture from an event or from transcripts, or say how that went so far."""
    args = session.args
    if args.source in AGENTS:
        return _event(session, args.source)
    if args.source == "status":
        return _status(session)
    if args.source == "brief":
        return _brief(session)
    if not args.files:
        raise InvalidQuery(
            "There is no transcript to read.",
            "Name files or folders, for instance below ~/.claude/projects or ~/.codex/sessions.",
        )
    return _transcripts(session)


def _event(session: Session, agent: str) -> int:
    """Take one event; whatever happens, the agent goes on."""
    called = ""
    try:
        doc = _read_event()
        event = event_of(doc)
        called = event.called
        from workbench.services.agents.capture.hooks import take

        taken = take(event, _place(session, agent, event.cwd))
        if taken.context:
            _give(agent, event.name, event.called, taken.context)
    except WorkbenchError as error:
        _note(session.clock(), agent, called, str(error))
    except (OSError, RecursionError) as error:
        _note(session.clock(), agent, called, f"{type(error).__name__}: {error}")
    return 0


def _read_event() -> "dict[str, Any]":
    raw = sys.stdin.buffer.read(MOST + 1)
    if len(raw) > MOST:
        raise UnreadableFile("The event on stdin is longer than 16 MB.", "Nothing was captured.")
    try:
        doc = json.loads(raw.decode("utf-8-sig", errors="replace"))
    except (ValueError, RecursionError) as error:
        raise UnreadableFile(
            "stdin holds no event: it is no JSON.", "Nothing was captured."
        ) from error
    if not isinstance(doc, dict):
        raise UnreadableFile("stdin holds no event: it is no JSON object.", "Nothing was captured.")
    return doc


def _place(session: Session, agent: str, cwd: str) -> "Place":
    """Return where an event's captures go: the store of the folder that the agent works in."""
    from workbench.services.agents.capture.progress import Place

    start = Path(cwd) if cwd and Path(cwd).is_dir() else session.cwd
    explicit = None if session.args.store is None else session.cwd / session.args.store
    store = paths.find_store(start, explicit).folder
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


def _transcripts(session: Session) -> int:
    from workbench.core.runtime import Stopped

    args = session.args
    with session.reading(planning=True) if args.dry_run else session.changing(makes=True) as bench:
        from workbench.services.agents.capture.reading import transcripts_in

        way = bench.transcripts
        files = transcripts_in([session.cwd / path for path in args.files])
        try:
            harvest = _read(way, files, again=args.again)
        except Stopped:
            warn("Stopped: nothing was stored, and nothing counts as read.")
            return CANCELLED
        captured = None if args.dry_run else way.keep(harvest)
    if wants_json(args):
        write_json(_json(harvest, captured, len(files)))
    else:
        _show(harvest, captured, len(files), args.limit)
    return 0


def _read(way: "Transcripts", files: "tuple[Path, ...]", *, again: bool) -> "Harvest":
    from time import monotonic

    from workbench.cli.progress import ProgressLine, interruptible

    total = sum(file.stat().st_size for file in files if file.is_file())
    line = ProgressLine("bytes of transcripts", 1 << 22, monotonic)
    done = 0
    with interruptible() as cancelled:

        def tick(more: int) -> bool:
            nonlocal done
            done += more
            line(min(done, total), total)
            return cancelled()

        try:
            harvest = way.read(files, again=again, tick=tick)
        finally:
            line.clear()
    return harvest


def _show(harvest: "Harvest", captured: "Captured | None", files: int, limit: int) -> None:
    """Say what transcripts teach: what counts most first, then what was passed over, and what
    became of it.
    """
    found = harvest.lessons
    waits = counted(sum(one.waits for one in found), "of them waits", "of them wait")
    say(
        f"{counted(files, 'transcript')}: {counted(len(found), 'new lesson')}, {waits} for a decision."
    )
    for place, lesson in enumerate(found[:limit], 1):
        seen = f", in {lesson.sessions} sessions" if lesson.sessions > 1 else ""
        say(
            f"\n{place:>2}. {lesson.kind}{seen}, {'waits for a decision' if lesson.waits else 'noted'}"
        )
        say("\n".join(f"    {line}" for line in lesson.text.splitlines()))
    if len(found) > limit:
        say(f"\n… and {len(found) - limit:,} more (-n shows more).")
    if found:
        say()
    _show_tasks(harvest, limit)
    if harvest.again:
        say(f"The store has {len(harvest.again):,} more of them from other sessions.")
    if harvest.waiting:
        say(f"{counted(harvest.waiting, 'failure')} nobody resolved yet.")
    if harvest.passed:
        told = (f"{PASSED[reason]} ({count:,})" for reason, count in _reasons(harvest).items())
        say(f"Passed over: {', '.join(told)}.")
    if captured is None:
        say("Nothing was stored: this was a dry run.")
    elif captured.created or captured.counted or captured.episodes:
        again = f", {len(captured.counted):,} counted once more" if captured.counted else ""
        again += f", and {counted(len(captured.episodes), 'episode')}" if captured.episodes else ""
        say(f"Stored {len(captured.created):,}{again}. What waits for a decision is in Review.")


def _show_tasks(harvest: "Harvest", limit: int) -> None:
    for task in harvest.tasks[:limit]:
        said = one_line(task.evidence or "no evidence", 120)
        say(f"Episode {task.id}, {task.outcome.lower()} ({said}): {one_line(task.text, 80)}")
    if len(harvest.tasks) > limit:
        say(f"… and {counted(len(harvest.tasks) - limit, 'more episode')}.")


def _brief(session: Session) -> int:
    with session.reading(whole=True) as bench:
        from workbench.services.agents.context import make_brief

        actor = actor_of(Namespace(actor=session.args.for_agent))
        text = make_brief(bench.context, bench.tuning, bench.playbooks, actor)
        _tell(text, as_json=wants_json(session.args))
    return 0


def _tell(brief: str, *, as_json: bool) -> None:
    """Print a brief at once: a hook waits for it, not for the caches that are kept afterwards, nor
    for long.
    """
    try:
        if as_json:
            write_json({"text": brief, "characters": len(brief)})
        else:
            say(
                brief
                or "There is nothing to tell an agent yet: nothing is pinned, confirmed or in a playbook."
            )
        sys.stdout.flush()
    except BrokenPipeError:
        streams.let_go()


def _status(session: Session) -> int:
    from workbench.services.agents.capture.hooks import past

    store = session.choice().folder
    found = past(_captures(), store)
    if wants_json(session.args):
        counts = dict(found.passed.most_common())
        told = {
            "sessions": found.sessions,
            "passed_over": counts,
            "failures": found.failures,
            "waiting": found.waiting,
        }
        write_json(told)
        return 0
    say(f"{counted(found.sessions, 'session')} followed for {store}.")
    if found.passed:
        say(f"Passed over: {', '.join(found.passed_words)}.")
    if found.waiting:
        say(
            f"{counted(found.waiting, 'event')} could not be stored while the store was held; "
            "the next event stores them."
        )
    if not found.failures:
        say("No hook failed lately.")
    for one in found.failures:
        say(f"{one.at}  {one.agent} {one.event}: {one.problem}")
    return 0


def _json(harvest: "Harvest", captured: "Captured | None", files: int) -> "dict[str, object]":
    return {
        "transcripts": files,
        "lessons": [_lesson(one) for one in harvest.lessons],
        "seen_again": [{"memory": id, **_lesson(one)} for id, one in harvest.again],
        "unresolved": harvest.waiting,
        "passed_over": _reasons(harvest),
        "episodes": [
            {
                "id": task.id,
                "outcome": task.outcome,
                "evidence": task.evidence,
                "task": one_line(task.text, 200),
            }
            for task in harvest.tasks
        ],
        "stored": None if captured is None else [memory.id for memory in captured.created],
        "counted": None if captured is None else [memory.id for memory in captured.counted],
    }


def _lesson(lesson: "Lesson") -> "dict[str, object]":
    return {
        "kind": lesson.kind, "type": lesson.observation_type, "text": lesson.text, "weight": lesson.weight,
        "status": "candidate" if lesson.waits else "signal", "sessions": lesson.sessions,
        "session": lesson.session, "at": lesson.at, "turn": lesson.turn, "speaker": lesson.speaker, "file": lesson.file,
    }  # fmt: skip


def _reasons(harvest: "Harvest") -> "dict[Reason, int]":
    return dict(harvest.reasons)


# `workbench replay`: what an agent would have been given at each step of a session, then and now.


_REPLAY = """For each prompt, each task of a subagent and each failure of a session of Claude Code: what the agent would
have been served by the store as it was at that moment, and what it is served now. Both are ranked with the present
model and profile, as of that moment; nothing counts as read. What was purged since cannot be told.

  workbench replay ~/.claude/projects/-home-ann-shop/0b5e6a34.jsonl -n 5"""

_THEN: "dict[Change, str]" = {
    "gone": "is gone", "archived": "is archived", "held": "is held back", "below": "is not served now", "later": "",
    "": "",
}  # fmt: skip
_NOW: "dict[Change, str]" = {
    "later": "did not exist yet", "archived": "was archived", "held": "was held back", "below": "was not served then",
    "gone": "", "": "",
}  # fmt: skip


def add_replay(commands: Commands) -> None:
    """Add `replay`."""
    parser = add_command(
        commands,
        "replay",
        replay,
        "show what an agent would have been served in a session",
        _REPLAY,
    )
    parser.add_argument("file", type=path_of, help="a session's transcript")
    add_at(parser, "the store at this revision or time, at every step")
    parser.add_argument(
        "-k", metavar="N", type=count, help="how many are served at most (default: the profile's k)"
    )
    parser.add_argument(
        "--profile",
        metavar="NAME",
        default="",
        help="the retrieval profile (default: the one in use)",
    )
    parser.add_argument(
        "--agent", metavar="NAME", default="claude", help="the agent that would be served (claude)"
    )
    add_limit(parser, 20)
    add_json(parser)


def replay(session: Session) -> int:
    """Replay a session's steps and show what differs."""
    from workbench.cli.progress import ProgressLine, interruptible

    args, at = session.args, session.at()
    found: list[Replayed] = []
    with session.reading() as bench, interruptible() as cancelled:
        if not bench.trust.standing.trusted:
            return 0  # what came from elsewhere is no agent's to read, and that was said
        steps = bench.replay.steps(session.cwd / args.file)
        wanted = steps[: args.limit] if args.limit else steps
        line = ProgressLine("steps", 3)

        def tick(done: int, total: int) -> bool:
            line(done, total)
            return cancelled()

        try:
            found += bench.replay.run(
                wanted, args.agent, k=args.k, profile=args.profile, rev=at, tick=tick
            )
        finally:
            line.clear()
        mask, used = bench.safety.masked, profile_in_use(session, bench)
        if wants_json(args):
            about = {"profile": used.name, "profile_from": used.origin}
            write_json([{**_replay_json(one, mask(one.step.text)), **about} for one in found])
        else:
            say(f"Ranked under {used}.")
            for one in found:
                _show_replay(one, mask(one.step.text))
    if len(found) < len(wanted):
        warn(f"Stopped after {len(found):,} of {len(wanted):,} steps.")
        return CANCELLED
    if not wants_json(args):
        _sum_up(found, len(steps))
    return 0


def _show_replay(one: "Replayed", text: str) -> None:
    """Show a step: what was asked, what would have been given then, and what is given now."""
    step = one.step
    say(f"{moment(step.at)}  {step.kind}: {one_line(text, 100)}")
    purged = f", {one.purged:,} purged since" if one.purged else ""
    _list(f"then (revision {one.rev}{purged})", one.then, _THEN)
    _list("now", one.now, _NOW)
    say()


def _list(title: str, given: "Sequence[Given]", words: "dict[Change, str]") -> None:
    if not given:
        say(f"    {title}: nothing relevant")
        return
    say(f"    {title}:")
    for one in given:
        remark = words[one.change]
        say(
            f"      {one.relevance:.3f}  {one.id}  {one_line(one.line, 80)}{f'  [{remark}]' if remark else ''}"
        )


def _sum_up(found: "Sequence[Replayed]", steps: int) -> None:
    """Say in a sentence what curation did."""
    if not steps:
        warn("There is no prompt, task or failure in this session.")
        return
    changed = sum({g.id for g in one.then} != {g.id for g in one.now} for one in found)
    empty = sum(not one.then for one in found), sum(not one.now for one in found)
    say(f"{len(found):,} of {steps:,} steps; {changed:,} would be served something else now.")
    say(f"Nothing relevant at {empty[0]:,} of them then, at {empty[1]:,} now.")


def _replay_json(one: "Replayed", text: str) -> "dict[str, object]":
    return {
        "kind": one.step.kind, "at": one.step.at, "text": text, "revision": one.rev, "purged_since": one.purged,
        "then": one.then, "now": one.now,
    }  # fmt: skip
