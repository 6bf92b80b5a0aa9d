"""What a key does to one bullet, wherever it is listed."""

from collections.abc import Sequence

from workbench.core.playbook.book import Bullet
from workbench.tui.app.area import AreaScreen
from workbench.tui.playbook.changes import BulletChanges
from workbench.tui.records.acts import ChangingHands

NOT_PROMOTED = "A bullet goes to agents with its playbook: X in the Playbook writes it to a file."


class OneBullet:
    """The bullet that a change is for, where there are no marks."""

    def __init__(self, area: AreaScreen, bullet: Bullet) -> None:
        self._area = area
        self._bullet = bullet

    @property
    def book(self) -> str:
        """The id of its playbook."""
        return self._bullet.book

    def ids(self) -> list[str]:
        """Return its id."""
        return [self._bullet.id]

    def one(self) -> Bullet:
        """Return it."""
        return self._bullet

    def done(self, sentence: str, _ids: Sequence[str] = ()) -> None:
        """Say what happened."""
        self._area.workbench_app.say(sentence)


class BulletHands(ChangingHands):
    """Changes one bullet as the Playbook does; `key` is `BOOK/ID`."""

    def __init__(self, area: AreaScreen, key: str) -> None:
        book, _, id = key.rpartition("/")
        bullet = area.bench.playbooks.bullet(book, id)
        self._changes = BulletChanges(area, OneBullet(area, bullet))
        super().__init__(area, key, self._changes, bullet.content)

    async def forget(self) -> None:
        """Delete it."""
        await self._changes.delete()

    def promote(self) -> None:
        """Say how bullets reach agents."""
        self._area.workbench_app.say(NOT_PROMOTED)
