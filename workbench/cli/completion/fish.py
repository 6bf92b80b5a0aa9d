"""The completion script for fish."""

from collections.abc import Iterator, Sequence

from workbench.cli.completion.places import Option, Place, Value

_SCRIPT = r"""# Completion of workbench for fish:  workbench completion fish | source
# or, once:  workbench completion fish > ~/.config/fish/completions/workbench.fish
function __workbench_at
    set -l place ''
    set -l at 0
    set -l want ''
    for word in (commandline -opc)[2..-1]
        if test -n "$want"
            set want ''
            continue
        end
        switch $word
            case '-*=*'
                continue
            case '-*'
                switch "$place|$word"
%(takes)s
                end
                continue
        end
        switch "$place|$word"
%(commands)s
                set place (string trim "$place $word")
            case '*'
                set at (math $at + 1)
        end
    end
    test "$place" = "$argv[1]"; or return 1
    test (count $argv) -eq 1; and return 0
    test $at -ge $argv[2]; and test $at -le $argv[3]
end
complete -c workbench -f
%(lines)s
"""

_EVER = 9_999
"""Arguments after which nobody asks any more."""


def script(found: Sequence[Place]) -> str:
    """Return the script for what can be typed."""
    taking = [f"'{p.name}|{n}'" for p in found for o in p.options if o.value.takes for n in o.names]
    commands = [f"'{p.name}|{word}'" for p in found for word, _ in p.words]
    takes = f"{' ' * 20}case {' '.join(taking)}\n{' ' * 24}set want value"
    lines = [line for place in found for line in _lines(place)]
    return _SCRIPT % {
        "takes": takes,
        "commands": f"{' ' * 12}case {' '.join(commands)}",
        "lines": "\n".join(lines),
    }


def _lines(place: Place) -> Iterator[str]:
    for word, about in place.words:
        yield f"complete -c workbench -n {_at(place.name, 0, 0)} -a {_quoted(word)} -d {_quoted(about)}"
    for option in place.options:
        yield _option(place, option)
    for at, value in enumerate(() if place.words else place.values):
        last = place.repeats and at == len(place.values) - 1
        given = _given(value)
        if given:
            yield f"complete -c workbench -n {_at(place.name, at, _EVER if last else at)} {given}"


def _option(place: Place, option: Option) -> str:
    names = " ".join(f"-l {n[2:]}" if n.startswith("--") else f"-s {n[1:]}" for n in option.names)
    takes = f" -r {_given(option.value) or '-f'}" if option.value.takes else ""
    return f"complete -c workbench -n {_at(place.name)} {names}{takes} -d {_quoted(option.about)}"


def _at(name: str, first: int | None = None, last: int | None = None) -> str:
    span = "" if first is None else f" {first} {last}"
    return _quoted(f"__workbench_at {_quoted(name)}{span}")


def _given(value: Value) -> str:
    if value.choices:
        return f"-f -a {_quoted(' '.join(value.choices))}"
    return {"file": "-F", "folder": "-f -a '(__fish_complete_directories)'"}.get(value.takes, "")


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
