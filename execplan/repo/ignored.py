"""Whether git ignores the plans of a project, by which pattern, and the lines of .gitignore that change it."""

from __future__ import annotations

import os

from execplan.errors import ENVIRONMENT, ExecplanError
from execplan.record import NamedTuple
from execplan.text import disk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from execplan.repo.home import Home

_IGNORE = ".gitignore"
_PROBE = "2026-01-01_probe"
"""The ID of a plan that does not exist: git is asked about the file that it would have."""


class Ignored(NamedTuple):
    """A path that git ignores; paths are relative to the repository root."""

    path: str
    source: str
    """The file that holds the pattern."""
    line: int
    pattern: str


class Remedy(NamedTuple):
    """The lines that make git see the plans."""

    file: str
    """The ignore file that they belong to, after all others; relative to the repository root."""
    lines: tuple[str, ...]


def ignored(home: Home, paths: Iterable[str]) -> list[Ignored]:
    """Those of some absolute paths that git ignores, tracked files aside; none outside a repository. Raises ExecplanError."""
    asked = [os.path.relpath(os.path.realpath(path), home.root) for path in paths]
    asked = [path for path in dict.fromkeys(asked) if path[:3] != "../"]
    return _ask(home, asked) if home.git is not None and asked else []


def ignored_folders(home: Home) -> list[Ignored]:
    """The plans directories, the settings and the guide of a project, as far as git ignores them; raises ExecplanError."""
    return ignored(home, _probes(home))


def warnings(home: Home) -> tuple[str, ...]:
    """A warning where git ignores the plans of a project, with the lines that change it, or where git can't be asked."""
    from execplan.repo.ask import UNUSABLE

    try:
        found = ignored_folders(home)
    except ExecplanError as error:
        if error.code not in UNUSABLE:
            return ()  # what only warns stops nothing
        return (f"not checked, whether git ignores the plans: {error.message}; {error.hint}",)
    return (message(home, found),) if any([_is_plan(each) for each in found]) else ()


def message(home: Home, found: Sequence[Ignored]) -> str:
    """What is ignored, by which pattern, and what to do about it, in one line."""
    return f"{problem(found)}; {way(home, found)}"


def problem(found: Sequence[Ignored]) -> str:
    """What is ignored, by which pattern."""
    plans = [each for each in found if _is_plan(each)]
    where = ", ".join(_targets(plans or found))
    return f"git ignores {where}, by the pattern {found[0].pattern} in {_place(found[0])}: it can't be committed"


def way(home: Home, found: Sequence[Ignored]) -> str:
    """What to do about it, as an instruction."""
    remedy = find_remedy(home, found)
    if remedy is None:
        return f"change that pattern; see which one applies: git check-ignore -v {found[0].path}"
    word = "this line" if len(remedy.lines) == 1 else "these lines"
    return f"add {word} to the end of {remedy.file}: {'  '.join(remedy.lines)}"


def require_visible(home: Home, path: str) -> None:
    """Stop before a plan is written that could not be committed; raises ExecplanError."""
    found = ignored(home, [path])
    if found:
        raise ExecplanError(
            "ignored-by-git",
            f"git ignores {found[0].path}, by the pattern {found[0].pattern} in {_place(found[0])}; nothing was written",
            exit=ENVIRONMENT,
            hint=f"{way(home, [*ignored_folders(home), *found])}; or leave --commit out",
        )


def find_remedy(home: Home, found: Sequence[Ignored]) -> Remedy | None:
    """The fewest lines that make git see all of these paths, tried out with git; None where none of ours does."""
    import tempfile

    file = found[0].source if os.path.basename(found[0].source) == _IGNORE else _IGNORE
    base = os.path.dirname(file)
    targets = _targets(found)
    if any([base and not each.startswith(base + "/") for each in targets]):
        return None
    paths = [each.path for each in found]
    with tempfile.TemporaryDirectory(prefix="execplan-") as tree:
        _copy_ignore_files(home, tree, [file, *paths])
        opened = list(dict.fromkeys([line for each in targets for line in _chain(home, tree, base, each)]))
        deep = [f"!/{os.path.relpath(each, base or '.')}/**" for each in targets if not _is_file(each)]
        for lines in (opened, deep, [*opened, *deep]):
            if lines and not _still_ignored(home, tree, file, lines, paths):
                return Remedy(file, tuple(lines))
    return None


