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
DICTIONARY = ROOT / "tests" / "fuzz" / "words.dict"
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
        run_fuzzer(sys.argv[2:])
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
    findings = [path for path in sorted(FINDINGS.iterdir()) if path.suffix != ".txt" and _is_finding(path)]
    for path in findings:
        traceback_path = path.with_suffix(".txt")
        print(
            f"{path.relative_to(ROOT)}: {traceback_path.read_text().splitlines()[-1] if traceback_path.exists() else 'no traceback'}"
        )
    print(f"{len(findings)} finding{'' if len(findings) == 1 else 's'} in {limit} s")
    return 1 if findings or ended else 0


def _folders() -> list[str]:
    """Return the directories of inputs: the stored ones first, then the seeds, past findings and real plans."""
    corpus_setting = os.environ.get("EXECPLAN_CORPUS")
    real = Path(corpus_setting) if corpus_setting else ROOT.parent / "shared" / "corpus"
    return [str(path) for path in (OUT / "corpus", SEEDS, CASES, real) if path.is_dir()]


def _is_finding(path: Path) -> bool:
    """Return whether a file is a finding; a slow input must also be slow without coverage measurement."""
    if not path.name.startswith("slow-"):
        return True
    completed = subprocess.run(
        [sys.executable, __file__, "--time", str(path)], check=True, cwd=ROOT, capture_output=True, text=True
    )
    if float(completed.stdout) > SLOW:
        path.with_suffix(".txt").write_text(f"{completed.stdout.strip()} s\n")
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


def run_fuzzer(arguments: list[str]) -> None:
    """Run the fuzzer; does not return."""
    import atheris

    sys.path.insert(0, str(ROOT))
    with atheris.instrument_imports(include=["execplan.core.text", "execplan.core.plan", "execplan.linter"]):
        from tests.fuzz import target
    kept_names: set[str] = set()

    def try_input(data: bytes) -> None:
        begin = time.perf_counter()
        try:
            target.examine(data)
        except Exception as error:
            frame = traceback.extract_tb(error.__traceback__)[-1]
            name = f"{type(error).__name__}-{Path(frame.filename).stem}-{frame.lineno}"
            _keep(name, data, traceback.format_exc(), kept_names)
        if time.perf_counter() - begin > SLOW * _GUIDED:
            _keep(f"slow-{len(kept_names)}", data, "", kept_names)
        if data and sum(data) % 97 == 0:
            large = (data + b"\n") * (LARGE // (len(data) + 1))
            begin = time.perf_counter()
            target.read_all(large)
            if time.perf_counter() - begin > SLOW * _GUIDED:
                _keep(f"slow-{len(kept_names)}", large, "", kept_names)

    def mutate(data: bytes, max_size: int, seed: int) -> bytes:
        return by_lines(data, seed)[:max_size] if seed % 3 else atheris.Mutate(data, max_size)

    flags = [
        f"-dict={DICTIONARY}",
        f"-artifact_prefix={FINDINGS}/",
        f"-max_len={_LONGEST}",
        "-timeout=30",
        "-rss_limit_mb=2048",
    ]
    atheris.Setup([sys.argv[0], *flags, *arguments], try_input, custom_mutator=mutate)
    atheris.Fuzz()


def _keep(name: str, data: bytes, traceback_text: str, kept_names: set[str]) -> None:
    """Save an input, once for each place where it breaks."""
    if name not in kept_names:
        kept_names.add(name)
        (FINDINGS / f"{name}.md").write_bytes(data)
        (FINDINGS / f"{name}.txt").write_text(traceback_text, errors="backslashreplace")


def by_lines(data: bytes, seed: int) -> bytes:
    """Mutate an input by lines: duplicate, delete, swap or indent some, change their ends, or insert known words."""
    choose = random.Random(seed)
    lines = data.splitlines(keepends=True) or [b"\n"]
    for _ in range(choose.randint(1, 4)):
        at, second = choose.randrange(len(lines)), choose.randrange(len(lines))
        line = lines[at]
        bare = line.rstrip(b"\r\n")
        mutations = [
            [line, lines[second]], [], [lines[second]], [b" " * choose.randint(1, 6) + line], [line.lstrip(b" ")],
            [bare + choose.choice([b"\r", b"\r\n", b"\n", b""])], [choose.choice(_dictionary_entries()) + b"\n", line],
            [bare + b" " + choose.choice(_dictionary_entries()) + line[len(bare) :]],
        ]  # fmt: skip
        lines[at : at + 1] = choose.choice(mutations)
        lines = lines or [b"\n"]
    return b"".join(lines)


_DICTIONARY_ENTRIES: list[bytes] = []


def _dictionary_entries() -> list[bytes]:
    """Return the words of the fuzzing dictionary."""
    if not _DICTIONARY_ENTRIES:
        for line in DICTIONARY.read_text(encoding="utf-8").splitlines():
            if line.startswith('"'):
                _DICTIONARY_ENTRIES.append(line[1:-1].encode().decode("unicode_escape").encode("latin-1"))
    return _DICTIONARY_ENTRIES


if __name__ == "__main__":
    sys.exit(main())
