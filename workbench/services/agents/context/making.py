"""Makes the context of a task: what the layers find, without what no agent gets, cut where the budgets end."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import cast

from workbench.core.agents.layers import LAYERS, USUAL, LayerKind
from workbench.core.agents.provenance import UNKNOWN, Provenance
from workbench.core.agents.read import AgentRead
from workbench.core.named import implementation
from workbench.core.playbook.book import Bullet
from workbench.core.playbook.budget import fill, ranked, standing
from workbench.core.stream.memory import FILE_KEY, Memory
from workbench.core.tokens import beginning, tokens_of
from workbench.core.tuning.profile import Profile, ProfileInUse
from workbench.services.agents.aliases import served_name
from workbench.services.agents.blocks import Blocks
from workbench.services.agents.context.finders import Answer, Asking
from workbench.services.agents.context.values import AgentContext, Found, Item, Layer, LeftOut
from workbench.services.agents.reading_log import BY_COMMAND, Asked, keep, new_id
from workbench.services.agents.serving import judges_of
from workbench.services.context import Context
from workbench.services.health.upkeep import disputes
from workbench.services.playbook.playbook import Playbooks
from workbench.services.safety.provenance import provenances_of
from workbench.services.safety.safety import Safety
from workbench.services.tuning.tuning import Tuning
from workbench.store.records import place_of

INSTRUCTIONS = "instructions"
"""The format of the files that agents load whole."""

_LEAST = 200
"""Tokens of room from which on the beginning of a long text is worth giving."""


@dataclass(frozen=True, slots=True)
class Material:
    """What the layers found for a task: it is cut anew for other budgets without asking anything again."""

    task: str
    found: tuple[tuple[LayerKind, tuple[Item, ...], tuple[LeftOut, ...]], ...]
    is_empty: bool
    weak: int = 0
    profile: ProfileInUse | None = None

    def cut(self, budget: int = USUAL, budgets: Mapping[str, int] | None = None) -> AgentContext:
        """Return the context under a budget of tokens; what a layer does not use, the later ones may.

        `budgets` are of single layers, in place of their own, which are scaled to the budget of all.
        """
        chosen, layers, over = budgets or {}, [], 0
        total = sum(kind.budget for kind, _, _ in self.found) or 1
        for kind, items, refused in self.found:
            share = chosen.get(kind.id, kind.budget if budget >= total else budget * kind.budget // total)
            room = share + over
            taken, left = _fitting(items, room)
            layers.append(Layer(kind, room, taken[::-1] if kind.in_time else taken, (*left, *refused), share))
            over = room - layers[-1].tokens
        return AgentContext(self.task, budget, tuple(layers), self.is_empty, self.weak, self.profile)


def gathered(
    context: Context,
    tuning: Tuning,
    playbooks: Playbooks,
    task: str,
    layers: Sequence[LayerKind] = LAYERS,
    profile: Profile | None = None,
    error: str = "",
) -> Material:
    """Find what every layer has for a task, and for an `error` that just came up. Nothing counts as read by that.

    It is ranked under a `profile`, or else under that of the settings. The context's actor is the agent that would be
    given it. Raises `InvalidRecord` when it is none.
    """
    safety = Safety(context)
    pool = cache(partial(tuning.pool, loading=bool(task.strip())))
    asking = Asking(context, tuning, safety, task, lambda: _bullets(playbooks), pool, profile, error)
    seen: set[str] = set()
    # An agent loads its instruction files whole: what a managed block of theirs holds, or was taken from one, is not
    # given twice.
    placed = {placement.memory for placement in context.library.placements.all() if placement.kind == "entry"}
    found, is_empty, weak = [], False, 0
    for kind in map(context.settings.context.sized, layers):
        answer = cast(Answer, implementation(kind.finder)(asking))
        if answer.served is not None:
            is_empty, weak = is_empty or answer.served.floor.empty, weak + answer.served.weak
        placed |= {one.id for one in answer.found if _is_of_a_document(context.library.memories.find(one.id))}
        new = [one for one in answer.found if one.id not in seen | placed]
        refused = [LeftOut(one.id, "given") for one in answer.found if one.id in seen]
        refused += [LeftOut(one.id, "placed") for one in answer.found if one.id in placed - seen]
        seen |= {one.id for one in new}
        refused += answer.refused
        if kind.may_lack and not (new or refused):
            continue
        passing, held = _passing(context, safety, new)
        found.append((kind, _items(context, safety, passing), (*held, *refused)))
    used = context.profile if profile is None else ProfileInUse(profile.name, "flag")
    return Material(task, tuple(found), is_empty, weak, used)


def _is_of_a_document(memory: Memory | None) -> bool:
    """Tell whether a memory is a statement of an instruction file."""
    part = memory.metadata.get(FILE_KEY) if memory is not None else None
    return isinstance(part, dict) and part.get("format") == INSTRUCTIONS


def reading_of(context: Context, made: AgentContext, task: str, asked: Asked) -> AgentRead:
    """Return what is kept of a context that was given; the `task` is masked."""
    agent, profile = context.actor.removeprefix("agent:"), (made.profile or context.profile).name
    given = [item for item in made.given if item.id in context.library.memories]
    ids, scores = tuple(item.id for item in given), tuple(round(item.score or 0.0, 6) for item in given)
    now = context.now()
    cited = [item.id for layer in made.layers if layer.kind.may_lack for item in layer.items]
    done = tuple(id for id in cited if id in context.library.table_named("episodes"))
    return AgentRead(
        new_id(), agent, now, task, asked.session, asked.door, profile, ids, scores, made.is_empty, weak=made.weak,
        parent=asked.parent, documents=tuple(id for id in cited if id not in done), episodes=done,
        about="context", relevances=tuple(round(item.relevance or 0.0, 6) for item in given),
    )  # fmt: skip


def kept(context: Context, made: AgentContext, asked: str, session: str = "") -> None:
    """Keep that the context's agent was given it by a command; raises `StoreProblem`."""
    keep(context, [reading_of(context, made, asked, Asked(BY_COMMAND.door, session))])


