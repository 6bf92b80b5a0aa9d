"""`workbench review`: the queue of proposals on the command line, and the ways to decide on them."""

import difflib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from workbench.cli.output import say, warn, write_json
from workbench.cli.parsing import Commands, Parser, add_command, add_json, add_keep, add_limit, wants_json
from workbench.cli.safety.flags import add_secrets
from workbench.cli.session import Session, keeps
from workbench.core.record import InvalidQuery, UnknownRecord
from workbench.core.review.kinds import IMPORTANT, group_of
from workbench.core.text import clean_for_store, counted

if TYPE_CHECKING:
    from workbench.services.open import Workbench

DEFAULT = 50

LISTED = 10
"""Proposals of a filter that are listed before somebody agrees."""

_REVIEW = """What reflections, agents and upkeep propose waits in one queue. Nothing of it is served to an agent until
somebody approves it. Several ids are decided together: all of them, or none when one cannot be."""

_FOUND = "what is worked out now and stored nowhere: near copies, prunes, files that changed, what is not trusted yet"

_LIST = """FILTER is the filter language of the Stream, on the memories; other words are looked for in the text, the
tags, the kind and the flags. Flagged ones come first, then the important, then the oldest, then
prunes, the least important first; put-off ones last."""

_MERGE = """INTO keeps its id, text, status and date. The candidate ID adds its votes, tags and citations, and is
archived as merged; its id goes on as another name of INTO. `workbench undo` separates them."""

_PROMOTE = """TARGET is one of
  playbook:SECTION   a bullet in that section of the playbook (BOOK/SECTION when there are several)
  CLAUDE.md          an entry in the managed block of that file of the project; AGENTS.md likewise
  memory             a memory file of its own, with its line in MEMORY.md (memory:DIR says where)
  skill              .claude/skills/NAME/SKILL.md (skill:DIR puts it elsewhere)
  PATH               an entry in the managed block of any Markdown file, from the working directory
What a candidate or a signal says is approved first. Nothing outside the managed block is touched. `workbench undo`
takes back both the record and the files."""


_ONE, _MANY = "mem-20261121-0000001", '--kind prune --found --yes --reason "still used"'


def add_commands(commands: Commands) -> None:
    """Add `review` and what is below it."""
    from workbench.cli.review.reading import list_queue, show_proposal

    review = add_command(
        commands, "review", list_queue, "decide on what waits in Review", _REVIEW,
        example="approve mem-20261121-0000001",
    )  # fmt: skip
    review.set_defaults(filter=[], limit=DEFAULT, kind=None, found=False, json=False, show_secrets=False)
    verbs = review.add_subparsers(title="what to do", metavar="VERB", prog=review.prog, parser_class=Parser)
    listing = add_command(
        verbs, "list", list_queue, "list what waits, in the order of the queue", _LIST, example="type:error --found"
    )
    listing.add_argument("filter", metavar="FILTER", nargs="*", help="which ones (default: all)")
    listing.takes_filter = True
    add_limit(listing, DEFAULT)
    listing.add_argument("--kind", metavar="KIND", help="only these: reflection, merge, prune, confirm, …")
    listing.add_argument("--found", action="store_true", help=f"and {_FOUND}")
    show = add_command(
        verbs, "show", show_proposal, "print a proposal in full, with its evidence", example="mem-20261121-0000001"
    )
    show.add_argument("id", metavar="ID")
    show.add_argument("--quick", action="store_true", help="leave out what the search model would find")
    _add_decision(verbs, "approve", approve, "accept proposals: a candidate is confirmed, a merge is made", _ONE)
    _add_decision(
        verbs, "reject", reject, "reject proposals; what is rejected stays archived and is not proposed again", _MANY
    )
    _add_decision(verbs, "keep-old", keep_old, "keep the old one of two memories, and archive the newer", _ONE)
    _add_decision(verbs, "later", put_off, "put decisions off for a week", _ONE)
    _add_merge(verbs)
    _add_promotion(verbs)
    for verb in (listing, show):
        add_secrets(verb)
        add_json(verb)


