"""Why a command is not taken as it stands: it has gaps to be filled, never ends, asks somebody, or is no command at all."""

from __future__ import annotations

import re

from execplan.execution.typed import is_command
from execplan.execution.wild.line import is_part, masked, unknown

_SEARCH = frozenset("rg grep egrep fgrep ag ack sed awk perl jq git find sg ast-grep".split())
"""Their words are patterns and programs of their own, in which a gap looks like any other text."""
_GAP = re.compile(
    r"<[A-Za-z][^<>|;&$()]*>|\{\{|\}\}|\[(?:--?\w|[a-z]+ )[^\]]*\]|(?:^|[\s=/:])…|…$|…\s|[\s=]\.\.\.(?:\s|$)"
)
_QUOTED_GAP = re.compile(r"<[a-z][a-z0-9 _-]*>|\{\{|…|\.\.\.[\"']")
_SAMPLE = re.compile(
    r"path/to/|\byour[-_ ]|\bYYYY|\bNNN+\b|\bXXX+\b|\bxxx+\b|\bEP-N|\bTODO\b|\bTBD\b|\bplaceholder\b|\bexample-\w|\bREPLACE|\bchangeme\b",
    re.I,
)
_CAPITALS = re.compile(r"(?:^|[\s=/])[A-Z][A-Z0-9]*(?:[_-][A-Z0-9]+)*(?=$|[\s/])")
_KNOWN_CAPITALS = re.compile(
    r"HEAD|[A-Z]+_HEAD|GET|POST|PUT|PATCH|DELETE|OPTIONS|[A-Z]+[0-9]+|INT|TERM|KILL|HUP|ON|OFF|TRUE|FALSE|YES|NO|README|LICENSE|CHANGELOG|[A-Z]{1,2}|[A-Z]:?|UTC|UTF-8|JSON|CSV|XML"
)
_MACHINE = re.compile(r"(?:^|[\s=:'\"(])(/(?:home|Users|root|Volumes|workspaces?|mnt|srv|opt)/|[A-Za-z]:[\\/])")
_SERVER = re.compile(r"\blocalhost\b|127\.0\.0\.1|0\.0\.0\.0|\[::1\]")
_WINDOWS = re.compile(
    r"^[A-Z][a-z]+-[A-Z]\w+|^\.?\\|^\w+\\\w|\$env:|^(?:powershell|pwsh|cmd)(?:\.exe)?\b|^\S+\.(?:exe|ps1|bat|cmd)\b|^\$\w+ *="
)
_ENGLISH = frozenset(
    "the an is are was were and should must of that which will when then than into onto via per after before until unless because "
    "also only both each these those this".split()
)
_WORDS = re.compile(r"[a-z]+(?:-[a-z]+)*")
_RUNNERS = frozenset("npm pnpm yarn bun npx bunx deno just make task turbo cargo uv poetry pdm hatch rake mix".split())
_STAYS = re.compile(
    r"^(?:dev|start|serve|server|watch|preview|storybook|develop|up|studio|repl|shell|console|run-dev|runserver)(?=$|[:_.-])|[:_.-](?:dev|watch|serve|start)$"
)
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
_ASKS = (
    r"git (?:rebase|add|stash|checkout|reset|clean)\b.* (?:-i|-p|--interactive|--patch)\b|git commit(?!.*(?: -\w*[mFC]|--message|--file|--no-edit|--fixup|--reuse))|"
    r"git (?:mergetool|difftool|citool|gui)|gitk|gh pr create(?!.*(?:--fill|--title|-t |--body|-f\b))|gh pr merge(?!.*(?:--merge|--squash|--rebase|-[msr]\b))|"
    r"gh auth login|npm (?:login|adduser)|npm init(?!.*(?:-y|--yes|\S@|\w+ ))|aws configure|docker login|gcloud auth login|az login|ssh-keygen(?!.* -N)|passwd|visudo|crontab -e|fzf|lazygit"
)
_ASKING = re.compile(rf"(?:{_ASKS})")
_WATCHES = re.compile(
    r"\s--watch(?:All|-all)?(?=$|\s)|\s--ui(?=$|\s)|\s--open(?=$|\s)|\s--interactive(?=$|\s)|\s--debug-brk"
)
_SPLIT = re.compile(r"\|\||&&|[;|]|(?<![>&])&(?![>&])")


_PROGRAM = re.compile(r"[A-Za-z0-9_.@-][A-Za-z0-9_.@/-]*")
_ARGUMENT = re.compile(r"[-\w./@'\"$]")
_ENDINGS = ("sh", "bash", "py", "mjs", "js", "rb", "pl")
_KEPT = (
    "./",
    "../",
    ".venv/",
    "venv/",
    "scripts/",
    "script/",
    "bin/",
    "tools/",
    "target/",
    "build/",
    "node_modules/.bin/",
)
"""Where programs without an ending lie."""
_ESCAPED = re.compile(r"""'[^']*'|"(?:\\.|[^"\\])*"|(\\["'])""")
_SEVERAL = re.compile(
    r"\w (?:just \w+|cargo (?:test|fmt|check|build|clippy|run)|p?npm (?:run|test|ci|install)|git (?:status|diff|add|commit|log|push)|"
    r"make \w+|go (?:test|build|vet)|uv run|ls \x02)(?:\s|$)"
)
_CARRIERS = frozenset(
    "npx env conda sudo xargs time timeout nohup bash sh zsh docker ssh uv echo printf find watch pre-commit mise asdf direnv nix devbox".split()
)


