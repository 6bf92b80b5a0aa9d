"""`workbench curate`: Claude as the Curator of a playbook; what it suggests waits in Review."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.output import fail, moment, plain, say, warn, write_json
from workbench.cli.parsing import Commands, add_command, add_json, wants_json
from workbench.cli.progress import interruptible, waits_said
from workbench.cli.safety.flags import Shown
from workbench.cli.session import INTERRUPTED, PROBLEM, Session
from workbench.core.files.locks import irreplaceable
from workbench.core.text import counted, one_line

if TYPE_CHECKING:
    from workbench.services.open import Workbench
    from workbench.services.playbook.curation import Asked, Card, CurationPlan, Reply


# What `workbench curate` prints of the replies: each suggestion with its difference and what stands in its way.


TEXT = 200
"""Cells of a suggestion's text."""


@dataclass(frozen=True, slots=True)
class Curated:
    """A curation: what was asked, what came of it with the cards of each reply, and how many went into Review."""

    plan: "CurationPlan"
    asked: "Asked"
    looked: "tuple[tuple[Reply, tuple[Card, ...]], ...]"
    fresh: int
    dry: bool


def print_curation(bench: "Workbench", done: Curated) -> None:
    """Print each reply with its suggestions, what became of them, and what was used."""
    mask, limit = bench.safety.masked, done.plan.limit
    for reply, cards in done.looked:
        said = f": {one_line(mask(reply.said), 400)}" if reply.said else ""
        say(f"The {reply.actor}{said}")
        for card in cards:
            _print_card(card, mask)
        say()
    say(_sum(done))
    month = f"; {bench.curation.runs.spent():,} of {limit:,} this month" if limit else ""
    say(f"Used {done.asked.usage.input:,} tokens in and {done.asked.usage.output:,} out{month}.")


def curation_json(bench: "Workbench", done: Curated) -> dict[str, object]:
    """Return a curation for `--json`."""
    plan, asked, shown = done.plan, done.asked, Shown(bench)
    return {
        "book": plan.book,
        "told": len(plan.told),
        "since": plan.since,
        "unknown_bullets": plan.unknown,
        "dry_run": done.dry,
        "replies": [
            {"actor": reply.actor, "said": reply.said, "suggestions": [shown(_card_json(card)) for card in cards]}
            for reply, cards in done.looked
        ],
        "into_review": done.fresh,
        "problem": None if asked.problem is None else asked.problem.message,
        "unread": [one.reply for one in asked.unread],
        "usage": {**_object(asked.usage), "month": bench.curation.runs.spent(), "limit": plan.limit},
    }


def difference(card: "Card", mask: Callable[[str], str]) -> str:
    """Return a card's text: as a word diff where one bullet changes, as it came where it cannot be read."""
    from workbench.cli.worddiff import word_diff

    if card.suggested is None:
        return mask(card.raw)
    if card.before == card.after:
        return ""
    return word_diff(mask(card.before), mask(card.after)) if card.before and card.after else mask(card.after)


def _print_card(card: "Card", mask: Callable[[str], str]) -> None:
    say(f"  {'!' if card.problem else '·'} {one_line(card.title, TEXT)}")
    facts = (("", difference(card, mask)), ("because ", card.reason), ("not possible: ", card.problem))
    for label, text in facts:
        if text:
            say(f"      {label}{one_line(text, TEXT)}")


def _sum(done: Curated) -> str:
    count, fresh = sum(len(reply.parts) for reply in done.asked.replies), done.fresh
    if not count:
        return "Nothing is suggested." if done.asked.replies else "No reply could be read."
    if done.dry:
        return f"{counted(count, 'suggestion')}; nothing was put into Review."
    known = f", {count - fresh:,} of them waited or were decided already" if fresh < count else ""
    return f"{counted(count, 'suggestion')}{known}; {fresh:,} new in Review. `workbench undo` takes them out again."


def _card_json(card: "Card") -> dict[str, object]:
    kept = {k: v for k, v in _object(card).items() if k in ("title", "raw", "reason", "problem", "before", "after")}
    return {**kept, "touches": [bullet.id for bullet in card.touches]}


def _object(value: object) -> dict[str, object]:
    doc = plain(value)
    assert isinstance(doc, dict)
    return doc


_CURATE = """Tells Claude, as the Curator, the playbook and what was confirmed or promoted since the last curation (at
first: the latest 30), and puts the operations it suggests into Review, each as a proposal. With --run FILE the
Reflector looks at one run of an agent first: a JSON object with question, reasoning (or trace), answer, and if known
ground_truth or feedback, and the ids of the bullets it used (bullets). Its marks on those bullets go into Review as
well, and the Curator is told what it found. Secrets are masked before anything is sent, and what is sent counts towards
claude.monthly_tokens. Without a key in ANTHROPIC_API_KEY only --preview and --unread do something."""


