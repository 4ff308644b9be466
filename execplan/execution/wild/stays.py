"""Commands that do not end by themselves: they serve, watch, page, edit, or ask somebody."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Final

UNTIL_STOPPED: Final = "runs until somebody stops it, or waits for somebody to type"
IN_BACKGROUND: Final = "runs in the background, and nothing here would stop it"
_SERVER = re.compile(r"\blocalhost\b|127\.0\.0\.1|0\.0\.0\.0|\[::1\]")
_RUNNERS = frozenset("npm pnpm yarn bun npx bunx deno just make task turbo uv poetry pdm hatch rake mix".split())
_STAYS = re.compile(
    r"^(?:dev|start|serve|server|watch|preview|storybook|develop|up|studio|repl|shell|console|run-dev|runserver)(?=$|[:_.-])|[:_.-](?:dev|watch|serve|start)$"
)
_ENDS = re.compile(r"[:_.-](?:build|test|lint|check|typecheck|compile|generate|ci)$")
"""Scripts that are called after what serves, and only build or check it."""
_FOREVER = (
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
_ENDLESS = re.compile(rf"(?:{_FOREVER})")
_SERVES = re.compile(
    r"(?:go run|cargo run|dotnet run|node|bun run|bun|deno run|(?:uv run |poetry run )?(?:\S*python3?)?|uv run|java -jar|\S*gradlew?|\S*mvnw?)\b.*"
    r"(?:\b|_)(?:server|serve|daemon|gateway|bot|listen|bootRun|spring-boot:run|phx\.server|runserver)\b(?!.*(?:--help|--version|--check|--once|--dry-run|test))|"
    r"dotnet run\b|mix phx\.server|iex\b|bin/dev$|\S*bin/rails (?:s|server|c|console)|foreman start|overmind start|(?:make|just|task) run$|\S+ --serve\b"
)
_ASKS = (
    r"git (?:rebase|add|stash|checkout|reset|clean)\b.* (?:-i|-p|--interactive|--patch)\b|git commit(?!.*(?: -\w*[mFC]|--message|--file|--no-edit|--fixup|--reuse))|"
    r"git (?:mergetool|difftool|citool|gui)|gitk|gh pr create(?!.*(?:--fill|--title|-t |--body|-f\b))|gh pr merge(?!.*(?:--merge|--squash|--rebase|-[msr]\b))|"
    r"gh auth login|npm (?:login|adduser)|npm init(?!.*(?:-y|--yes|\S@|\w+ ))|aws configure|docker login|gcloud auth login|az login|ssh-keygen(?!.* -N)|passwd|visudo|crontab -e|fzf|lazygit|cargo insta review"
)
_ASKING = re.compile(rf"(?:{_ASKS})")
_WATCHES = re.compile(
    r"\s--watch(?:All|-all)?(?=$|\s)|\s--ui(?=$|\s)|\s--open(?=$|\s)|\s--interactive(?=$|\s)|\s--debug-brk"
)
_SPLIT = re.compile(r"\|\||&&|[;|]|(?<![>&])&(?![>&])")


_BACKGROUND = re.compile(r"(?<![>&|])&\s*(?:$|[^&>\d\s])")
_DETACHES = re.compile(
    r"(?:docker|podman)(?:-| )compose\b.* up\b.* (?:-d|--detach|--wait)\b|(?:docker|podman) (?:start |run\b.* (?:-d|--detach)\b)|"
    r"(?:sudo )?systemctl (?:--user )?(?:start|restart) |brew services (?:start|restart) "
)
_FED = re.compile(r"(?<!\|)\|\s*(?:sudo\s+)?(?:sh|bash|zsh|python3?|node|ruby|perl)\s*(?=$|[;&|])")
"""An interpreter that reads what another command prints, and ends with it."""
_BETWEEN = frozenset("run exec x dlx".split())
_CARRYING = frozenset("npx bunx npm pnpm yarn uv poetry bun".split())
_BEFORE = frozenset("sudo env time nohup command exec do then".split())
_QUICK = frozenset("-d --detach --help --version -h".split())


def detaches(line: str) -> bool:
    """Whether a line starts something and returns at once, as its own words say."""
    return _DETACHES.match(line) is not None


def needs_server(line: str) -> bool:
    """Whether a line talks to a program on this machine."""
    return bool(_SERVER.search(line))


def stays(shown: str) -> str:
    """Why a line, quotes made unreadable, stays in the foreground, goes into the background or asks somebody; or nothing."""
    if _BACKGROUND.search(shown):
        return IN_BACKGROUND
    if _WATCHES.search(shown):
        return UNTIL_STOPPED
    shown = _FED.sub(" ", shown)
    for command in commands(shown):
        if _ENDLESS.match(command) or _SERVES.match(command) or _script_stays(command.split()):
            return UNTIL_STOPPED
        if _ASKING.match(command):
            return "asks somebody to type"
    return ""


def _script_stays(words: list[str]) -> bool:
    """Whether a program that runs scripts runs one that stays: `npm run dev`, `npx vite`."""
    if not words or words[0] not in _RUNNERS:
        return False
    rest = [word for word in words[1:] if word[0] != "-" and word not in _BETWEEN]
    if not rest or not _QUICK.isdisjoint(words):
        return False
    if _ENDS.search(rest[0]) or (len(rest) > 1 and rest[0] == "storybook" and rest[1] == "build"):
        return False
    return _STAYS.search(rest[0]) is not None or (words[0] in _CARRYING and _ENDLESS.match(" ".join(rest)) is not None)


def commands(shown: str) -> Iterator[str]:
    """The commands of a line, without what stands before their programs: variables, `sudo`, `env`, `time`."""
    for part in _SPLIT.split(shown):
        words = part.replace("(", " ").replace(")", " ").split()
        while words and ("=" in words[0] or words[0] in _BEFORE):
            words = words[1:]
        yield "" if words[:1] == ["timeout"] else " ".join(words)