def _targets(found: Sequence[Ignored]) -> list[str]:
    """What git has to see: the files, and for plans their directories; without those below others."""
    targets = list(dict.fromkeys([os.path.dirname(each.path) if _is_plan(each) else each.path for each in found]))
    return [each for each in targets if not any([each.startswith(other + "/") for other in targets])]


def _probes(home: Home) -> list[str]:
    """Files of a project that have to be tracked: a plan, an archived one, the settings, the guide."""
    from execplan.repo.settings import FILE

    plans = [home.file(folder, _PROBE) for folder in (home.plans, *home.archives)]
    return [*plans, os.path.join(home.base, FILE), os.path.join(home.base, home.settings.guide)]


def _is_plan(found: Ignored) -> bool:
    return _PROBE in found.path


def _place(found: Ignored) -> str:
    return f"{found.source}:{found.line}"


def _is_file(target: str) -> bool:
    return os.path.splitext(target)[1] in (".md", ".toml")


def _chain(home: Home, tree: str, base: str, target: str) -> list[str]:
    """The lines that re-include a directory or a file: git looks into no directory that is ignored itself."""
    parts = os.path.relpath(target, base or ".").split("/")
    above = ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]
    hidden = {each.path for each in _ask(home, [os.path.join(base, each) for each in above], tree=tree)}
    first = next((at for at, each in enumerate(above) if os.path.join(base, each) in hidden), len(above) - 1)
    lines = []
    for each in above[first:-1]:
        lines += [f"!/{each}/", f"/{each}/*"]
    return [*lines, f"!/{above[-1]}" + ("" if _is_file(target) else "/")]


def _copy_ignore_files(home: Home, tree: str, paths: Iterable[str]) -> None:
    """Fill an empty directory with the directories of some paths, and with the ignore files that speak about them."""
    folders = {""}
    for path in paths:
        folder = os.path.dirname(path)
        while folder not in folders:
            folders.add(folder)
            folder = os.path.dirname(folder)
    for folder in sorted(folders):
        os.makedirs(os.path.join(tree, folder), exist_ok=True)
        try:
            with open(disk.open_regular(os.path.join(home.root, folder, _IGNORE)), "rb") as file:
                data = file.read()
        except OSError:
            continue
        with open(os.path.join(tree, folder, _IGNORE), "wb") as copy:
            copy.write(data)


def _still_ignored(home: Home, tree: str, file: str, lines: Sequence[str], paths: Sequence[str]) -> bool:
    """Whether git ignores any of the paths where an ignore file of the tree has these lines, too."""
    target = os.path.join(tree, file)
    old = b""
    if os.path.exists(target):
        with open(target, "rb") as before:
            old = before.read()
    try:
        with open(target, "wb") as trial:
            trial.write(old + "\n".join(["", *lines, ""]).encode())
        return bool(_ask(home, paths, tree=tree))
    finally:
        with open(target, "wb") as restored:
            restored.write(old)


def _ask(home: Home, paths: Iterable[str], *, tree: str = "") -> list[Ignored]:
    """What git ignores of some paths, in the repository or in another tree with its settings; raises ExecplanError."""
    from execplan.repo import ask

    stdin = b"".join([os.fsencode(each) + b"\0" for each in paths])
    other = ("-C", tree, "--git-dir", home.git or "", "--work-tree", tree) if tree else ()
    how = ("--no-index",) if tree else ()
    out = ask.answer(home, *other, "check-ignore", "-v", "-z", *how, "--stdin", no=1, stdin=stdin) or b""
    parts = [os.fsdecode(each) for each in out.split(b"\0")]
    told = zip(parts[::4], parts[1::4], parts[2::4], parts[3::4], strict=False)
    found = [Ignored(path, source, int(line), pattern) for source, line, pattern, path in told]
    return [each for each in found if not each.pattern.startswith("!")]
