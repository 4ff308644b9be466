"""Fuzz the reader, the writers, the rules and the merge, guided by code coverage.

`make fuzz` runs it for FUZZ_SECONDS (60). `.fuzz/findings` receives every input that breaks the promises of
`tests/fuzz/target.py`, once for each place where it breaks, with its traceback, and every input that takes too long.
The exit status is 1 if there are any. Move a fixed finding to `tests/fuzz/cases`, where `make test` always runs it.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
import traceback
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / ".fuzz"
FINDINGS = OUT / "findings"
SEEDS = ROOT / "tests" / "fuzz" / "seeds"
CASES = ROOT / "tests" / "fuzz" / "cases"
WORDS = ROOT / "tests" / "fuzz" / "words.dict"
LARGE = 100_000
"""Size in bytes to which a short input is sometimes repeated, to detect quadratic time."""
SLOW = 1.0
"""Maximum seconds for reading and checking that many bytes."""
_GUIDED = 8.0
"""Maximum slowdown of code under coverage measurement."""
_LONGEST = 4096


def main() -> int:
    """Fuzz for a while in a separate process, then report the findings."""
    if sys.argv[1:2] == ["--inside"]:
        inside(sys.argv[2:])
    if sys.argv[1:2] == ["--time"]:
        print(f"{seconds(Path(sys.argv[2]).read_bytes()):.3f}")
        return 0
    FINDINGS.mkdir(parents=True, exist_ok=True)
    for path in FINDINGS.iterdir():
        path.unlink()
    (OUT / "corpus").mkdir(exist_ok=True)
    limit = os.environ.get("FUZZ_SECONDS", "60")
    command = [sys.executable, __file__, "--inside", f"-max_total_time={limit}", *_folders()]
    ended = subprocess.run(command, check=False, cwd=ROOT).returncode
    kept = [path for path in sorted(FINDINGS.iterdir()) if path.suffix != ".txt" and _is_one(path)]
    for path in kept:
        told = path.with_suffix(".txt")
        print(f"{path.relative_to(ROOT)}: {told.read_text().splitlines()[-1] if told.exists() else 'no traceback'}")
    print(f"{len(kept)} finding{'' if len(kept) == 1 else 's'} in {limit} s")
    return 1 if kept or ended else 0


def _folders() -> list[str]:
    """Return the directories of inputs: the stored ones first, then the seeds, past findings and real plans."""
    named = os.environ.get("EXECPLAN_CORPUS")
    real = Path(named) if named else ROOT.parent / "shared" / "corpus"
    return [str(path) for path in (OUT / "corpus", SEEDS, CASES, real) if path.is_dir()]


def _is_one(path: Path) -> bool:
    """Return whether a file is a finding; a slow input must also be slow without coverage measurement."""
    if not path.name.startswith("slow-"):
        return True
    done = subprocess.run(
        [sys.executable, __file__, "--time", str(path)], check=True, cwd=ROOT, capture_output=True, text=True
    )
    if float(done.stdout) > SLOW:
        path.with_suffix(".txt").write_text(f"{done.stdout.strip()} s\n")
        return True
    path.unlink()
    path.with_suffix(".txt").unlink(missing_ok=True)
    return False


def seconds(data: bytes) -> float:
    """Return the seconds that checking an input takes without coverage measurement."""
    sys.path.insert(0, str(ROOT))
    from tests.fuzz import target

    judge = target.read_all if len(data) > _LONGEST else target.examine
    begin = time.perf_counter()
    judge(data)
    return time.perf_counter() - begin


def inside(arguments: list[str]) -> None:
    """Run the fuzzer; does not return."""
    import atheris

    sys.path.insert(0, str(ROOT))
    with atheris.instrument_imports(include=["execplan.text", "execplan.plan", "execplan.linter"]):
        from tests.fuzz import target
    seen: set[str] = set()

    def once(data: bytes) -> None:
        begin = time.perf_counter()
        try:
            target.examine(data)
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            name = f"{type(error).__name__}-{Path(place.filename).stem}-{place.lineno}"
            _keep(name, data, traceback.format_exc(), seen)
        if time.perf_counter() - begin > SLOW * _GUIDED:
            _keep(f"slow-{len(seen)}", data, "", seen)
        if data and sum(data) % 97 == 0:
            large = (data + b"\n") * (LARGE // (len(data) + 1))
            begin = time.perf_counter()
            target.read_all(large)
            if time.perf_counter() - begin > SLOW * _GUIDED:
                _keep(f"slow-{len(seen)}", large, "", seen)

    def mutated(data: bytes, most: int, seed: int) -> bytes:
        return by_lines(data, seed)[:most] if seed % 3 else atheris.Mutate(data, most)

    flags = [
        f"-dict={WORDS}",
        f"-artifact_prefix={FINDINGS}/",
        f"-max_len={_LONGEST}",
        "-timeout=30",
        "-rss_limit_mb=2048",
    ]
    atheris.Setup([sys.argv[0], *flags, *arguments], once, custom_mutator=mutated)
    atheris.Fuzz()


def _keep(name: str, data: bytes, told: str, seen: set[str]) -> None:
    """Save an input, once for each place where it breaks."""
    if name not in seen:
        seen.add(name)
        (FINDINGS / f"{name}.md").write_bytes(data)
        (FINDINGS / f"{name}.txt").write_text(told, errors="backslashreplace")


def by_lines(data: bytes, seed: int) -> bytes:
    """Mutate an input by lines: duplicate, delete, swap or indent some, change their ends, or insert known words."""
    choose = random.Random(seed)
    lines = data.splitlines(keepends=True) or [b"\n"]
    for _ in range(choose.randint(1, 4)):
        at, other = choose.randrange(len(lines)), choose.randrange(len(lines))
        line = lines[at]
        bare = line.rstrip(b"\r\n")
        ways = [
            [line, lines[other]], [], [lines[other]], [b" " * choose.randint(1, 6) + line], [line.lstrip(b" ")],
            [bare + choose.choice([b"\r", b"\r\n", b"\n", b""])], [choose.choice(_known()) + b"\n", line],
            [bare + b" " + choose.choice(_known()) + line[len(bare) :]],
        ]  # fmt: skip
        lines[at : at + 1] = choose.choice(ways)
        lines = lines or [b"\n"]
    return b"".join(lines)


_KNOWN: list[bytes] = []


def _known() -> list[bytes]:
    """Return the words of the fuzzing dictionary."""
    if not _KNOWN:
        for line in WORDS.read_text(encoding="utf-8").splitlines():
            if line.startswith('"'):
                _KNOWN.append(line[1:-1].encode().decode("unicode_escape").encode("latin-1"))
    return _KNOWN


if __name__ == "__main__":
    sys.exit(main())
