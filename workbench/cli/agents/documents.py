"""`workbench documents`: what agents keep in folders and under /memories, by section, with tokens."""

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.output import moment, say, table, warn, write_json
from workbench.cli.parsing import Commands, add_command, add_json, count, file_or_stdin, wants_json
from workbench.cli.safety.flags import Shown, add_secrets, review_json, unreviewed
from workbench.cli.safety.trust import agreed
from workbench.cli.session import CLI_ACTOR, FOUND, Session, actor_of
from workbench.core.agents.actors import require_person
from workbench.core.agents.document import ROOT, DocumentSection
from workbench.core.files.fresh import read_named
from workbench.core.record import (
    InvalidQuery,
    StoreProblem,
    UnknownRecord,
    UnreadableFile,
    WorkbenchError,
    iso,
)
from workbench.core.text import counted
from workbench.core.tokens import tokens_of

if TYPE_CHECKING:
    from workbench.services.agents.documents.documents import Changes, OpenFolder
    from workbench.services.agents.documents.instructions import OpenDocument
    from workbench.services.agents.documents.recall import Recalled, Recalling
    from workbench.services.open import Workbench


_DETAILS = """Shows a folder by document and section with its estimated tokens: an external memory session
(overview.md, detail/, messages.jsonl), or a folder of notes; or one document of it, or of the store (/memories/…).
Without a place, or with --list, it lists the sessions of this project, what is followed, and the store's own documents.

Agents are served documents by `workbench recall` and recall_memory alone, and of a folder only what a person has looked
at: --trust shows what came or changed, and asks. --write puts another text in a document's place; undo takes it back.

  workbench documents notes --follow"""

_LARGEST = 16 << 20
"""Bytes of a text that is written into a document, at most."""

SHOWN = 200
"""Lines of differences that are shown before a person is asked."""

_WHY = {"link": "is a link", "special": "is no ordinary file", "large": "is larger than 4 MB",
        "unreadable": "cannot be read", "deep": "lies too deep", "many": "is one too many"}  # fmt: skip


def add_commands(commands: Commands) -> None:
    parser = add_command(
        commands, "documents", documents, "show and follow what agents keep in files", _DETAILS
    )
    parser.add_argument("place", nargs="?", help="a folder, a document in it, or /memories/…")
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--list",
        action="store_true",
        help="list sessions, followed folders and the store's documents",
    )
    what.add_argument("--follow", action="store_true", help="look through this folder from now on")
    what.add_argument(
        "--unfollow", action="store_true", help="look through it no longer; its files stay"
    )
    what.add_argument(
        "--trust", action="store_true", help="show documents not reviewed yet, and trust them"
    )
    what.add_argument("--changes", action="store_true", help="show what is not as it was looked at")
    what.add_argument(
        "--new", action="store_true", help="begin a session of external memory of this name"
    )
    what.add_argument(
        "--write", metavar="FILE", type=file_or_stdin, help="the new text of a document (-: stdin)"
    )
    parser.add_argument(
        "--yes", action="store_true", help="with --trust: take it over without a question"
    )
    add_secrets(parser)
    add_json(parser)
    add_recall(commands)


def documents(session: Session) -> int:
    """Show, follow, trust or change documents."""
    args = session.args
    if args.list or args.place is None:
        if args.place is not None or any(
            (args.follow, args.unfollow, args.trust, args.changes, args.new, args.write)
        ):
            raise InvalidQuery(
                "--list takes no place, and the others need one.", "Nothing was changed."
            )
        return _list(session)
    if args.follow or args.unfollow or args.new:
        return _change(session)
    if args.trust:
        return _trust(session)
    if args.write:
        return _write(session)
    return _show(session)


def _list(session: Session) -> int:
    with session.reading() as bench:
        own, sessions, followed = (
            bench.documents.stored(),
            bench.documents.sessions(),
            bench.documents.followed(),
        )
        if wants_json(session.args):
            stored = [
                {"path": one.path, "tokens": tokens_of(one.content), "changed_at": one.changed_at}
                for one in own
            ]
            write_json({"sessions": list(sessions), "followed": list(followed), "stored": stored})
            return 0
        rows = [("session", str(path), "") for path in sessions] + [
            ("followed", str(path), "") for path in followed
        ]
        rows += [("stored", one.path, f"{tokens_of(one.content):,} tokens") for one in own]
        for line in table([tuple(map(bench.safety.masked, row)) for row in rows]) if rows else ():
            say(line)
        if not rows:
            warn(
                "No documents yet: no session of this project, no followed folder, nothing under /memories."
            )
    return 0


