"""Vocabulary of shell commands: languages of code blocks, prompts and program names, by which a line is recognized as one."""

from __future__ import annotations

SHELL_LANGUAGES = frozenset(
    "sh bash shell zsh fish console terminal shell-session shellsession powershell ps1 pwsh ps cmd bat batch".split()
)
PLAIN_TEXT_LANGUAGES = frozenset(("", "text", "txt", "plain", "plaintext", "none"))
_KNOWN_PROGRAMS = frozenset(
    (
        "actionlint alembic ansible ansible-galaxy ansible-lint ansible-playbook ant apt apt-get atlas awk aws az b2sum "
        "babashka bandit bash bats bazel bb bd black brew buf buildah bun bundle bunx cabal cargo cargo-nextest cat cd chmod "
        "cksum clang-format clang-tidy clickhouse-client clojure cmake cmakelint cmp codespell commitlint composer conda "
        "coverage cp createdb cspell ctest curl cypress dbmate dbt deno diff dig direnv django-admin docker docker-compose "
        "dotnet drizzle-kit dropdb duckdb dvc echo elixir env esbuild eslint export fastlane fd ffmpeg ffprobe file find "
        "firebase flake8 flutter fly flyctl forge gcc gcloud gh ghc git glab go gofmt golangci-lint golint gradle grep grpcurl "
        "gunicorn hadolint head helm helmfile heroku http hyperfine iex invoke isort istioctl java javac jest journalctl jq "
        "julia just ktlint kubeconform kubectl kustomize latexmk lein liquibase ln ls lua luacheck make mamba mariadb "
        "markdownlint markdownlint-cli2 md5sum meson minikube mix mkdir mkdocs mongodump mongosh msbuild mv mvn mypy mysql "
        "mysqldump nc next nextflow ng ninja nix node nox npm npx nvcc nvm opam openssl pandoc pdflatex pdm perl pg_dump "
        "pg_isready pg_restore php phpstan phpunit pio pip pip-compile pip3 pipenv pipx platformio playwright pnpm podman "
        "poetry pre-commit prettier printf prisma protoc psalm psql pulumi pwd pwsh pylint pyright pytest python python3 qmake "
        "quarto rails railway rake rbenv rebar3 redis-cli rg rm rspec rsync rubocop ruby ruff rustc rustfmt rustup sbt scp sed "
        "sh sha1sum sha256sum sha512sum shasum shellcheck shfmt skaffold sleep snakemake source sphinx-build sqlfluff sqlite3 "
        "sqlx ssh stat stylelint swift swiftformat swiftlint systemctl tail tar task tee terraform terragrunt test tflint tmux "
        "tofu touch tox tree ts-node tsc tsup tsx turbo typst uv uvicorn uvx valgrind vercel verilator vite vitest vue "
        "wasm-bindgen wasm-opt wasm-pack wc wget which wrangler xargs xcodebuild xcrun yamllint yarn yq zig zsh"
    ).split()
)
"""Names of programs that commands usually start with."""
STANDALONE_PROGRAMS = frozenset("just ls make mypy nox pre-commit pwd pyright pytest rake tox tsc vitest".split())
"""Known programs that are a command without arguments."""
COMMAND_PREFIXES = frozenset("sudo env time timeout nohup command exec xvfb-run".split())
PROMPTS = ("$ ", "% ", "PS> ", "❯ ", "➜ ")
_ENGLISH_WORDS = frozenset(
    "ant bandit bats black buf cat curl cut cypress echo env export fd file find firebase flutter fly forge go head helm http invoke just less lua make meson "
    "mix next ninja node nox perl pip playwright poetry psalm railway rake ruby ruff sleep source stat swift tail task tee test time touch tree turbo "
    "vite vue which".split()
)
"""Known programs whose names also start lines of prose."""
UNAMBIGUOUS_PROGRAMS = _KNOWN_PROGRAMS - _ENGLISH_WORDS
"""Known programs whose names start a command and no line of prose."""


def looks_like_command(text: str) -> bool:
    """Return whether a text looks like a shell command."""
    if text.startswith(PROMPTS) or "=$(" in text:
        return True
    tokens = text.split()
    at = 0
    while at < len(tokens) and (_is_assignment(tokens[at]) or tokens[at] in COMMAND_PREFIXES):
        at += 1
    tokens = tokens[at:]
    if not tokens:
        return False
    program = tokens[0]
    if program in _KNOWN_PROGRAMS:
        return len(tokens) > 1 or program in STANDALONE_PROGRAMS
    if program.endswith((".sh", ".ps1")) or program.startswith("./"):
        return program.endswith((".sh", ".ps1")) or len(tokens) > 1
    if (
        len(tokens) > 1
        and program[0].islower()
        and program.isascii()
        and program.replace("-", "").replace("_", "").isalnum()
    ):
        return any([token[0] == "-" and token.strip("-")[:1].isalpha() for token in tokens[1:]])
    return "/bin/" in program and len(tokens) > 1


def _is_assignment(word: str) -> bool:
    """Return whether a word sets a variable for the command that follows."""
    name, equals, _ = word.partition("=")
    return bool(equals) and name.isidentifier() and name.isupper()
