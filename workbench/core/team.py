"""The address of a store that a team shares, and the files that name one."""

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from workbench.core.record import StoreProblem, as_object

COPY = "team.json"
"""The file that says, in the folder of this machine's copy of a team's store, whose copy it is."""

POINTER = "store.json"
"""The file that says, in the `.workbench` folder of a project, where its team's store is."""

PROPOSED = "proposed"
"""The key of a memory's metadata in a team's store that says which memory it was, and whose."""

PLACE = "team: "
"""How the place begins that a memory is promoted to which was proposed to a team."""

_FORM = "Write postgresql://ROLE@HOST/DATABASE?store=NAME."


_SCHEMES = ("postgresql://", "postgres://")


def is_address(text: str) -> bool:
    """Tell whether a text is meant as the address of a team's store, and not as a path."""
    return "://" in text or text.startswith(("postgresql:", "postgres:"))


def checked(address: str) -> str:
    """Return an address; raises `StoreProblem` for one that cannot be read or holds a password."""
    from urllib.parse import parse_qs, urlsplit  # few stores are a team's

    try:
        parts = urlsplit(address)
        has_password = parts.password is not None or "password" in parse_qs(parts.query)
    except ValueError:
        raise StoreProblem("The address of the store cannot be read.", _FORM) from None
    if has_password:
        raise StoreProblem(
            "A password does not belong in an address: it would stand in files and in lists of processes.",
            "Keep it in ~/.pgpass or in PGPASSWORD, and leave it out of the address.",
        )
    if not address.startswith(_SCHEMES):
        raise StoreProblem("The address of the store cannot be read.", _FORM)
    return address


def shown(address: str) -> str:
    """Return an address as people read it: host, database and store."""
    from urllib.parse import parse_qs, urlsplit

    parts = urlsplit(address)
    store = parse_qs(parts.query).get("store", ["main"])[0]
    return f"{parts.hostname or 'this machine'}{parts.path} {store}"


def place_of(address: str) -> str:
    """Return what a memory is said to be promoted to that was proposed to a team."""
    return f"{PLACE}{shown(address)}"


def proposer(metadata: Mapping[str, object]) -> str:
    """Return who proposed a memory to the team, by its metadata; empty for any other."""
    said = metadata.get(PROPOSED)
    return str(said.get("by", "")) if isinstance(said, Mapping) else ""


def without_role(address: str) -> str:
    """Return an address as everybody of a team may have it."""
    scheme, _, rest = address.partition("://")
    server, slash, database = rest.partition("/")
    return f"{scheme}://{server.rpartition('@')[2]}{slash}{database}"


def copy_name(address: str) -> str:
    """Return the name of the folder of this machine's copy of a store."""
    from hashlib import blake2b

    digest = blake2b(address.encode("utf-8", "replace"), digest_size=6).hexdigest()
    words = "".join(one if one.isascii() and one.isalnum() else "-" for one in shown(address))
    return f"{words[:60].strip('-')}-{digest}"


def address_in(file: Path) -> str:
    """Return the address that a file names; empty where there is none. Raises `StoreProblem` for a
    file that does not say one.
    """
    try:
        said = json.loads(file.read_bytes())
    except FileNotFoundError:
        return ""
    except (OSError, ValueError) as error:
        raise StoreProblem(f"{file} cannot be read.", "Nothing was opened.") from error
    address = as_object(said).get("store")
    if not isinstance(address, str) or not is_address(address):
        raise StoreProblem(f"{file} names no store of a team.", _FORM)
    return checked(address)


def member_in(file: Path) -> tuple[str, bool] | None:
    """Return who connected last, by the file of a copy: the role, and whether it is one of agents.
    `None` where nobody did.
    """
    with suppress(OSError, ValueError):
        said = json.loads(file.read_bytes())
        if isinstance(said, dict) and isinstance(role := said.get("role"), str) and role:
            return role, said.get("is_agent") is True
    return None


def hidden_store(folder: Path) -> str:
    """Say that a project has a store beside the pointer to the team's, which is not opened."""
    return (
        f"The store in {folder} is not shown, since this project uses its team's: "
        f"`workbench --store {folder} list` shows it, `workbench help team` says how to bring it along."
    )


def last_state(away: StoreProblem) -> str:
    """Say that a team's store cannot be reached, and what that means."""
    return f"{away} You see the last state that is known here; nothing is stored meanwhile."
