"""Opening a form: here, or as one document in the person's own editor."""

from dataclasses import replace

from workbench.services.forms.document import BadDocument, document_of, line_of, read_document, text_line_of
from workbench.services.forms.values import Values
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.drafting import Drafting
from workbench.tui.forms.form import AGAIN, RecordForm
from workbench.tui.forms.saving import FormSaving, Refusal
from workbench.tui.promotion.copies import CopyAsking
from workbench.tui.widgets.keys import keyed


async def fill_in(area: AreaScreen, saving: FormSaving, draft: Drafting | None = None) -> Values | None:
    """Open a form; return what was saved, or `None` when it was left."""
    return await area.app.push_screen_wait(RecordForm(saving, draft=draft))


async def fill_in_elsewhere(
    area: AreaScreen,
    saving: FormSaving,
    draft: Drafting | None = None,
    copies: CopyAsking | None = None,
    line: int = 0,
) -> Values | None:
    """Open all of it in the person's own editor; what cannot be saved of it opens as a form, with the reason.

    The editor begins at a `line` of the text (from 1; 0 for none) where its way of saying so is known.
    Return what was saved, or `None` for nothing.
    """
    subject = saving.subject
    values = {name: value or "" for name, value in subject.values.items()}
    document = document_of(values, subject.fields)
    saved = await area.edit_externally(document, line and line + text_line_of(document) - 1)
    if saved is None:
        return None
    try:
        typed = read_document(saved, values, subject.fields)
    except BadDocument as bad:
        refused = Refusal(f"{bad} {keyed(AGAIN)}")
        return await area.app.push_screen_wait(RecordForm(saving, document=saved, draft=draft, problem=refused))
    if not typed:
        return None
    problem = saving.unfit(typed)
    with area.workbench_app.reporting():
        if problem is None and copies is not None and not await copies.settled(saving.shown(typed)):
            problem = Refusal("It is not saved yet.")
        problem = problem or saving.at_once(typed)
    if problem is None:
        return typed
    problem = replace(problem, line=line_of(saved, problem.field)) if problem.unfit else problem
    return await area.app.push_screen_wait(RecordForm(saving, typed=typed, draft=draft, problem=problem))
