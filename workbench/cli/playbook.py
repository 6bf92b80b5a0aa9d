"""`workbench bullet` and `curate`: the rules of the playbook, and Claude as its Curator."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.append import text_of
from workbench.cli.describe import UNCHANGED, bullet_json, bullets, nearest
from workbench.cli.output import cut, fail, moment, picked, table, warn, word_diff
from workbench.cli.parsing import Parser, add_keep, count
from workbench.cli.progress import ProgressLine, progressing, waits_said
from workbench.cli.session import DONE, INTERRUPTED, PROBLEM, keeps
from workbench.cli.verbs import (
    UNDO,
    Answer,
    Call,
    Option,
    Verb,
    changing,
    flag,
    review_json,
    several,
    unreviewed,
    value,
)
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

_CHANGE = "change a playbook: it can vote, or suggest changes with `workbench curate`"

SHOWN = 40
"""Cells of a section's title in a list."""

_BULLET = """Lists and changes the rules of the playbook. `vote`, `pin`, `show`, `edit` and `purge` accept a
bullet's id too (BOOK/ID when several playbooks have it); `curate` asks for changes, `export`
writes files.

  workbench bullet add "Hard rules" "Run migrations before the deploy"
  workbench bullet list -is:deprecated

Agents cannot change a playbook: they vote, or suggest changes with `curate`."""

_LIST = """FILTER works as in the Playbook area: words in the id, text or section, "exact phrase", section:,
is: (high, problematic, unused, pinned, voted, deprecated, over, disputed, helps, hurts); a
leading - excludes.

  workbench bullet list section:pitfalls -is:deprecated"""

_ADD = """Adds the bullet to the end of its section with a new id. SECTION is a title, a key or an id. The
first bullet of a store creates its playbook, with that section.

  workbench bullet add "Hard rules" "Run migrations before the deploy" --make-section"""

_EDIT = """Id, votes and position stay.

  workbench bullet edit shr-00004 "Run migrations before the deploy, never after it\""""

_MOVE = """The bullet keeps its id and votes and goes to the end of the section, or to --position. --also
moves more bullets with it.

  workbench bullet move shr-00004 pitfalls --also shr-00007 --position 1"""


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
    none = "No bullet matches." if books else "No playbook yet; `workbench bullet add` creates one."
    return Answer(json, lambda: table(rows, right=(1, 2)), () if found else [none])


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
        return _done([bullet], "No difference; nothing was changed.", changed=False)
    return _done([now], f"Edited {bullet.id}.")


