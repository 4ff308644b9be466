"""IDs for steps that have none: the program and what it works on, as `cargo-test` or `edit-src-f-py`, each used once."""

from __future__ import annotations

import shlex

from execplan.execution.command.typed import LEADS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from execplan.execution.draft import StepDraft

_LONGEST = 36
_LONGEST_WORD = 24
_WORDS = 3
_ENDS = frozenset("&& || ; | & |& ( )".split())
_RUNNERS = frozenset(
    "uv run;poetry run;pdm run;hatch run;pipenv run;bundle exec;npm run;npm exec;pnpm run;pnpm exec;yarn run;bun run".split(
        ";"
    )
)
"""Two words that run a third; of the scripts of a package the program is kept, since `test` says less than `npm-test`."""
_SCRIPTS = frozenset("npm pnpm yarn bun".split())
_DIRECT = frozenset("npx bunx uvx".split())
_INTERPRETERS = frozenset("python python3 node deno bash sh zsh ruby perl php".split())
_SEARCHES = frozenset("rg grep egrep fgrep ag sed awk perl jq".split())
"""Their first argument is a pattern or a program of their own."""
_SCRIPT_ENDS = ("sh", "py", "js", "mjs", "cjs", "ts", "rb", "pl")


class Names:
    """The IDs that are taken."""

    def __init__(self, used: Iterable[str] = ()) -> None:
        self._used = set(used)

    def new(self, command: str) -> str:
        """An ID that no other step has: `cargo-test`, then one with more of the command, then `cargo-test-2`."""
        words = _words(command)
        base = _joined(words[:_WORDS])
        name, longer, number = base, _joined(words[: _WORDS + 2]), 1
        while name in self._used:
            if longer not in self._used:
                name = longer
                break
            number += 1
            name = f"{base}-{number}"
        self._used.add(name)
        return name


def named(drafts: Sequence[StepDraft], used: Iterable[str]) -> list[StepDraft]:
    """Inferred steps with IDs that say what they do, beside those that are taken."""
    names = Names(used)
    new = {draft.id: names.new(draft.command) for draft in drafts}
    return [draft._replace(id=new[draft.id], needs=tuple([new[each] for each in draft.needs])) for draft in drafts]


def _joined(words: Sequence[str]) -> str:
    """As many of the words as an ID has room for."""
    name = ""
    for word in words:
        longer = f"{name}-{word}".strip("-")
        if name and len(longer) > _LONGEST:
            break
        name = _cut(longer, _LONGEST)
    return name if name[:1].isalpha() else f"step-{name}".rstrip("-")


def _words(command: str) -> list[str]:
    """The words that an ID is made of, the most important first."""
    argv = _argv(command)
    if not argv:
        return []
    program, rest = argv[0], argv[1:]
    name = program.rpartition("/")[2]
    written = next((rest[at + 1] for at, word in enumerate(rest[:-1]) if word in (">", ">>")), "")
    if written and name in ("echo", "printf", "cat", "tee"):
        return ["write", *_slugs([written])]
    flags = [word for word in rest if word[0] == "-"]
    objects = [word for word in rest if _is_object(word)]
    if name in ("sed", "perl") and any([_edits(flag) for flag in flags]):
        return ["edit", *_slugs(reversed(objects[1:] or objects))]
    if name in _SEARCHES:
        given = [word for word in rest if word[0] != "-"]
        objects = [word for word in given[0 if {"-e", "-f"} & set(flags) else 1 :] if _is_object(word)]
    elif name in _INTERPRETERS and objects:
        if rest[0] == "-m":
            return _slugs([objects[0].rpartition(".")[2], *objects[1:]])
        if rest[0].lstrip("-l") in ("c", "e"):
            return [name]
        return ["run", *_script(objects[0]), *_slugs(objects[1:])]
    if name != program and name.rpartition(".")[2] in (*_SCRIPT_ENDS, name):
        return ["run", *_script(program), *_slugs(objects)] if "." in name else _slugs([name, *objects])
    return [*_script(program), *_slugs(objects)]


def _argv(command: str) -> list[str]:
    """The first command of a line, without variables, `sudo`, `uv run` and the like before its program."""
    lexer = shlex.shlex(command.split("\n", 1)[0], posix=True, punctuation_chars=True)
    lexer.commenters = ""
    try:
        words = list(lexer)
    except ValueError:
        words = command.split()
    argv: list[str] = []
    for word in words:
        if word in _ENDS and argv:
            break
        if word and word not in _ENDS:
            argv.append(word)
    while argv:
        if argv[0] in LEADS or (argv[0].partition("=")[0].isidentifier() and "=" in argv[0]):
            argv = argv[2:] if argv[0] == "timeout" else argv[1:]
        elif argv[0] in _DIRECT and len(argv) > 1:
            argv = argv[1:]
        elif " ".join(argv[:2]) in _RUNNERS and len(argv) > 2:
            argv = [argv[0], *argv[2:]] if argv[0] in _SCRIPTS and argv[1] == "run" else argv[2:]
        else:
            break
    return [word for word in argv if word]


def _is_object(word: str) -> bool:
    """Whether a word says what a command works on: no flag, no redirection, nothing that was quoted for its spaces."""
    return word[0] not in "-<>&|" and " " not in word and (word[0].isalnum() or word[0] in "./@_")


def _edits(flag: str) -> bool:
    """Whether a flag of sed or perl lets it change files: `-i`, `-i.bak`, `-pi`, `--in-place`."""
    return flag.startswith("--in-place") or (flag[1:2] != "-" and "i" in flag.partition(".")[0])


def _script(path: str) -> list[str]:
    """The name of a program without its directory and the ending of a script."""
    name = path.rpartition("/")[2]
    stem, _, ending = name.rpartition(".")
    return _slugs([stem if stem and ending in _SCRIPT_ENDS else name])


def _slugs(words: Iterable[str]) -> list[str]:
    """Each word in the characters of an ID; of a long path its last part."""
    found = []
    for word in words:
        slug = _slug(word)
        if len(slug) > _LONGEST_WORD and "/" in word.strip("/"):
            slug = _slug(word.rstrip("/").rpartition("/")[2])
        found.append(_cut(slug, _LONGEST_WORD))
    return [each for each in found if each]


def _cut(slug: str, longest: int) -> str:
    """As much of a name as has room, whole words where there are any."""
    if len(slug) <= longest:
        return slug
    return slug[: longest + 1].rpartition("-")[0] or slug[:longest]


def _slug(word: str) -> str:
    letters = [char if char.isascii() and char.isalnum() else "-" for char in word.lower()]
    return "-".join([each for each in "".join(letters).split("-") if each])
