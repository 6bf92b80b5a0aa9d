"""What the scripts for bash and zsh look up alike: their tables of places, options and values are filled in."""

LOOKUPS = r"""_workbench_takes() {
    case "$1|$2" in
%(takes)s
    esac
}
_workbench_is_command() {
    case "$1|$2" in
%(commands)s
    esac
    return 1
}
_workbench_options() {
    case "$1" in
%(options)s
    esac
}
_workbench_values() {
    case "$1|$2" in
%(values)s
    esac
}
"""
"""Four functions, in the language that both shells share."""
