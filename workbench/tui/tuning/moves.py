"""A move of a slider in words: what it is called, and where it stands."""

from workbench.bench.tuning.session import Settings
from workbench.tui.tuning.parameters import PARAMETERS, TIME, day_offset


def label_of(slider: str) -> str:
    """Return what a slider is called where it stands alone; "the sliders" without one."""
    parameter = next((p for p in PARAMETERS if p.id == slider), None)
    if parameter is None:
        return slider or "the sliders"
    return parameter.label if parameter.label == slider else f"{parameter.group}, {parameter.label}"


def value_of(slider: str, settings: Settings) -> str:
    """Return where a slider stands, as it shows it; "where they stood" for several."""
    if slider == TIME:
        return day_offset(settings.days)
    parameter = next((p for p in PARAMETERS if p.id == slider), None)
    return "where they stood" if parameter is None else parameter.text(parameter.get(settings.profile))