def move_bullets(call: Call) -> Answer:
    args, bench = call.args, call.bench
    require_person(bench.context.actor, _CHANGE)
    found = bullets(bench, _in_book(args.book, [args.id, *args.also]))
    if len({bullet.book for bullet in found}) > 1:
        raise InvalidQuery(
            "The bullets are in several playbooks.",
            f"{UNCHANGED} Move the bullets of each playbook separately.",
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
    known = {title.casefold(): title for title in titles}
    if near := nearest(name.casefold(), list(known)):
        return f"{UNCHANGED} Did you mean “{known[near]}”?"
    quoted = ", ".join(f"“{one_line(title, SHOWN)}”" for title in titles)
    return f"{UNCHANGED} There are: {quoted}."


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
    json = {
        **picked(found[0], "id", "book", "section"),
        "ids": [bullet.id for bullet in found],
        "changed": changed,
    }
    return Answer(json, [f"{sentence} {UNDO}" if changed else sentence])


# `workbench curate`: Claude as the Curator of a playbook; what it suggests waits in Review.


TEXT = 200
"""Cells of a suggestion's text."""

_CURATE = """Sends the playbook and what was confirmed or promoted since the last curation (the first time: the
latest 30) to Claude as the Curator, and puts each operation it suggests into Review. With --run
FILE, the Reflector first examines an agent run: a JSON object with question, reasoning (or
trace), answer, optionally ground_truth or feedback, and the ids of the bullets it used (bullets).
Its marks on those bullets go into Review too, and the Curator is told its findings. Secrets are
masked before anything is sent, and what is sent counts towards claude.monthly_tokens. Without a
key in ANTHROPIC_API_KEY, only --preview and --unread work."""


def curate(call: Call) -> Answer:
    """Ask, and put what is suggested into Review."""
    from workbench.cli.reflection import of_month, preview_answer, unread_answer

    args, curation = call.args, call.bench.curation
    book = call.bench.exporter.the_book(args.book)
    if args.unread:
        return unread_answer(curation.waiting(book))
    if not args.preview and curation.missing:
        warn(f"workbench: {curation.missing}")
        return Answer(code=PROBLEM)
    plan = _plan(call, book)
    month = of_month(plan.spent, plan.limit, " are used")
    cost = f"about {plan.preview.estimate.total:,} tokens in and out{month}."
    if args.preview:
        return preview_answer(plan.preview, f"{plan.preview.remark} In all {cost}")
    if plan.run is None and not plan.told:
        json = {"book": book, "told": 0, "since": plan.since, "suggestions": [], "into_review": 0}
        if plan.since is None:
            none = "No memory is confirmed yet: approve candidates first (`workbench review`)."
        else:
            since = f"Nothing was confirmed since the last curation ({moment(plan.since)})"
            none = f"{since}. --latest sends the latest again."
        return Answer(json, [none])
    warn(f"{_telling(plan)} {cost}")
    return _curated(call, plan)


def _plan(call: Call, book: str) -> "CurationPlan":
    args, curation = call.args, call.bench.curation
    if args.run is None:
        return curation.plan(book, curation.latest() if args.latest else curation.unseen(book))
    from workbench.services.playbook.curation import read_episode

    plan = curation.plan_run(book, read_episode(call.path(args.run)))
    if plan.unknown:
        warn(f"Not in the playbook {book}, skipped: {', '.join(plan.unknown)}")
    return plan


def _telling(plan: "CurationPlan") -> str:
    about = f"the playbook {plan.book} ({counted(len(plan.playbook.bullets), 'bullet')})"
    if plan.run is not None:
        run = f"a run with {counted(len(plan.used), 'used bullet')}"
        return f"Sending {run}, then {about}, to Claude:"
    since = f" since {moment(plan.since)}" if plan.since else ""
    out = plan.lessons.left_out
    more = f" (of {out + len(plan.told):,})" if out else ""
    told = counted(len(plan.told), "memory", "memories")
    return f"Sending {told}{more} confirmed{since} and {about} to Claude:"


def _curated(call: Call, plan: "CurationPlan") -> Answer:
    from workbench.cli.reflection import of_month, told_on

    bench, dry, line = call.bench, call.args.dry_run, ProgressLine()
    with progressing(line) as cancelled, waits_said():
        asked = bench.curation.ask(plan, told_on(line), cancelled, covers=not dry)
        stopped = cancelled()
    looked = [(reply, bench.curating.cards(plan.book, reply)) for reply in asked.replies]
    with waits_said(), irreplaceable():
        fresh = 0 if dry else _put_off(bench, plan.book, asked)
    if asked.problem is not None:
        fail(asked.problem)
    if asked.unread:
        warn("The unreadable reply is kept: --unread shows it, `I` in the Playbook edits it.")
    spent = bench.curation.runs.spent()
    json = {
        "book": plan.book,
        "told": len(plan.told),
        **picked(plan, "since", "unknown_bullets:unknown"),
        "dry_run": dry,
        "replies": [
            {**picked(reply, "actor", "said"), "suggestions": [_card_json(card) for card in cards]}
            for reply, cards in looked
        ],
        "into_review": fresh,
        "problem": None if asked.problem is None else asked.problem.message,
        "unread": [one.reply for one in asked.unread],
        "usage": {**picked(asked.usage, "input", "output"), "month": spent, "limit": plan.limit},
    }
    month = of_month(spent, plan.limit)
    used = f"Used {asked.usage.input:,} tokens in and {asked.usage.output:,} out{month}."
    code = PROBLEM if asked.problem is not None else DONE
    return Answer(
        json,
        [*_reply_lines(bench, looked), _sum(call, asked, fresh), used],
        code=INTERRUPTED if stopped else code,
    )


def _put_off(bench: "Workbench", book: str, asked: "Asked") -> int:
    """Put everything that is suggested into Review, as one action; return how much of it is new
    there.
    """
    if not asked.replies:
        return 0
    with bench.context.transaction(f"suggestions for {book} into Review"):
        return sum(
            bench.curating.put_off(book, reply, range(len(reply.parts))) for reply in asked.replies
        )


def _reply_lines(
    bench: "Workbench", looked: "list[tuple[Reply, tuple[Card, ...]]]"
) -> Iterator[str]:
    """Yield each reply with its suggestions, their differences and what stands in their way."""
    mask = bench.safety.masked
    for reply, cards in looked:
        said = f": {one_line(mask(reply.said), 400)}" if reply.said else ""
        yield f"The {reply.actor}{said}"
        for card in cards:
            yield f"  {'!' if card.problem else '·'} {one_line(card.title, TEXT)}"
            facts = (
                ("", _difference(card, mask)),
                ("because ", card.reason),
                ("not possible: ", card.problem),
            )
            yield from (f"      {name}{one_line(text, TEXT)}" for name, text in facts if text)
        yield ""


def _difference(card: "Card", mask: Callable[[str], str]) -> str:
    """Return a card's text: as a word diff where one bullet changes, as it came where it cannot be
    read.
    """
    if card.suggested is None:
        return mask(card.raw)
    if card.before == card.after:
        return ""
    after = mask(card.after)
    return word_diff(mask(card.before), after) if card.before and card.after else after


def _sum(call: Call, asked: "Asked", fresh: int) -> str:
    count = sum(len(reply.parts) for reply in asked.replies)
    if not count:
        return "No suggestions." if asked.replies else "No reply was readable."
    if call.args.dry_run:
        return f"{counted(count, 'suggestion')}; nothing was sent to Review."
    known = f", {count - fresh:,} of them already waiting or decided" if fresh < count else ""
    new = f"{counted(count, 'suggestion')}{known}; {fresh:,} new in Review"
    return f"{new}. `workbench undo` takes them back."


def _card_json(card: "Card") -> dict[str, object]:
    kept = picked(card, "raw", "title", "reason", "problem", "before", "after")
    return {**kept, "touches": [bullet.id for bullet in card.touches]}


def _position(text: str) -> int:
    return count(text) - 1


def _keep(parser: Parser) -> None:
    add_keep(parser, "the text")


OPTIONS: Mapping[str, Option] = {
    "section": {"help": "where it goes"},
    "text": {"help": "the text, or - to read it from stdin"},
    "text:rule": {"help": "the rule, or - to read it from stdin"},
    "--make-section": flag("create the section if it does not exist"),
    "keep": _keep,
    "--also": several("ID", "another bullet; repeatable"),
    "--position": value("N", "the position of the first one; 1 is the top", type=_position),
    "--run": value("FILE", "have the Reflector examine this agent run", type=Path),
    "--latest": flag("send the latest 30, even if sent before"),
    "--dry-run": flag("ask and show, without sending anything to Review"),
    "--preview": flag("print exactly what would be sent, without sending it"),
    "--unread": flag("print unreadable replies"),
}

_BULLETS = (
    Verb("list", list_bullets, "list bullets in file order",
         "filter --book limit=50 --show-secrets --json", _LIST, None),
    Verb("add", add_bullet, "add a bullet to a section", "section text:rule --make-section --book keep --json",
         _ADD, None, changing),
    Verb("edit", edit_bullet, "change the text of a bullet", "id text keep --book --json", _EDIT, None, changing),
    Verb("move", move_bullets, "move bullets to a section, or within it",
         "id section --also --position --book --json", _MOVE, None, changing),
)  # fmt: skip

VERBS = (
    Verb("curate", curate, "ask Claude to suggest changes to a playbook",
         "--book --run --latest --dry-run --preview --unread --json", _CURATE, "--run run.json --preview", changing),
    Verb("bullet", list_bullets, "list, add, edit and move the playbook's bullets", "", _BULLET, None,
         below=_BULLETS),
)  # fmt: skip
