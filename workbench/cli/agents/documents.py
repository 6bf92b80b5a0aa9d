"""`workbench documents` and `recall`: what agents keep in folders and under /memories, by section
with tokens, and what it says of something.
"""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.agents.patterns import read_exactly
from workbench.cli.output import few, moment, picked, shortened, table, warn
from workbench.cli.parsing import count, file_or_stdin
from workbench.cli.safety import agreed
from workbench.cli.session import CLI_ACTOR, FOUND, Session, actor_of
from workbench.cli.verbs import (
    Answer,
    Call,
    Option,
    Verb,
    changing,
    flag,
    making,
    reading,
    review_json,
    serving,
    unreviewed,
    value,
)
from workbench.core.agents.actors import require_person
from workbench.core.agents.document import ROOT, DocumentSection
from workbench.core.record import (
    InvalidQuery,
    StoreProblem,
    UnknownRecord,
    UnreadableFile,
    WorkbenchError,
)
from workbench.core.text import counted
from workbench.core.tokens import tokens_of

if TYPE_CHECKING:
    from workbench.services.agents.documents.documents import Changes, OpenFolder
    from workbench.services.agents.documents.instructions import OpenDocument
    from workbench.services.agents.documents.recall import Recalled
    from workbench.services.open import Workbench


_DETAILS = """Lists the documents and sections of PLACE with their estimated tokens. PLACE is an external memory
session (overview.md, detail/, messages.jsonl), a folder of notes, one document in it, or a
document of the store (/memories/…). Without PLACE, or with --list: the sessions of this project,
followed folders, and the store's own documents.

Agents get documents only through `workbench recall` and recall_memory, and from a folder only
what you have reviewed: --trust shows what is new or changed, and asks. --write replaces the text
of a document; `undo` takes it back.

  workbench documents notes --follow"""

_LARGEST = 16 << 20
"""Bytes of a text that is written into a document, at most."""

SHOWN = 200
"""Lines of differences that are shown before a person is asked."""

_WHY = {"link": "is a link", "special": "is not a regular file", "large": "is larger than 4 MB",
        "unreadable": "cannot be read", "deep": "is nested too deep", "many": "is beyond the limit"}  # fmt: skip

_AS_SEEN = "Nothing changed since you reviewed it."


def _open(session: Session) -> "AbstractContextManager[Workbench]":
    args = session.args
    if args.list or args.place is None:
        others = (args.follow, args.unfollow, args.trust, args.changes, args.new, args.write)
        if args.place is not None or any(others):
            raise InvalidQuery(
                "--list takes no PLACE; the other options need one.", "Nothing was changed."
            )
    if args.follow or args.unfollow or args.new:
        return making(session)
    return changing(session) if args.write else reading(session)


def documents(call: Call) -> Answer:
    """Show, follow, trust or change documents."""
    args, own = call.args, call.bench.documents
    if args.place is None:
        return _list(call)
    if args.new:
        begun = own.begin_session(args.place)
        return Answer({"begun": begun}, [f"Begun: {begun}"])
    if args.unfollow:
        left = own.unfollow(_path(call))
        return Answer({"unfollowed": left}, [f"No longer followed: {left}"])
    if args.follow:
        folder = own.follow(_path(call))
        unseen = "Agents get none of it until you review it: `workbench documents DIR --trust`."
        many = counted(len(folder.documents), "document")
        remarks = [] if own.seen(folder).known else [unseen]
        return Answer({"followed": folder.root}, [f"Followed: {folder.root} ({many})"], remarks)
    if args.trust:
        return _trust(call)
    if args.write:
        return _write(call)
    if args.place == ROOT or args.place.startswith(ROOT + "/"):
        return _show_stored(call)
    if args.changes:
        require_person(call.bench.context.actor, "review documents", "Nothing was shown")
        opened = own.opened(_path(call))
        lines = [_AS_SEEN] if opened.changes.are_none else _change_lines(call, opened)
        return Answer(_changes_json(opened.changes), lines)
    if _path(call).is_dir() or not _path(call).exists():
        opened = _given(call.bench, own.opened(_path(call)))
        return Answer(lambda: _folder_json(opened), _folder_lines(call, opened), _skipped(opened))
    return _show_one(call)


def _list(call: Call) -> Answer:
    documents, masked = call.bench.documents, call.bench.safety.masked
    sessions, followed = list(documents.sessions()), list(documents.followed())
    stored = [
        {"path": one.path, "tokens": tokens_of(one.content), "changed_at": one.changed_at}
        for one in documents.stored()
    ]
    rows = [("session", str(path), "") for path in sessions]
    rows += [("followed", str(path), "") for path in followed]
    rows += [("stored", str(one["path"]), f"{one['tokens']:,} tokens") for one in stored]
    none = (
        "No documents yet: no session of this project, no followed folder, nothing under /memories."
    )
    return Answer(
        {"sessions": sessions, "followed": followed, "stored": stored},
        table([tuple(map(masked, row)) for row in rows]),
        [] if rows else [none],
    )


