"""The documents around a store: its own, the folders it follows, and the external memory of agents'
sessions.
"""

import contextlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from rapidfuzz.distance import Indel

from workbench.core.agents.actors import OWN_TERMINAL, require_person, stands_by
from workbench.core.agents.document import (
    DETAIL,
    MESSAGES,
    OVERVIEW,
    WORKING,
    Document,
    EditedFile,
    FollowedFolder,
    overview_template,
)
from workbench.core.files.replacing import changed_meanwhile
from workbench.core.record import (
    Conflict,
    InvalidRecord,
    UnknownRecord,
    UnreadableFile,
    WorkbenchError,
)
from workbench.services.agents.documents.instructions import (
    Changes,
    DocumentFolder,
    Entry,
    Mark,
    OpenDocument,
    Seen,
    instruction_files,
    is_loaded,
    look_of,
    open_folder,
    read_document,
)
from workbench.services.context import Context, Service, encoded
from workbench.services.files.replaced import Replaced
from workbench.services.promotion.placements import (
    FileEdit,
    carry_out,
    missing_folders,
    places_of,
    read,
)
from workbench.services.safety.secret_filter import SecretFilter
from workbench.store.library import Tx

# Changing documents on disk as transactions: every other byte stays, and undo brings the file back.
#
# The store keeps only hashes; the bytes lie with the copies of replaced files, outside of it, so
# that no secret of a file gets into the store. A file that somebody else changed since is left
# alone, and so is the transaction then.


NOTHING = "Nothing was written."


class FollowingEdits:
    """Brings files to what the open transaction says of them; after an error they are brought back."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._table = context.library.table(EditedFile)
        self._copies = Replaced(context.documents.replaced)
        self._done: list[FileEdit] = []

    def __call__(self) -> None:
        """Write the files; called inside the transaction, after everything is staged. Raises
        `WorkbenchError`.
        """
        before = {record.id: record for record in self._table.all()}
        after = {record.id: record for record in self._table.staged()}
        for path in dict.fromkeys((*before, *after)):
            old, new = before.get(path), after.get(path)
            if old == new:
                continue
            forward = old is None or (new is not None and new.turn > old.turn)
            edit = new if forward else old
            assert edit is not None  # one of them differs from nothing
            sides = (edit.was, edit.sha256) if forward else (edit.sha256, edit.was)
            self._move(Path(path), *sides, edit.folders)

    def take_back(self) -> None:
        """Bring the files back that were written."""
        for edit in reversed(self._done):
            with contextlib.suppress(WorkbenchError):
                carry_out(
                    [FileEdit(edit.path, edit.name, edit.after, edit.before, edit.folders)],
                    through_links=False,
                )
        self._done = []

    def _move(self, path: Path, start: str, end: str, folders: int) -> None:
        if start == end:
            return
        _require_plain(path)
        present = read(path)
        if hash_of(present) == end:
            return  # it is there already
        if hash_of(present) != start:
            raise Conflict(
                f"{path} was changed by others since.",
                f"{NOTHING} The present content is unchanged.",
            )
        wanted = None if not end else self._copies.held(end)
        if end and wanted is None:
            raise WorkbenchError(f"The previous content of {path} is no longer kept.", NOTHING)
        edit = FileEdit(path, str(path), present, wanted, folders)
        carry_out([edit], through_links=False)
        self._done.append(edit)


@contextlib.contextmanager
def guarded(context: Context) -> Iterator[FollowingEdits]:
    """Hand out what writes the files; after an error they are brought back to what they were."""
    following = FollowingEdits(context)
    try:
        yield following
    except BaseException:
        following.take_back()
        raise


def write(
    context: Context, path: Path, before: bytes | None, after: bytes | None, label: str
) -> None:
    """Make a file what it is to become (`None`: no file) in one transaction.

    `before` is what the caller saw. Raises `Conflict` when it holds something else,
    `WorkbenchError` when it or the store cannot be written; the file is as it was then.
    """
    if before == after:
        return
    with guarded(context) as follow, context.transaction(label) as tx:
        stage(context, tx, [FileEdit(path, str(path), before, after)])
        follow()


def stage(context: Context, tx: Tx, edits: Iterable[FileEdit]) -> None:
    """Note in an open transaction what files are to become, and keep both sides; `FollowingEdits`
    writes them then.

    Raises `Conflict` for a file that is not as it was seen, `WorkbenchError` when what it holds
    cannot be kept.
    """
    wanted = list(edits)
    sides = [
        (edit.path, data)
        for edit in wanted
        for data in (edit.before, edit.after)
        if data is not None
    ]
    for edit in wanted:
        if read(edit.path) != edit.before:
            raise changed_meanwhile(edit.path)
    Replaced(context.documents.replaced).keep_all(sides)
    for edit in wanted:
        path, before, after = edit.path, edit.before, edit.after
        known = context.library.table(EditedFile).find(str(path))
        folders = missing_folders(path) if before is None else 0
        turn = 1 if known is None else known.turn + 1
        tx.put(EditedFile(str(path), hash_of(after), hash_of(before), context.now(), turn, folders))


def hash_of(data: bytes | None) -> str:
    """Return the hash of a file's bytes; empty for no file."""
    return "" if data is None else sha256(data).hexdigest()


