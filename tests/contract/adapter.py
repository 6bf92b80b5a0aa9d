"""The one place of the contract that knows Python modules: what no command tells is asked here.

It is also a program, run by the Python of an environment that the product is installed in: `python
adapter.py QUESTION ARGUMENTS` with the arguments as a JSON list, which prints the answer as JSON.
"""

import json
import sys
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime, timedelta
from importlib.metadata import entry_points
from itertools import count
from pathlib import Path
from typing import Any, get_type_hints

from workbench.store.records import kind_in

NOW = datetime.now(UTC) + timedelta(days=95)
"""When the app's changes are made: after every limit of the lifecycle, which counts from the import
of the demo.
"""


def command() -> Callable[[list[str]], int]:
    """Return what `workbench` runs: a function of the arguments that returns the exit code."""
    (entry,) = entry_points(group="console_scripts", name="workbench")
    main: Callable[[list[str]], int] = entry.load()
    return main


def actions() -> dict[str, Any]:
    """Return every action by id with its default keys, and the ids of every scope, in the order of
    the tables.
    """
    from workbench.tui.app.areas import AREAS

    ids = {action.id: action.keys for action in AREAS.every_action()}
    return {
        "actions": ids,
        "scopes": {title: [action.id for action in some] for title, some in AREAS.scopes().items()},
    }


def tables() -> dict[str, Any]:
    """Return the fields of every kind of record by its table: name to type, `?` behind one that may
    be missing.
    """
    from workbench.store.records import RECORDS

    return {entry.table: _fields(kind_in(entry.table)) for entry in RECORDS}


def _fields(kind: type) -> dict[str, Any]:
    hints = get_type_hints(kind)
    found: dict[str, Any] = {}
    for field in fields(kind):
        inner = next((hint for hint in _parts(hints[field.name]) if is_dataclass(hint)), None)
        found[field.name] = _written(hints[field.name])
        if isinstance(inner, type):
            found[f"{field.name}.*"] = _fields(inner)
    return found


def _parts(hint: Any) -> tuple[Any, ...]:
    return (hint, *(part for arg in getattr(hint, "__args__", ()) for part in _parts(arg)))


def _written(hint: Any) -> str:
    """Write a type without the names of modules."""
    args = getattr(hint, "__args__", None)
    if args is None:
        return str(getattr(hint, "__name__", hint))
    name = getattr(hint, "__name__", None) or str(getattr(hint, "__origin__", "union"))
    parts = (
        sorted(map(_written, args)) if name in ("Union", "UnionType") else [*map(_written, args)]
    )
    return f"{'one of' if name == 'Literal' else name.lower()}[{', '.join(parts)}]"


def themes(folder: str) -> dict[str, Any]:
    """Return what a theme file may and must hold, the shipped themes, and what is said of the files
    of `folder`.
    """
    from workbench.config.paths import shipped
    from workbench.tui.app.themes import KEYS, NEEDED, load_themes

    ours, own = load_themes([shipped("themes")]), load_themes([Path(folder)])
    assert not ours.problems
    return {
        "keys": KEYS,
        "needed": NEEDED,
        "shipped": {theme.name: sorted(theme.variables) for theme in ours.themes},
        "own": {theme.name: theme.variables for theme in own.themes},
        "problems": len(own.problems),
    }


def numerics() -> str:
    """Return the bits of sums, products and roots that this machine computes its own way, to tell
    machines apart.
    """
    import hashlib

    import numpy as np

    wave = np.sin(np.arange(257 * 256, dtype=np.float64)).astype(np.float32).reshape(257, 256)
    wide = wave[0].astype(np.float64)
    moments = [
        float(part.mean()) + float(part.std()) for part in (wide[:n] for n in range(2, len(wide)))
    ]
    known = (wave @ wave[0], np.exp(wide), np.log1p(wide * wide), np.array(moments))
    return hashlib.sha256(b"".join(values.tobytes() for values in known)).hexdigest()[:16]


def python() -> str:
    """Return the version of Python that runs the product."""
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def app(store: str) -> list[tuple[str, int, int]]:
    """Make every change that only the app makes; return for each its name and the revisions before
    and after.
    """
    return _made(store, _stream, _book, _equal_bullets, _review, _suggestions, _grades, _upkeep)