def _trust(call: Call) -> Answer:
    documents = call.bench.documents
    opened = documents.opened(_path(call))
    if opened.changes.are_none:
        return Answer({"trusted": opened.folder.root}, [_AS_SEEN])
    for line in _change_lines(call, opened):
        call.say(line)
    if not agreed(yes=call.args.yes, what="documents"):
        return Answer({"trusted": None}, ["Not trusted; nothing was changed."], code=FOUND)
    documents.trust(opened)
    return Answer({"trusted": opened.folder.root}, [f"Trusted: {opened.folder.root}"])


def _write(call: Call) -> Answer:
    args = call.args
    text = read_exactly(call.session, args.write, _LARGEST)
    if args.place.startswith(ROOT + "/"):
        call.bench.stored_documents.write(args.place, text)
    else:
        opened, one = _document(call)
        call.bench.documents.edit(opened.folder, one, text)
    return Answer({"written": args.place}, [f"Written: {args.place}"])


def _show_one(call: Call) -> Answer:
    bench, place = call.bench, call.args.place
    opened, one = _document(call)
    if one not in _given(bench, opened).documents:
        hint = "You can review and trust it, unless agents.serve is “approved”."
        raise WorkbenchError(f"{place} is not served to agents here.", hint)
    document = one.document
    json = {**_document_json(one, opened.changes), **review_json(bench, document)}
    text = call.shown(document.content).rstrip("\n")
    return Answer({**json, "content": document.content}, [unreviewed(bench, document) + text])


def _given(bench: "Workbench", opened: "OpenFolder") -> "OpenFolder":
    """Return of a folder what an agent may have: documents as a person saw them, none that gives
    orders.
    """
    context, unseen = bench.context, (*opened.changes.new, *opened.changes.changed)
    if bench.view is None:
        return opened
    if context.settings.agents.only_approved(context.actor):
        return opened._replace(documents=())
    given = [
        one
        for one in opened.documents
        if one.entry.path not in unseen
        and all(finding.kind == "secret" for finding in bench.safety.sorts(one.document.content))
    ]
    return opened._replace(documents=tuple(given))


def _show_stored(call: Call) -> Answer:
    place, bench, shown = call.args.place.rstrip("/"), call.bench, call.shown
    own = bench.documents.stored()
    one = next((document for document in own if document.path == place), None)
    below = [document for document in own if document.path.startswith(place + "/")]
    if one is not None:
        json = {
            "path": one.path,
            "tokens": tokens_of(one.content),
            "sections": _sections_json(one.sections),
            **picked(one, "changed_at", "content"),
            **review_json(bench, one),
        }
        return Answer(json, [unreviewed(bench, one) + shown(one.content).rstrip("\n")])
    if not below and place != ROOT:
        raise UnknownRecord(
            f"There is no document {place} in this store.",
            "`workbench documents --list` shows them.",
        )

    def lines() -> Iterator[str]:
        for document in below:
            yield shown(f"{document.path}  {tokens_of(document.content):,} tokens")
            yield from _section_lines(call, document.sections)

    none = "No documents yet; agents create them with the memory tool."
    rows = [{"path": d.path, "sections": _sections_json(d.sections)} for d in below]
    return Answer(rows, lines, [] if below else [none])


def _document(call: Call) -> "tuple[OpenFolder, OpenDocument]":
    """Return a document on disk with its folder: the nearest session above it, the folder it lies
    in, or the project.

    The project has its instruction files, hidden ones too.
    """
    path, documents = _path(call), call.bench.documents
    real = path.resolve()
    places = [documents.opened(p) for p in real.parents[:4][::-1] if _is_session(p)]
    places.append(documents.opened(real.parent))
    if not path.is_symlink() and (own := documents.instructions()) is not None:
        places.append(own)
    for opened in places:
        for one in opened.documents:
            if one.entry.file == real:
                return opened, one
    why = "is not a text file of the folder" if path.exists() else "does not exist"
    why = "is a link" if path.is_symlink() else why
    raise UnreadableFile(f"{path} cannot be opened: it {why}.", "Nothing was changed.")


def _is_session(folder: Path) -> bool:
    return any(
        (folder / name).exists() for name in ("working-memory", "messages.jsonl", "overview.md")
    )