def _require_plain(path: Path) -> None:
    """Refuse a path that leads elsewhere by now."""
    try:
        real = path.resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise WorkbenchError(f"{path} is not a valid path.", NOTHING) from error
    if real != path or path.is_symlink():
        raise WorkbenchError(f"{path} now leads to another place.", f"{NOTHING} Look at {real}.")


MOST_SESSIONS = 200
"""Sessions of one project that are looked at, the latest ones."""

_LONGEST_NAME = 120


class Vanished(WorkbenchError):
    """A document that was open is not there any more."""


class OpenFolder(NamedTuple):
    """A folder with its documents read: what is in it, what could not be read, and what nobody has
    looked at.
    """

    folder: DocumentFolder
    documents: tuple[OpenDocument, ...]
    unread: tuple[tuple[str, str], ...]
    changes: Changes


class Documents(Service):
    """Opens, follows, trusts and edits documents."""

    # The store's own

    def stored(self) -> tuple[Document, ...]:
        """Return the documents that the store keeps itself, by path."""
        return tuple(sorted(self._library.table(Document).all(), key=lambda one: one.id))

    # Folders on disk

    def followed(self) -> tuple[Path, ...]:
        return tuple(sorted(Path(one.id) for one in self._library.table(FollowedFolder).all()))

    def follow(self, path: Path) -> DocumentFolder:
        """Follow a folder from now on. Raises `UnreadableFile`, or `InvalidRecord` for one that is
        followed.
        """
        folder = open_folder(path)
        if folder.root in self.followed():
            raise InvalidRecord(f"{folder.root} is already followed.", "Nothing was changed.")
        with self._context.transaction(f"follow {folder.name}") as tx:
            tx.put(FollowedFolder(str(folder.root), self._context.now()))
        return folder

    def unfollow(self, path: Path) -> Path:
        """Follow a folder no longer; its files stay. Raises `UnknownRecord`."""
        table = self._library.table(FollowedFolder)
        found = table.find(str(path)) or table.find(str(path.resolve()))
        if found is None:
            raise UnknownRecord(
                f"{path} is not followed.", "`workbench documents --list` shows what is."
            )
        with self._context.transaction(f"follow {path.name} no longer") as tx:
            tx.delete(found)
        return Path(found.id)

    def sessions(self) -> tuple[Path, ...]:
        """Return the sessions of external memory of this project, the one that was written last
        first.
        """
        base = self._context.documents.sessions
        found: list[tuple[float, Path]] = []
        if base is None or not self._context.settings.memory.enabled:
            return ()
        for folder in self._working():
            try:
                inside = [one for one in (base / encoded(folder)).iterdir() if _is_folder(one)]
                found += [(at, one) for one in inside if (at := _written(one)) is not None]
            except OSError:
                continue
        return tuple(path for _, path in sorted(found, reverse=True)[:MOST_SESSIONS])

    def last_session(self) -> Path | None:
        """Return the session of this project that was written last, or else the last one that is
        followed.
        """
        followed = (
            (at, one)
            for one in self.followed()
            if _is_session(one) and (at := _written(one)) is not None
        )
        return next(iter(self.sessions()), None) or max(followed, default=(0.0, None))[1]

    def begin_session(self, name: str) -> Path:
        """Begin a session of external memory: an overview with its headings.

        Raises `InvalidRecord` for a name that is none, `Conflict` when it is there already.
        """
        base, here = self._context.documents.sessions, self._working()
        if base is None or not here:
            raise WorkbenchError(
                "There is no folder for sessions: your home folder cannot be found."
            )
        plain = name.strip()
        if (
            not plain
            or plain != Path(plain).name
            or plain.startswith(".")
            or len(plain) > _LONGEST_NAME
        ):
            raise InvalidRecord(
                f"“{name}” is not a valid session name.",
                "Nothing was created; use letters and digits.",
            )
        root = base / encoded(here[0]) / plain
        overview = root.resolve() / WORKING / OVERVIEW
        write(
            self._context,
            overview,
            None,
            overview_template().encode(),
            f"begin the session {plain}",
        )
        return root

    def opened(self, path: Path) -> OpenFolder:
        """Open a folder and read its documents. Raises `UnreadableFile` when the folder cannot be
        opened.
        """
        folder = open_folder(path)
        documents, unread = read_documents(folder.documents)
        changes = self.seen(folder).changes(folder, documents)
        return OpenFolder(folder, tuple(documents), tuple(unread), changes)

    def instructions(self) -> OpenFolder | None:
        """Return the instruction files of the project, which agents load whole; `None` without a
        project or a file.
        """
        folder = self.instruction_folder()
        documents, _ = read_documents(folder.entries) if folder is not None else ([], [])
        if folder is None or not documents:
            return None
        return OpenFolder(folder, tuple(documents), (), Changes((), (), (), 0, {}))

    def instruction_folder(self) -> DocumentFolder | None:
        """Return where the project's instruction files are, unread; `None` without a project."""
        project = places_of(self._library.folder).project
        return None if project is None else instruction_files(project)

    def seen(self, folder: DocumentFolder) -> Seen:
        """Return what a person has looked at in a folder."""
        return Seen(self._context.documents.seen, folder.root)

    def trust(self, shown: OpenFolder) -> None:
        """Take over what a person saw: agents are given it from now on. Raises `WorkbenchError` for
        an agent.
        """
        if not stands_by(self._context.actor):
            raise WorkbenchError(
                "An agent cannot trust documents.", f"Nothing was changed; {OWN_TERMINAL}"
            )
        self._context.library.require_present()
        texts = {one.entry.path: one.document.content for one in shown.documents}
        self.seen(shown.folder).keep(shown.changes.marks, texts)

    def edit(
        self, folder: DocumentFolder, opened: OpenDocument, text: str, *, anew: bool = False
    ) -> OpenDocument:
        """Give a document on disk another text; secrets that it brings are masked, every other byte
        stays.

        Raises `Conflict` when the file is not as it was opened, `Vanished` when it is not there any
        more, unless it is to be made `anew`, `WorkbenchError` when its letters cannot be written;
        the text is the caller's to keep then.
        """
        entry = opened.entry
        if is_loaded(entry.file):
            require_person(
                self._context.actor, "write into a file that agents load", "Nothing was written"
            )
        clean = SecretFilter().preview(text, opened.document.content)
        try:
            after = clean.encode(opened.encoding)
        except UnicodeEncodeError as error:
            letter = clean[error.start]
            message = f"{entry.path} is written in {opened.encoding}, which has no “{letter}”."
            raise WorkbenchError(message, "Nothing was written.") from error
        gone = not entry.file.exists()
        if gone and not anew:
            raise Vanished(f"{entry.path} is gone.", "Nothing was written; your text is kept.")
        if after == opened.data and not gone:
            return opened
        write(self._context, entry.file, None if gone else opened.data, after, f"edit {entry.path}")
        if stands_by(self._context.actor):
            self.seen(folder).moved_on(entry.path, opened.data, after)
        return read_document(entry)

    # What is looked through

    def folders(
        self, *, every: bool = False
    ) -> tuple[tuple[DocumentFolder, ...], tuple[UnreadableFile, ...]]:
        """Return the folders to look through: this project's last session (or `every` one), and
        what is followed.

        With them come the errors of those that cannot be opened.
        """
        sessions = self.sessions()
        found, problems = dict[Path, DocumentFolder](), list[UnreadableFile]()
        for path in (*(sessions if every else sessions[:1]), *self.followed()):
            try:
                folder = open_folder(path)
            except UnreadableFile as error:
                problems.append(error)
            else:
                found.setdefault(folder.root, folder)
        return tuple(found.values()), tuple(problems)

    def _working(self) -> tuple[Path, ...]:
        """Return the folders that an agent of this project may work in, the likeliest first."""
        project = places_of(self._library.folder).project
        cwd = self._context.documents.cwd
        if cwd is None:
            return () if project is None else (project,)
        here = cwd.resolve()
        if project is None or not here.is_relative_to(project):
            return (here,) if project is None else (project,)
        return tuple(folder for folder in (here, *here.parents) if folder.is_relative_to(project))


