"""The templates of new plans: those that come with the tool, and in front of them a repository's own."""

from __future__ import annotations

import os

from execplan.errors import INPUT, About, ExecplanError
from execplan.plan import reader
from execplan.plan.guidance import MARK, is_guidance
from execplan.record import NamedTuple
from execplan.repo import stock
from execplan.repo.home import ensure_inside
from execplan.text import disk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.repo.home import Project

MAX_BYTES = 64 * 1024
"""What a repository's own template may have."""
BUILT_IN = "built-in:"
"""Before the name of a file that is to be one of the tool, also where the repository has one of that name."""
_MARKS = ("{#- guidance #}", "{#- guidance -#}", "{# guidance #}")


class Template(NamedTuple):
    """A template by its name."""

    name: str
    about: str
    """What for, in one line: the comment in its first line."""
    path: str
    """From the root of the repository."""
    own: bool
    """Whether it is the repository's."""
    overrides: bool
    """Whether it is the repository's and stands in place of one of the tool."""


def every(home: Project) -> list[Template]:
    """All templates, those of the tool first; raises ExecplanError."""
    names = [*_built_in(), *sorted(_own(home))]
    return [_template(home, name, about=True) for name in dict.fromkeys(names)]


def find(home: Project, name: str) -> Template:
    """The template of that name; raises ExecplanError."""
    if name in _built_in() or name in _own(home):
        return _template(home, name)
    from difflib import get_close_matches

    there = every(home)
    near = get_close_matches(name, [template.name for template in there], n=1, cutoff=0.4)
    raise ExecplanError(
        "unknown-template",
        f"there is no template {name!r}",
        exit=INPUT,
        hint=(f"did you mean {near[0]!r}? " if near else "") + "see them: execplan new --list-templates",
        candidates=[f"{template.name}: {template.about}" for template in there],
    )


class Source(NamedTuple):
    """The file of a template."""

    path: str
    """From the root of the repository."""
    text: str
    own: bool


def source(home: Project, name: str) -> Source | None:
    """The file of that name, the repository's own first; None where there is none.

    Raises ExecplanError for an own one that can't be read or that leads out of the folder of templates.
    """
    own = None if name.startswith(BUILT_IN) else _read_own(home, name)
    if own is not None:
        return own
    name = name.removeprefix(BUILT_IN)
    place = _built_in().get(name.removesuffix(".md")) if name.endswith(".md") else None
    if place is None:
        return None
    return Source(home.display_path(os.path.join(stock.directory(), place)), stock.read_text(place), own=False)


def has_own(home: Project) -> bool:
    """Whether the repository has templates of its own."""
    return bool(_own(home))


def _built_in() -> dict[str, str]:
    """The templates that come with the tool, each with its place in their folder."""
    return {"plan": "plan.md"} | {name.removesuffix(".md"): f"plans/{name}" for name in stock.list_names("plans")}


def _own(home: Project) -> list[str]:
    """The names of the repository's own; a file that begins with an underscore is only a part of others."""
    try:
        names = os.listdir(_folder(home))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise disk.trouble(error, home.settings.templates, "read") from None
    return [name[:-3] for name in names if name.endswith(".md") and not name.startswith(("_", "."))]


def _template(home: Project, name: str, *, about: bool = False) -> Template:
    """A template that is there; what it is for is read only when it is wanted."""
    built_in, own = _built_in(), name in _own(home)
    path = os.path.join(_folder(home), f"{name}.md") if own else os.path.join(stock.directory(), built_in[name])
    said = ""
    if about:
        try:
            found = source(home, f"{name}.md")
            said = _about(found.text) if found is not None else ""
        except ExecplanError as error:
            said = error.message
    return Template(name, said, home.display_path(path), own, own and name in built_in)


def _about(text: str) -> str:
    """The comment that a template begins with."""
    line = text.split("\n", 1)[0].strip()
    return line[2:-2].strip("- ") if line.startswith("{#") and line.endswith("#}") else ""


def _folder(home: Project) -> str:
    """The folder of the repository's own templates; raises ExecplanError when it is a link out of the repository."""
    folder = os.path.join(home.base, home.settings.templates)
    ensure_inside(home, folder)
    return folder


def _read_own(home: Project, name: str) -> Source | None:
    """One of the repository's own, its guidance marked for the reader of plans."""
    if "\0" in name or {"", ".", ".."} & set(name.split("/")):
        return None
    folder = _folder(home)
    path = os.path.join(folder, name)
    if not os.path.lexists(path):
        return None
    ensure_inside(home, path, folder)
    shown = home.display_path(path)
    with About(shown):
        data, size = disk.read(os.path.realpath(path), MAX_BYTES)
        if size > MAX_BYTES:
            why = f"the file has {size:,} bytes; a template has at most {MAX_BYTES:,}"
            raise ExecplanError("too-large", why, exit=INPUT, hint="make it shorter")
        text = reader.decode(data)
    joined = "\n".join([_marked(line) for line in text.lines]) + ("\n" if text.ends[-1] else "")
    return Source(shown, joined, own=True)


def _marked(line: str) -> str:
    """A line with the mark of guidance that a plan can carry in place of the one of a template."""
    bare = line.rstrip()
    for mark in _MARKS:
        if bare.endswith(mark) and bare != mark:
            bare = bare.removesuffix(mark).rstrip()
            return bare if is_guidance(bare) else f"{bare} {MARK}"
    return line