def outdate(store: str) -> None:
    """Let the memories of a store be as old as what they tell of, as if no file had brought them
    just now.
    """
    from workbench.core.stream.confidence import unmarked
    from workbench.services.open import open_workbench

    bench = open_workbench(Path(store), profiles=Path(store) / "profiles", believed=True)
    with bench.library.transaction("human", "outdate") as tx:
        for memory in bench.library.memories.all():
            tx.put(replace(memory, metadata=unmarked(memory.metadata)))
    bench.close()


def unread(store: str) -> list[tuple[str, int, int]]:
    """Do in a store what the app does with replies that could not be read; return what `app`
    returns.
    """
    return _made(store, _replies)


def _made(store: str, *parts: "Callable[[Any], Changes]") -> list[tuple[str, int, int]]:
    from workbench.services.open import open_workbench

    ticks = count()
    folder = Path(store)
    bench = open_workbench(
        folder,
        profiles=folder / "profiles",
        clock=lambda: NOW + timedelta(seconds=next(ticks)),
        believed=True,
    )
    done: list[tuple[str, int, int]] = []
    for part in parts:
        for name, change in part(bench).items():
            before = bench.library.journal.rev
            change()
            done.append((name, before, bench.library.journal.rev))
    bench.close()
    return done


Changes = dict[str, Callable[[], object]]


def _stream(bench: Any) -> Changes:
    stream, safety = bench.stream, bench.safety
    one, two, three = "mem-20260206-0000001", "mem-20260206-0000002", "mem-20260206-0000003"

    def keep() -> None:
        text = "The staging password is hunter2-Correct-Horse-9: ghp_" + "a1B2" * 9
        with safety.keeping(f"edit {three}", [text], lambda: [three]):
            stream.edit(three, text)

    return {
        "vote on a memory": lambda: stream.vote([one], "helpful"),
        "take a vote back": lambda: stream.vote([one], "helpful"),
        "vote on several memories": lambda: stream.vote([one, two], "harmful"),
        "pin": lambda: stream.pin([one]),
        "unpin": lambda: stream.pin([one]),
        "pin several": lambda: stream.pin([one, two]),
        "edit a memory": lambda: stream.edit(one, "Other words for what was seen."),
        "edit and keep a secret": keep,
        "forget": lambda: stream.forget([one]),
        "restore": lambda: stream.restore([one]),
        "forget several": lambda: stream.forget([one, two]),
        "restore several": lambda: stream.restore([one, two]),
    }


def _book(bench: Any) -> Changes:
    books, book = bench.playbooks, "playbook"
    sections = books.open(book).sections
    one, two, three, four = (bullet.id for bullet in books.open(book).bullets[:4])
    return {
        "new playbook": lambda: books.ensure("second"),
        "vote on a bullet": lambda: books.vote(book, [one], "helpful"),
        "take a bullet's vote back": lambda: books.vote(book, [one], "helpful"),
        "vote on several bullets": lambda: books.vote(book, [one, two], "harmful"),
        "edit a bullet": lambda: books.edit(book, one, "Other words for a rule."),
        "add a bullet": lambda: books.add(
            book, sections[0].id, "A rule that was missing until now."
        ),
        "pin a bullet": lambda: books.pin(book, [one]),
        "pin several bullets": lambda: books.pin(book, [one, two]),
        "move a bullet": lambda: books.move(book, [three], sections[1].id),
        "move a bullet up": lambda: books.shift(book, two, 1),
        "add a section": lambda: books.add_section(book, "What never worked"),
        "set a budget": lambda: books.set_budget(book, 900),
        "no budget": lambda: books.set_budget(book, 0),
        "deprecate": lambda: books.deprecate(book, [two], "it is outdated"),
        "restore a bullet": lambda: books.restore(book, [two]),
        "deprecate for another": lambda: books.deprecate(book, [two], "said better elsewhere", one),
        "turn into a warning": lambda: books.avoid(book, [three]),
        "turn several into warnings": lambda: books.avoid(book, [one, four]),
        "fit into the budget": lambda: books.fit(book, [four], 900),
        "delete a bullet": lambda: books.delete(book, [four]),
    }


