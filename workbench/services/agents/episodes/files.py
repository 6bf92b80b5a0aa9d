"""Episodes from files and into files: JSON as source 004 has it, and agent-playbook's `episodic/*.json`."""

import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.core.agents.episodes.episode import read_episode
from workbench.core.files.atomic import write_file
from workbench.core.record import InvalidRecord, UnreadableFile
from workbench.core.runtime import Progress
from workbench.core.words import words
from workbench.formats import episodes as agent_playbook
from workbench.formats.episodes import Found, episodes_in, files_in, read_text
from workbench.services.agents.episodes.keeping import Episodes, Stored
from workbench.services.context import Context
from workbench.services.safety.secret_filter import IMPORT
from workbench.services.safety.texts import name_of

__all__ = ["episodes_in", "name_of"]

CHUNK = 500
"""Episodes that are committed with one line of the journal."""

DIALECTS = ("episode", agent_playbook.NAME)
"""The forms in which episodes are written: as they are, and as agent-playbook has them."""


@dataclass(frozen=True, slots=True)
class Brought:
    """What came of files: the episodes, and the group that an undo takes back (empty for one that was given)."""

    stored: tuple[Stored, ...]
    group: str = ""


def found_in(place: Path) -> tuple[Found, ...]:
    """Return what stands for episodes in a file, or in all below a folder; each is checked.

    Raises `UnreadableFile`, and `InvalidRecord` with file, field and path.
    """
    files = files_in(place)
    if not files:
        raise UnreadableFile(f"There is no file of episodes in {place}.", "Nothing was stored.")
    return tuple(one for path in files for one in checked(episodes_in(read_text(path), name_of(path)), name_of(path)))


def checked(found: Sequence[Found], file: str) -> Sequence[Found]:
    """Return what was found in a file, if there is something and each can be an episode; raises `InvalidRecord`."""
    if not found:
        raise UnreadableFile(f"{file} holds no episode.", "Nothing was stored.")
    for one in found:
        try:
            read_episode(one.doc)
        except InvalidRecord as error:
            raise InvalidRecord(f"{one.place}: {error.message}", error.hint) from error
    return found


def bring(context: Context, found: Sequence[Found], name: str, progress: Progress | None = None) -> Brought:
    """Store what was found in files, in chunks that undo as one action."""
    episodes, group = Episodes(context), f"{IMPORT}{uuid.uuid4().hex[:12]}"
    stored = list[Stored]()
    for start in range(0, len(found), CHUNK):
        chunk = found[start : start + CHUNK]
        done, part, docs = start + len(chunk), start // CHUNK + 1, [one.doc for one in chunk]
        label, more = f"store episodes of {name}", done < len(found)
        stored += episodes.store_all(docs, label=label, group=group, part=part, more=more)
        if progress is not None:
            progress(done, len(found))
    return Brought(tuple(stored), group)


def written(context: Context, ids: Sequence[str], dialect: str) -> Iterator[tuple[str, object]]:
    """Yield episodes as JSON values, each with the name of a file for it, below a folder. Raises as `Episodes.open`."""
    episodes, taken = Episodes(context), set[str]()
    for id in ids:
        opened = episodes.open(id)
        doc: object = opened.doc()
        if dialect == agent_playbook.NAME:
            slug = "-".join(words(opened.body.task)[:6])[:60]
            name = agent_playbook.file_name(opened.episode.at, slug)
            doc = agent_playbook.write(opened.doc())
        else:
            name = f"{id}.json" if all(part.isalnum() or part in "-_." for part in id) else "episode.json"
        yield _free(name, taken), doc


def write_list(target: Path, docs: Sequence[object]) -> tuple[Path, ...]:
    """Write episodes into one new file, as a list; one alone stands there itself. Raises `WorkbenchError`."""
    return _written({target: docs[0] if len(docs) == 1 else docs})


def write_each(folder: Path, docs: Sequence[tuple[str, object]]) -> tuple[Path, ...]:
    """Write each episode into a new file of its own below a folder. Raises `WorkbenchError`."""
    return _written({folder / name: doc for name, doc in docs})


def _written(docs: Mapping[Path, object]) -> tuple[Path, ...]:
    """Write new files (0600); what is there already is not replaced, and then none is written."""
    taken = next((path for path in docs if path.exists() or path.is_symlink()), None)
    if taken is not None:
        raise UnreadableFile(f"{taken} is there already.", "Nothing was written; name another place.")
    for path, doc in docs.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_file(path, f"{json.dumps(doc, indent=2)}\n".encode(), durable=False, new=True)
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            raise UnreadableFile(f"{path} cannot be written: {why}.", "Nothing in the store was changed.") from error
    return tuple(docs)


def _free(name: str, taken: set[str]) -> str:
    """Return a name that no other one has, whatever its case."""
    stem, number = name.removesuffix(".json"), 1
    while name.casefold() in taken:
        number += 1
        name = f"{stem}-{number}.json"
    taken.add(name.casefold())
    return name