def _change(session: Session) -> int:
    args = session.args
    with session.changing(makes=True) as bench:
        if args.new:
            say(f"Begun: {bench.documents.begin_session(args.place)}")
        elif args.follow:
            folder = bench.documents.follow(_path(session))
            say(f"Followed: {folder.root} ({counted(len(folder.documents), 'document')})")
            if not bench.documents.seen(folder).known:
                warn(
                    "No agent is served any of it before you have looked: `workbench documents DIR --trust`."
                )
        else:
            say(f"Followed no longer: {bench.documents.unfollow(_path(session))}")
    return 0


def _trust(session: Session) -> int:
    with session.reading() as bench:
        opened = bench.documents.opened(_path(session))
        if opened.changes.are_none:
            say("Everything in it is as you saw it.")
            return 0
        _print_changes(bench, opened)
        if not agreed(yes=session.args.yes, what="documents"):
            say("It stays as it is: not trusted.")
            return FOUND
        bench.documents.trust(opened)
        say(f"Trusted: {opened.folder.root}")
    return 0


def _write(session: Session) -> int:
    args = session.args
    with session.changing() as bench:
        try:
            path = session.cwd / os.fsdecode(args.write)
            text = (
                sys.stdin.buffer.read(_LARGEST + 1)
                if args.write == "-"
                else read_named(path, _LARGEST)
            )
            if len(text) > _LARGEST:
                raise UnreadableFile(
                    f"{args.write} is larger than {_LARGEST >> 20} MiB.", "Nothing was written."
                )
            new = text.decode("utf-8")
        except UnicodeDecodeError as error:
            raise UnreadableFile(
                f"{args.write} is no text in UTF-8.", "Nothing was written."
            ) from error
        except OSError as error:
            raise UnreadableFile(
                f"{args.write} cannot be read: {error.strerror}.", "Nothing was written."
            ) from error
        if args.place.startswith(ROOT + "/"):
            bench.stored_documents.write(args.place, new)
        else:
            opened, one = _document(session, bench)
            bench.documents.edit(opened.folder, one, new)
    say(f"Written: {args.place}")
    return 0


def _show(session: Session) -> int:
    args = session.args
    with session.reading() as bench:
        shown = Shown(bench, secrets=args.show_secrets)
        if args.place == ROOT or args.place.startswith(ROOT + "/"):
            _show_stored(session, bench, shown)
        elif args.changes:
            require_person(
                bench.context.actor, "look at what nobody has looked at", "Nothing was shown"
            )
            opened = bench.documents.opened(_path(session))
            if wants_json(args):
                write_json(_changes_json(opened.changes))
            elif opened.changes.are_none:
                say("Everything in it is as you saw it.")
            else:
                _print_changes(bench, opened)
        elif _path(session).is_dir() or not _path(session).exists():
            opened = _given(bench, bench.documents.opened(_path(session)))
            if wants_json(args):
                write_json(shown(_json(opened)))
            else:
                _print(opened, shown)
        else:
            opened, one = _document(session, bench)
            if one not in _given(bench, opened).documents:
                hint = "A person can look at it and trust it, where agents.serve is not “approved”."
                raise WorkbenchError(f"{args.place} is not served to agents here.", hint)
            if wants_json(args):
                row = {**_document_json(one, opened.changes), **review_json(bench, one.document)}
                write_json(shown({**row, "content": one.document.content}))
            else:
                say(unreviewed(bench, one.document) + shown(one.document.content).rstrip("\n"))
        shown.remark()
    return 0


def _given(bench: "Workbench", opened: "OpenFolder") -> "OpenFolder":
    """Return of a folder what an agent may have: documents as a person saw them, none that gives
    orders.
    """
    context = bench.context
    if bench.view is None:
        return opened
    unseen = (*opened.changes.new, *opened.changes.changed)
    return replace(
        opened,
        documents=tuple(
            one
            for one in opened.documents
            if not context.settings.agents.only_approved(context.actor)
            and one.entry.path not in unseen
            and all(
                finding.kind == "secret" for finding in bench.safety.sorts(one.document.content)
            )
        ),
    )


