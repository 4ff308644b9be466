"""What somebody types in a shell: which languages of a fence, which prompts, and which words show it."""

from __future__ import annotations

SHELLS = frozenset(
    "sh bash shell zsh fish console terminal shell-session shellsession powershell ps1 pwsh ps cmd bat batch".split()
)
PLAIN = frozenset(("", "text", "txt", "plain", "plaintext", "none"))
_PROGRAMS = frozenset(
    (
        "ansible ansible-playbook ant apt apt-get atlas awk aws az babashka bash bazel bb bd black brew buf bun bundle bunx cabal "
        "cargo cat cd chmod clang-format clang-tidy cmake cmp composer conda coverage cp createdb cspell ctest curl deno diff dig direnv docker docker-compose dotnet dropdb "
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
ALONE = frozenset("just make mypy nox pre-commit pyright pytest rake tox tsc vitest".split())
"""Of these, what is a command with no word behind it."""
LEADS = frozenset("sudo env time timeout nohup command exec xvfb-run".split())
PROMPTS = ("$ ", "% ", "PS> ", "❯ ", "➜ ")
_ENGLISH = frozenset(
    "ant black buf cat curl cut echo env export fd file find firebase flutter fly forge go head helm http invoke just less make meson "
    "mix next ninja node nox perl pip poetry railway rake ruby ruff sleep source stat swift tail task tee test time touch tree turbo "
    "vite vue which".split()
)
"""Of these, what begins a line of prose as well."""
BARE = _PROGRAMS - _ENGLISH
"""What begins a command, and no line of prose."""


def is_command(words: str) -> bool:
    """Whether these words are what somebody types in a shell, as far as they show it."""
    if words.startswith(PROMPTS) or "=$(" in words:
        return True
    parts = words.split()
    at = 0
    while at < len(parts) and (_assigns(parts[at]) or parts[at] in LEADS):
        at += 1
    parts = parts[at:]
    if not parts:
        return False
    program = parts[0]
    if program in _PROGRAMS:
        return len(parts) > 1 or program in ALONE
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
