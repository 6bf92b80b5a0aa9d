"""`workbench curate`: Claude as the Curator of a playbook; what it suggests waits in Review."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.describe import bullet_json
from workbench.cli.naming import UNCHANGED, bullets, nearest
from workbench.cli.output import cut, fail, moment, plain, say, table, warn, write_json
from workbench.cli.parsing import (
    Commands,
    Parser,
    add_command,
    add_json,
    add_keep,
    add_limit,
    wants_json,
)
from workbench.cli.progress import interruptible, waits_said
from workbench.cli.safety.flags import Shown, review_json, unreviewed
from workbench.cli.session import INTERRUPTED, PROBLEM, Session, keeps
from workbench.cli.stream.append import text_of
from workbench.cli.verbs import Answer, Call, Option, Verb, add_verb, changing, flag, several
from workbench.core.agents.actors import require_person
from workbench.core.files.locks import irreplaceable
from workbench.core.playbook.book import Bullet, Section
from workbench.core.record import InvalidQuery, UnknownRecord
from workbench.core.text import counted, one_line

if TYPE_CHECKING:
    from workbench.services.open import Workbench
    from workbench.services.playbook.curation import Asked, Card, CurationPlan, Reply


# `workbench bullet`: the playbook's bullets, listed, added, edited and moved.


MAIN = "main"
"""The playbook that the first bullet makes."""

DEFAULT = 50
_CHANGE = "change a playbook: it votes, or suggests with `workbench curate`"

SHOWN = 40
"""Cells of a section's title in a list."""

_BULLET = """The rules of the playbook. `vote`, `pin`, `show`, `edit` and `purge` take a bullet's id, too (BOOK/ID when
several playbooks have it); `curate` asks for changes, `export` writes them to a file.

  workbench bullet add "Hard rules" "Run migrations before the deploy"
  workbench bullet list -is:deprecated

An agent does not change a playbook: it votes, or suggests with `curate`."""

_LIST = """FILTER is the filter of the Playbook area: words in the id, the text or the section, "exact phrase",
section:, is: (high, problematic, unused, pinned, voted, deprecated, over, disputed, helps, hurts); a leading -
excludes.

  workbench bullet list section:pitfalls -is:deprecated"""

_ADD = """The bullet comes last in its section, with an id of its own. SECTION is a title, a key or an id. The first
bullet of a store begins a playbook, with that section.

  workbench bullet add "Hard rules" "Run migrations before the deploy" --make-section"""

_EDIT = """The id, the votes and the place stay.

  workbench bullet edit shr-00004 "Run migrations before the deploy, never after it\""""

_MOVE = """It keeps its id and votes, and comes last in the section, or at --position; --also takes others along.

  workbench bullet move shr-00004 pitfalls --also shr-00007 --position 1"""


def _position(text: str) -> int:
    from workbench.cli.parsing import count

    return count(text) - 1


_OPTIONS: Mapping[str, Option] = {
    "filter": {"help": "which ones (default: all)"},
    "limit": lambda parser: add_limit(parser, DEFAULT),
    "--book": {"metavar": "NAME", "help": "which playbook, when there are several"},
    "section": {"help": "where it goes"},
    "text": {"help": "the text, or - to read it from stdin"},
    "text:rule": {"help": "the rule, or - to read it from stdin"},
    "id": {},
    "--make-section": flag("make the section when there is none of that name"),
    "keep": lambda parser: add_keep(parser, "the text"),
    "--also": several("ID", "another bullet; several times"),
    "--position": {
        "metavar": "N",
        "type": _position,
        "help": "the place of the first one; 1 is the top",
    },
}


def add_commands(commands: Commands) -> None:
    _add_curate(commands)
    about = "list, add, edit and move the playbook's bullets"
    bullet = add_verb(commands, Verb("bullet", list_bullets, about, "", _BULLET, None), _OPTIONS)
    bullet.set_defaults(filter=[], limit=DEFAULT, book=None, json=False, show_secrets=False)
    below = bullet.add_subparsers(
        title="what to do", metavar="VERB", prog=bullet.prog, parser_class=Parser
    )
    verbs = (
        Verb("list", list_bullets, "list bullets in the order of the file",
             "filter* --book limit --show-secrets --json", _LIST, None),
        Verb("add", add_bullet, "add a bullet to a section", "section text:rule --make-section --book keep --json",
             _ADD, None, changing),
        Verb("edit", edit_bullet, "change the text of a bullet", "id text keep --book --json", _EDIT, None, changing),
        Verb("move", move_bullets, "move bullets to a section, or within it",
             "id section --also --position --book --json", _MOVE, None, changing),
    )  # fmt: skip
    for verb in verbs:
        add_verb(below, verb, _OPTIONS).takes_filter = verb.name == "list"