def read_documents(
    entries: Sequence[Entry],
) -> tuple[list[OpenDocument], list[tuple[str, str]]]:
    """Return documents, and the paths of those that cannot be read, with what is wrong."""
    documents, unread = list[OpenDocument](), list[tuple[str, str]]()
    for entry in entries:
        try:
            documents.append(read_document(entry))
        except UnreadableFile as error:
            unread.append((entry.path, error.message))
    return documents, unread


def _written(session: Path) -> float | None:
    """Return when a session was written last; `None` for a folder that holds none."""
    below = (session / WORKING, session)
    files = (
        session / MESSAGES,
        *(folder / name for folder in below for name in (OVERVIEW, DETAIL)),
    )
    times = []
    for file in files:
        try:
            times.append(file.lstat().st_mtime)
        except OSError:
            continue
    return max(times, default=None)


def _is_session(folder: Path) -> bool:
    try:
        return open_folder(folder).kind == "session"
    except UnreadableFile:
        return False


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir() and not path.is_symlink() and not path.name.startswith(".")
    except OSError:
        return False


__all__ = ["Changes", "Documents", "Mark", "OpenFolder", "Vanished", "read_documents"]


# How the documents around a store look on disk, without reading any: whether one changed is seen by
# that.


Looks = Mapping[tuple[str, str], str]
"""How each document looks, by the folder it is in and its path there; a folder that cannot be
opened has no path.
"""


