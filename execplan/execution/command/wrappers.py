"""Programs that run other programs: what is run in the end."""

from __future__ import annotations

from execplan.execution.command.simple import Simple, assignment, is_local, is_remote, is_system, leads_out, program
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Read = Callable[[str, tuple[str, ...], int], list[Simple]]

_DEEPEST = 8


class _Wrapper(NamedTuple):
    """How a command is written behind a program that runs it."""

    values: str = ""
    """Its flags that take a value, which is no command."""
    bare: str = ""
    """Its flags that take none. Of a flag that is in neither it isn't known where the command begins."""
    skip: int = 0
    """How many words stand in front of the command."""
    assigns: bool = False
    """Whether `NAME=value` may stand in front of it."""


class _Behind(NamedTuple):
    """What stands behind a wrapper."""

    argv: tuple[str, ...]
    assigned: tuple[tuple[str, str], ...]
    is_clear: bool
    """Whether all in front of it is understood."""


_UV = _Wrapper(
    "--python -p --directory --project --extra --group --package --only-group --no-group",
    "--frozen --locked --no-sync --all-extras --dev --no-dev --isolated -q -v --quiet --verbose --all-packages --exact --offline "
    "--no-project --all-groups --active --only-dev --no-editable --no-progress",
)
_FETCHES = _Wrapper("", "-y --yes --no-install --no --quiet -q --offline --prefer-offline --bun --silent -s")
_WORKSPACE = _Wrapper(
    "--filter -F -C --dir --cwd --prefix -w --workspace", "-r --recursive -s --silent -w -q -T --parallel -y"
)
_WRAPPERS = {
    "sudo": _Wrapper("-u -g -h -p -C -D -R -T -U -r -t --user --group", "-E -n -H -k -S -b -i -s", assigns=True),
    "doas": _Wrapper("-u -C", "-n -s"),
    "env": _Wrapper("-u --unset -C --chdir", "-i - --ignore-environment -0 -v", assigns=True),
    "time": _Wrapper("-o -f --output --format", "-p -v -a -l -h --portability --verbose"),
    "nohup": _Wrapper(),
    "nice": _Wrapper("-n --adjustment"),
    "ionice": _Wrapper("-c -n --class --classdata", "-t"),
    "timeout": _Wrapper("-k -s --kill-after --signal", "-v --verbose --foreground --preserve-status", skip=1),
    "gtimeout": _Wrapper("-k -s --kill-after --signal", "-v --verbose --foreground --preserve-status", skip=1),
    "stdbuf": _Wrapper("-i -o -e --input --output --error"),
    "setsid": _Wrapper("", "-w -f -c --wait --fork"),
    "command": _Wrapper("", "-p"),
    "builtin": _Wrapper(),
    "exec": _Wrapper("-a", "-c -l"),
    "caffeinate": _Wrapper("-t -w", "-d -i -m -s -u"),
    "chronic": _Wrapper(),
    "unbuffer": _Wrapper("", "-p"),
    "xvfb-run": _Wrapper("-n -s -e -f -p -w --server-num --server-args", "-a --auto-servernum"),
    "dbus-run-session": _Wrapper("", "--"),
    "taskset": _Wrapper("", "-c", skip=1),
    "chroot": _Wrapper("", "", skip=1),
    "xargs": _Wrapper("-I -n -P -L -d -a -E -s --max-args --max-procs --delimiter --arg-file", "-0 -r -t -x --null"),
    "busybox": _Wrapper(),
    "toybox": _Wrapper(),
    "cross-env": _Wrapper(assigns=True),
    "uv run -m": _UV,
    "uv run": _UV,
    "poetry run": _Wrapper("-C --directory", "-q -n -v"),
    "pdm run": _Wrapper("-p --project", "-q -v -s"),
    "pipenv run": _Wrapper(),
    "rye run": _Wrapper(),
    "bundle exec": _Wrapper("", "--keep-file-descriptors"),
    "mise exec": _Wrapper("-C", "-q"),
    "rtk": _Wrapper(),
    "npx": _FETCHES,
    "bunx": _FETCHES,
    "uvx": _Wrapper("--python -p", "-q --quiet --offline --isolated"),
    "uv tool run": _Wrapper("--python -p", "-q --quiet --offline --isolated"),
    "pipx run": _Wrapper("", "-q"),
    "npm exec": _WORKSPACE,
    "pnpm exec": _WORKSPACE,
    "pnpm dlx": _WORKSPACE,
    "yarn exec": _WORKSPACE,
    "yarn dlx": _WORKSPACE,
    "bun x": _FETCHES,
    "python -m": _Wrapper("-W -X", "-I -B -u -s -S -E -P -O -OO -b -q -v"),
    "ssh": _Wrapper(
        "-p -i -o -l -F -J -L -R -D -b -c -e -m -O -Q -S -W -w -E -B -I", "-t -T -A -q -v -n -N -x -C", skip=1
    ),
    "strace": _Wrapper("-o -e -p -s -E -u", "-f -c -ff -t -tt -y"),
    "systemd-run": _Wrapper("-p -u --unit", "--user --scope --wait -t -q"),
    "unshare": _Wrapper("", "-r -m -n -p -f -U -u -i"),
    "nsenter": _Wrapper("-t --target", "-m -n -p -u -i -a"),
    "setpriv": _Wrapper("", "--no-new-privs"),
    "runuser": _Wrapper("-u -g", ""),
    "parallel": _Wrapper("-j --jobs", "-k"),
    "nix develop -c": _Wrapper(),
    "conda run": _Wrapper("-n -p --name --prefix", "--no-capture-output --live-stream"),
}
_FIRST = {name.partition(" ")[0] for name in _WRAPPERS}
_TEXTS = frozenset(
    "ssh watch trap tmux screen script hyperfine concurrently parallel flock entr expect nix-shell dtach at".split()
)
"""Programs that hand a text of theirs to a shell; whatever has a blank in it is read as one."""
_OPAQUE = frozenset("ssh parallel strace systemd-run unshare nsenter setpriv runuser".split())
"""Programs that do more than to run the command: they are rated as well."""
_SHELLS = frozenset("sh bash zsh dash ksh ash fish mksh rbash".split())
_SPLIT = ("--split-string", "-S")
_FINDING = {
    "find": frozenset(("-exec", "-execdir", "-ok", "-okdir")),
    **dict.fromkeys(("fd", "fdfind"), frozenset(("-x", "-X", "--exec", "--exec-batch"))),
}
"""Programs that run a command on what they find, and the flags that say which."""


