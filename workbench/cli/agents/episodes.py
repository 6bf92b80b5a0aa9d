"""`workbench episode`: what agents did, kept as it was; shown, listed, corrected by a person, written to files."""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.agents.episode_rows import (
    SHOWN,
    add_criteria,
    criteria_of,
    no_criteria,
    print_whole,
    read_stdin,
    row_of,
    say_rows,
)
from workbench.cli.output import cut, fail, moment, say, warn, write_json
from workbench.cli.parsing import Commands, Parser, add_command, add_json, add_limit, count, file_or_stdin, wants_json
from workbench.cli.progress import ProgressLine, interruptible
from workbench.cli.safety.flags import Shown, add_secrets, review_json, unreviewed
from workbench.cli.session import CLI_ACTOR, INTERRUPTED, Session, actor_of
from workbench.core.agents.episodes.cluster import compared
from workbench.core.agents.episodes.criteria import STRATEGIES, Criteria, age_of
from workbench.core.record import InvalidQuery, WorkbenchError
from workbench.core.text import counted, one_line

if TYPE_CHECKING:
    from workbench.core.agents.patterns.statistics import Outlook
    from workbench.services.agents.episodes.finding import FoundEpisode, FoundEpisodes
    from workbench.services.agents.episodes.keeping import Stored
    from workbench.services.agents.experience.learning import Learned
    from workbench.services.open import Workbench


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
    parser.add_argument("file", metavar="FILE", type=file_or_stdin, help="a file, or - for stdin")
    parser.add_argument("--insight", metavar="TEXT", action="append", default=[], help="what is to be learned from it")
    parser.add_argument("--actor", metavar="NAME", help="the agent that did it, and whose word it is (otherwise: you)")
    parser.add_argument("--session", metavar="S", default="", help="the agent session, where the episode names none")
    add_json(parser)


def learn_episode(session: Session) -> int:
    """Learn from an episode, and say what that came to."""
    from workbench.cli.agents.episode_rows import read_stdin
    from workbench.services.agents.episodes import files
    from workbench.services.agents.experience.learning import Learning

    args = session.args
    if args.file == "-":
        found = files.checked(files.episodes_in(read_stdin(), "stdin"), "stdin")
    else:
        found = files.found_in(session.cwd / os.fsdecode(args.file))
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

_MERGE = """Episodes of one type, domain and outcome, older than 30 days and within 30 days of each other, whose texts
have a cosine above 0.95 and nothing that speaks against it (a number, a negation, a word of only one). The latest
stands for the others, which are archived and kept: `episode list --phase archived`, `workbench undo`."""

_EXPORT = """Without IDs every episode that is not deleted. TARGET is a file (a list), or a folder: one file for each.
Secrets were masked when they came in."""


LONG = 1_000
"""Episodes from which on the first search shows how far it is."""


def add_commands(commands: Commands) -> None:
    """Add `episode` and what is below it."""
    episode = add_command(commands, "episode", list_episodes, "keep, show and find what agents did", _EPISODE)
    episode.set_defaults(limit=SHOWN, json=False)
    no_criteria(episode)
    verbs = episode.add_subparsers(title="what to do", metavar="VERB", prog=episode.prog, parser_class=Parser)
    adding = add_command(verbs, "add", add_episodes, "keep what an agent did", _ADD, example="run.json --actor claude")
    adding.add_argument("file", metavar="FILE", type=file_or_stdin, help="a file or a folder, or - for stdin")
    adding.add_argument("--actor", metavar="NAME", help="the agent that did it, and whose word it is (otherwise: you)")
    adding.add_argument("--session", metavar="S", default="", help="the agent session, where the episode names none")
    add_learning(verbs)
    showing = add_command(verbs, "show", show_episode, "show one, whole", _SHOW, example="ep-20261124-0000007 --trace")
    showing.add_argument("id", metavar="ID")
    showing.add_argument("--trace", action="store_true", help="open the trace of an old one, too")
    add_secrets(showing)
    listing = add_command(
        verbs, "list", list_episodes, "list them by time", _LIST, example="--outcome FAILURE --since 7d"
    )
    add_criteria(listing)
    add_limit(listing, SHOWN)
    _add_finding(verbs)
    _add_corrections(verbs)
    merging = add_command(
        verbs, "consolidate", consolidate_episodes, "put those together that say the same", _MERGE, example="--dry-run"
    )
    merging.add_argument("--dry-run", action="store_true", help="say what would be done, and do nothing")
    writing = add_command(
        verbs, "export", export_episodes, "write them to files", _EXPORT, example="episodes/ --dialect agent-playbook"
    )
    writing.add_argument("target", metavar="TARGET", type=Path, help="a file, or a folder")
    writing.add_argument("ids", metavar="ID", nargs="*", help="which ones (otherwise: all)")
    writing.add_argument("--dialect", choices=("episode", "agent-playbook"), default="episode", help="the form of it")
    for parser in (adding, showing, listing, merging, writing):
        add_json(parser)