def _fitting(items: Sequence[Item], room: int) -> tuple[tuple[Item, ...], tuple[LeftOut, ...]]:
    """Return what fits, the first first; what does not is left out, and smaller ones after it may still come in.

    A long text is cut to the room there is, where that is worth it. Bullets are cut as their playbook is.
    """
    bullets = [(item.standing, item.tokens, "") for item in items if item.standing is not None]
    chosen, filled = fill(bullets, room)
    taken, left, spent = [], [], 0
    for place, item in enumerate(items):
        fits = spent + item.tokens <= room if item.standing is None else place in chosen
        fitting = item if fits else _shortened(item, room - spent)
        if fitting is not None:
            taken.append(fitting)
            spent += fitting.tokens
        else:
            over = (spent if item.standing is None else filled) + item.tokens - room
            left.append(LeftOut(item.id, "budget", max(0, over)))
    return tuple(taken), tuple(left)


def _shortened(item: Item, room: int) -> Item | None:
    """Return the beginning of a long text in at most so many tokens; `None` when it is not long, or there is no room.

    What is cut is said in its block, which stays closed.
    """
    if room < _LEAST or not item.inside:
        return None
    lead, _, tail = item.text.partition(item.inside)
    note = f" …\n[cut: the beginning of {len(item.inside):,} characters]"
    begin = beginning(item.inside, room - tokens_of(f"{lead}{note}{tail}"))
    text = f"{lead}{begin.rstrip()}{note}{tail}"
    return replace(item, text=text, tokens=tokens_of(text)) if begin.strip() else None


def _bullets(playbooks: Playbooks) -> tuple[Bullet, ...]:
    every = (bullet for line in playbooks.books() for bullet in playbooks.open(line.book.id).bullets)
    return tuple(ranked(bullet for bullet in every if bullet.state != "deprecated"))


def _passing(context: Context, safety: Safety, found: Sequence[Found]) -> tuple[list[Found], tuple[LeftOut, ...]]:
    """Return what an agent may be given of what was found, and why it is not given the rest."""
    memories = [one.record for one in found if isinstance(one.record, Memory)]
    _, held_back, unapproved = judges_of(context, safety)
    held = held_back(memories) | {one.id for one in found if _is_held(safety, one)}
    waiting = unapproved(memories)
    if context.settings.agents.only_approved(context.actor):
        others = [one for one in found if not isinstance(one.record, Memory)]
        known = provenances_of(context, [one.record for one in others])
        waiting |= {one.id for one in others if not known.get(place_of(one.record), UNKNOWN).approved}
    left = [LeftOut(one.id, "held" if one.id in held else "unapproved") for one in found if one.id in held | waiting]
    return [one for one in found if one.id not in held | waiting], tuple(left)


def _is_held(safety: Safety, found: Found) -> bool:
    if isinstance(found.record, Memory):
        return False
    kinds = {finding.kind for text in (found.text, *found.beside) for finding in safety.findings(text)}
    return bool(kinds & {"injection", "hidden"}) and safety.override(found.record) is None


def _items(context: Context, safety: Safety, found: Sequence[Found]) -> tuple[Item, ...]:
    known = provenances_of(context, [one.record for one in found])
    disputed = disputes(context, [one.record for one in found if isinstance(one.record, Memory)])
    origins: dict[str, Provenance] = {}
    for one in found:
        origin = known.get(place_of(one.record), UNKNOWN)
        name, said = served_name(origin.name, safety.findings), disputed.get(one.id, "")
        origins[one.id] = Provenance(origin.kind, name, origin.approved, said)
    blocks = Blocks({}, origins)
    items = []
    for one in found:
        allowed = safety.override(one.record) is not None
        text = one.text if allowed else safety.masked(one.text)
        shown = blocks.enclosed(one.id, text)
        name = served_name(one.id, safety.findings)
        inside = text if isinstance(one.record, Memory) and one.record.is_long else ""
        turn = standing(one.record) if isinstance(one.record, Bullet) else None
        items.append(Item(name, shown, tokens_of(shown), origins[one.id], one.score, inside, turn, one.relevance))
    return tuple(items)