def list_bullets(call: Call) -> Answer:
    """Print the bullets that a filter lets through."""
    from workbench.core.playbook.filter import parse_book_filter

    args, bench, shown = call.args, call.bench, call.shown
    wanted = parse_book_filter(" ".join(args.filter))
    books = [bench.exporter.the_book(args.book)] if args.book else bench.exporter.books()
    found = []
    for book in books:
        view = bench.playbooks.view(book)
        told = {"over": view.over, "disputed": view.disputed}
        told |= {verdict: view.found_to(verdict) for verdict in ("helps", "hurts")}
        found += [
            (section, bullet) for section, part in view.listed(wanted, told) for bullet in part
        ]
    listed = [(shown(section), shown(bullet), bullet) for section, bullet in cut(found, args.limit)]
    json = [bullet_json(bullet) | review_json(bench, stored) for _, bullet, stored in listed]
    rows = [
        _row(part, one, len(books) > 1, unreviewed(bench, stored)) for part, one, stored in listed
    ]
    none = (
        "No bullet matches."
        if books
        else "The store has no playbook yet; `workbench bullet add` begins one."
    )
    return Answer(
        json, lambda: table(rows, right=(1, 2)), () if found or wants_json(args) else [none]
    )


def add_bullet(call: Call) -> Answer:
    args, bench = call.args, call.bench
    text, kept = text_of(args.text), keeps(args)
    made: list[str] = []
    require_person(bench.context.actor, _CHANGE)
    first = not bench.exporter.books()
    book = args.book or MAIN if first else bench.exporter.the_book(args.book)
    section = _section(bench, book, args.section, make=args.make_section)
    with bench.safety.keeping(f"add to {args.section}", [text] if kept else (), lambda: made):
        if section:
            id = bench.playbooks.add(book, section, text)
        else:
            id = bench.playbooks.add_to_new_section(book, args.section, text)
        made.append(f"{book}/{id}")
    bullet = bench.playbooks.bullet(book, id)
    return _done([bullet], f"Added {id} to {one_line(args.section, SHOWN)}.")


def edit_bullet(call: Call) -> Answer:
    """Change one text."""
    args, bench = call.args, call.bench
    text, kept = text_of(args.text), keeps(args)
    require_person(bench.context.actor, _CHANGE)
    (bullet,) = bullets(bench, _in_book(args.book, [args.id]))
    place = f"{bullet.book}/{bullet.id}"
    with bench.safety.keeping(f"edit {bullet.id}", [text] if kept else (), lambda: [place]):
        bench.playbooks.edit(bullet.book, bullet.id, text)
    now = bench.playbooks.bullet(bullet.book, bullet.id)
    if now == bullet:
        return _done([bullet], "Nothing differs; nothing was changed.", changed=False)
    return _done([now], f"Edited {bullet.id}.")


def move_bullets(call: Call) -> Answer:
    args, bench = call.args, call.bench
    require_person(bench.context.actor, _CHANGE)
    found = bullets(bench, _in_book(args.book, [args.id, *args.also]))
    if len({bullet.book for bullet in found}) > 1:
        raise InvalidQuery(
            "The bullets are of several playbooks.",
            f"{UNCHANGED} Move those of each by themselves.",
        )
    book, ids = found[0].book, [bullet.id for bullet in found]
    bench.playbooks.move(book, ids, _section(bench, book, args.section, make=False), args.position)
    moved = [bench.playbooks.bullet(book, id) for id in ids]
    return _done(moved, f"Moved {', '.join(ids)} to {one_line(args.section, SHOWN)}.")


def _in_book(book: str | None, ids: list[str]) -> list[str]:
    return ids if book is None else [f"{book}/{id}" for id in ids]


def _section(bench: "Workbench", book: str, name: str, *, make: bool) -> str:
    """Return the id of a section, empty where one is to be made; raises `UnknownRecord`, with what
    there is.
    """
    from workbench.core.playbook.operations import find_section

    if book not in bench.library.books:
        return ""
    playbook = bench.playbooks.open(book)
    try:
        return find_section(playbook, name).id
    except UnknownRecord as error:
        titles = [
            bench.safety.masked(section.title) for section in playbook.sections if section.title
        ]
        if make or not titles:
            return ""
        raise UnknownRecord(error.message, _near(name, titles)) from error


def _near(name: str, titles: list[str]) -> str:
    near = {title.casefold(): title for title in titles}.get(
        nearest(name.casefold(), [t.casefold() for t in titles])
    )
    return (
        f"{UNCHANGED} Did you mean “{near}”?"
        if near
        else f"{UNCHANGED} There are: {', '.join(_quoted(titles))}."
    )


def _quoted(titles: list[str]) -> Iterator[str]:
    yield from (f"“{one_line(title, SHOWN)}”" for title in titles)


def _row(section: Section, bullet: Bullet, with_book: bool, mark: str) -> tuple[str, ...]:
    name = f"{bullet.book}/{bullet.id}" if with_book else bullet.id
    marks = ("★ " if bullet.pinned else "") + ("× " if bullet.state == "deprecated" else "")
    votes = (f"+{bullet.helpful_count}", f"−{bullet.harmful_count}")
    return (
        name,
        *votes,
        one_line(section.title, SHOWN),
        mark + marks + one_line(bullet.content, 500),
    )


