"""What a command destroys that no second command brings back."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

NEEDLES = (
    *"rm -,reset --hard,push ,clean -,branch -,filter-,DROP ,TRUNCATE ,DELETE FROM,drop ,kubectl,helm ,terraform,tofu ".split(","),
    *"prune,volume,down ,aws ,gh ,dd ,mkfs,dropdb,shred,wipefs,redis-cli,prisma,db:".split(","),
)
"""What every such command holds one of."""
_REMADE = (
    *"/tmp /var/tmp $ ~/.cache target build dist out node_modules coverage .venv venv .pytest_cache .mypy_cache".split(),
    *"__pycache__ .next .turbo .cache obj bin tmp".split(),
)
"""How paths begin that are there to be removed."""
_LEADS = frozenset("sudo env time nohup command exec npx pnpm yarn bundle".split())


def lost(command: str) -> str:
    """What a command takes away for good, in words; nothing for one that does not."""
    if not any([needle in command for needle in NEEDLES]):
        return ""
    for words in _parts(command.removeprefix("$ ")):
        while words and (words[0] in _LEADS or ("=" in words[0] and words[0].partition("=")[0].isidentifier())):
            words = words[1:]
        said = _said(words) if words else ""
        if said:
            return said
    return ""


def _parts(command: str) -> Iterator[list[str]]:
    """The words of each command of a line; none of a line that can't be read."""
    import shlex

    lexer = shlex.shlex(command, posix=True, punctuation_chars=";&|<>()")
    lexer.whitespace_split = True
    words: list[str] = []
    try:
        for word in lexer:
            if word.strip(";&|()"):
                words.append(word)
            else:
                yield words
                words = []
    except ValueError:
        return
    yield words


def _said(words: list[str]) -> str:
    """What one command takes away."""
    program, *rest = words
    program = program.rpartition("/")[2]
    bare = [word for word in rest if not word.startswith("-")]
    flags = [word for word in rest if word.startswith("-")]
    short = "".join([flag[1:] for flag in flags if not flag.startswith("--")])
    text = " ".join(rest).upper()
    if program == "rm":
        kept = [path for path in bare if not path.removeprefix("./").startswith(_REMADE) and "tmp" not in path.lower()]
        recursive = "r" in short.lower() or "--recursive" in flags
        return "`rm -r` takes the folder away" if recursive and kept else ""
    if program == "git" and bare:
        return _git(bare, flags, short)
    if program in ("psql", "mysql", "sqlite3") and any([each in text for each in ("DROP ", "TRUNCATE ", "DELETE FROM ")]):
        return "this takes rows or tables away"
    if program in ("kubectl", "helm") and bare[:1] and bare[0] in ("delete", "uninstall"):
        return f"`{program} {bare[0]}` takes it down"
    if program in ("terraform", "tofu") and (bare[:1] == ["destroy"] or (bare[:1] == ["apply"] and "auto-approve" in text.lower())):
        return f"`{program} {bare[0]}` changes what runs"
    if program in ("docker", "podman"):
        if "prune" in bare or bare[:2] in (["volume", "rm"],) or ("down" in bare and ("v" in short or "--volumes" in flags)):
            return f"`{program}` takes volumes or images away"
    if program == "aws" and ("rm" in bare or "rb" in bare or any([word.startswith(("delete-", "terminate-")) for word in bare])):
        return "this takes what is stored away"
    if program == "gh" and bare[1:2] == ["delete"]:
        return f"`gh {bare[0]} delete` takes it away"
    if program == "dd" and any([word.startswith("of=/dev/") for word in bare]):
        return "`dd` writes over the device"
    if program in ("dropdb", "shred", "wipefs") or program.startswith("mkfs"):
        return f"`{program}` takes what is there away"
    if program == "redis-cli" and bare and bare[-1].upper() in ("FLUSHALL", "FLUSHDB"):
        return "this takes all keys away"
    if program == "prisma" and bare[:2] == ["migrate", "reset"]:
        return "`prisma migrate reset` takes all rows away"
    if program in ("rails", "rake") and any([word in ("db:drop", "db:reset") for word in bare]):
        return f"`{program} {bare[0]}` takes the database away"
    return ""


def _git(bare: list[str], flags: list[str], short: str) -> str:
    """What a command of git takes away."""
    verb = bare[0]
    if verb == "reset" and "--hard" in flags:
        return "`git reset --hard` throws away what is not committed"
    if verb == "push" and ("--force" in flags or "f" in short or "--mirror" in flags or any([word[0] == "+" for word in bare])):
        return "this push throws away commits of others"
    if verb == "clean" and ("f" in short or "--force" in flags):
        return "`git clean` takes files away that git does not know"
    if verb == "branch" and "D" in short:
        return "`git branch -D` throws away commits that are nowhere else"
    if verb in ("filter-branch", "filter-repo"):
        return f"`git {verb}` writes history anew"
    return ""
