"""`workbench vote`: marks on single memories and bullets, by people and by agents' hooks."""

from workbench.cli.output import say, write_json
from workbench.cli.parsing import Commands, add_actor, add_command, add_json, wants_json
from workbench.cli.session import Session, actor_of, keeps

_VOTE = """ID is a memory's or a bullet's (BOOK/ID when several playbooks have it). Everybody has one vote on
each; a second one replaces the first."""


def add_commands(commands: Commands) -> None:
    """Add `vote`."""
    vote = add_command(
        commands, "vote", cast_vote, "mark a memory or a bullet as helpful or harmful", _VOTE,
        example='shr-00001 helpful --reason "it saved the release"',
    )  # fmt: skip
    vote.add_argument("id", metavar="ID")
    vote.add_argument("verdict", choices=("helpful", "harmful"))
    vote.add_argument("--reason", metavar="TEXT", default="", help="why; kept with the vote")
    vote.add_argument("--session", metavar="S", default="", help="the agent session it is cast in")
    add_actor(vote, "the reason")
    add_json(vote)


def cast_vote(session: Session) -> int:
    """Cast one vote and say what it did."""
    from workbench.core.text import clean_for_store
    from workbench.services.stream import votes
    from workbench.services.stream.votable import find_votable

    args = session.args
    kept = keeps(args)
    with session.changing(actor_of(args)) as bench:
        record = find_votable(bench.context, args.id)
        reason, of = clean_for_store(args.reason).strip(), clean_for_store(args.session)
        keep = bench.safety.keep_typed if kept else None
        result = votes.cast(bench.context, record, args.verdict, reason=reason, session=of, keep=keep)
    if wants_json(args):
        write_json({"id": args.id, "verdict": args.verdict, "said": result.sentence})
    else:
        say(result.sentence)
    return 0