def _done(found: list[Bullet], sentence: str, *, changed: bool = True) -> Answer:
    first, ids = found[0], [bullet.id for bullet in found]
    json = {
        "id": first.id,
        "book": first.book,
        "section": first.section,
        "ids": ids,
        "changed": changed,
    }
    return Answer(json, [f"{sentence} `workbench undo` takes it back." if changed else sentence])


# What `workbench curate` prints of the replies: each suggestion with its difference and what stands
# in its way.


TEXT = 200
"""Cells of a suggestion's text."""


@dataclass(frozen=True, slots=True)
class Curated:
    """A curation: what was asked, what came of it with the cards of each reply, and how many went
    into Review.
    """

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
            {
                "actor": reply.actor,
                "said": reply.said,
                "suggestions": [shown(_card_json(card)) for card in cards],
            }
            for reply, cards in done.looked
        ],
        "into_review": done.fresh,
        "problem": None if asked.problem is None else asked.problem.message,
        "unread": [one.reply for one in asked.unread],
        "usage": {
            **_object(asked.usage),
            "month": bench.curation.runs.spent(),
            "limit": plan.limit,
        },
    }


def difference(card: "Card", mask: Callable[[str], str]) -> str:
    """Return a card's text: as a word diff where one bullet changes, as it came where it cannot be
    read.
    """
    from workbench.cli.worddiff import word_diff

    if card.suggested is None:
        return mask(card.raw)
    if card.before == card.after:
        return ""
    return (
        word_diff(mask(card.before), mask(card.after))
        if card.before and card.after
        else mask(card.after)
    )


def _print_card(card: "Card", mask: Callable[[str], str]) -> None:
    say(f"  {'!' if card.problem else '·'} {one_line(card.title, TEXT)}")
    facts = (
        ("", difference(card, mask)),
        ("because ", card.reason),
        ("not possible: ", card.problem),
    )
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
    kept = {
        k: v
        for k, v in _object(card).items()
        if k in ("title", "raw", "reason", "problem", "before", "after")
    }
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


def _add_curate(commands: Commands) -> None:
    """Add `curate`."""
    parser = add_command(
        commands, "curate", curate, "let Claude suggest changes of a playbook", _CURATE,
        example="--run run.json --preview",
    )  # fmt: skip
    parser.add_argument("--book", metavar="NAME", help="which playbook, when there are several")
    parser.add_argument("--run", metavar="FILE", type=Path, help="learn from this run of an agent")
    parser.add_argument(
        "--latest", action="store_true", help="tell the latest 30, also what was told before"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="ask and show, but put nothing into Review"
    )
    parser.add_argument(
        "--preview",
        action="store_true",
        help="print exactly what would be sent first, and send nothing",
    )
    parser.add_argument(
        "--unread", action="store_true", help="print the replies that could not be read"
    )
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
            return print_preview(
                session, plan.preview, f"{plan.preview.remark} In all {_cost(plan)}"
            )
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
        warn(
            "The reply that could not be read is kept: --unread shows it, and `I` in the Playbook edits it."
        )
    return INTERRUPTED if stopped else PROBLEM if asked.problem is not None else 0


def _put_off(bench: "Workbench", book: str, asked: "Asked") -> int:
    """Put everything that is suggested into Review, as one action; return how much of it is new
    there.
    """
    if not asked.replies:
        return 0
    with bench.library.transaction(bench.context.actor, f"suggestions for {book} into Review"):
        return sum(
            bench.curating.put_off(book, reply, range(len(reply.parts))) for reply in asked.replies
        )


def _nothing(session: Session, plan: "CurationPlan") -> int:
    if wants_json(session.args):
        write_json(
            {"book": plan.book, "told": 0, "since": plan.since, "suggestions": [], "into_review": 0}
        )
    elif plan.since is None:
        say("No memory is confirmed yet: approve candidates first (`workbench review`).")
    else:
        say(
            f"Nothing was confirmed since the last curation ({moment(plan.since)}). --latest tells the latest again."
        )
    return 0


def _telling(plan: "CurationPlan") -> str:
    about = f"the playbook {plan.book} ({counted(len(plan.playbook.bullets), 'bullet')})"
    if plan.run is not None:
        return (
            f"Sending a run with {counted(len(plan.used), 'used bullet')}, then {about}, to Claude:"
        )
    since = f" since {moment(plan.since)}" if plan.since else ""
    more = f" (of {plan.lessons.left_out + len(plan.told):,})" if plan.lessons.left_out else ""
    return f"Sending {counted(len(plan.told), 'memory', 'memories')}{more} confirmed{since} and {about} to Claude:"


def _cost(plan: "CurationPlan") -> str:
    month = f"; {plan.spent:,} of {plan.limit:,} are used this month" if plan.limit else ""
    return f"about {plan.preview.estimate.total:,} tokens in and out{month}."
