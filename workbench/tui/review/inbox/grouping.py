"""What Review lists, by group: a heading with its count above each, and which of them are folded."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from textual.content import Content

from workbench.core.review.groups import GROUPS, IMPORTANT, LATER, Group
from workbench.core.review.kinds import OTHER, group_of, kind_of
from workbench.core.review.proposal import Proposal
from workbench.services.review.review import is_put_off
from workbench.tui.widgets.content import MUTED, assemble
from workbench.tui.widgets.figures import number

FOLDED_FROM = 6
"""From so many on that nobody stored, or that were put off, a group is a line until it is opened."""

ASK = Group(
    "ask", "Not looked for yet", "The store is large: what compares all of its memories is looked for when you ask."
)
"""Stands for what is worked out only when a person asks for it."""


@dataclass(frozen=True, slots=True)
class Heading:
    """The line above a group, or in its place while that is `folded`; `text` takes the place of its title."""

    group: Group
    members: tuple[Proposal, ...] = ()
    folded: bool = False
    text: str = ""

    @property
    def id(self) -> str:
        """What it is known by among the rows; no proposal is called so."""
        return heading_id(self.group.id)


Item = Proposal | Heading


def heading_id(group: str) -> str:
    """Return what the heading of a group is known by."""
    return f"group {group}"


def grouped(
    listed: Sequence[Proposal], now: datetime, found: Collection[str], turned: Collection[str], done: str
) -> list[Item]:
    """Return the rows of what is listed, the groups in their order and each in the order of the queue.

    One group alone has no heading. `found` are the ids of what is stored nowhere; the groups of `turned` were folded
    or opened by hand. `done` says what was decided, and is said where nothing is left but what was put off.
    """
    parted: dict[str, list[Proposal]] = {}
    known = frozenset(group.id for group in GROUPS)
    for proposal in listed:
        place = LATER.id if is_put_off(proposal, now) else group_of(proposal)
        parted.setdefault(place if place in known else OTHER, []).append(proposal)
    if len(parted) == 1 and LATER.id not in parted and not found:
        return list(listed)
    rows: list[Item] = []
    for group in GROUPS:
        members = parted.get(group.id)
        if members is None:
            continue
        is_aside = group is LATER or all(one.id in found for one in members)
        many = is_aside and len(members) >= FOLDED_FROM
        folded = (many or group is IMPORTANT) != (group.id in turned)
        text = done if group is LATER and len(parted) == 1 else ""
        rows.append(Heading(group, tuple(members), folded, text))
        rows += [] if folded else members
    return rows


def heading_line(heading: Heading, key: str) -> Content:
    """Return the line of a heading; `key` opens and folds it."""
    title = heading.text or heading.group.title
    if not heading.members:
        more = "" if heading.text else f"  {key} looks"
        return assemble([(title, "bold $text-accent"), (more, MUTED)])
    more = f"  {key} lists them" if heading.folded else ""
    count = "" if heading.text else f"  {number(len(heading.members))}"
    return assemble([(title, "bold $text-accent"), (count, "bold"), (more, MUTED)])


def about(heading: Heading, keys: dict[str, str]) -> Content:
    """Return what a group is, what its kinds ask, and what the keys do with all of it."""
    parts = [assemble([(heading.text or heading.group.title, "bold")]), Content.styled(heading.group.about, MUTED)]
    for id, count in Counter(one.kind for one in heading.members).items():
        kind = kind_of(id)
        parts += [
            Content(""),
            assemble([(f"{number(count)} × {kind.label}  ", "bold"), (kind.question, "")]),
            assemble([("Approve: ", "bold"), (f"{kind.yes}\n", MUTED), ("Reject:  ", "bold"), (kind.no, MUTED)]),
        ]
    if not heading.members:
        return Content("\n").join([*parts, Content(""), _key(keys["list.open"], "looks for it now, beside the keys")])
    all_of = "it" if len(heading.members) == 1 else f"all {number(len(heading.members))}"
    turn = "lists them" if heading.folded else "folds them"
    parts += [Content(""), _key(keys["list.open"], turn)]
    for id, what in (("approve", "approves"), ("reject", "rejects"), ("later", "puts off")):
        look = ", after a look at what you never had in sight" if id != "later" and len(heading.members) > 1 else ""
        parts.append(_key(keys[f"review.{id}"], f"{what} {all_of}{look}"))
    return Content("\n").join(parts)


def _key(key: str, text: str) -> Content:
    return assemble([(f"{key:<6}", "bold $text-accent"), (text, "")])
