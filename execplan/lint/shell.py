"""Commands that stand in a plan: which lines of its code, and which of its code spans, somebody is to type."""

from __future__ import annotations

from execplan.lint.words import Span
from execplan.text.blocks import CODE, FENCE, PARAGRAPH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.lint.rule import Given
    from execplan.plan.model import Plan, Section
    from execplan.text.blocks import Block

_SHELLS = frozenset(
    "sh bash shell zsh fish console terminal shell-session shellsession powershell ps1 pwsh ps cmd bat batch".split()
)
_PLAIN = frozenset(("", "text", "txt", "plain", "plaintext", "none"))
_PROGRAMS = frozenset(
    (
        "ansible ansible-playbook ant apt apt-get atlas awk aws az babashka bash bazel bb bd black brew buf bun bundle bunx cabal "
        "cargo cat cd chmod cmake cmp conda cp createdb ctest curl deno diff dig direnv docker docker-compose dotnet dropdb "
        "echo elixir env eslint export fd file find firebase flake8 flutter fly flyctl forge gcc gcloud gh git glab go gofmt "
        "golangci-lint gradle grep gunicorn head heroku helm http iex invoke java javac jest journalctl jq julia just kubectl ln ls "
        "make mamba meson mix mkdir mongosh mv mvn mypy mysql nc next ninja nix node nox npm npx nvm openssl pdm perl php "
        "pio pip pip3 pipx platformio pnpm podman poetry pre-commit prettier printf psql pulumi pwsh pyright pytest python python3 "
        "railway rails rake redis-cli rg rm rsync ruby ruff rustc rustup sbt scp sed sh sha256sum shasum sleep source sqlite3 ssh "
        "stat swift systemctl tail tar task tee terraform test tmux touch tox tree ts-node tsc tsx turbo uv uvicorn uvx vercel "
        "vite vitest vue wasm-pack wc wget which wrangler xargs xcodebuild yarn yq zig zsh"
    ).split()
)
"""What a command begins with, most often."""
_ALONE = frozenset("just make mypy nox pre-commit pyright pytest rake tox tsc vitest".split())
"""Of these, what is a command with no word behind it."""
_LEADS = frozenset("sudo env time timeout nohup command exec xvfb-run".split())
PROMPTS = ("$ ", "% ", "PS> ", "❯ ", "➜ ")
_ENGLISH = frozenset(
    "ant black buf cat curl cut echo env export fd file find firebase flutter fly forge go head helm http invoke just less make meson "
    "mix next ninja node nox perl pip poetry railway rake ruby ruff sleep source stat swift tail task tee test time touch tree turbo "
    "vite vue which".split()
)
"""Of these, what begins a line of prose as well."""
_BARE = _PROGRAMS - _ENGLISH


def fences(plan: Plan, section: Section) -> Iterator[tuple[Block, int, int]]:
    """The blocks of code of a section, each with the lines within it; those of an example are typed by nobody."""
    for block in plan.blocks[section.first : section.last]:
        if block.kind == FENCE and "{" in block.text and _is_example(block.text):
            continue
        if block.kind == FENCE:
            yield block, block.start + 1, block.end - block.closed
        elif block.kind == CODE:
            yield block, block.start, block.end


def _is_example(info: str) -> bool:
    from execplan.execution.attributes import EXAMPLE
    from execplan.execution.fence import attributes_of

    said = attributes_of(info)
    return said is not None and said.mark == EXAMPLE


def commands(plan: Plan, given: Given, section: Section) -> Iterator[Span]:
    """The commands of a section, those in blocks of code first."""
    for block, start, end in fences(plan, section):
        language = block.text.strip("{}").split(" ")[0].lstrip(".").lower() if block.kind == FENCE else ""
        if language not in _SHELLS and language not in _PLAIN:
            continue
        sure = language in _SHELLS and not any(
            [each.lstrip().startswith(PROMPTS) for each in plan.text.lines[start:end]]
        )
        goes_on = False
        for at in range(start, end):
            line = plan.text.lines[at].strip()
            if line and not goes_on and line[0] != "#" and (sure or is_command(line)):
                yield Span(at, plan.text.lines[at].index(line), line)
            goes_on = line.endswith("\\")
    for span in given.words.codes_in(section.body, section.end):
        if (" " in span.text or "/" in span.text or span.text in _ALONE) and is_command(span.text):
            yield span
    for block in plan.blocks[section.first : section.last]:
        if block.kind == PARAGRAPH:
            yield from _in_prose(plan.text.lines, block)


def _in_prose(lines: list[str], block: Block) -> Iterator[Span]:
    """Lines of a paragraph that are a command and stand bare, as below an item that indents them too little."""
    for at in range(block.start, block.end):
        line = lines[at].lstrip(" \t-*+0123456789.)")
        word = line.partition(" ")[0]
        if (word in _BARE or "=" in word) and "`" not in line and is_command(line):
            yield Span(at, lines[at].index(line), line.rstrip())


def is_command(words: str) -> bool:
    """Whether these words are what somebody types in a shell, as far as they show it."""
    if words.startswith(PROMPTS) or "=$(" in words:
        return True
    parts = words.split()
    at = 0
    while at < len(parts) and (_assigns(parts[at]) or parts[at] in _LEADS):
        at += 1
    parts = parts[at:]
    if not parts:
        return False
    program = parts[0]
    if program in _PROGRAMS:
        return len(parts) > 1 or program in _ALONE
    if program.endswith((".sh", ".ps1")) or program.startswith("./"):
        return program.endswith((".sh", ".ps1")) or len(parts) > 1
    if (
        len(parts) > 1
        and program[0].islower()
        and program.isascii()
        and program.replace("-", "").replace("_", "").isalnum()
    ):
        return any([part[0] == "-" and part.strip("-")[:1].isalpha() for part in parts[1:]])
    return "/bin/" in program and len(parts) > 1


def _assigns(word: str) -> bool:
    """Whether a word sets a variable for the command behind it."""
    name, equals, _ = word.partition("=")
    return bool(equals) and name.isidentifier() and name.isupper()