def _equal_bullets(bench: Any) -> Changes:
    books, duplicates, book = bench.playbooks, bench.bullet_duplicates, "second"
    section = books.add_section(book, "Rules")
    text = "Always rotate the keys before a release goes out."
    same = [books.add(book, section, said) for said in (text, text)]
    case = [
        books.add(book, section, said)
        for said in ("Pin the Node version.", "pin the node version.")
    ]

    def group(ids: list[str]) -> Any:
        return next(found for found in duplicates.same(book) if set(found.ids) == set(ids))

    return {
        "keep bullets apart": lambda: duplicates.keep_both(group(case)),
        "merge equal bullets": lambda: duplicates.merge_same(book, duplicates.same(book)),
        "take a merge apart": lambda: duplicates.part(book, same[0]),
        "merge bullets": lambda: duplicates.merge(book, same, "Rotate the keys.", same[1]),
        "merge bullets that were looked at": lambda: duplicates.merge_unchanged(
            book, [books.bullet(book, id) for id in case], "Pin Node.", case[0]
        ),
    }


def _review(bench: Any) -> Changes:
    from workbench.services.stream.fields import FieldEdit

    review = bench.review
    rejected, *rest = [proposal.id for proposal in review.queue()]
    ids, group = iter(rest), list[str]()
    return {
        "approve": lambda: review.approve([next(ids)]),
        "approve several": lambda: review.approve([next(ids), next(ids)]),
        "edit a candidate": lambda: review.edit(
            next(ids), FieldEdit("What was meant, in other words.")
        ),
        "reject": lambda: group.append(review.reject([rejected])),
        "give a reason afterwards": lambda: review.explain(group[0], [rejected], "wrong"),
        "later": lambda: review.later([next(ids)]),
        "merge into a memory": lambda: review.merge_into(next(ids), "mem-20260206-0000001"),
        "split": lambda: review.split(next(ids), ["One half of it.", "The other half of it."]),
        "refine": lambda: review.refine(next(ids), ["first words", "better words"], "better words"),
    }


def _suggestions(bench: Any) -> Changes:
    curating, book = bench.curating, "second"
    operations = [
        {"type": "ADD", "section": "rules", "content": f"A suggested rule, number {n}."}
        for n in range(3)
    ]
    reply = curating.read(
        json.dumps({"reasoning": "Something is missing.", "operations": operations})
    )
    return {
        "suggestions into Review": lambda: curating.put_off(book, reply, [1, 2]),
        "take suggestions": lambda: curating.apply(book, reply, [reply.parts[0][0]]),
    }


def _grades(bench: Any) -> Changes:
    judging, query, memory = bench.judging, "why does the refresh fail", "mem-20260209-0000015"
    return {
        "save a query": lambda: judging.save_query(query, None),
        "judge": lambda: judging.judge(query, None, memory, 3),
        "judge again": lambda: judging.judge(query, None, memory, 1),
    }


def _replies(bench: Any) -> Changes:
    reflecting, curation = bench.reflecting, bench.curation
    first, second, *_ = reflecting.runs.waiting()
    third, fourth, *_ = curation.waiting("playbook")
    return {
        "read an insight again": lambda: reflecting.read_again(
            first, "Pin the Node version in every workflow."
        ),
        "let an insight go": lambda: reflecting.dismiss(second),
        "read a suggestion again": lambda: curation.read_again(
            third, json.dumps({"operations": []})
        ),
        "let a suggestion go": lambda: curation.dismiss(fourth),
    }


TWINS = (
    "The export of the rota times out for large venues.",
    "Never deploy on the day before a bank holiday.",
)


def _upkeep(bench: Any) -> Changes:
    upkeep, dedup = bench.upkeep, bench.deduplication
    plan: list[Any] = []
    edited = [f"mem-20260206-000000{number}" for number in range(5, 9)]
    for place, id in enumerate(edited):
        bench.stream.edit(id, TWINS[place // 2])
    found = dedup.plan()
    first, second = (group for group in found.groups if group.members[0].id in edited)
    return {
        "propose merges": lambda: dedup.propose(found),
        "merge memories": lambda: dedup.merge(first),
        "keep memories apart": lambda: dedup.keep_both(second),
        "upkeep": lambda: plan.append(upkeep.carry_out(search=False)),
        "prune": lambda: upkeep.prune(upkeep.prunable(plan[0])),
    }


QUESTIONS: dict[str, Callable[..., Any]] = {
    "actions": actions,
    "tables": tables,
    "themes": themes,
    "numerics": numerics,
    "python": python,
    "app": app,
    "outdate": outdate,
    "unread": unread,
}
"""What can be asked, also from outside of this process."""


if __name__ == "__main__":
    sys.stdout.write(json.dumps(QUESTIONS[sys.argv[1]](*json.loads(sys.argv[2]))))