def _show_stored(session: Session, bench: "Workbench", shown: Shown) -> None:
    place, own = session.args.place.rstrip("/"), bench.documents.stored()
    one = next((document for document in own if document.path == place), None)
    below = [document for document in own if document.path.startswith(place + "/")]
    if one is not None:
        if wants_json(session.args):
            row = {
                "path": one.path,
                "tokens": tokens_of(one.content),
                "sections": _sections_json(one.sections),
            }
            row |= {
                "changed_at": iso(one.changed_at),
                "content": one.content,
                **review_json(bench, one),
            }
            write_json(shown(row))
        else:
            say(unreviewed(bench, one) + shown(one.content).rstrip("\n"))
    elif below or place == ROOT:
        if wants_json(session.args):
            write_json(
                shown([{"path": d.path, "sections": _sections_json(d.sections)} for d in below])
            )
            return
        for document in below:
            say(shown(f"{document.path}  {tokens_of(document.content):,} tokens"))
            _print_sections(document.sections, shown)
        if not below:
            warn("The store keeps no documents yet; agents with the memory tool make them.")
    else:
        raise UnknownRecord(
            f"There is no document {place} in this store.",
            "`workbench documents --list` shows them.",
        )


def _document(session: Session, bench: "Workbench") -> "tuple[OpenFolder, OpenDocument]":
    """Return a document on disk with its folder: the nearest session above it, the folder it lies
    in, or the project.

    The project has its instruction files, hidden ones too.
    """
    path = _path(session)
    real = path.resolve()
    for folder in (*real.parents[:4][::-1], real.parent):
        opened = (
            bench.documents.opened(folder) if _is_session(folder) or folder == real.parent else None
        )
        found = (
            None
            if opened is None
            else next((d for d in opened.documents if d.entry.file == real), None)
        )
        if opened is not None and found is not None:
            return opened, found
    own = bench.documents.instructions()
    rules = None if own is None else next((d for d in own.documents if d.entry.file == real), None)
    if own is not None and rules is not None and not path.is_symlink():
        return own, rules
    why = (
        "is a link"
        if path.is_symlink()
        else "is no text of a folder of documents"
        if path.exists()
        else "is not there"
    )
    raise UnreadableFile(
        f"{path} cannot be opened as a document: it {why}.", "Nothing was changed."
    )


def _is_session(folder: Path) -> bool:
    return any(
        (folder / name).exists() for name in ("working-memory", "messages.jsonl", "overview.md")
    )


def _path(session: Session) -> Path:
    from workbench.services.files.paths import as_named

    return as_named(session.args.place, session.cwd)


def _print(opened: "OpenFolder", shown: Shown) -> None:
    folder, changes = opened.folder, opened.changes
    total = sum(tokens_of(one.document.content) for one in opened.documents)
    kind = "external memory" if folder.kind == "session" else "notes"
    many = counted(len(opened.documents), "document")
    say(shown(f"{folder.root}  {kind} · {many} · {total:,} tokens · {_standing(changes)}"))
    for one in opened.documents:
        tokens = tokens_of(one.document.content)
        facts = "".join(f" · {name}: {value}" for name, value in one.document.facts.items())
        state = _state(one.entry.path, changes)
        say(
            shown(
                f"{one.entry.path}  {tokens:,} tokens · {moment(one.entry.changed_at)}{state}{facts}"
            )
        )
        _print_sections(one.document.sections, shown)
    if folder.messages is not None:
        size = folder.messages.size
        unseen = f" · {changes.messages:,} bytes new" if changes.messages else ""
        say(f"{folder.messages.path}  {size:,} bytes, searched and never loaded{unseen}")
    if not folder.has_detail:
        warn("No details yet: the session has no folder detail.")
    elif not opened.documents and not opened.unread:
        warn("There are no documents in it yet.")
    for skipped in folder.skipped:
        warn(f"{skipped.path} {_WHY[skipped.why]} and was not opened.")
    for _, reason in opened.unread:
        warn(reason)


