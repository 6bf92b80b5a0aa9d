"""`workbench review promote`: from Review to a playbook, to the files that agents read, or to a
skill.
"""

from typing import TYPE_CHECKING

from workbench.cli.output import say, warn, write_json
from workbench.cli.parsing import path_of, wants_json
from workbench.cli.session import Session, keeps
from workbench.core.record import UnknownRecord, WorkbenchError
from workbench.core.text import clean_for_store, counted

if TYPE_CHECKING:
    from workbench.services.open import Workbench
    from workbench.services.promotion.promotion import PromotionPlan, Target


SHOWN = 40
"""Lines of a difference that are shown after writing; a dry run shows all."""


def promote(session: Session) -> int:
    """Show what is written, and write it unless it is a dry run."""
    args, kept = session.args, keeps(session.args)
    with session.reading() if args.dry_run else session.changing() as bench:
        target = _target(session, bench)
        plan = bench.promotion.plan([_memory(bench, id) for id in args.ids], target)
        if args.dry_run:
            return _show(session, plan)
        if plan.outside and not args.outside:
            hint = "Nothing was written; --outside agrees to that."
            raise WorkbenchError(f"{plan.outside[0]} lies outside the project.", hint)
        reason = " ".join(clean_for_store(args.reason).split())
        typed = (reason, args.title, args.about) if kept else ()
        bench.promotion.carry_out(plan, outside=args.outside, reason=reason, keep=typed)
    return _report(session, plan)


def _target(session: Session, bench: "Workbench") -> "Target":
    from workbench.services.promotion.promotion import Target

    args = session.args
    kind, colon, where = args.to.partition(":")
    titles = {"title": args.title, "slug": args.name, "about": args.about}
    kept = bool(args.keep)
    if kind == "playbook" and colon:
        target = Target("playbook", where)
    elif kind in ("memory", "skill") and (colon or not where):
        folder = str(session.cwd / path_of(where).expanduser()) if where else ""
        if args.section:
            raise WorkbenchError("--section is for files that are there.", "Nothing was written.")
        return Target(kind, folder, **titles, kept=kept)
    else:
        target = Target("block", _file(session, bench, args.to), section=args.section)
    if args.section and target.kind != "block":
        raise WorkbenchError(
            "--section is for files.",
            "A playbook's is named as playbook:SECTION; nothing was written.",
        )
    if any(titles.values()):
        raise WorkbenchError(
            "A title and a name are for memory files and skills.", "Nothing was written."
        )
    return target


def _file(session: Session, bench: "Workbench", name: str) -> str:
    """Return the file that is meant: the project's own by its usual name, any other from the
    working directory.
    """
    from workbench.services.promotion.promotion import USUAL_FILES

    if name in USUAL_FILES and bench.promotion.places.project is not None:
        return name
    try:
        return str(session.cwd / path_of(name).expanduser())
    except RuntimeError as error:
        raise WorkbenchError(
            f"{name} names an unknown home folder.", "Nothing was written."
        ) from error


def _memory(bench: "Workbench", id: str) -> str:
    """Return the memory that an id means: its own, or that of the one a proposal is about."""
    if id in bench.library.memories:
        return id
    try:
        memory = bench.review.memory(bench.review.get(id))
    except UnknownRecord as error:
        hint = (
            "Nothing was changed; `workbench review list` and `workbench list` show what there is."
        )
        raise UnknownRecord(f"There is no memory or proposal {id}.", hint) from error
    if memory is None:
        raise WorkbenchError(f"The proposal {id} is about no memory.", "Nothing was changed.")
    return memory.id


def _show(session: Session, plan: "PromotionPlan") -> int:
    if wants_json(session.args):
        write_json({"dry_run": True, **_json(plan)})
        return 0
    _print_changes(plan, None)
    for remark in _remarks(plan):
        warn(remark)
    _print_sizes(plan)
    say(f"{_named(plan)} would be promoted to {', '.join(plan.to)}. Nothing was written.")
    return 0


def _report(session: Session, plan: "PromotionPlan") -> int:
    if wants_json(session.args):
        write_json({"dry_run": False, **_json(plan)})
        return 0
    _print_changes(plan, SHOWN)
    for remark in plan.warnings:
        warn(remark)
    _print_sizes(plan)
    say(f"Promoted {_named(plan)} to {', '.join(plan.to)}. `workbench undo` takes it back.")
    return 0


def _remarks(plan: "PromotionPlan") -> list[str]:
    """Say what would have to be agreed to."""
    return [
        *plan.warnings,
        *(f"{path} lies outside the project: --outside agrees to that." for path in plan.outside),
        *(f"{held.line} `workbench allow {held.id}` lets it pass." for held in plan.flagged),
        *(f"{id} is approved by this." for id in plan.approves),
    ]


def _print_changes(plan: "PromotionPlan", limit: int | None) -> None:
    for edit in plan.edits:
        lines = edit.lines()
        say(f"--- {edit.name}")
        say(f"+++ {edit.name}, promoted to")
        for line in lines[:limit]:
            say(str(line))
        if limit is not None and len(lines) > limit:
            say(f"… {counted(len(lines) - limit, 'more line')}")


def _print_sizes(plan: "PromotionPlan") -> None:
    from workbench.services.promotion.promotion import size_said

    for size in plan.sizes:
        say(size_said(size))


def _named(plan: "PromotionPlan") -> str:
    return plan.ids[0] if len(plan.ids) == 1 else counted(len(plan.ids), "memory", "memories")


def _json(plan: "PromotionPlan") -> dict[str, object]:
    return {
        "ids": plan.ids,
        "to": plan.to,
        "approves": plan.approves,
        "text": plan.text,
        "changes": [
            {"name": edit.name, "diff": [str(line) for line in edit.lines()]} for edit in plan.edits
        ],
        "outside": plan.outside,
        "flagged": [held.id for held in plan.flagged],
        "warnings": plan.warnings,
        "sizes": [
            {
                "file": size.file,
                "tokens": size.tokens,
                "limit": size.most // 4 or None,
                "bytes": size.bytes,
                "limit_bytes": size.most or None,
            }
            for size in plan.sizes
        ],
    }
