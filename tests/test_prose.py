"""The prose linter finds mistakes in prose, and only there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = """
import sys
sys.path.insert(0, "scripts")
import prose
page = "# Title\\n\\n```sh\\nthe the\\n```\\n\\nRun the the tests, `the the`.\\n"
prose.CheckRegistry().register_many(prose.__register__)
print(*prose.usage_problems("page.md", prose.prose_of(page), {}, frozenset()), sep="\\n")
"""


def test_a_repeated_word_is_found_on_its_line() -> None:
    result = subprocess.run([sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, check=True)
    assert [line.partition(" ")[0] for line in result.stdout.splitlines()] == ["page.md:7:"]