def unfit(line: str) -> str:
    """Why a line is no command that can be run as it stands, or nothing; `it ` would begin the sentence."""
    shown = masked(line)
    if shown is None:
        return "has a quote that is not closed on the line"
    words = shown.split()
    if "<<" in shown:
        return "has a here-document: write it as a script, with `shell`"
    if is_part(shown):
        return "is a part of a script of several lines"
    if _WINDOWS.search(line):
        return "is for Windows"
    if any([found.group(1) for found in _ESCAPED.finditer(line)]):
        return "has quotes behind backslashes, as if it were taken out of a string"
    if _SEVERAL.search(_bare(shown)) and _program(shown) not in _CARRIERS | _SEARCH:
        return "looks like several commands on one line"
    return (
        _gap(line, shown)
        or _prose(shown, words)
        or (f"needs a value for ${name}" if (name := unknown(line)) else "")
        or _runs_on(line, shown)
        or ("names a path of one machine" if _MACHINE.search(line) else "")
    )


def needs_server(line: str) -> bool:
    """Whether a line talks to a program on this machine."""
    return bool(_SERVER.search(line))


def _gap(line: str, shown: str) -> str:
    """What is left open for the reader to fill in."""
    program = _program(shown)
    found = _GAP.search(shown) or _SAMPLE.search(shown)
    if found is None and program not in _SEARCH:
        found = _QUOTED_GAP.search(line) or _SAMPLE.search(line)
        for capitals in _CAPITALS.finditer(shown) if found is None else ():
            word = capitals.group().strip(" =/")
            at = capitals.start()
            is_name = "/" in shown[at : at + 1] or "/" in shown[capitals.end() : capitals.end() + 1]
            if not is_name and not _KNOWN_CAPITALS.fullmatch(word) and len(word) > 2:
                found = capitals
                break
    return f"has a gap to be filled: {found.group().strip()}" if found else ""


def _prose(shown: str, words: list[str]) -> str:
    """What a line of prose shows that a command does not."""
    says = "reads as a sentence, not as a command"
    loop = bool(words) and words[0] in ("for", "while", "if", "until", "case", "echo", "printf")
    if not loop and any([word in _ENGLISH for word in words[1:]]):
        return says
    if re.search(r"\w[.:?!,]$", shown) and not shown.endswith(("::", " .")):
        return says
    if re.search(r"[→⇒✓✔✗✘•│├└]|(?:^|\s)(?:=>|->|or)\s", shown):
        return says
    if re.search(r"(?<![$<>\s(])\s\((?!\))", shown) and not shown.startswith("("):
        return "has words in parentheses behind it"
    return ""


def _runs_on(line: str, shown: str) -> str:
    """Whether a line stays in the foreground until it is stopped, goes into the background, or asks somebody."""
    if re.search(r"(?<![>&|])&\s*(?:$|[^&>\d\s])", shown) and not re.search(r"&&\s*$", shown):
        return "runs in the background, and nothing here would stop it"
    if _WATCHES.search(shown):
        return "runs until somebody stops it"
    for part in _SPLIT.split(shown):
        command = _bare(part)
        if _ENDLESS.match(command):
            return "runs until somebody stops it, or waits for somebody to type"
        if _ASKING.match(command):
            return "asks somebody to type"
        words = command.split()
        if words and words[0] in _RUNNERS:
            script = next(
                (word for word in words[1:] if word[0] != "-" and word not in ("run", "exec", "x", "--", "dlx")), ""
            )
            behind = words[words.index(script) + 1 :] if script else []
            if (
                _STAYS.search(script)
                and words[0] not in ("cargo",)
                and not {"-d", "--detach", "--help"}.intersection(behind)
            ):
                return "runs until somebody stops it"
            rest = command.partition(script)[2].strip() if script in ("tauri", "vite", "next", "expo") else ""
            if (
                script
                and _ENDLESS.match(f"{script} {rest}".strip())
                and words[0] in ("npx", "bunx", "npm", "pnpm", "yarn", "uv", "poetry", "bun")
            ):
                return "runs until somebody stops it"
    return ""


def _bare(part: str) -> str:
    """A command without what stands before its program: variables, `sudo`, `env`, `time`, a timeout."""
    words = part.replace("(", " ").replace(")", " ").split()
    while words and ("=" in words[0] or words[0] in ("sudo", "env", "time", "nohup", "command", "exec", "do", "then")):
        words = words[1:]
    if words[:1] == ["timeout"]:
        return ""
    return " ".join(words)


def _program(shown: str) -> str:
    words = _bare(_SPLIT.split(shown)[0]).split()
    return words[0].rpartition("/")[2] if words else ""


def is_typed(line: str, *, told: bool = False) -> bool:
    """Whether a line is surely a command; `told` says that words around it call it one, so a lone path of a script is."""
    bare = line[2:].split("&&", 1)[-1].strip() if line.startswith("cd ") and "&&" in line else line.strip("( ")
    if is_command(bare):
        return True
    words = [word for word in bare.split() if "=" not in word.partition("/")[0]]
    if not words:
        return False
    program, *rest = words
    name = program.rpartition("/")[2]
    if "/" not in program or not name or not _PROGRAM.fullmatch(program):
        return False
    dot, ending = name.rpartition(".")[1:]
    script = ending in _ENDINGS if dot else program.startswith(_KEPT)
    return script and (told if not rest else _ARGUMENT.match(rest[0]) is not None)