def _print_sections(sections: "tuple[DocumentSection, ...]", shown: Shown) -> None:
    rows = [
        (
            f"{one.line:,}",
            f"{one.tokens:,}",
            "  " * max(0, one.level - 1) + (one.title or "(no heading)"),
        )
        for one in sections
    ]
    for line in table(shown(rows), right=(0, 1)) if rows else ():
        say(f"  {line}")


def _print_changes(bench: "Workbench", opened: "OpenFolder") -> None:
    changes, lines, mask = opened.changes, list[str](), bench.safety.masked
    for path in changes.gone:
        lines.append(f"gone     {mask(path)}")
    for one in opened.documents:
        path = one.entry.path
        if path in changes.new or path in changes.changed:
            lines.append(f"{'new' if path in changes.new else 'changed':<8} {mask(path)}")
            seen = bench.documents.seen(opened.folder)
            lines += [f"  {line}" for line in seen.difference(one)]
    for line in lines[:SHOWN]:
        say(line)
    if len(lines) > SHOWN:
        say(f"… {len(lines) - SHOWN:,} lines more")
    if changes.messages:
        say(f"messages {changes.messages:,} bytes that nobody has looked at")
    flagged = [one for one in opened.documents if bench.safety.sorts(one.document.content)]
    for one in flagged:
        reasons = " ".join(finding.reason for finding in bench.safety.sorts(one.document.content))
        say(f"flagged  {mask(one.entry.path)}: {reasons}")


def _standing(changes: "Changes") -> str:
    if changes.are_none:
        return "as you saw it"
    parts = [
        (len(changes.new), "new"),
        (len(changes.changed), "changed"),
        (len(changes.gone), "gone"),
    ]
    said = ", ".join(f"{number:,} {word}" for number, word in parts if number)
    return f"not looked at: {said}" if said else "not looked at: messages"


def _state(path: str, changes: "Changes") -> str:
    return " · new" if path in changes.new else " · changed" if path in changes.changed else ""


def _json(opened: "OpenFolder") -> dict[str, object]:
    folder = opened.folder
    messages = (
        None
        if folder.messages is None
        else {"path": folder.messages.path, "bytes": folder.messages.size}
    )
    return {
        "folder": str(folder.root),
        "kind": folder.kind,
        "has_detail": folder.has_detail,
        "documents": [_document_json(one, opened.changes) for one in opened.documents],
        "messages": messages,
        "changes": _changes_json(opened.changes),
        "skipped": [{"path": one.path, "why": one.why} for one in folder.skipped],
        "unreadable": [path for path, _ in opened.unread],
    }


def _document_json(one: "OpenDocument", changes: "Changes") -> dict[str, object]:
    entry, document = one.entry, one.document
    seen = entry.path not in changes.new and entry.path not in changes.changed
    return {"path": entry.path, "scope": entry.scope, "tokens": tokens_of(document.content), "seen": seen,
            "changed_at": iso(entry.changed_at), "facts": dict(document.facts),
            "sections": _sections_json(document.sections)}  # fmt: skip


def _sections_json(sections: "tuple[DocumentSection, ...]") -> list[dict[str, object]]:
    return [
        {
            "title": one.title,
            "level": one.level,
            "line": one.line,
            "end": one.end,
            "tokens": one.tokens,
        }
        for one in sections
    ]


def _changes_json(changes: "Changes") -> dict[str, object]:
    return {"new": list(changes.new), "changed": list(changes.changed), "gone": list(changes.gone),
            "messages": changes.messages}  # fmt: skip


# `workbench recall`: what documents, raw messages or memories say of something, with citations.


_SCOPES = ("all", "overview", "detail", "messages", "stream")

_RECALL = """Searches the external memory of this project's last session (~/.ai/sessions/--<cwd>--/), the folders that
are followed and the documents of the store: detail and messages, or one scope; stream asks the memories. Literal hits
come first, then what shares words with the query, ranked over at most 10,000 places. Messages are searched where they
lie.

With --for-agent secrets are masked, what gives orders is held back, and only documents as a person saw them are served
(`workbench documents DIR --trust`).

  workbench recall "token refresh" --scope messages --limit 3"""

