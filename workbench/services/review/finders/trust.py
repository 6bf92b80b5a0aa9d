"""What came from elsewhere and nobody has looked at yet: lines of the store, and documents that are followed."""

from hashlib import blake2b

from workbench.core.errors import UnreadableFile
from workbench.core.review.proposal import Proposal
from workbench.services.duplicates.plan import WORKBENCH
from workbench.services.review.finders.finder import Cancelled, Finder, Parts


def _store(parts: Parts, cancelled: Cancelled) -> tuple[Proposal, ...]:
    del cancelled
    library = parts.context.library
    if library.standing.trusted:
        return ()
    title = "Lines of this store that came from elsewhere"
    return (Proposal(f"trust-{library.revision}", "trust", WORKBENCH, title, parts.context.now(), importance=10.0),)


def _documents(parts: Parts, cancelled: Cancelled) -> tuple[Proposal, ...]:
    folders, _ = parts.documents.folders()
    found = []
    for folder in folders:
        if cancelled():
            break
        try:
            opened = parts.documents.opened(folder.root)
        except UnreadableFile:
            continue  # it went meanwhile
        changes = opened.changes
        if changes.are_none:
            continue
        parted = (("new", changes.new), ("changed", changes.changed), ("gone", changes.gone))
        reasons = [f"{what}: {path}" for what, paths in parted for path in paths]
        reasons += [f"{changes.messages:,} bytes of messages"] if changes.messages else []
        marks = "\n".join(f"{path} {mark.sha256} {mark.size}" for path, mark in sorted(changes.marks.items()))
        name = blake2b(f"{folder.root}\n{marks}".encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()
        title = f"{folder.name}: {_counted(len(reasons))}"
        found.append(Proposal(
            f"documents-{name}", "documents", WORKBENCH, title, parts.context.now(), reasons=tuple(reasons[:_NAMED]),
            operation={"path": str(folder.root)},
        ))  # fmt: skip
    return tuple(found)


_NAMED = 20
"""Documents of one folder that are named at most."""


def _counted(count: int) -> str:
    return "1 document that you have not seen" if count == 1 else f"{count} documents that you have not seen"


STORE = Finder(_store, searching=False)
DOCUMENTS = Finder(_documents, searching=False)
