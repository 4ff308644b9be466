"""People with keys of their own, each in a clone of one repository, and a plan that they approve."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any

from tests.conftest import Folder

if TYPE_CHECKING:
    from pathlib import Path

NAME = "2026-01-01_greet"
PLAN = """\
# Greet

## Progress

- [ ] Greet whoever comes.

## Concrete Steps

```python {#make type=create_file target=greet.py}
print("Hello")
```

```text {#conf type=create_file target=deploy/prod.cfg needs=make}
secure=yes
```
"""
SETTINGS = '[approval]\nsignatures = "ssh"\n'
TWO = (
    SETTINGS
    + '[approval.groups]\nsecurity = ["bo@example.org", "cy@example.org"]\n'
    + '[[approval.rules]]\npaths = ["deploy/"]\napprovers = 2\nrequired = ["security"]\n'
)
EVERYBODY = ("ann", "bo", "cy")


class Person(Folder):
    """Somebody with a key, and their clone."""

    def __init__(self, scratch: Path, name: str) -> None:
        self.name, self.home = name, scratch / f"home-{name}"
        self.home.mkdir(exist_ok=True)
        super().__init__(scratch / f"clone-{name}")
        self.key = self.home / "key"
        if not self.key.exists():
            make_key(self.key)
        (self.home / "gitconfig").write_text(
            f"[user]\nname = {name}\nemail = {self.email}\nsigningkey = {self.key}.pub\n[gpg]\nformat = ssh\n"
        )
        identity = {"GIT_CONFIG_GLOBAL": str(self.home / "gitconfig"), "HOME": str(self.home)}
        self.env |= {**identity, "XDG_STATE_HOME": str(self.home / "state"), "EXECPLAN_AUTHOR": ""}

    @property
    def email(self) -> str:
        """Who they are among the allowed signers."""
        return f"{self.name}@example.org"

    @property
    def line(self) -> str:
        """Their line of the allowed signers."""
        return f"{self.email} {self.public_key}\n"

    @property
    def public_key(self) -> str:
        """The public key, without a comment."""
        return " ".join(self.key.with_suffix(".pub").read_text().split()[:2])

    def digest(self) -> str:
        """What they read."""
        digest: str = self.ok("evaluate")["digest"]
        return digest

    def approve(self, *arguments: str) -> dict[str, Any]:
        """Approve what would run now, and push the approval."""
        data = self.ok("approve", "--digest", self.digest(), "--commit", *arguments)
        self.git("push", "-q", "origin", "HEAD")
        return data

    def error(self, *arguments: str, **env: str) -> dict[str, Any]:
        """The error of a command that is refused, with its exit status."""
        result = self.run(*arguments, "--json", stdin=b"", cwd=self.path, **env)
        assert result.exit != 0, result
        error: dict[str, Any] = result.json["error"]
        assert error["hint"]
        return {**error, "exit": result.exit}

    def states(self) -> dict[str, str]:
        """The states of the approvals by approver, each with the first reason."""
        approvals = self.ok("approve", "--list")["approvals"]
        return {each["approver"]: f"{each['state']}: {'; '.join(each['why'])}".rstrip(": ") for each in approvals}

    def approval_file(self) -> Path:
        """Their only approval."""
        (path,) = (self.path / f".agent/execplans/artifacts/{NAME}/approvals").iterdir()
        return path

    def commit_all(self) -> None:
        """Commit everything and push it."""
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "Change")
        self.git("push", "-q", "origin", "HEAD")


def make_key(path: Path, passphrase: str = "") -> None:
    """Make a key."""
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-C", "", "-f", str(path)]
    subprocess.run(command, check=True, timeout=60)


class Team:
    """A repository without a worktree, and people who clone it."""

    def __init__(self, scratch: Path, settings: str = SETTINGS, plan: str = PLAN) -> None:
        self.scratch = scratch
        scratch.mkdir(exist_ok=True)
        people = {name: Person(scratch, name) for name in EVERYBODY}
        (scratch / "origin.git").mkdir()
        Folder(scratch / "origin.git").git("init", "-q", "--bare", "-b", "main")
        first = self.clone("ann")
        first.write(".agent/execplan.toml", settings)
        first.write(".agent/allowed_signers", "".join([person.line for person in people.values()]))
        first.plan(plan, NAME)
        first.git("checkout", "-q", "-B", "main")
        first.commit_all()
        first.git("remote", "set-head", "origin", "main")

    def clone(self, name: str) -> Person:
        """Let somebody clone the repository."""
        person = Person(self.scratch, name)
        person.path.mkdir()
        person.git("clone", "-q", str(self.scratch / "origin.git"), ".")
        return person
