"""IDs for steps without one: the program and its subject, as `cargo-test` or `edit-src-f-py`, each unique."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence

from execplan.core.text.lazy_pattern import lazy_pattern
from execplan.execution.inference.cue_table import WORDS
from execplan.execution.parsed_steps import StepDraft
from execplan.execution.shell.shell_vocabulary import COMMAND_PREFIXES

_MAX_ID_LENGTH = 36
_MAX_WORD_LENGTH = 24
_WORD_COUNT = 3
_SEPARATORS = frozenset("&& || ; | & |& ( )".split())
_SCRIPT_RUNNERS = frozenset(
    "uv run;poetry run;pdm run;hatch run;pipenv run;bundle exec;npm run;npm exec;pnpm run;pnpm exec;yarn run;bun run".split(
        ";"
    )
)
"""Two-word prefixes that run a third word as a program or script.

For package scripts the program is kept in the ID, since `test` says less than `npm-test`.
"""
_PACKAGE_MANAGERS = frozenset("npm pnpm yarn bun".split())
_DIRECT_RUNNERS = frozenset("npx bunx uvx".split())
_INTERPRETERS = frozenset("python python3 node deno bash sh zsh ruby perl php".split())
_SEARCH_PROGRAMS = frozenset("rg grep egrep fgrep ag sed awk perl jq".split())
"""Programs whose first argument is a pattern or a program of their own."""
_MERGED_OUTPUT = lazy_pattern(r" \d?>&\d(?!\S)")
_SCRIPT_EXTENSIONS = ("sh", "py", "js", "mjs", "cjs", "ts", "rb", "pl")


class StepIdAllocator:
    """Allocates unique step IDs for commands."""

    def __init__(self, used_ids: Iterable[str] = ()) -> None:
        self._used_ids = set(used_ids)

    def allocate(self, command: str) -> str:
        """Return an unused ID: `cargo-test`, then one with more words of the command, then `cargo-test-2`."""
        return self._allocate(_id_words(command))

    def allocate_for_file(self, verb: str, path: str) -> str:
        """Return an unused ID for what a step does with a file, such as `edit-src-f-py`."""
        return self._allocate([verb, *_slugify_all([path])])

    def allocate_for_text(self, text: str) -> str:
        """Return an unused ID from the first words of a text, such as `rename-the-parser`."""
        return self._allocate(_slugify_all([word for word in text.split() if word.lower() not in WORDS["stop"]]))

    def _allocate(self, words: Sequence[str]) -> str:
        base = _join_words(words[:_WORD_COUNT])
        name, longer_name, number = base, _join_words(words[: _WORD_COUNT + 2]), 1
        while name in self._used_ids:
            if longer_name not in self._used_ids:
                name = longer_name
                break
            number += 1
            name = f"{base}-{number}"
        self._used_ids.add(name)
        return name


def assign_inferred_ids(drafts: Sequence[StepDraft], used_ids: Iterable[str]) -> list[StepDraft]:
    """Return inferred steps with descriptive IDs that differ from the used ones."""
    allocator = StepIdAllocator(used_ids)
    new_ids = {draft.id: allocator.allocate(draft.command) for draft in drafts}
    return [
        draft._replace(id=new_ids[draft.id], needs=tuple([new_ids[need] for need in draft.needs])) for draft in drafts
    ]


def _join_words(words: Sequence[str]) -> str:
    """Join as many words as fit into an ID."""
    name = ""
    for word in words:
        candidate = f"{name}-{word}".strip("-")
        if name and len(candidate) > _MAX_ID_LENGTH:
            break
        name = _shorten(candidate, _MAX_ID_LENGTH)
    return name if name[:1].isalpha() else f"step-{name}".rstrip("-")


def _id_words(command: str) -> list[str]:
    """Return the words for an ID, most important first."""
    argv = _first_argv(command)
    if not argv:
        return []
    program, arguments = argv[0], argv[1:]
    name = program.rpartition("/")[2]
    written_path = next((arguments[at + 1] for at, word in enumerate(arguments[:-1]) if word in (">", ">>")), "")
    if written_path and name in ("echo", "printf", "cat", "tee"):
        return ["write", *_slugify_all([written_path])]
    flags = [word for word in arguments if word[0] == "-"]
    operands = [word for word in arguments if _is_operand(word)]
    if name in ("sed", "perl") and any([_is_in_place_flag(flag) for flag in flags]):
        return ["edit", *_slugify_all(reversed(operands[1:] or operands))]
    if name in _SEARCH_PROGRAMS:
        positionals = [word for word in arguments if word[0] != "-"]
        operands = [word for word in positionals[0 if {"-e", "-f"} & set(flags) else 1 :] if _is_operand(word)]
    elif name in _INTERPRETERS and operands:
        if arguments[0] == "-m":
            return _slugify_all([operands[0].rpartition(".")[2], *operands[1:]])
        if arguments[0].lstrip("-l") in ("c", "e"):
            return [name]
        return ["run", *_script_words(operands[0]), *_slugify_all(operands[1:])]
    if name != program and name.rpartition(".")[2] in (*_SCRIPT_EXTENSIONS, name):
        if "." in name:
            return ["run", *_script_words(program), *_slugify_all(operands)]
        return _slugify_all([name, *operands])
    return [*_script_words(program), *_slugify_all(operands)]


def _first_argv(command: str) -> list[str]:
    """Return the first command of a line, without variables, `sudo`, `uv run` and similar prefixes."""
    first_line = _MERGED_OUTPUT.sub("", command.split("\n", 1)[0])
    lexer = shlex.shlex(first_line, posix=True, punctuation_chars=True)
    lexer.commenters = ""
    try:
        tokens = list(lexer)
    except ValueError:
        tokens = command.split()
    argv: list[str] = []
    for token in tokens:
        if token in _SEPARATORS and argv:
            break
        if token and token not in _SEPARATORS:
            argv.append(token)
    while argv:
        if argv[0] in COMMAND_PREFIXES or (argv[0].partition("=")[0].isidentifier() and "=" in argv[0]):
            argv = argv[2:] if argv[0] == "timeout" else argv[1:]
        elif argv[0] in _DIRECT_RUNNERS and len(argv) > 1:
            argv = argv[1:]
        elif " ".join(argv[:2]) in _SCRIPT_RUNNERS and len(argv) > 2:
            argv = [argv[0], *argv[2:]] if argv[0] in _PACKAGE_MANAGERS and argv[1] == "run" else argv[2:]
        else:
            break
    return [token for token in argv if token]


def _is_operand(word: str) -> bool:
    """Return whether a word is an operand of a command: no flag, redirection or quoted text with spaces."""
    return word[0] not in "-<>&|" and " " not in word and (word[0].isalnum() or word[0] in "./@_")


def _is_in_place_flag(flag: str) -> bool:
    """Return whether a flag of sed or perl enables changes of files: `-i`, `-i.bak`, `-pi`, `--in-place`."""
    return flag.startswith("--in-place") or (flag[1:2] != "-" and "i" in flag.partition(".")[0])


def _script_words(path: str) -> list[str]:
    """Return the name of a program without its directory and script extension."""
    name = path.rpartition("/")[2]
    stem, _, ending = name.rpartition(".")
    return _slugify_all([stem if stem and ending in _SCRIPT_EXTENSIONS else name])


def _slugify_all(words: Iterable[str]) -> list[str]:
    """Return each word in the characters of an ID; a long path is reduced to its last part."""
    slugs = []
    for word in words:
        slug = _slugify(word)
        if len(slug) > _MAX_WORD_LENGTH and "/" in word.strip("/"):
            slug = _slugify(word.rstrip("/").rpartition("/")[2])
        slugs.append(_shorten(slug, _MAX_WORD_LENGTH))
    return [name for name in slugs if name]


def _shorten(slug: str, longest: int) -> str:
    """Shorten a name to a length, at a word boundary if there is one."""
    if len(slug) <= longest:
        return slug
    return slug[: longest + 1].rpartition("-")[0] or slug[:longest]


def _slugify(word: str) -> str:
    letters = [char if char.isascii() and char.isalnum() else "-" for char in word.lower()]
    return "-".join([part for part in "".join(letters).split("-") if part])
