"""Photograph the board of `execplan site` in Chromium, in light and dark, for README and the documents.

The plans are made by real commands in a scratch repository, with a fixed clock and author. A picture carries a digest
of the page that it shows, so `--check` knows without a browser whether the picture is out of date.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))  # for a checkout that is not installed

from PIL import Image
from PIL.PngImagePlugin import PngInfo

from tests.shell import Shell

ROOT = Path(__file__).resolve().parent.parent
PICTURES = {"light": ROOT / "docs/images/board.png", "dark": ROOT / "docs/images/board-dark.png"}
_SIZE = "1280,720"
_DIGEST = "Digest of the page"
"""Name of the field in a picture that has the digest of the page."""
_DAY = 86_400
_START = 1_767_225_600
"""The first of January 2026."""
_STEPS = """\
```sh {#count task="Count open requests"}
test -d .git
```
"""
_READ_DIGEST = """python3 -c 'import json, sys; print(json.load(sys.stdin)["data"]["digest"])'"""
_NEW = "execplan new --template small -q"
_FILL_IN = (
    "for section in 'Plan of Work' 'Validation and Acceptance'; do execplan set \"$section\" 'See Progress.' -q -p"
)
_STORY: tuple[tuple[int, str], ...] = (
    (0, "git init -q && execplan init -q"),
    (0, f"{_NEW} 'Move the sessions to Redis' --purpose 'Sessions survive a restart.' --task Measure --task Adapter"),
    (1, f"{_FILL_IN} redis; done"),
    (1, "execplan done 1 -p redis -q"),
    (1, "git add -A && git commit -qm 'Move the sessions'"),
    (24, f"{_NEW} 'Health check' --purpose 'Load balancers see a broken node.' --task Route --task Tests --task Docs"),
    (25, f"{_FILL_IN} health; done"),
    (25, "execplan done 1 2 -p health -q"),
    (
        26,
        f"{_NEW} 'Drain requests' --purpose 'No request is lost.' --task 'Count open requests' --task 'Wait for them'",
    ),
    (27, f"{_FILL_IN} drain; done"),
    (27, "execplan set 'Concrete Steps' @steps.md -p drain --create -q"),
    (27, "git add -A && git commit -qm Plans"),
    (27, f"execplan approve drain --digest $(execplan evaluate drain --json | {_READ_DIGEST}) -q"),
    (27, "execplan run drain -q"),
    (28, f"{_NEW} 'Import customers' --purpose 'All customers are in the database.' --task 'Read the file' -q"),
    (28, f"{_FILL_IN} import; done"),
    (28, "execplan done 1 -p import -q && execplan outcome 'All 1,200 rows were imported.' -p import -q"),
    (28, f"{_NEW} 'Feature flags per tenant' --task 'Choose a store' --task 'Show them in the console'"),
    (28, f"{_NEW} 'Rotate the signing keys' --purpose 'Old keys are gone.' --task 'Rotate them'"),
    (28, f"{_FILL_IN} rotate; done"),
    (28, "execplan done 1 -p rotate -q && execplan outcome 'Done.' -p rotate -q && execplan archive rotate -q"),
    (28, "execplan next health --claim codex -q"),
    (28, "execplan site --out ../site -q"),
)
"""The commands that make the plans, each with the day on which it runs, counted from the first."""


def main() -> int:
    """Write the pictures, or with `--check` report whether they show another page."""
    with tempfile.TemporaryDirectory() as scratch:
        page = _build_site(Path(scratch))
        digest = _page_digest(page)
        if "--check" in sys.argv:
            stale = [
                path for path in PICTURES.values() if not path.exists() or Image.open(path).info.get(_DIGEST) != digest
            ]
            for path in stale:
                print(f"stale: {path.relative_to(ROOT)}: run scripts/board_picture.py, which needs Chromium")
            return 1 if stale else 0
        for theme, path in PICTURES.items():
            _photograph(page, theme, path, digest)
    return 0


def _build_site(scratch: Path) -> Path:
    """Run the story and return the start page of its site; raises ValueError if a command fails."""
    shell = Shell(scratch)
    shell.write("steps.md", _STEPS)
    for day, line in _STORY:
        date = str(_START + day * _DAY)
        shell.env |= {
            "SOURCE_DATE_EPOCH": date,
            "GIT_AUTHOR_DATE": f"{date} +0000",
            "GIT_COMMITTER_DATE": f"{date} +0000",
        }
        result = shell.run(line)
        if result.exit:
            raise ValueError(f"{line}: exit {result.exit}\n{result.out}{result.err}")
    return scratch / "site" / "index.html"


def _page_digest(page: Path) -> str:
    files = [page, *sorted((page.parent / "assets").iterdir())]
    return hashlib.sha256(b"\0".join([file.read_bytes() for file in files])).hexdigest()


def _photograph(page: Path, theme: str, path: Path, digest: str) -> None:
    """Write a picture of a page, with its digest."""
    flags = ["--blink-settings=preferredColorScheme=0"] if theme == "dark" else []
    with tempfile.TemporaryDirectory() as folder:
        screenshot = Path(folder) / "screenshot.png"
        subprocess.run(
            [
                "chromium",
                "--headless",
                "--no-sandbox",
                "--hide-scrollbars",
                f"--window-size={_SIZE}",
                *flags,
                f"--screenshot={screenshot}",
                page.as_uri(),
            ],
            check=True,
            capture_output=True,
        )
        fields = PngInfo()
        fields.add_text(_DIGEST, digest)
        Image.open(screenshot).convert("P", palette=Image.Palette.ADAPTIVE).save(path, optimize=True, pnginfo=fields)


if __name__ == "__main__":
    sys.exit(main())
