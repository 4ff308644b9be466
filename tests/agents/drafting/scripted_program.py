"""A small program in place of a model: `scripted_program.py FOLDER BEHAVIOR…` keeps its prompts in FOLDER, and answers as it is told.

With several behaviors, each request gets the next one. It is run as a script of its own, and imports nothing of the tests.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable

TASKS = "- [ ] Read one line of src/old.py.\n- [ ] Write the parser.\n"
STEPS = "Run this in the root:\n\n```sh\nmake parser\n```\n"


def skeleton(prompt: str) -> str:
    """The skeleton in a prompt, up to the line that it names."""
    _, _, rest = prompt.partition("The skeleton, up to the line ")
    end, _, rest = rest.partition(":\n\n")
    return rest.partition(f"\n{end}\n")[0]


def draft(prompt: str) -> str:
    """A plan from the skeleton, with tasks and steps, and without the other placeholder text."""
    lines: list[str] = []
    for line in skeleton(prompt).split("\n"):
        if line.startswith("## Progress"):
            lines += [line, "", TASKS]
        elif line.startswith("## Concrete"):
            lines += [line, "", STEPS]
        elif line.startswith("#"):
            lines += [line, "", "Nothing else is known about this yet." if line.startswith("## ") else "A plan.", ""]
    return "\n".join(lines)


def taught_steps(prompt: str) -> str:
    """The steps that the prompt shows, for a task of this draft."""
    steps = prompt[prompt.index("```sh {#") :].partition("\n- ")[0] + "\n"
    return steps.replace("First words of a task", "Read one line")


def fail() -> None:
    """No answer, and an exit status."""
    print("no credit left", file=sys.stderr)
    sys.exit(3)


def answers(text: str, prompt: str) -> dict[str, str]:
    """What is printed, by behavior."""
    return {
        "plan": text,
        "wrapped": f"Sure! Here is the plan:\n\n```markdown\n{text}\n```\n\nDo you want more?",
        "broken": text.replace("## Progress", "## Steps"),
        "done": text.replace("- [ ] Read", "- [x] Read"),
        "steps": text.replace(STEPS, taught_steps(prompt)),
        "wrong-steps": text.replace(STEPS, taught_steps(prompt).replace("exit=0", "status=0")),
        "dangerous": text.replace("make parser", "rm -rf / && touch pwned"),
        "binary": "\0",
        "refuses": "I can't help with that.",
        "silent": "",
        "floods": "x" * 6_000_000,
    }


ACTS: dict[str, Callable[[], None]] = {
    "fails": fail,
    "waits": lambda: time.sleep(60),
    "dies": lambda: os.kill(os.getpid(), 9),
}


def main() -> None:
    """Keep the prompt, then do what is asked for."""
    folder, *behaviors = sys.argv[1:]
    number = len([name for name in os.listdir(folder) if name.startswith("prompt")])
    prompt = sys.stdin.read()
    with open(os.path.join(folder, f"prompt{number}.md"), "w", encoding="utf-8") as file:
        file.write(prompt)
    report = os.path.join(folder, "seen.json")
    with open(f"{report}.part", "w", encoding="utf-8") as file:
        json.dump({"env": dict(os.environ), "cwd": os.getcwd(), "files": os.listdir(), "pid": os.getpid()}, file)
    os.rename(f"{report}.part", report)  # a test that waits for the file interrupts this program as soon as it is there
    behavior = behaviors[min(number, len(behaviors) - 1)]
    if behavior in ACTS:
        ACTS[behavior]()
    else:
        print(answers(draft(prompt), prompt)[behavior])


if __name__ == "__main__":
    main()