def _path(call: Call) -> Path:
    from workbench.services.files.paths import as_named

    return as_named(call.args.place, call.session.cwd)


def _folder_lines(call: Call, opened: "OpenFolder") -> Iterator[str]:
    folder, changes, shown = opened.folder, opened.changes, call.shown
    total = sum(tokens_of(one.document.content) for one in opened.documents)
    kind = "external memory" if folder.kind == "session" else "notes"
    many = counted(len(opened.documents), "document")
    yield shown(f"{folder.root}  {kind} · {many} · {total:,} tokens · {_standing(changes)}")
    for one in opened.documents:
        path, document = one.entry.path, one.document
        facts = "".join(f" · {name}: {value}" for name, value in document.facts.items())
        state = " · new" if path in changes.new else " · changed" if path in changes.changed else ""
        about = f"{tokens_of(document.content):,} tokens · {moment(one.entry.changed_at)}"
        yield shown(f"{path}  {about}{state}{facts}")
        yield from _section_lines(call, document.sections)
    if folder.messages is not None:
        unseen = f" · {changes.messages:,} bytes new" if changes.messages else ""
        size = f"{folder.messages.size:,} bytes, searched and never loaded"
        yield f"{folder.messages.path}  {size}{unseen}"


def _skipped(opened: "OpenFolder") -> Iterator[str]:
    if not opened.folder.has_detail:
        yield "No details yet: the session has no detail/ folder."
    elif not opened.documents and not opened.unread:
        yield "It has no documents yet."
    for skipped in opened.folder.skipped:
        yield f"{skipped.path} {_WHY[skipped.why]} and was not opened."
    yield from (reason for _, reason in opened.unread)


def _section_lines(call: Call, sections: "tuple[DocumentSection, ...]") -> Iterator[str]:
    rows = []
    for one in sections:
        indent = "  " * max(0, one.level - 1)
        rows.append((f"{one.line:,}", f"{one.tokens:,}", indent + (one.title or "(no heading)")))
    yield from (f"  {line}" for line in table(call.shown(rows), right=(0, 1)))


def _change_lines(call: Call, opened: "OpenFolder") -> Iterator[str]:
    changes, safety = opened.changes, call.bench.safety
    lines = [f"gone     {safety.masked(path)}" for path in changes.gone]
    seen = call.bench.documents.seen(opened.folder)
    for one in opened.documents:
        path = one.entry.path
        if path in changes.new or path in changes.changed:
            state = "new" if path in changes.new else "changed"
            lines.append(f"{state:<8} {safety.masked(path)}")
            lines += [f"  {line}" for line in seen.difference(one)]
    yield from shortened(lines, SHOWN)
    if changes.messages:
        yield f"messages {changes.messages:,} bytes not reviewed"
    for one in opened.documents:
        if found := safety.sorts(one.document.content):
            reasons = " ".join(finding.reason for finding in found)
            yield f"flagged  {safety.masked(one.entry.path)}: {reasons}"


def _standing(changes: "Changes") -> str:
    if changes.are_none:
        return "reviewed"
    parts = (("new", changes.new), ("changed", changes.changed), ("gone", changes.gone))
    said = ", ".join(f"{len(paths):,} {word}" for word, paths in parts if paths)
    return f"not reviewed: {said or 'messages'}"


def _folder_json(opened: "OpenFolder") -> dict[str, object]:
    folder, messages = opened.folder, opened.folder.messages
    return {
        "folder": folder.root,
        **picked(folder, "kind", "has_detail"),
        "documents": [_document_json(one, opened.changes) for one in opened.documents],
        "messages": messages and {"path": messages.path, "bytes": messages.size},
        "changes": _changes_json(opened.changes),
        "skipped": [picked(one, "path", "why") for one in folder.skipped],
        "unreadable": [path for path, _ in opened.unread],
    }


def _document_json(one: "OpenDocument", changes: "Changes") -> dict[str, object]:
    entry, document = one.entry, one.document
    return {
        **picked(entry, "path", "scope"),
        "tokens": tokens_of(document.content),
        "seen": entry.path not in changes.new and entry.path not in changes.changed,
        "changed_at": entry.changed_at,
        "facts": dict(document.facts),
        "sections": _sections_json(document.sections),
    }


def _sections_json(sections: "tuple[DocumentSection, ...]") -> list[dict[str, object]]:
    return [picked(one, "title", "level", "line", "end", "tokens") for one in sections]


def _changes_json(changes: "Changes") -> dict[str, object]:
    return picked(changes, "new", "changed", "gone", "messages")


# `workbench recall`: what documents, raw messages or memories say of something, with citations.


_SCOPES = ("all", "overview", "detail", "messages", "stream")

