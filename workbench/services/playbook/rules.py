"""Letting go of a rule without losing it: deprecated with a reason, or turned into a warning."""

from collections.abc import Sequence
from dataclasses import replace

from workbench.core.errors import InvalidRecord, UnknownRecord
from workbench.core.playbook import delta
from workbench.core.playbook.book import Bullet, Playbook, section_key
from workbench.core.record import iso
from workbench.core.text import clean_for_store
from workbench.services.context import Context
from workbench.services.playbook.playbook import Playbooks, write_book

REASON, REPLACED_BY, SINCE, WARNS_OF = "deprecated_because", "replaced_by", "deprecated_at", "warns_of"
"""Metadata keys of a deprecated bullet, and of the warning that was made of one."""

AVOID = "AVOID: "
PITFALLS = "COMMON MISTAKES TO AVOID"
_WARNINGS = frozenset(
    {"common_mistakes_to_avoid", "common_mistakes_and_correct_strategies", "troubleshooting_and_pitfalls"}
)


class BookRules:
    """Deprecating bullets and turning harmful ones into warnings."""

    def __init__(self, context: Context, playbooks: Playbooks) -> None:
        self._context = context
        self._library = context.library
        self._playbooks = playbooks

    def deprecate(self, book: str, ids: Sequence[str], reason: str = "", replacement: str = "") -> None:
        """Take bullets out of what is exported; they stay in the store with the reason and what replaces them.

        Raises `UnknownRecord` for a replacement that is not there, `InvalidRecord` for one that replaces itself.
        """
        self._check_replacement(book, ids, replacement)
        with self._library.transaction(self._context.actor, f"deprecate {_named(ids)}") as tx:
            for id in ids:
                tx.put(self._deprecated(self._playbooks.bullet(book, id), reason, replacement))

    def fit(self, book: str, ids: Sequence[str], budget: int) -> None:
        """Deprecate the bullets that do not fit a budget of tokens, as one action."""
        self.deprecate(book, ids, f"beyond the budget of {budget:,} tokens")

    def restore(self, book: str, ids: Sequence[str]) -> None:
        """Make deprecated bullets count again."""
        with self._library.transaction(self._context.actor, f"restore {_named(ids)}") as tx:
            for id in ids:
                bullet = self._playbooks.bullet(book, id)
                metadata = {k: v for k, v in bullet.metadata.items() if k not in (REASON, REPLACED_BY, SINCE)}
                tx.put(replace(bullet, state="active", metadata=metadata))

    def all_deprecated(self, book: str, ids: Sequence[str]) -> bool:
        """Tell whether all of these are deprecated, so that the next step is to restore them."""
        return all(self._playbooks.bullet(book, id).state == "deprecated" for id in ids)

    def avoid(self, book: str, id: str, content: str = "", section: str = "") -> str:
        """Deprecate a harmful rule and add a warning of it; return the warning's id.

        `content` is the warning (default: the rule's text after “AVOID:”), `section` where it goes: by default a
        section of pitfalls, which is made when there is none. One transaction.
        """
        with self._library.transaction(self._context.actor, f"turn {id} into a warning") as tx:
            before = self._playbooks.open(book)
            after, warning = self._avoided(before, self._playbooks.bullet(book, id), content, section)
            write_book(tx, before, after)
        return warning

    def avoid_all(self, book: str, ids: Sequence[str]) -> tuple[str, ...]:
        """Turn several harmful rules into warnings in their own words, as one action; return the warnings' ids."""
        made = list[str]()
        with self._library.transaction(self._context.actor, f"turn {_named(ids)} into warnings") as tx:
            before = after = self._playbooks.open(book)
            for id in ids:
                after, warning = self._avoided(after, self._playbooks.bullet(book, id), "", "")
                made.append(warning)
            write_book(tx, before, after)
        return tuple(made)

    def warns_in(self, book: str) -> str:
        """Return the heading under which a warning goes unless another one is named."""
        sections = self._playbooks.open(book).sections
        return next((s.title for s in sections if s.key in _WARNINGS), PITFALLS)

    def _avoided(self, before: Playbook, rule: Bullet, content: str, section: str) -> tuple[Playbook, str]:
        """Return a playbook with a warning in the place of a rule, and the warning's id."""
        text = clean_for_store(content).strip() or warning_of(rule.content)
        after, place = self._place(before, section)
        after = delta.apply(after, delta.Add(place, text), self._context.now())
        known = {b.id for b in before.bullets}
        warning = next(b for b in after.bullets if b.id not in known)
        marked = replace(warning, metadata={**warning.metadata, WARNS_OF: rule.id})
        here = next(b for b in after.bullets if b.id == rule.id)
        gone = self._deprecated(here, "harmful: turned into a warning", warning.id)
        changed = {warning.id: marked, rule.id: gone}
        return replace(after, bullets=tuple(changed.get(b.id, b) for b in after.bullets)), warning.id

    def _place(self, playbook: Playbook, section: str) -> tuple[Playbook, str]:
        if section:
            return playbook, delta.find_section(playbook, section).id
        known = next((s.id for s in playbook.sections if s.key in _WARNINGS), None)
        if known is not None:
            return playbook, known
        made = delta.apply(playbook, delta.CreateMeta(PITFALLS), self._context.now())
        return made, next(s.id for s in made.sections if s.key == section_key(PITFALLS))

    def _deprecated(self, bullet: Bullet, reason: str, replacement: str) -> Bullet:
        notes: dict[str, object] = {SINCE: iso(self._context.now())}
        if reason.strip():
            notes[REASON] = clean_for_store(reason).strip()
        if replacement:
            notes[REPLACED_BY] = replacement
        return replace(bullet, state="deprecated", metadata={**bullet.metadata, **notes})

    def _check_replacement(self, book: str, ids: Sequence[str], replacement: str) -> None:
        if not replacement:
            return
        if replacement in ids:
            raise InvalidRecord(f"{replacement} cannot replace itself.", "Nothing was changed.")
        try:
            other = self._playbooks.bullet(book, replacement)
        except UnknownRecord as error:
            raise UnknownRecord(f"There is no bullet {replacement} to replace it.", "Nothing was changed.") from error
        if other.state == "deprecated":
            raise InvalidRecord(f"{replacement} is deprecated itself.", "Nothing was changed.")


def warning_of(rule: str) -> str:
    """Return a rule's text as a warning of it."""
    return rule if rule.startswith(AVOID) else AVOID + rule


def _named(ids: Sequence[str]) -> str:
    return ids[0] if len(ids) == 1 else f"{len(ids)} bullets"