def _add_promotion(verbs: Commands) -> None:
    from workbench.cli.promotion import promote

    promoting = add_command(
        verbs, "promote", promote, "approve and write to where agents read", _PROMOTE,
        example="mem-20261121-0000001 --to CLAUDE.md --dry-run",
    )  # fmt: skip
    promoting.add_argument("ids", metavar="ID", nargs="+", help="candidates, signals or confirmed memories")
    promoting.add_argument("--to", metavar="TARGET", required=True, help="where to, one of those listed above")
    section = "a file: the heading that the entry goes under, or those that lead to it, parted by >"
    promoting.add_argument("--section", metavar="HEADING", default="", help=section)
    promoting.add_argument("--title", metavar="TEXT", default="", help="memory, skill: its title")
    promoting.add_argument("--name", metavar="NAME", default="", help="memory, skill: its file's or folder's name")
    promoting.add_argument("--about", metavar="TEXT", default="", help="memory, skill: one line on what it is about")
    promoting.add_argument("--outside", action="store_true", help="agree to a file outside the project")
    promoting.add_argument("--dry-run", action="store_true", help="only show what would be written")
    _add_reason(promoting, "the reason, the title and --about")
    add_json(promoting)


def _add_merge(verbs: Commands) -> None:
    merging = add_command(
        verbs, "merge", merge, "merge a candidate into a memory, which stays what it is", _MERGE,
        example="mem-20261121-0000002 mem-20261121-0000001 --dry-run",
    )  # fmt: skip
    merging.add_argument("id", metavar="ID")
    merging.add_argument("into", metavar="INTO")
    about = "whose text is left: the memory's own (target, the default) or the candidate's"
    merging.add_argument("--text", choices=("target", "candidate"), default="target", help=about)
    merging.add_argument("--dry-run", action="store_true", help="only show the difference between both texts")
    add_secrets(merging)
    _add_reason(merging)
    add_json(merging)


def approve(session: Session) -> int:
    return _decide(session, "Approved", lambda bench, ids: bench.review.approve(ids), approving=True)


def reject(session: Session) -> int:
    """Turn down."""
    reason, kept = _reason(session), keeps(session.args)
    with session.changing() as bench:
        ids = _asked(session, bench)
        names = _names(bench, ids)
        group = bench.review.reject(ids, reason, bench.safety.keep_typed if kept else None)
    return _report(session, "Rejected", names, group=group)


def keep_old(session: Session) -> int:
    """Keep the older one of two that contradict each other."""
    return _decide(session, "Kept the older one of", lambda bench, ids: bench.review.keep_old(ids))


def put_off(session: Session) -> int:
    return _decide(session, "Put off", lambda bench, ids: bench.review.later(ids))


def merge(session: Session) -> int:
    """Merge a candidate into a memory, or only show what that would do to its text."""
    into, id, take = session.args.into, session.args.id, session.args.text
    if session.args.dry_run:
        from workbench.cli.review.reading import show_merge

        with session.reading() as bench:
            (id,) = _waiting(bench, [id])
            _require_target(bench, into)
            return show_merge(session, bench, id, into, take)

    def carry_out(bench: "Workbench", ids: Sequence[str]) -> None:
        _require_target(bench, into)
        text = bench.library.memories.get(ids[0]).content if take == "candidate" else None
        bench.review.merge_into(ids[0], into, text)

    return _decide(session, f"Merged into {into}:", carry_out, [session.args.id])


def _require_target(bench: "Workbench", into: str) -> None:
    if into not in bench.library.memories:
        raise UnknownRecord(f"There is no memory {into} to merge into.", "Nothing was changed.")


def _add_decision(verbs: Commands, name: str, handler: Callable[[Session], int], help: str, example: str) -> None:
    parser = add_command(verbs, name, handler, help, example=example)
    parser.add_argument("ids", metavar="ID", nargs="*")
    about = "in place of ids: every proposal that this filter lets through, as in `review list`"
    parser.add_argument("--filter", metavar="TEXT", default="", help=about)
    parser.add_argument("--kind", metavar="KIND", help="in place of ids: every proposal of this kind")
    parser.add_argument("--found", action="store_true", help=f"with --filter and --kind: {_FOUND}, too")
    parser.add_argument("--yes", action="store_true", help="decide all that --filter and --kind name")
    _add_reason(parser)
    add_json(parser)


def _add_reason(parser: Parser, typed: str = "the reason") -> None:
    parser.add_argument("--reason", metavar="TEXT", default="", help="why; it is kept in the history")
    add_keep(parser, typed)