_RECALL = """Searches the external memory of this project's last session (~/.ai/sessions/--<cwd>--/), followed
folders and the store's documents. The default covers detail and messages; --scope picks one, and
`stream` searches the memories. Literal matches come first, then texts that share words with the
query (at most 10,000 places are ranked).

With --for-agent secrets are masked, flagged text is held back, and only reviewed documents are
served (`workbench documents DIR --trust`).

  workbench recall "token refresh" --scope messages --limit 3"""

_RECALL_WHY = {
    "untrusted": "in documents that were not reviewed; `workbench documents DIR --trust` shows them and asks",
    "held": "held back because of the text",
    "unapproved": "left out: agents.serve limits this agent to what you wrote or approved",
    "weak": "below the floor",
}

_BROKEN = 5
"""Lines that are no message, named in one remark."""


def _opened_to_recall(session: Session) -> "AbstractContextManager[Workbench]":
    return session.reading(whole=True) if session.args.actor is None else serving(session)


def recall(call: Call) -> Answer:
    """Print what is found, the best first."""
    from workbench.services.agents.documents.recall import Recalling, answer_json, answer_text
    from workbench.services.agents.reading_log import Asked, keep

    args, bench = call.args, call.bench
    by_person, query = actor_of(args) == CLI_ACTOR, args.query.strip()
    if not by_person and not bench.trust.standing.trusted:
        return Answer({})
    recalling = Recalling(bench.context, lambda: bench.tuning, bench.safety)
    limit = args.limit or bench.context.settings.memory.default_limit
    if by_person:
        given = recalling.look(
            args.query, args.scope, limit, every=args.all_sessions, secrets=args.show_secrets
        )
    else:
        call.shown.leave()
        given = recalling.give(args.query, args.scope, limit, every=args.all_sessions)
    if args.actor is not None:
        try:
            keep(bench.context, [recalling.reading_of(given, Asked("cli", args.session))])
        except StoreProblem as error:
            warn(f"The reads were not counted. {error}")
    for remark in _left_out(given):
        warn(remark)
    asked = query if args.show_secrets else bench.safety.masked(query)
    used = [] if given.used is None else [f"Ranked under {given.used}."]
    return Answer(
        lambda: answer_json(given) | {"query": asked},
        lambda: [answer_text(asked, given.rows)],
        used,
    )


def _left_out(given: "Recalled") -> Iterator[str]:
    """Say what was left out, what could not be read, and where there is nothing yet."""
    for why, number in given.left_out.items():
        yield f"{counted(number, 'place')} {_RECALL_WHY[why]}."
    if given.scope != "stream" and not given.folders:
        yield (
            "No external memory of this project and no followed folder; `workbench documents DIR --follow` adds one."
        )
    for name in given.without_detail if given.scope in ("all", "detail") else ():
        yield f"The session {name} has no details yet."
    if given.broken:
        named = few([f"{file}:{line}" for file, line in given.broken], _BROKEN)
        lines = counted(len(given.broken), "line contains", "lines contain")
        yield f"{lines} the words and cannot be read as messages: {named}."
    yield from (f"{path} could not be read." for path in given.unread)
    yield from map(str, given.problems)
    if given.found > len(given.rows):
        yield f"{counted(given.found, 'place')} found; the best {len(given.rows):,} are shown."


OPTIONS: Mapping[str, Option] = {
    "place": {"help": "a folder, a document in it, or /memories/…"},
    "--list": flag("list sessions, followed folders and the store's documents"),
    "--follow": flag("include this folder from now on"),
    "--unfollow": flag("stop following it; its files stay"),
    "--trust": flag("review new and changed documents, and trust them"),
    "--changes": flag("show what changed since the review"),
    "--new": flag("start an external memory session with this name"),
    "--write": value("FILE", "the new text of a document (-: stdin)", type=file_or_stdin),
    "--yes": flag("with --trust: accept without asking"),
    "--scope": {"choices": _SCOPES, "default": "all", "help": "what is searched (default: all)"},
    "limit:recall": lambda parser: parser.add_argument(
        "--limit", "-n", metavar="N", type=count, help="how many (default: 5, or memory.default_limit)"
    ),
    "--all-sessions": flag("every session of this project, not just the last"),
}  # fmt: skip

VERBS = (
    Verb("documents", documents, "show and follow documents that agents keep",
         "place? --list|--follow|--unfollow|--trust|--changes|--new|--write --yes --show-secrets --json", _DETAILS,
         None, _open),
    Verb("recall", recall, "search documents and messages, with citations",
         "query --scope limit:recall --all-sessions --for-agent --session:agent --show-secrets --json", _RECALL, None,
         _opened_to_recall),
)  # fmt: skip
