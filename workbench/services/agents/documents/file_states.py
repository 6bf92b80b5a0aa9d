"""How the documents around a store look on disk, without reading any: whether one changed is seen by that."""

from collections.abc import Mapping

from workbench.core.errors import UnreadableFile
from workbench.services.agents.documents.documents import Documents
from workbench.services.agents.documents.reading import DocumentFolder, open_folder
from workbench.services.agents.documents.seen import look_of

Looks = Mapping[tuple[str, str], str]
"""How each document looks, by the folder it is in and its path there; a folder that cannot be opened has no path."""


def looks_of(documents: Documents) -> Looks:
    """Return how the documents of all folders look now; raw messages, which only grow, are not among them."""
    found: dict[tuple[str, str], str] = {}
    for path in dict.fromkeys((*documents.sessions(), *documents.followed())):
        try:
            folder = open_folder(path)
        except UnreadableFile:
            found[str(path), ""] = ""
        else:
            found |= _looks_in(folder)
    instructions = documents.instruction_folder()
    return found if instructions is None else found | _looks_in(instructions)


def _looks_in(folder: DocumentFolder) -> dict[tuple[str, str], str]:
    root = str(folder.root)
    found = {(root, entry.path): look_of(entry.file) for entry in folder.documents}
    return found | {(root, one.path): one.why for one in folder.skipped} | {(root, ""): folder.kind}