_RECALL_WHY = {
    "untrusted": "in documents that nobody has looked at; `workbench documents DIR --trust` shows them and asks",
    "held": "held back for what the text says",
    "unapproved": "left out: agents.serve gives this agent only what a person wrote or approved",
    "weak": "below the floor",
}

_BROKEN = 5
"""Lines that are no message, named in one remark."""


def add_recall(commands: Commands) -> None:
    """Add `recall`."""
    parser = add_command(
        commands, "recall", recall, "search documents and messages, with citations", _RECALL
    )
    parser.add_argument("query")
    parser.add_argument(
        "--scope", choices=_SCOPES, default="all", help="what is searched (default: all)"
    )
    parser.add_argument(
        "--limit",
        "-n",
        metavar="N",
        type=count,
        help="how many (default: 5, or memory.default_limit)",
    )
    parser.add_argument(
        "--all-sessions",
        action="store_true",
        help="every session of this project, not the last alone",
    )
    about = "serve this agent: what it is served is kept as read by it"
    parser.add_argument("--for-agent", metavar="NAME", dest="actor", help=about)
    parser.add_argument(
        "--session", metavar="S", default="", help="with --for-agent: the agent's session"
    )
    add_secrets(parser)
    add_json(parser)


def recall(session: Session) -> int:
    """Print what is found, the best first."""
    args = session.args
    if args.actor is not None and args.show_secrets:
        raise InvalidQuery(
            "Agents are not shown secrets.", "Leave out --show-secrets or --for-agent."
        )
    by_person = actor_of(args) == CLI_ACTOR
    looks = args.actor is None
    with (
        session.reading(whole=True)
        if looks
        else session.changing(actor_of(args), trusted=False) as bench
    ):
        from workbench.services.agents.documents.recall import Recalling, answer_json, answer_text

        if not by_person and not bench.trust.standing.trusted:
            if wants_json(args):
                write_json({})
            return 0
        recalling = Recalling(bench.context, lambda: bench.tuning, bench.safety)
        given = _asked(session, bench, recalling)
        if wants_json(args):
            write_json(answer_json(given))
        else:
            query = (
                args.query.strip() if args.show_secrets else bench.safety.masked(args.query.strip())
            )
            say(answer_text(query, given.rows))
            if given.used is not None:
                warn(f"Ranked under {given.used}.")
        _remark(given)
    return 0


def _asked(session: Session, bench: "Workbench", recalling: "Recalling") -> "Recalled":
    args = session.args
    limit = args.limit or bench.context.settings.memory.default_limit
    if actor_of(args) == CLI_ACTOR:
        return recalling.look(
            args.query, args.scope, limit, every=args.all_sessions, secrets=args.show_secrets
        )
    from workbench.services.agents.reading_log import Asked, keep

    given = recalling.give(args.query, args.scope, limit, every=args.all_sessions)
    if args.actor is None:
        return given  # an agent looks: it is given the same, and nothing is counted
    try:
        keep(bench.context, [recalling.reading_of(given, Asked("cli", args.session))])
    except StoreProblem as error:
        warn(f"The reads were not counted. {error}")
    return given


def _remark(given: "Recalled") -> None:
    """Say what was left out, what could not be read, and where there is nothing yet."""
    for why, number in given.left_out.items():
        warn(f"{counted(number, 'place')} {_RECALL_WHY[why]}.")
    if given.scope != "stream" and not given.folders:
        warn(
            "No external memory of this project and no followed folder; `workbench documents DIR --follow` adds one."
        )
    for name in given.without_detail if given.scope in ("all", "detail") else ():
        warn(f"The session {name} has no details yet.")
    if given.broken:
        named = ", ".join(f"{file}:{line}" for file, line in given.broken[:_BROKEN])
        more = f" and {len(given.broken) - _BROKEN:,} more" if len(given.broken) > _BROKEN else ""
        warn(
            f"{counted(len(given.broken), 'line')} with the words asked for, but no message: {named}{more}."
        )
    for path in given.unread:
        warn(f"{path} could not be read.")
    for problem in given.problems:
        warn(str(problem))
    if given.found > len(given.rows):
        warn(f"{counted(given.found, 'place')} found; the best {len(given.rows):,} are shown.")
