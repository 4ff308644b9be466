"""Make a release: check that it can be made, cut the changelog, set the version, commit and tag. Nothing is published.

`release.py VERSION` needs a clean tree and a successful run of CI for the commit, which `gh` knows; without `gh`,
`--ci-passed` says that somebody has looked. The tag is signed if git's settings sign tags or commits. Pushing it starts
`.github/workflows/release.yml`, which builds and publishes. Before the push, `git tag -d` and `git reset` undo everything.

`release.py --notes VERSION` prints the section of the changelog for a release.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MAX_LINES = 120
"""Maximum number of lines of a release in the changelog; details are in the history of git."""
GROUPS = ("For people", "For agents", "For CI", "For programmers")
"""Groups of entries in the changelog, in order."""
_VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)(?:(a|b|rc)(\d+))?")
_ASSIGNMENT = re.compile(r'^__version__ = "(.+)"$', re.MULTILINE)
_UNRELEASED = "## Unreleased\n"


class ReleaseError(Exception):
    """A reason why there is no release."""


def order(version: str) -> tuple[int, int, int, int, int]:
    """Return the order of a version: candidates come before their release. Raises ReleaseError for another form."""
    match = _VERSION.fullmatch(version)
    if match is None:
        raise ReleaseError(f"{version!r} is not a version such as 1.2.0 or 1.2.0rc1")
    stage = {"a": 0, "b": 1, "rc": 2, None: 3}[match[4]]
    return int(match[1]), int(match[2]), int(match[3]), stage, int(match[5] or 0)


def sections(changelog: str) -> dict[str, str]:
    """Return the text of each release in a changelog, by the name in its heading."""
    parts = re.split(r"^## (\S+).*\n", changelog, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def cut_changelog(changelog: str, version: str, date: str) -> str:
    """Return a changelog whose unreleased entries are those of a version. Raises ReleaseError if they can't be.

    If nothing was added since the last candidate of a release, the entries of the candidate become those of the release.
    """
    entries = sections(changelog).get("Unreleased")
    if entries is None:
        raise ReleaseError("CHANGELOG.md has no section Unreleased")
    is_release = order(version)[3] == order("0.0.0")[3]
    candidates = [
        name for name in sections(changelog) if is_release and re.fullmatch(rf"{re.escape(version)}\D+\d+", name)
    ]
    if candidates and not entries.strip():
        return re.sub(
            rf"^## {re.escape(candidates[0])} .*$", f"## {version} - {date}", changelog, count=1, flags=re.MULTILINE
        )
    problems = section_problems(entries)
    if problems:
        raise ReleaseError("CHANGELOG.md, Unreleased: " + "; ".join(problems))
    return changelog.replace(_UNRELEASED, f"{_UNRELEASED}\n## {version} - {date}\n", 1)


def section_problems(entries: str) -> list[str]:
    """Return what is wrong with the entries of a release."""
    problems = []
    if not re.search(r"^- ", entries, re.MULTILINE):
        problems.append("there are no entries")
    if (count := len(entries.strip().splitlines())) > MAX_LINES:
        problems.append(f"it has {count} lines, more than {MAX_LINES}")
    headings = re.findall(r"^### (.+)$", entries, re.MULTILINE)
    if headings != [name for name in GROUPS if name in headings]:
        problems.append(f"its groups are {', '.join(headings)}, not some of {', '.join(GROUPS)} in this order")
    return problems


def run(*command: str) -> str:
    """Run a command in the checkout and return its output. Raises ReleaseError if it fails."""
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if process.returncode:
        raise ReleaseError(f"{' '.join(command)}: {process.stderr.strip() or process.stdout.strip()}")
    return process.stdout.strip()


def ensure_ci_passed(*, is_known: bool) -> None:
    """Raise ReleaseError unless CI has passed for the commit, according to GitHub or the caller."""
    if is_known:
        return
    instead = "look at CI yourself, then: make release VERSION=… CI=passed"
    if shutil.which("gh") is None:
        raise ReleaseError(f"gh is not installed, so nothing knows whether CI has passed; {instead}")
    commit = run("git", "rev-parse", "HEAD")
    try:
        answer = run("gh", "run", "list", "--commit", commit, "--limit", "100", "--json", "conclusion,workflowName")
    except ReleaseError as error:
        raise ReleaseError(f"{error}; {instead}") from None
    results = {item["workflowName"]: item["conclusion"] for item in reversed(json.loads(answer))}  # the newest counts
    failed = [name for name, result in results.items() if result not in ("success", "skipped", "neutral")]
    if failed or not results:
        reason = f"not passed: {', '.join(failed)}" if failed else "GitHub has run nothing"
        raise ReleaseError(f"CI for {commit[:12]}: {reason}; push it and wait, or {instead}")


def ensure_releasable(version: str, current: str) -> None:
    """Raise ReleaseError for a tree with changes, a version that is not newer, or a tag that exists."""
    if changes := run("git", "status", "--porcelain"):
        raise ReleaseError(f"the tree is not clean; commit or remove these first:\n{changes}")
    if order(version) <= order(current):
        raise ReleaseError(f"{version} is not newer than {current}")
    if run("git", "tag", "--list", f"v{version}"):
        raise ReleaseError(f"the tag v{version} exists")


def is_signing() -> bool:
    """Return whether the user signs tags or commits."""
    command = ("git", "config", "--type=bool", "--get")
    values = [
        subprocess.run([*command, name], cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()
        for name in ("tag.gpgSign", "commit.gpgSign")
    ]
    return (values[0] or values[1]) == "true"


def make_release(version: str, *, is_ci_passed: bool) -> str:
    """Make a release and return what comes next. Raises ReleaseError, before anything is written."""
    source, changelog = ROOT / "execplan" / "__init__.py", ROOT / "CHANGELOG.md"
    code, text = source.read_text(encoding="utf-8"), changelog.read_text(encoding="utf-8")
    current = _ASSIGNMENT.search(code)
    if current is None:
        raise ReleaseError(f"{source} assigns no __version__")
    ensure_releasable(version, current[1])
    new_text = cut_changelog(text, version, dt.datetime.now(dt.UTC).date().isoformat())
    ensure_ci_passed(is_known=is_ci_passed)
    changelog.write_text(new_text, encoding="utf-8")
    source.write_text(_ASSIGNMENT.sub(f'__version__ = "{version}"', code, count=1), encoding="utf-8")
    run("git", "commit", "--quiet", "--message", f"Release {version}", "--", str(source), str(changelog))
    try:
        run("git", "tag", "--sign" if is_signing() else "--annotate", "--message", f"execplan {version}", f"v{version}")
    except ReleaseError:
        run("git", "reset", "--quiet", "--hard", "HEAD~1")  # the tree was clean
        raise
    return (
        f"committed and tagged v{version}\n"
        f"to publish it: git push --atomic origin HEAD v{version}\n"
        f"to undo it: git tag -d v{version} && git reset --hard HEAD~1"
    )


def main() -> int:
    """Make a release or print notes; return 1 with a reason if there is none."""
    parser = argparse.ArgumentParser(description="Make a release.")
    parser.add_argument("version")
    parser.add_argument("--ci-passed", action="store_true", help="somebody has looked at CI")
    parser.add_argument("--notes", action="store_true", help="print the changelog of this version and do nothing else")
    arguments = parser.parse_args()
    try:
        if arguments.notes:
            entries = sections((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
            if arguments.version not in entries:
                raise ReleaseError(f"CHANGELOG.md has no section {arguments.version}")
            print(entries[arguments.version].strip())
        else:
            print(make_release(arguments.version, is_ci_passed=arguments.ci_passed))
    except ReleaseError as error:
        print(f"no release: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
