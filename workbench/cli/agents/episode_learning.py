"""`workbench episode learn`: an episode is kept, and counts for the patterns that it names."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from workbench.cli.output import say, warn, write_json
from workbench.cli.parsing import Commands, add_command, add_json, file_or_stdin, wants_json
from workbench.cli.session import Session
from workbench.core.errors import InvalidQuery
from workbench.core.text import counted

if TYPE_CHECKING:
    from workbench.core.agents.patterns.lifecycle import Outlook
    from workbench.services.agents.experience.learning import Learned

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
