"""What deciding on a proposal does, by its kind."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from workbench.core.agents.actors import MERGED
from workbench.core.agents.patterns.pattern import Pattern
from workbench.core.change import Change, diff
from workbench.core.document import from_doc, to_doc
from workbench.core.duplicates.groups import kept_pair, merge_memories, pairs_kept_by, text_mark
from workbench.core.record import WorkbenchError, as_list, as_object, iso, without
from workbench.core.review import lifecycle
from workbench.core.review.lifecycle import accepted, approve, archive, doubted, forget
from workbench.core.review.proposal import Proposal
from workbench.core.stream.memory import Memory
from workbench.services.agents.documents.instructions import look_of
from workbench.services.context import Context, Service, apply_changes
from workbench.services.files.folders import place_of
from workbench.services.review.rewriting import REJECTED_AT, REJECTED_BECAUSE
from workbench.services.stream.fields import with_text
from workbench.store.library import Library, Tx

if TYPE_CHECKING:
    from workbench.services.agents.patterns import Patterns
    from workbench.services.files.importing import Importer
    from workbench.services.playbook.curation import Curator


# What deciding on a proposal does; here for one whose changes came with it.


CONTENT = "content"
"""What the operation of a proposal calls the text that accepting writes."""


class Handler(Service):
    """Shows, accepts, turns down and puts off the open proposals of one kind in an open store.

    What `brings_text` of a file is accepted as an import: no person stands by its words.
    """

    brings_text: ClassVar[bool] = False

    def about(self, proposal: Proposal) -> str:
        """Return the id of the memory that it is about, or "" for none."""
        return next(iter(proposal.evidence), "")

    def text(self, proposal: Proposal, memory: Memory) -> str:
        """Return the text a decision is about: of the memory that it is about, unless something
        else is to be said.
        """
        del proposal
        return memory.content

    def becoming(self, proposal: Proposal) -> tuple[Memory, ...] | None:
        """Return the memories that accepting writes, from the records as they are now.

        `None` where other changes are written. Raises `WorkbenchError` when accepting is
        impossible.
        """
        del proposal
        return None

    def subject(self, proposal: Proposal) -> Memory:
        """Return the memory that a person may edit before accepting. Raises `WorkbenchError` for
        none.
        """
        del proposal
        raise WorkbenchError(
            "This proposal has no text to edit.", "Approve or reject it; nothing was changed."
        )

    def edited(self, proposal: Proposal, before: Memory, after: Memory) -> object:
        """Return the record to store when its subject was edited: the proposal, whose operation
        says what differs.
        """
        fields = diff("memories", after.id, to_doc(before), to_doc(after)).fields
        changed = {name: change.after for name, change in fields.items()}
        return replace(
            proposal, operation={**proposal.operation, CONTENT: after.content, **changed}
        )

    def with_edits(self, proposal: Proposal, memory: Memory) -> Memory:
        """Return a memory with what a person edited."""
        edits = {**proposal.operation, "id": memory.id}
        return from_doc(Memory, {**to_doc(memory), **edits}) if proposal.operation else memory

    def changes(self, proposal: Proposal) -> tuple[Change, ...]:
        """Return what accepting would change, field by field. Raises `WorkbenchError` when it is
        impossible.
        """
        after = self.becoming(proposal)
        if after is None:
            return proposal.changes
        before = {memory.id: self._library.memories.get(memory.id) for memory in after}
        return tuple(diff("memories", m.id, to_doc(before[m.id]), to_doc(m)) for m in after)

    def accept(self, tx: Tx, proposal: Proposal, after: tuple[Memory, ...] | None) -> None:
        """Write what `becoming` returned, or else what came with the proposal, and that it was
        accepted.
        """
        if after is None:
            self.apply(tx, proposal)
        for memory in after or ():
            tx.put(memory)
        tx.put(replace(proposal, state="accepted", decided_at=self._context.now()))

    def keeping_old(self, proposal: Proposal) -> tuple[Memory, ...]:
        """Return the memories that are written when the older one of two is kept instead of the
        newer.

        Raises `WorkbenchError` where there are no two.
        """
        del proposal
        raise WorkbenchError(
            "This does not concern an older and a newer memory.", "Nothing was decided."
        )

    def apply(self, tx: Tx, proposal: Proposal) -> None:
        """Write the changes of a proposal that makes no memories."""
        apply_changes(tx, self._library, proposal.changes)

    def turn_down(self, proposal: Proposal, reason: str, at: datetime) -> tuple[object, ...]:
        """Return the records to store when it is rejected `at` a moment: itself, and what follows
        from the answer.
        """
        del reason
        return (self.rejected(proposal, at),)

    def rejected(self, proposal: Proposal, at: datetime) -> Proposal:
        """Return it as it is once it is rejected."""
        return replace(proposal, state="rejected", decided_at=at)

    def put_off(self, proposal: Proposal, until: datetime) -> object:
        """Return the record to store when it is put off."""
        return replace(proposal, review_after=until)


class Unknown(Handler):
    """A kind that only a later version knows: it is shown, and turned down."""

    def accept(self, tx: Tx, proposal: Proposal, after: tuple[Memory, ...] | None) -> None:
        """Refuse. Raises `WorkbenchError`."""
        del tx, after
        message = f"This version does not know the proposal kind “{proposal.kind}”."
        raise WorkbenchError(message, "Nothing was changed.")


def noted(memory: Memory, notes: Mapping[str, str]) -> Memory:
    """Return a memory with further metadata."""
    return replace(memory, metadata={**memory.metadata, **notes})


# Candidates: memories that a reflection made, and that wait to be confirmed.


class Candidate(Handler):
    """Its proposal is the memory itself; no record of its own is kept."""

    def about(self, proposal: Proposal) -> str:
        return proposal.id

    def becoming(self, proposal: Proposal) -> tuple[Memory, ...]:
        limits = self._context.settings.lifecycle
        return (
            lifecycle.approve(
                candidate_in(self._library, proposal.id), self._context.now(), limits
            ),
        )

    def subject(self, proposal: Proposal) -> Memory:
        return candidate_in(self._library, proposal.id)

    def edited(self, proposal: Proposal, before: Memory, after: Memory) -> object:
        del proposal, before
        return after

    def accept(self, tx: Tx, proposal: Proposal, after: tuple[Memory, ...] | None) -> None:
        """Write the memory; nothing else notes that it was accepted."""
        del proposal
        for memory in after or ():
            tx.put(memory)

    def turn_down(self, proposal: Proposal, reason: str, at: datetime) -> tuple[object, ...]:
        rejected = lifecycle.reject(candidate_in(self._library, proposal.id))
        return (
            noted(
                rejected, {REJECTED_AT: iso(at), **({REJECTED_BECAUSE: reason} if reason else {})}
            ),
        )

    def put_off(self, proposal: Proposal, until: datetime) -> object:
        """Return it as one that waits until then."""
        return lifecycle.later(candidate_in(self._library, proposal.id), until)


def candidate_in(library: Library, id: str) -> Memory:
    """Return a memory that is a candidate still. Raises `WorkbenchError`."""
    memory = library.memories.get(id)
    if memory.status != "candidate":
        raise WorkbenchError(
            f"{id} is no longer a candidate ({memory.status}).", "Nothing was changed."
        )
    return memory


# What waits here and is decided where it can be seen whole: a store and documents that came from
# elsewhere.


class Store(Handler):
    """Trusting a store shows what came, and who wrote it."""

    def apply(self, tx: Tx, proposal: Proposal) -> None:
        """Refuse. Raises `WorkbenchError`, which says where it is decided."""
        del tx, proposal
        raise WorkbenchError(
            "The data is shown before it is trusted.",
            "`workbench trust` shows it and asks; nothing was changed.",
        )


class DocumentsChanged(Handler):
    """Trusting documents shows each of them."""

    def apply(self, tx: Tx, proposal: Proposal) -> None:
        """Refuse. Raises `WorkbenchError`, which says where it is decided."""
        del tx
        hint = f"`workbench documents {proposal.operation.get('path', 'DIR')} --trust` shows them and asks."
        raise WorkbenchError(
            "The documents must be reviewed first.", f"{hint} Nothing was changed."
        )


class Lifecycle(Handler):
    """It is about the first memory of its evidence; the rules of its kind say what an answer does."""

    def becoming(self, proposal: Proposal) -> tuple[Memory, ...] | None:
        """Return the memory as the rule leaves it; `None` for one that brought changes."""
        if proposal.changes or not proposal.evidence:
            return None
        memory = self._library.memories.get(proposal.evidence[0])
        return (
            accepted(proposal.kind, memory, self._context.now(), self._context.settings.lifecycle),
        )

    def turn_down(self, proposal: Proposal, reason: str, at: datetime) -> tuple[object, ...]:
        """Return it, and what its kind says that follows."""
        memory = self._library.memories.find(self.about(proposal))
        decided = super().turn_down(proposal, reason, at)
        if memory is None or proposal.kind != "reconfirm":
            return decided
        return (*decided, *doubted(proposal, memory, at))


# Merges: memories that say the same become one, or are kept apart.


class Merge(Handler):
    """Its evidence are the memories to merge, the one that stays last."""

    def becoming(self, proposal: Proposal) -> tuple[Memory, ...]:
        """Return the one that is left, and those that are archived as merged."""
        group = [self._library.memories.get(id) for id in proposal.evidence]
        merged, archived = merge_memories(group, self._context.now(), keep=proposal.evidence[-1])
        return (self.with_edits(proposal, merged), *archived)

    def subject(self, proposal: Proposal) -> Memory:
        return self.becoming(proposal)[0]

    def turn_down(self, proposal: Proposal, reason: str, at: datetime) -> tuple[object, ...]:
        """Return it, and that its memories are kept apart, as their texts are now: asked again when
        one changes.
        """
        del reason
        found = (self._library.memories.find(id) for id in proposal.evidence)
        texts = tuple("" if memory is None else text_mark(memory.content) for memory in found)
        decided = self.rejected(replace(proposal, texts=texts), at)
        return (decided, *pairs_kept_by(decided, self._context.actor))


# A memory that names what is not in the working tree any more.


class Stale(Handler):
    """Its operation has the text with the new names; without one the memory is forgotten."""

    def text(self, proposal: Proposal, memory: Memory) -> str:
        """Return the text with the new names."""
        return str(proposal.operation.get(CONTENT) or memory.content)

    def becoming(self, proposal: Proposal) -> tuple[Memory, ...]:
        """Return the memory with the new names, or as a person edited it, or forgotten.

        Raises `WorkbenchError` when its text was changed since the names were looked for.
        """
        return (
            self.subject(proposal)
            if proposal.operation.get(CONTENT)
            else forget(self.subject(proposal)),
        )

    def subject(self, proposal: Proposal) -> Memory:
        """Return the memory with the new names; raises as `becoming` does."""
        memory = self._library.memories.get(self.about(proposal))
        if proposal.texts and proposal.texts[0] != text_mark(memory.content):
            message = f"The text of {memory.id} changed since the check."
            raise WorkbenchError(message, "Check again; nothing was changed.")
        return self.with_edits(proposal, with_text(memory, self.text(proposal, memory)))

    def edited(self, proposal: Proposal, before: Memory, after: Memory) -> object:
        """Return the proposal as it was edited; the memory is not to be forgotten any more."""
        flags = tuple(flag for flag in proposal.flags if flag != "gone")
        return super().edited(replace(proposal, flags=flags), before, after)


# What takes the place of a memory when a person says so: what an agent wants to store, or a newer
# memory.


_LEFT_OUT = ("id", "created_at", "last_accessed_at", "status", "related")


def operation_of(memory: Memory) -> Mapping[str, object]:
    """Return a memory as the operation of a proposal: all that it will say, but for what is known
    on accepting.
    """
    return without(to_doc(memory), *_LEFT_OUT)


class Supersede(Handler):
    """Its operation is what the new memory will say, and the first of its evidence is the memory
    that goes.

    Votes are not carried over: they were about another text.
    """

    def text(self, proposal: Proposal, memory: Memory) -> str:
        return str(proposal.operation.get("content") or memory.content)

    def subject(self, proposal: Proposal) -> Memory:
        return self.becoming(proposal)[1]

    def becoming(self, proposal: Proposal) -> tuple[Memory, ...]:
        """Return the old memory as superseded, and the new one, which has no id of its own before
        it is stored.

        Raises `WorkbenchError` when the old one was changed since the agent saw it.
        """
        old = self._library.memories.get(self.about(proposal))
        if proposal.texts and proposal.texts[0] != text_mark(old.content):
            message = f"{old.id} was changed since the agent saw it."
            raise WorkbenchError(
                message, "Reject this; the agent can look again. Nothing was changed."
            )
        now = self._context.now()
        times = {"created_at": iso(now), "last_accessed_at": iso(now)}
        known = {
            "related": [old.id],
            "status": "confirmed" if old.status in ("confirmed", "promoted") else "signal",
        }
        made = from_doc(Memory, {**known, **proposal.operation, **times, "id": proposal.id})
        return archive(old, "superseded"), made

    def changes(self, proposal: Proposal) -> tuple[Change, ...]:
        """Return what accepting would change, field by field."""
        gone, made = self.becoming(proposal)
        before = self._library.memories.get(gone.id)
        return diff("memories", gone.id, to_doc(before), to_doc(gone)), diff(
            "memories", made.id, None, to_doc(made)
        )

    def accept(self, tx: Tx, proposal: Proposal, after: tuple[Memory, ...] | None) -> None:
        """Store the new memory under an id of its own, and let the old one name it."""
        gone, made = after or self.becoming(proposal)
        stored = replace(made, id=tx.new_memory_id(made.created_at))
        super().accept(tx, proposal, (noted(gone, {"superseded_by": stored.id}), stored))


class Replaces(Handler):
    """Its evidence are two memories that contradict each other, the older one first."""

    def subject(self, proposal: Proposal) -> Memory:
        return self.becoming(proposal)[1]

    def becoming(self, proposal: Proposal) -> tuple[Memory, ...]:
        """Return the older memory as superseded, and the newer one, which a person stands for if
        they did for that.
        """
        old, new = self._pair(proposal)
        if old.status in ("confirmed", "promoted") and new.status in ("signal", "candidate"):
            new = approve(new, self._context.now(), self._context.settings.lifecycle)
        related = tuple(dict.fromkeys((*new.related, old.id)))
        gone = noted(archive(old, "superseded"), {"superseded_by": new.id})
        return gone, self.with_edits(proposal, replace(new, related=related))

    def keeping_old(self, proposal: Proposal) -> tuple[Memory, ...]:
        """Return the newer memory as rejected, or as forgotten where a person stood for it."""
        _, new = self._pair(proposal)
        return (archive(new, "rejected" if new.status in ("signal", "candidate") else "forgotten"),)

    def turn_down(self, proposal: Proposal, reason: str, at: datetime) -> tuple[object, ...]:
        """Return it, and that both memories are kept as their texts are now."""
        decided = super().turn_down(proposal, reason, at)
        old, new = self._pair(proposal)
        return (*decided, kept_pair(old, new, proposal.similarity or 0.0, self._context.actor, at))

    def _pair(self, proposal: Proposal) -> tuple[Memory, Memory]:
        old, new = (self._library.memories.get(id) for id in proposal.evidence[:2])
        return old, new


# What a Curator or a Reflector suggests for a playbook.


class CuratorProposals(Handler):
    """Its operation says what becomes of bullets, as the playbook is when it is accepted."""

    @cached_property
    def _curating(self) -> "Curator":
        from workbench.services.playbook.curation import Curator
        from workbench.services.playbook.playbook import Playbooks

        return Curator(self._context, Playbooks(self._context))

    def changes(self, proposal: Proposal) -> tuple[Change, ...]:
        return self._curating.changes(proposal)

    def apply(self, tx: Tx, proposal: Proposal) -> None:
        self._curating.accept(tx, proposal)


def mark_of(paths: Iterable[Path]) -> str:
    """Return what tells files as they are now: no two writes leave it alike."""
    looks = "\n".join(f"{path} {look_of(path)}" for path in sorted(paths))
    return text_mark(looks)


# Files that changed on disk: what they say now is taken over, as an import.


class ChangedFile(Handler):
    """Its operation names the file or folder, the files that changed, and how they looked when they
    were read.
    """

    brings_text = True

    @cached_property
    def _importer(self) -> "Importer":
        from workbench.services.files.importing import Importer

        return Importer(self._context)

    def accept(self, tx: Tx, proposal: Proposal, after: tuple[Memory, ...] | None) -> None:
        """Do it, and note that; what the file says is not kept with the note, for nothing is masked
        in an import.
        """
        self.apply(tx, proposal)
        kept = without(proposal.operation, "lines")
        super().accept(tx, replace(proposal, operation=kept), after or ())

    def apply(self, tx: Tx, proposal: Proposal) -> None:
        """Take over what was shown. Raises `WorkbenchError` when a file was changed since."""
        files, gone = (_paths(proposal, name) for name in ("files", "gone"))
        place = Path(str(proposal.operation.get("path")))
        self._require_known(place, files)
        if proposal.flags:
            raise WorkbenchError(
                f"It cannot be imported: {proposal.flags[0]}", "Nothing was changed."
            )
        if mark_of(files) != proposal.operation.get("mark"):
            raise WorkbenchError(
                "It changed again.",
                "Reject it: its current content is proposed separately. Nothing was changed.",
            )
        if len(gone) < len(files):
            only = () if place in files else [path for path in files if path not in gone]
            self._importer.put(tx, self._importer.plan(place, theirs=True, only=only))
        for path in gone:
            if (state := self._library.files.find(str(path))) is not None:
                tx.delete(state)

    def _require_known(self, place: Path, files: Sequence[Path]) -> None:
        """Raise `WorkbenchError` unless the store may be read from and was read from each file,
        with that folder.
        """
        if not self._library.standing.trusted:
            raise WorkbenchError(
                "The store is not trusted.", "`workbench trust` shows why. Nothing was changed."
            )
        for path in files:
            known = self._library.files.find(str(path))
            if known is None or place_of(path, known.format, self._library) != place:
                raise WorkbenchError(
                    f"The import of {path.name} has changed.",
                    "Reject it. Nothing was changed.",
                )


def _paths(proposal: Proposal, name: str) -> list[Path]:
    return [Path(str(path)) for path in as_list(proposal.operation.get(name))]


# Records made of an instruction file: they are archived, for the file says it all.


class Instructions(Handler):
    """Its evidence are the records that go, its operation names the file."""

    def about(self, proposal: Proposal) -> str:
        """Return nothing: it is about all of them."""
        del proposal
        return ""

    def becoming(self, proposal: Proposal) -> tuple[Memory, ...]:
        """Return them archived as superseded, but for those that somebody stands by since."""
        known = (self._library.memories.find(id) for id in proposal.evidence)
        going = [
            one for one in known if one is not None and one.status != "archived" and may_go(one)
        ]
        if not going:
            raise WorkbenchError(
                "None of these records would be archived now.", "Reject it; nothing was changed."
            )
        file = str(proposal.operation.get("file", ""))
        return tuple(
            noted(archive(memory, "superseded"), {"superseded_by": file}) for memory in going
        )


def may_go(memory: Memory) -> bool:
    """Tell whether nobody stands by a record so far that it is to outlive its file: not pinned,
    placed or praised.
    """
    return not (memory.pinned or memory.status == "promoted" or memory.helpful_votes > 0)


def marks_of(patterns: Sequence[Pattern]) -> tuple[str, ...]:
    """Return what tells the texts of patterns: an answer holds as long as these are the same."""
    return tuple(text_mark(pattern.content) for pattern in patterns)


def patterns_of(context: Context) -> "Patterns":
    from workbench.services.agents.patterns import Patterns
    from workbench.services.safety.secret_filter import SecretFilter

    return Patterns(context, SecretFilter())


# Patterns: one that recurs in episodes is taken over, several that say the same become one.


class MinedPattern(Handler):
    """Its operation has the pattern as JSON; it becomes a candidate with the episodes that speak
    for it.
    """

    def apply(self, tx: Tx, proposal: Proposal) -> None:
        """Add the pattern, or what came with a proposal of another making."""
        doc = _pattern(proposal)
        if doc is None:
            super().apply(tx, proposal)
        else:
            patterns_of(self._context).put(tx, doc)


class PatternMerge(Handler):
    """Its operation names the patterns, the one whose words stay first; its `texts` are marks of
    what they said.

    What becomes of them is in use where that one is.
    """

    def apply(self, tx: Tx, proposal: Proposal) -> None:
        """Make one pattern of them. Raises `WorkbenchError` when one changed since, or went out of
        use.
        """
        standing = self._standing(proposal)
        merged = patterns_of(self._context).put_merged(tx, [one.id for one in standing])
        if standing[0].status == "validated" and merged.status == "candidate":
            # Its words were in use, and a person stands by that the others say no more.
            from workbench.core.agents.patterns.statistics import approved

            tx.put(approved(merged, MERGED))

    def _standing(self, proposal: Proposal) -> list[Pattern]:
        """Return the patterns that a proposal names. Raises `WorkbenchError` when one is not as it
        was.
        """
        ids = [str(id) for id in as_list(proposal.operation.get("patterns"))]
        found = [one for one in map(self._library.table(Pattern).find, ids) if one is not None]
        standing = [one for one in found if one.status != "deprecated"]
        if len(standing) < len(ids) or marks_of(standing) != proposal.texts:
            raise WorkbenchError(
                "These patterns changed since the question was asked.",
                "Reject it; nothing was changed.",
            )
        return standing


class PatternChanges(PatternMerge):
    """Its operation says which `change` of its patterns an agent asks for, and the `patch` of an
    update.
    """

    def apply(self, tx: Tx, proposal: Proposal) -> None:
        """Make the change. Raises `WorkbenchError` when one changed since, or it is not possible."""
        patterns, ids = patterns_of(self._context), [one.id for one in self._standing(proposal)]
        patch, reason = (
            proposal.operation.get("patch"),
            "; ".join(proposal.reasons) or proposal.actor,
        )
        match proposal.operation.get("change"):
            case "update":
                patterns.update(ids[0], as_object(patch))
            case "supersede":
                patterns.supersede(ids[0], ids[1], reason)
            case "merge":
                patterns.put_merged(tx, ids)
            case "prune":
                patterns.prune(ids)
            case _:
                for id in ids:
                    patterns.deprecate(id, reason)


def _pattern(proposal: Proposal) -> Mapping[str, object] | None:
    doc = proposal.operation.get("pattern")
    return doc if isinstance(doc, Mapping) else None


HANDLERS: Mapping[str, type[Handler]] = {
    "reflection": Candidate, "merge": Merge, "pattern": MinedPattern, "curator": CuratorProposals,
    "supersede": Supersede, "replaces": Replaces, "stale": Stale, "file": ChangedFile, "trust": Store,
    "documents": DocumentsChanged, "instructions": Instructions, "pattern-merge": PatternMerge,
    "pattern-change": PatternChanges,
    **dict.fromkeys(("prune", "confirm", "reconfirm", "forget", "return", "skill"), Lifecycle),
}  # fmt: skip
"""What decides on the proposals of each kind."""


def handler_of(context: Context, kind: str) -> Handler:
    return HANDLERS.get(kind, Unknown)(context)