def unwrapped(simple: Simple, read: Read, depth: int) -> Iterator[Simple]:
    """What a command runs in the end; the command itself where it runs no other, or does more than that."""
    if not simple.argv or depth > _DEEPEST:
        yield simple
        return
    name = program(simple.argv[0])
    inside = list(_inside(name, simple, read, depth))
    trusted = is_system(simple.argv[0]) or is_local(simple.argv[0])
    if not inside or not trusted or name in _OPAQUE or name in _TEXTS or name in _FINDING:
        yield simple
    yield from inside


def _inside(name: str, simple: Simple, read: Read, depth: int) -> Iterator[Simple]:
    """The commands that a command runs."""
    for via, text in _texts(name, simple.argv):
        for each in read(text, (*simple.via, via), depth + 1):
            yield each._replace(
                assigned=simple.assigned + each.assigned,
                writes=simple.writes + each.writes,
                reads=simple.reads + each.reads,
            )
    if name in _FINDING:
        for at, word in enumerate(simple.argv):
            if word in _FINDING[name]:
                stops = [stop for stop in range(at, len(simple.argv)) if simple.argv[stop] in (";", "+")]
                run = simple.argv[at + 1 : stops[0] if stops else len(simple.argv)]
                yield from unwrapped(_of(simple, run, f"{name} -exec"), read, depth + 1)
    if name in _FIRST:
        yield from _run(name, simple, read, depth)


def _texts(name: str, argv: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """The texts that a command hands to a shell, and how that is called."""
    if name in _SHELLS or name == "su":
        text = _text(argv)
        if text is not None:
            yield f"{'su' if name == 'su' else 'sh'} -c", text
    elif name == "eval":
        yield "eval", " ".join(argv[1:])
    elif name == "env":
        for at, word in enumerate(argv):
            if word.startswith(_SPLIT):
                first = word.removeprefix(_SPLIT[0]).removeprefix(_SPLIT[1]).removeprefix("=")
                yield "env -S", " ".join([first, *argv[at + 1 :]])
                return
    elif name in _TEXTS:
        yield from [(name, word) for word in argv[1:] if " " in word]


def _run(name: str, simple: Simple, read: Read, depth: int) -> Iterator[Simple]:
    """The command behind a wrapper, and the wrapper itself where its flags are not known."""
    for called, wrapper in _WRAPPERS.items():
        first, *more = called.split(" ")
        found = _behind(simple.argv, wrapper, more) if first == name else None
        if found is None or (name == "env" and [word for word in simple.argv if word.startswith(_SPLIT)]):
            continue
        inner = _of(simple, found.argv, "python -m" if called.endswith(" -m") else called)
        yield from unwrapped(inner._replace(assigned=simple.assigned + found.assigned), read, depth + 1)
        if not found.is_clear:
            yield simple
        return


def _behind(argv: tuple[str, ...], wrapper: _Wrapper, more: list[str]) -> _Behind | None:
    """What stands behind a wrapper; None where nothing does, or where it is used for something else."""
    assigned: list[tuple[str, str]] = []
    is_clear, skip, at = True, wrapper.skip, 1
    while at < len(argv):
        word = argv[at]
        given = assignment(word) if wrapper.assigns else None
        if more and word == more[0]:
            more = more[1:]
            if not more and word.startswith("-"):
                at += 1
                break
        elif word == "--" and not more:
            at += 1
            break
        elif word.startswith("-") and len(word) > 1:
            takes, is_known = _flag(argv, at, wrapper)
            at += takes
            is_clear = is_clear and is_known
        elif more:
            return None
        elif given:
            assigned.append(given)
        elif skip:
            skip -= 1
        else:
            break
        at += 1
    return None if more or at >= len(argv) else _Behind(argv[at:], tuple(assigned), is_clear)


def _flag(argv: tuple[str, ...], at: int, wrapper: _Wrapper) -> tuple[int, bool]:
    """How many words a flag takes behind it, and whether it is known and harmless."""
    word = argv[at]
    flag, equals, value = word.partition("=")
    values = wrapper.values.split()
    if flag in values:
        value = value if equals else "".join(argv[at + 1 : at + 2])
        return 0 if equals else 1, not leads_out(value) and not is_remote(value)
    return 0, word[:2] in values or word in wrapper.bare.split() or word[1:].isdigit()


def _text(argv: tuple[str, ...]) -> str | None:
    """What stands behind the `-c` of a shell."""
    asked = False
    at = 1
    while at < len(argv):
        word = argv[at]
        if word.startswith("--command"):
            return word.partition("=")[2] or "".join(argv[at + 1 : at + 2])
        if word.startswith(("-", "+")) and not word.startswith("--"):
            asked = asked or "c" in word
            at += any(["o" in word, "O" in word])
        elif asked:
            return word
        at += 1
    return None


def _of(simple: Simple, argv: tuple[str, ...], via: str) -> Simple:
    return simple._replace(argv=argv, via=(*simple.via, via))
