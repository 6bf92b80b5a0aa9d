"""A move of a slider in words: what it is called, and where it stands."""

from collections.abc import Sequence

from workbench.bench.tuning.session import Settings
from workbench.tui.tuning.parameters import PARAMETERS, TIME, Parameter, day_offset


def label_of(slider: str, parameters: Sequence[Parameter] = PARAMETERS) -> str:
    """Return what a slider is called where it stands alone; "the sliders" without one."""
    parameter = next((p for p in parameters if p.id == slider), None)
    if parameter is None:
        return slider or "the sliders"
    return parameter.label if parameter.label == slider else f"{parameter.group}, {parameter.label}"


def value_of(slider: str, settings: Settings, parameters: Sequence[Parameter] = PARAMETERS) -> str:
    """Return where a slider stands, as it shows it; "where they stood" for several."""
    if slider == TIME:
        return day_offset(settings.days)
    parameter = next((p for p in parameters if p.id == slider), None)
    return "where they stood" if parameter is None else parameter.text(parameter.get(settings.profile))
