"""The completion script for zsh: sourced, or as a file `_workbench` in a folder of `$fpath`."""

from collections.abc import Iterable, Sequence

from workbench.cli.completion.lookups import LOOKUPS
from workbench.cli.completion.places import Place, Value

_SCRIPT = (
    r"""#compdef workbench
# Completion of workbench for zsh:  source <(workbench completion zsh)
# or, once:  workbench completion zsh > "${fpath[1]}/_workbench"
_workbench() {
    local place="" want="" word
    local -i at=0 i
    local -a offered
    for ((i = 2; i < CURRENT; i++)); do
        word="${words[i]}"
        if [[ -n $want ]]; then want=""; continue; fi
        if [[ $word == -*=* ]]; then continue; fi
        if [[ $word == -* ]]; then
            _workbench_takes "$place" "$word"
        elif _workbench_is_command "$place" "$word"; then
            place="${place:+$place }$word"
        else
            at=$((at + 1))
        fi
    done
    if [[ -z $want && $PREFIX == -*=* ]]; then
        _workbench_takes "$place" "${PREFIX%%%%=*}"
        compset -P '*='
    fi
    if [[ -z $want && $PREFIX == -* ]]; then
        _workbench_options "$place"
        _describe -o option offered
        return
    fi
    if [[ -z $want ]]; then
        _workbench_values "$place" "$at"
    fi
    case "$want" in
        (@word|"") if (( $#offered )); then _describe command offered; fi ;;
        (@file) _files ;;
        (@folder) _files -/ ;;
        (*) compadd -- ${=want} ;;
    esac
}
"""
    + LOOKUPS
    + r"""if [[ ${funcstack[1]} == _workbench ]]; then
    _workbench "$@"
else
    compdef _workbench workbench
fi
"""
)


def script(found: Sequence[Place]) -> str:
    """Return the script for what can be typed."""
    takes = [f"        ('{p.name}|{n}') want='{_want(o.value)}' ;;" for p in found for o in p.options for n in o.names
             if o.value.takes]  # fmt: skip
    commands = [f"        ('{p.name}|{word}') return 0 ;;" for p in found for word, _ in p.words]
    options = [
        f"        ('{p.name}') offered=({_described((n, o.about) for o in p.options for n in o.names)}) ;;"
        for p in found
    ]
    values = [line for place in found for line in _values(place)]
    parts = {"takes": takes, "commands": commands, "options": options, "values": values}
    return _SCRIPT % {name: "\n".join(lines) for name, lines in parts.items()}


def _values(place: Place) -> list[str]:
    if place.words:
        return [f"        ('{place.name}|0') offered=({_described(place.words)}) ;;"]
    lines = []
    for at, value in enumerate(place.values):
        last = place.repeats and at == len(place.values) - 1
        lines.append(f"        ('{place.name}|'{'*' if last else at}) want='{_want(value)}' ;;")
    return lines


def _described(words: Iterable[tuple[str, str]]) -> str:
    return " ".join(_quoted(f"{word}:{about}" if about else word) for word, about in words)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _want(value: Value) -> str:
    return " ".join(value.choices) if value.choices else f"@{value.takes}"
