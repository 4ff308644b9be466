"""Detection of commands that do not end on their own: servers, watchers, pagers, editors and prompts for input."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Final

UNTIL_STOPPED: Final = "runs until somebody stops it, or waits for somebody to type"
IN_BACKGROUND: Final = "runs in the background, and nothing here would stop it"
_LOCAL_SERVER = re.compile(r"\blocalhost\b|127\.0\.0\.1|0\.0\.0\.0|\[::1\]")
_RUNNERS = frozenset("npm pnpm yarn bun npx bunx deno just make task turbo uv poetry pdm hatch rake mix".split())
_LONG_RUNNING_SCRIPT = re.compile(
    r"^(?:dev|start|serve|server|watch|preview|storybook|develop|up|studio|repl|shell|console|run-dev|runserver)(?=$|[:_.-])|[:_.-](?:dev|watch|serve|start)$"
)
_FINITE_SCRIPT = re.compile(r"[:_.-](?:build|test|lint|check|typecheck|compile|generate|ci)$")
"""Scripts that are named after a server, and only build or check it."""
_ENDLESS_COMMANDS = (
    r"tail\b.* -\w*[fF]|watch |top$|htop|less |more |man |vim?\b|nvim|nano |emacs|code |open |xdg-open |ssh(?:\s+-\S+)*\s+\S+$|"
    r"psql(?!.*(?: -\w*[cfl]|--command|--file|--list|<))|sqlite3 \S+$|mysql(?!.* -\w*e)|redis-cli$|mongosh(?!.*--eval)|"
    r"(?:python3?|node|bash|sh|zsh|irb|iex|ghci|bun|deno)$|tmux|screen\b|journalctl\b.* -\w*f|"
    r"docker(?:-| )compose\b(?!.* (?:-d|--detach|--wait|--no-start)\b).* up\b|docker\b.* (?:run|exec)\b.* -\w*[it]\w* |docker\b.* logs\b.* (?:-f|--follow)|"
    r"kubectl\b.* (?:port-forward|logs\b.* (?:-f|--follow)|exec\b.* -\w*[it])|uvicorn |gunicorn |hypercorn |daphne |flask run|"
    r"(?:\S*python3?|uv run python) -m (?:http\.server|uvicorn|flask|gunicorn)|\S*python3? \S*manage\.py (?:runserver|shell)|rails (?:s|server|c|console)\b|"
    r"php (?:-S|artisan serve)|ng serve|vite(?:$| dev| preview| serve| --)|next (?:dev|start)|nuxt dev|astro dev|expo start|webpack serve|"
    r"storybook|electron |tauri dev|ngrok|http-server|live-server|serve\b|json-server|nodemon|ts-node-dev|cargo (?:watch|leptos watch)|air$|mkdocs serve|"
    r"hugo server|jekyll serve|jupyter|streamlit run|gradio |celery\b.* worker|trunk serve|bacon|entr |fswatch|inotifywait|caddy run|nginx$|"
    r"flutter run|adb logcat|xcrun simctl launch --console|agent-browser"
)
_ENDLESS_COMMAND = re.compile(rf"(?:{_ENDLESS_COMMANDS})")
_SERVER_COMMAND = re.compile(
    r"(?:go run|cargo run|dotnet run|node|bun run|bun|deno run|(?:uv run |poetry run )?(?:\S*python3?)?|uv run|java -jar|\S*gradlew?|\S*mvnw?)\b.*"
    r"(?:\b|_)(?:server|serve|daemon|gateway|bot|listen|bootRun|spring-boot:run|phx\.server|runserver)\b(?!.*(?:--help|--version|--check|--once|--dry-run|test))|"
    r"dotnet run\b|mix phx\.server|iex\b|bin/dev$|\S*bin/rails (?:s|server|c|console)|foreman start|overmind start|(?:make|just|task) run$|\S+ --serve\b"
)
_INTERACTIVE_COMMANDS = (
    r"git (?:rebase|add|stash|checkout|reset|clean)\b.* (?:-i|-p|--interactive|--patch)\b|git commit(?!.*(?: -\w*[mFC]|--message|--file|--no-edit|--fixup|--reuse))|"
    r"git (?:mergetool|difftool|citool|gui)|gitk|gh pr create(?!.*(?:--fill|--title|-t |--body|-f\b))|gh pr merge(?!.*(?:--merge|--squash|--rebase|-[msr]\b))|"
    r"gh auth login|npm (?:login|adduser)|npm init(?!.*(?:-y|--yes|\S@|\w+ ))|aws configure|docker login|gcloud auth login|az login|ssh-keygen(?!.* -N)|passwd|visudo|crontab -e|fzf|lazygit|cargo insta review"
)
_INTERACTIVE_COMMAND = re.compile(rf"(?:{_INTERACTIVE_COMMANDS})")
_WATCH_FLAG = re.compile(
    r"\s--watch(?:All|-all)?(?=$|\s)|\s--ui(?=$|\s)|\s--open(?=$|\s)|\s--interactive(?=$|\s)|\s--debug-brk"
)
_COMMAND_SEPARATOR = re.compile(r"\|\||&&|[;|]|(?<![>&])&(?![>&])")


_BACKGROUND_OPERATOR = re.compile(r"(?<![>&|])&\s*(?:$|[^&>\d\s])")
_DETACHED_COMMAND = re.compile(
    r"(?:docker|podman)(?:-| )compose\b.* up\b.* (?:-d|--detach|--wait)\b|(?:docker|podman) (?:start |run\b.* (?:-d|--detach)\b)|"
    r"(?:sudo )?systemctl (?:--user )?(?:start|restart) |brew services (?:start|restart) "
)
_PIPED_INTERPRETER = re.compile(r"(?<!\|)\|\s*(?:sudo\s+)?(?:sh|bash|zsh|python3?|node|ruby|perl)\s*(?=$|[;&|])")
"""Interpreter that reads the output of another command, and ends with it."""
_RUNNER_SUBCOMMANDS = frozenset("run exec x dlx".split())
_TOOL_RUNNERS = frozenset("npx bunx npm pnpm yarn uv poetry bun".split())
_COMMAND_PREFIXES = frozenset("sudo env time nohup command exec do then".split())
_QUICK_FLAGS = frozenset("-d --detach --help --version -h".split())


def starts_detached(line: str) -> bool:
    """Return whether a line visibly starts something in the background and returns at once."""
    return _DETACHED_COMMAND.match(line) is not None


def uses_local_server(line: str) -> bool:
    """Return whether a line connects to a program on this machine."""
    return bool(_LOCAL_SERVER.search(line))


def find_blocking_reason(masked_line: str) -> str:
    """Return why a line, with quotes masked, does not end, runs in the background or asks for input, or empty text."""
    if _BACKGROUND_OPERATOR.search(masked_line):
        return IN_BACKGROUND
    if _WATCH_FLAG.search(masked_line):
        return UNTIL_STOPPED
    masked_line = _PIPED_INTERPRETER.sub(" ", masked_line)
    for command in split_line_commands(masked_line):
        if (
            _ENDLESS_COMMAND.match(command)
            or _SERVER_COMMAND.match(command)
            or _is_long_running_script(command.split())
        ):
            return UNTIL_STOPPED
        if _INTERACTIVE_COMMAND.match(command):
            return "asks somebody to type"
    return ""


def _is_long_running_script(argv: list[str]) -> bool:
    """Return whether a script runner starts a long-running script or tool: `npm run dev`, `npx vite`."""
    if not argv or argv[0] not in _RUNNERS:
        return False
    arguments = [word for word in argv[1:] if word[0] != "-" and word not in _RUNNER_SUBCOMMANDS]
    if not arguments or not _QUICK_FLAGS.isdisjoint(argv):
        return False
    if _FINITE_SCRIPT.search(arguments[0]) or (
        len(arguments) > 1 and arguments[0] == "storybook" and arguments[1] == "build"
    ):
        return False
    return _LONG_RUNNING_SCRIPT.search(arguments[0]) is not None or (
        argv[0] in _TOOL_RUNNERS and _ENDLESS_COMMAND.match(" ".join(arguments)) is not None
    )


def split_line_commands(masked_line: str) -> Iterator[str]:
    """Yield the commands of a line without their prefixes: variables, `sudo`, `env`, `time`."""
    for segment in _COMMAND_SEPARATOR.split(masked_line):
        tokens = segment.replace("(", " ").replace(")", " ").split()
        while tokens and ("=" in tokens[0] or tokens[0] in _COMMAND_PREFIXES):
            tokens = tokens[1:]
        yield "" if tokens[:1] == ["timeout"] else " ".join(tokens)
