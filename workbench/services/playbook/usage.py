"""What runs tell about the bullets of a playbook: logs that were read in, and what they say now."""

from collections.abc import Iterable, Mapping, Sequence

from workbench.core.playbook.book import Bullet, Playbook
from workbench.core.playbook.usage import BulletUsage, Run, usages
from workbench.core.playbook.usage_tally import UsageTally
from workbench.store.library import Library


class Usages:
    """The usage of bullets over all logs of their playbook; worked out again only when something changed."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._known: dict[str, tuple[object, Mapping[str, BulletUsage]]] = {}

    def of(self, playbook: Playbook) -> Mapping[str, BulletUsage]:
        """Return the usage of every bullet that some run used, by id; empty without logs."""
        book = playbook.book.id
        tallies = [tally for tally in self._library.tallies.all() if tally.book == book]
        if not tallies:
            return {}
        names = {alias: b.id for b in playbook.bullets for alias in b.aliases}
        ids = [b.id for b in playbook.bullets]
        state = (tuple(tallies), names, ids)
        before = self._known.get(book)
        if before is not None and before[0] == state:
            return before[1]
        runs = [run for tally in tallies for run in tally.runs()]
        found = {told.bullet: told for told in usages(runs, ids, names) if told.used.runs}
        self._known[book] = (state, found)
        return found


def books_of(bullets: Iterable[Bullet], named: Iterable[str]) -> dict[str, int]:
    """Return the books that know most of the bullets named, and how many of those; empty when none knows any.

    Ids are unique within a book only, so that several may know as many.
    """
    wanted = frozenset(named)
    known: dict[str, set[str]] = {}
    for bullet in bullets:
        for name in wanted.intersection((bullet.id, *bullet.aliases)):
            known.setdefault(bullet.book, set()).add(name)
    most = max((len(names) for names in known.values()), default=0)
    return {book: len(names) for book, names in known.items() if len(names) == most}


def named_in(runs: Iterable[Run]) -> frozenset[str]:
    """Return the ids of all bullets that runs used."""
    return frozenset(id for run in runs for id in run.bullets)


def counted(tallies: Sequence[UsageTally]) -> int:
    """Return how many runs some tallies hold."""
    return sum(tally.count for tally in tallies)