def _add_finding(verbs: Commands) -> None:
    finding = add_command(verbs, "find", find_episodes, "find those that matter for a task or an error", _FIND)
    finding.add_argument("query", metavar="QUERY", nargs="?", default="", help="a task, or what an error says")
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
    noting.add_argument("id", metavar="ID")
    noting.add_argument("text", metavar="TEXT")
    tagging = add_command(
        verbs, "tag", tag_episode, "give one other tags", example="ep-20261124-0000007 --add deploy --remove draft"
    )
    tagging.add_argument("id", metavar="ID")
    tagging.add_argument("--add", metavar="T", action="append", default=[], help="a tag; several times")
    tagging.add_argument("--remove", metavar="T", action="append", default=[], help="a tag that goes; several times")
    approving = add_command(
        verbs, "approve", approve_episode, "approve an episode", _APPROVE, example="ep-20261124-0000007"
    )
    approving.add_argument("id", metavar="ID")
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
        parser.add_argument("id", metavar="ID")


def add_episodes(session: Session) -> int:
    """Store what a file, a folder or stdin holds, and say what became of it."""
    from workbench.services.agents.episodes import files

    args = session.args
    if args.file == "-":
        text, name = read_stdin(), "stdin"
        found = files.checked(files.episodes_in(text, name), name)
    else:
        path = session.cwd / os.fsdecode(args.file)
        found, name = files.found_in(path), files.name_of(Path(path.name))
    with session.changing(makes=True) as bench:
        if actor_of(args) == CLI_ACTOR:
            brought = files.bring(bench.context, found, name)
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
    from workbench.services.agents.episodes.giving import EpisodeGiving
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


def consolidate_episodes(session: Session) -> int:
    """Put episodes together that say the same, or say what would be."""
    args = session.args
    with session.reading() if args.dry_run else session.changing() as bench:
        consolidation = bench.episode_finder.consolidation
        plan = consolidation.plan()
        if plan.clusters and not args.dry_run:
            consolidation.carry_out(plan)
        if wants_json(args):
            write_json({"looked": plan.looked, "clusters": plan.clusters, "archived": plan.archived})
            return 0
        shown = Shown(bench)
        for one in plan.clusters:
            more = ", ".join(id for id in one.members if id != one.representative)
            task = one_line(shown(bench.episodes.task_of(bench.episodes.get(one.representative)) or ""), 80)
            say(f"{one.representative}  {counted(len(one.members), 'episode')}  {task}")
            say(f"  with {one_line(more, 200)}")
        done = "Would archive" if args.dry_run else "Archived"
        say(f"{done} {counted(len(plan.archived), 'episode')} of {plan.looked:,} that are old enough.")
    return 0


def export_episodes(session: Session) -> int:
    """Write episodes to a file or a folder."""
    from workbench.services.agents.episodes import files

    args = session.args
    target: Path = session.cwd / args.target
    with session.reading(approved=True) as bench:
        bench.library.require_trust()
        ids = args.ids or [one.id for one in bench.episodes.all() if one.status != "deleted"]
        docs = list(files.written(bench.context, ids, args.dialect))
        if target.suffix == ".json":
            paths = files.write_list(target, [doc for _, doc in docs])
        else:
            paths = files.write_each(target, docs)
    if wants_json(args):
        write_json({"episodes": len(docs), "files": [str(path) for path in paths]})
    else:
        say(f"Wrote {counted(len(docs), 'episode')} to {target}.")
    return 0
