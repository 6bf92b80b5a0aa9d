"""The completion script for bash; it needs bash alone, from 3.2 on."""

from collections.abc import Sequence

from workbench.cli.completion.lookups import LOOKUPS
from workbench.cli.completion.places import Place, Value

_SCRIPT = (
    r"""# Completion of workbench for bash:  eval "$(workbench completion bash)"
_workbench() {
    local cur="${COMP_WORDS[COMP_CWORD]}" place="" want="" at=0 i word
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        word="${COMP_WORDS[i]}"
        [[ $word == = ]] && continue
        if [[ -n $want ]]; then want=""; continue; fi
        if [[ $word == -* ]]; then
            _workbench_takes "$place" "$word"
        elif _workbench_is_command "$place" "$word"; then
            place="${place:+$place }$word"
        else
            at=$((at + 1))
        fi
    done
    [[ $cur == = ]] && cur=""
    if [[ -z $want && $cur == -* ]]; then
        _workbench_options "$place"
    elif [[ -z $want ]]; then
        _workbench_values "$place" "$at"
    fi
    local IFS=$'\n'
    case "$want" in
        @word|"") ;;
        @file) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$cur")) ;;
        @folder) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- "$cur")) ;;
        *) COMPREPLY=($(compgen -W "${want// /$'\n'}" -- "$cur")) ;;
    esac
}
"""
    + LOOKUPS
    + r"""complete -F _workbench workbench
"""
)


def script(found: Sequence[Place]) -> str:
    """Return the script for what can be typed."""
    takes = [f'        "{p.name}|{n}") want="{_want(o.value)}" ;;' for p in found for o in p.options for n in o.names
             if o.value.takes]  # fmt: skip
    commands = [f'        "{p.name}|{word}") return 0 ;;' for p in found for word, _ in p.words]
    options = [f'        "{p.name}") want="{" ".join(n for o in p.options for n in o.names)}" ;;' for p in found]
    values = [line for place in found for line in _values(place)]
    parts = {"takes": takes, "commands": commands, "options": options, "values": values}
    return _SCRIPT % {name: "\n".join(lines) for name, lines in parts.items()}


def _values(place: Place) -> list[str]:
    if place.words:
        return [f'        "{place.name}|0") want="{" ".join(word for word, _ in place.words)}" ;;']
    lines = []
    for at, value in enumerate(place.values):
        last = place.repeats and at == len(place.values) - 1
        lines.append(f'        "{place.name}|"{"*" if last else at}) want="{_want(value)}" ;;')
    return lines


def _want(value: Value) -> str:
    return " ".join(value.choices) if value.choices else f"@{value.takes}"