def add_commands(commands: Commands) -> None:
    """Add `curate`."""
    parser = add_command(
        commands, "curate", curate, "let Claude suggest changes of a playbook", _CURATE,
        example="--run run.json --preview",
    )  # fmt: skip
    parser.add_argument("--book", metavar="NAME", help="which playbook, when there are several")
    parser.add_argument("--run", metavar="FILE", type=Path, help="learn from this run of an agent")
    parser.add_argument("--latest", action="store_true", help="tell the latest 30, also what was told before")
    parser.add_argument("--dry-run", action="store_true", help="ask and show, but put nothing into Review")
    parser.add_argument(
        "--preview", action="store_true", help="print exactly what would be sent first, and send nothing"
    )
    parser.add_argument("--unread", action="store_true", help="print the replies that could not be read")
    add_json(parser)


def curate(session: Session) -> int:
    """Ask, and put what is suggested into Review."""
    from workbench.cli.reflection import print_preview, print_unread

    args = session.args
    with session.changing() as bench:
        book = bench.exporter.the_book(args.book)
        if args.unread:
            return print_unread(session, bench.curation.waiting(book))
        if not args.preview and bench.curation.missing:
            warn(f"workbench: {bench.curation.missing}")
            return PROBLEM
        plan = _plan(session, bench, book)
        if args.preview:
            return print_preview(session, plan.preview, f"{plan.preview.remark} In all {_cost(plan)}")
        if plan.run is None and not plan.told:
            return _nothing(session, plan)
        return _curated(session, bench, plan)


def _plan(session: Session, bench: "Workbench", book: str) -> "CurationPlan":
    if session.args.run is None:
        lessons = bench.curation.latest() if session.args.latest else bench.curation.unseen(book)
        return bench.curation.plan(book, lessons)
    from workbench.services.playbook.curation import read_episode

    plan = bench.curation.plan_run(book, read_episode(session.cwd / _home(session.args.run)))
    if plan.unknown:
        warn(f"Not in the playbook {book}, and left out: {', '.join(plan.unknown)}")
    return plan


def _home(path: Path) -> Path:
    """Return a path with `~` as the home folder; as it is when that is not known."""
    try:
        return path.expanduser()
    except RuntimeError:
        return path


def _curated(session: Session, bench: "Workbench", plan: "CurationPlan") -> int:
    from workbench.cli.reflection import Told

    dry, told = session.args.dry_run, Told()
    warn(f"{_telling(plan)} {_cost(plan)}")
    with interruptible() as cancelled, waits_said():
        try:
            asked = bench.curation.ask(plan, told, cancelled, covers=not dry)
        finally:
            told.clear()
        stopped = cancelled()
    looked = tuple((reply, bench.curating.cards(plan.book, reply)) for reply in asked.replies)
    with waits_said(), irreplaceable():
        done = Curated(plan, asked, looked, 0 if dry else _put_off(bench, plan.book, asked), dry)
    if wants_json(session.args):
        write_json(curation_json(bench, done))
    else:
        print_curation(bench, done)
    if asked.problem is not None:
        fail(asked.problem)
    if asked.unread:
        warn("The reply that could not be read is kept: --unread shows it, and `I` in the Playbook edits it.")
    return INTERRUPTED if stopped else PROBLEM if asked.problem is not None else 0


def _put_off(bench: "Workbench", book: str, asked: "Asked") -> int:
    """Put everything that is suggested into Review, as one action; return how much of it is new there."""
    if not asked.replies:
        return 0
    with bench.library.transaction(bench.context.actor, f"suggestions for {book} into Review"):
        return sum(bench.curating.put_off(book, reply, range(len(reply.parts))) for reply in asked.replies)


def _nothing(session: Session, plan: "CurationPlan") -> int:
    if wants_json(session.args):
        write_json({"book": plan.book, "told": 0, "since": plan.since, "suggestions": [], "into_review": 0})
    elif plan.since is None:
        say("No memory is confirmed yet: approve candidates first (`workbench review`).")
    else:
        say(f"Nothing was confirmed since the last curation ({moment(plan.since)}). --latest tells the latest again.")
    return 0


def _telling(plan: "CurationPlan") -> str:
    about = f"the playbook {plan.book} ({counted(len(plan.playbook.bullets), 'bullet')})"
    if plan.run is not None:
        return f"Sending a run with {counted(len(plan.used), 'used bullet')}, then {about}, to Claude:"
    since = f" since {moment(plan.since)}" if plan.since else ""
    more = f" (of {plan.lessons.left_out + len(plan.told):,})" if plan.lessons.left_out else ""
    return f"Sending {counted(len(plan.told), 'memory', 'memories')}{more} confirmed{since} and {about} to Claude:"


def _cost(plan: "CurationPlan") -> str:
    month = f"; {plan.spent:,} of {plan.limit:,} are used this month" if plan.limit else ""
    return f"about {plan.preview.estimate.total:,} tokens in and out{month}."