def looks_of(documents: Documents) -> Looks:
    """Return how the documents of all folders look now; raw messages, which only grow, are not
    among them.
    """
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


# What a person typed over a document whose secrets were masked: the secrets go back to where they
# were.


_MARKER = re.compile(r"\[secret: [^\]\n]{1,80}\]")
_HINT = "Nothing was written; your text is kept here. Change that line in your own editor."


def put_back(text: str, shown: str, typed: str) -> str:
    """Return `text` with what was typed over `shown`, the same with its secrets masked.

    A line that is as it was shown is as it was; one with a secret may go, or move, as a whole.
    Raises `WorkbenchError` when a line was changed in which a secret stands: what it is to be
    cannot be told.
    """
    if text == shown:
        return typed
    before, masked, after = (one.split("\n") for one in (text, shown, typed))
    if len(before) != len(masked):
        raise WorkbenchError("A secret in this document spans several lines.", _HINT)
    held = {line: before[place] for place, line in enumerate(masked) if line != before[place]}
    markers = {marker for line in held for marker in _MARKER.findall(line)}
    lines: list[str] = []
    for code in Indel.opcodes(masked, after):
        if code.tag == "equal":
            lines += before[code.src_start : code.src_end]
        for line in after[code.dest_start : code.dest_end] if code.tag != "equal" else ():
            if line not in held and any(marker in line for marker in markers):
                raise WorkbenchError("A changed line contains a masked secret.", _HINT)
            lines.append(held.get(line, line))
    return "\n".join(lines)
