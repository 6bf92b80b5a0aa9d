"""`workbench replay`: what an agent would have been given at each step of a session, then and now."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.cli.output import moment, say, warn, write_json
from workbench.cli.parsing import Commands, add_at, add_command, add_json, add_limit, count, path_of, wants_json
from workbench.cli.session import Session
from workbench.cli.tuning.profile import profile_in_use
from workbench.core.text import one_line

if TYPE_CHECKING:
    from workbench.services.agents.replay import Change, Given, Replayed

CANCELLED = 130

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


def add_commands(commands: Commands) -> None:
    """Add `replay`."""
    parser = add_command(commands, "replay", replay, "show what an agent would have been served in a session", _REPLAY)
    parser.add_argument("file", metavar="FILE", type=path_of, help="a session's transcript")
    add_at(parser, "the store at this revision or time, at every step")
    parser.add_argument("-k", metavar="N", type=count, help="how many are served at most (default: the profile's k)")
    parser.add_argument("--profile", metavar="NAME", default="", help="the retrieval profile (default: the one in use)")
    parser.add_argument("--agent", metavar="NAME", default="claude", help="the agent that would be served (claude)")
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
            found += bench.replay.run(wanted, args.agent, k=args.k, profile=args.profile, rev=at, tick=tick)
        finally:
            line.clear()
        mask, used = bench.safety.masked, profile_in_use(session, bench)
        if wants_json(args):
            about = {"profile": used.name, "profile_from": used.origin}
            write_json([{**_json(one, mask(one.step.text)), **about} for one in found])
        else:
            say(f"Ranked under {used}.")
            for one in found:
                _show(one, mask(one.step.text))
    if len(found) < len(wanted):
        warn(f"Stopped after {len(found):,} of {len(wanted):,} steps.")
        return CANCELLED
    if not wants_json(args):
        _sum_up(found, len(steps))
    return 0


def _show(one: "Replayed", text: str) -> None:
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
        say(f"      {one.relevance:.3f}  {one.id}  {one_line(one.line, 80)}{f'  [{remark}]' if remark else ''}")


def _sum_up(found: "Sequence[Replayed]", steps: int) -> None:
    """Say in a sentence what curation did."""
    if not steps:
        warn("There is no prompt, task or failure in this session.")
        return
    changed = sum({g.id for g in one.then} != {g.id for g in one.now} for one in found)
    empty = sum(not one.then for one in found), sum(not one.now for one in found)
    say(f"{len(found):,} of {steps:,} steps; {changed:,} would be served something else now.")
    say(f"Nothing relevant at {empty[0]:,} of them then, at {empty[1]:,} now.")


def _json(one: "Replayed", text: str) -> "dict[str, object]":
    return {
        "kind": one.step.kind, "at": one.step.at, "text": text, "revision": one.rev, "purged_since": one.purged,
        "then": one.then, "now": one.now,
    }  # fmt: skip