def _decide(
    session: Session,
    done: str,
    carry_out: "Callable[[Workbench, Sequence[str]], None]",
    asked: Sequence[str] | None = None,
    *,
    approving: bool = False,
) -> int:
    """Carry a decision out as one action, whose label names the reason."""
    reason, verb, kept = _reason(session), carry_out, keeps(session.args)
    with session.changing() as bench:
        ids = _asked(session, bench, approving=approving) if asked is None else _waiting(bench, asked)
        names = _names(bench, ids)
        if not reason:
            verb(bench, ids)
        else:
            what = done.removesuffix(":")
            what = what[:1].lower() + what[1:]
            label = f"{what} {names[0] if len(names) == 1 else counted(len(names), 'proposal')}"
            group = bench.review.origin(ids) if approving else ""
            # Nothing is masked in what comes from a file, so the reason is before.
            said = bench.safety.masked(reason) if group else reason
            with bench.library.transaction(bench.context.actor, f"{label}: {said}", group=group):
                verb(bench, ids)
                if kept:
                    bench.safety.keep_typed(reason)
    return _report(session, done, names)


def _asked(session: Session, bench: "Workbench", *, approving: bool = False) -> list[str]:
    """Return the ids that were given, or those of a filter; raises `WorkbenchError` for a filter nobody agreed to.

    What is approved one by one only is left out of those of a filter.
    """
    from workbench.cli.review.reading import matching, print_rows

    args = session.args
    chosen = bool(args.filter.strip() or args.kind)
    if chosen == bool(args.ids):
        raise InvalidQuery("Name ids, or --filter and --kind, and not both.", "Nothing was changed.")
    if not chosen:
        return _waiting(bench, args.ids)
    every = matching(bench, args.filter, args.kind, found=args.found)
    alone = [p for p in every if approving and group_of(p) == IMPORTANT.id]
    found = [p for p in every if p not in alone]
    if alone:
        warn(f"Left out: {counted(len(alone), 'memory', 'memories')} of importance 8 or more; archive those by ID.")
    if not found:
        raise InvalidQuery("No proposal matches.", "Nothing was changed; `workbench review list` shows what waits.")
    if not args.yes:
        print_rows(bench, found[:LISTED])
        what = counted(len(found), "proposal")
        more = f", of which the first {LISTED} are listed" if len(found) > LISTED else ""
        raise InvalidQuery(f"Nothing was decided yet: this is about {what}{more}.", "Add --yes to decide all of them.")
    return [proposal.id for proposal in found]


def _reason(session: Session) -> str:
    return " ".join(clean_for_store(session.args.reason).split())


def _waiting(bench: "Workbench", asked: Sequence[str]) -> list[str]:
    """Return the ids, each once, of what is called so; raises `UnknownRecord` for what waits for nothing."""
    from workbench.cli.review.reading import opened

    ids = []
    for id in asked:
        try:
            ids.append(opened(bench, id).id)
        except UnknownRecord as error:
            raise UnknownRecord(error.message, f"Nothing was changed. {_hint(bench, id)}") from error
    return list(dict.fromkeys(ids))


def _names(bench: "Workbench", ids: Sequence[str]) -> list[str]:
    from workbench.services.safety.masking import masked_name

    return [masked_name(id, bench.safety.masked) for id in ids]


def _hint(bench: "Workbench", id: str) -> str:
    """Say what an id that is not in the queue may be."""
    memory = bench.library.memories.find(id)
    if memory is not None:
        why = f" ({memory.archived_reason})" if memory.archived_reason else ""
        return f"That memory is {memory.status}{why}."
    decided = bench.library.proposals.find(id)
    if decided is not None:
        return f"That proposal was {decided.state} already."
    near = difflib.get_close_matches(id, [p.id for p in bench.review.queue()], n=1)
    return f"Did you mean {near[0]}?" if near else "`workbench review list` shows what waits."


def _report(session: Session, done: str, ids: Sequence[str], **more: str) -> int:
    if wants_json(session.args):
        write_json({"done": done.removesuffix(":").lower(), "ids": ids, **more})
    else:
        say(f"{done} {ids[0] if len(ids) == 1 else counted(len(ids), 'proposal')}. `workbench undo` takes it back.")
    return 0
