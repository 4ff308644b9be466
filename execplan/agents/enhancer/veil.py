"""What is taken out of an execution plan before it leaves, each with a word of its own in its place, so that it can come back."""

from __future__ import annotations

import os
import re
from collections import Counter
from typing import TYPE_CHECKING, Final

from execplan.agents.enhancer.share import withhold
from execplan.agents.enhancer.suspected import in_arguments, suspected
from execplan.execution.documents.touched import written_paths
from execplan.text.redaction import Redaction
from execplan.text.secret_files import is_secret

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator
    from typing import Any

    from execplan.agents.enhancer.personal import Personal

SECRET: Final = "secret"  # noqa: S105 - the name of a kind
WITHHELD: Final = "withheld"
PATH: Final = "path"
NAME: Final = "name"
KINDS: Final = (SECRET, WITHHELD, PATH, NAME)
"""What is taken out: what may be a secret; all that stands under a key that is not known to be harmless, or in a file that
git ignores; paths of this machine; names of its users."""
_KEYS = frozenset(
    "action branch count description encoding file files filter format folder globs include kind language limit line lines "
    "message mode name new newtext note offset old oldtext path paths pattern query range recursive replace revision search "
    "summary text timeout title tool type url".split()
)
"""Names of an agent's parameters whose values are sent once they have been looked at, whatever joins their words."""
_VARIABLES = frozenset(
    "CARGO_TERM_COLOR CC CFLAGS CGO_ENABLED CI COLUMNS CXX CXXFLAGS DEBUG FORCE_COLOR GOARCH GOFLAGS GOOS LANG LANGUAGE LC_ALL "
    "LC_CTYPE LDFLAGS LINES MAKEFLAGS NODE_ENV NO_COLOR PYTHONDONTWRITEBYTECODE PYTHONHASHSEED PYTHONPATH PYTHONUNBUFFERED "
    "RUSTFLAGS RUST_BACKTRACE RUST_LOG SOURCE_DATE_EPOCH TERM TZ".split()
)
"""Variables of which the same holds."""
_CHOICES = frozenset("schema mode type phase effect shell kind level".split())
"""Fields of a plan that take a few words only."""
_CONTENTS = ("content", "patch", "expect")
_ASSIGNED = re.compile(r"(?m)^[ +]?\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*[=:]\s*[\"']?([^\"'\n]+?)[\"']?\s*$")
_SURE = 12
"""Characters of a value from which on it is taken out wherever it stands."""
_LIKELY = 6
"""The same of one that is no word."""


class Veil:
    """What is taken out, and the words that stand in for it, for one call; `mark` makes them unlike all that a plan holds."""

    def __init__(
        self,
        mark: str,
        personal: Personal,
        ignores: Callable[[Iterable[str]], set[str]],
        share: Collection[str] = (),
    ) -> None:
        """`ignores` tells which of some paths from the root git ignores; `share` are the fields whose texts may leave."""
        self._share = frozenset(share)
        self.mark = mark
        self._personal = personal
        self._ignores = ignores
        self._words: dict[tuple[str, str], str] = {}
        self._made: set[str] = set()
        self._values = _redaction({})
        self._kept: tuple[str, ...] = ()
        """Whole texts that were withheld."""

    def over(self, plan: dict[str, Any]) -> dict[str, Any]:
        """A plan, as plain data, without all that; the same shape, so that both can be walked beside each other."""
        self._learn(plan, self._hidden(plan))
        return self.again(plan)

    def again(self, plan: dict[str, Any]) -> dict[str, Any]:
        """Another plan without what was taken out of the first one, with the same words."""
        hidden = self._hidden(plan)
        plan = withhold(plan, self._share, lambda text: self._word(WITHHELD, text))
        steps = [self._step(step, withheld=at in hidden) for at, step in enumerate(plan["steps"])]
        return {**self._cover({**plan, "steps": []}), "steps": steps}

    def text(self, text: str) -> str:
        """A text without all that."""
        if text in self._made:
            return text
        return self._replaced(text, self._spans(text))

    def counts(self, sent: object) -> dict[str, int]:
        """How often a word for each kind stands in what is sent."""
        pattern = re.compile(rf"redacted_({'|'.join(KINDS)})_\d+_{self.mark}")
        found = Counter([each[1] for text in texts(sent) for each in pattern.finditer(text)])
        return {kind: found[kind] for kind in KINDS}

    def leaked(self, text: str) -> bool:
        """Whether a text holds what was taken out as a secret, or what is one by its looks."""
        return bool(self._values.spans(text)) or any([each in text for each in self._kept])

    def _hidden(self, plan: dict[str, Any]) -> set[int]:
        """The steps, by their places, that write files which git ignores or which hold secrets by their names."""
        paths = {path for step in plan["steps"] for path in written_paths(step)}
        ignored = self._ignores(paths) | {path for path in paths if is_secret(path)}
        return {at for at, step in enumerate(plan["steps"]) if ignored.intersection(written_paths(step))}

    def _learn(self, plan: dict[str, Any], hidden: set[int]) -> None:
        """Know what is a secret wherever it stands: what is one in any place, and what is withheld."""
        found: dict[str, str] = {}
        for text in texts(plan):
            for start, end in [*suspected(text), *self._values.spans(text)]:
                _keep(found, "", text[start:end])
        for step in plan["steps"]:
            for name, value in _withheld_of(step):
                _keep(found, name, value)
        whole = [plan["steps"][at][name] or "" for at in hidden for name in _CONTENTS]
        for text in whole:
            for name, value in _ASSIGNED.findall(text):
                _keep(found, name, value)
        self._values = _redaction(found)
        self._kept = tuple([each.strip() for each in whole if len(each.strip()) >= _SURE])

    def _step(self, step: dict[str, Any], *, withheld: bool) -> dict[str, Any]:
        """A step without all that."""
        made = {**step, "env": {}, "parameters": None}
        if withheld:
            made |= {name: self._word(WITHHELD, step[name]) for name in _CONTENTS if step[name]}
        made = {name: each if name in _CHOICES else self._cover(each) for name, each in made.items()}
        pairs = [(name, value) for name, value in step["env"].items() if name not in _VARIABLES and value]
        if pairs:
            made |= {name: self._assigned(step[name], made[name], pairs) for name in ("command", "description", "argv")}
        made["argv"] = self._argv(step["argv"], made["argv"])
        test = step["validation"]["test_after"]
        made["validation"] = {**made["validation"], "test_after": self._argv(test, made["validation"]["test_after"])}
        made["env"] = {
            self.text(name): self.text(value) if name in _VARIABLES or not value else self._word(WITHHELD, value)
            for name, value in step["env"].items()
        }
        parameters = step["parameters"]
        made["parameters"] = None if parameters is None else self._free(parameters)
        return made

    def _cover(self, value: Any) -> Any:
        """A value of known shape without all that in its strings; its names are those of a plan."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list | tuple):
            return [self._cover(each) for each in value]
        if isinstance(value, dict):
            return {name: each if name in _CHOICES else self._cover(each) for name, each in value.items()}
        return value

    def _free(self, value: Any) -> Any:
        """A value of which nobody knows the shape: what stands under a name that is not known is withheld, whatever it is."""
        if isinstance(value, dict):
            return {
                self.text(name): self._free(each) if _is_listed(name) else self._withheld(each)
                for name, each in value.items()
            }
        return [self._free(each) for each in value] if isinstance(value, list) else self._cover(value)

    def _withheld(self, value: Any) -> Any:
        import json

        if value in (None, "", [], {}) or (isinstance(value, str) and value in self._made):
            return value
        return self._word(WITHHELD, json.dumps(value, sort_keys=True))

    def _argv(self, argv: list[str] | None, made: list[str] | None) -> list[str] | None:
        """Arguments, of which some are secrets by the option before them."""
        if argv is None or made is None:
            return made
        told = list(made)
        for at, begin in in_arguments(argv):
            told[at] = self.text(argv[at][:begin]) + (self._word(SECRET, argv[at][begin:]) if argv[at][begin:] else "")
        return told

    def _assigned(self, before: Any, made: Any, pairs: list[tuple[str, str]]) -> Any:
        """What a command says of variables, whose values are withheld from the environment of its step."""
        from shlex import quote

        if isinstance(before, list):
            return [self._assigned(one, other, pairs) for one, other in zip(before, made, strict=True)]
        if not isinstance(before, str):
            return made
        found = []
        for name, value in pairs:
            for form in (value, quote(value), f'"{value}"'):
                at = before.find(f"{name}={form}")
                while at >= 0:
                    found.append((at + len(name) + 1, at + len(name) + 1 + len(form), SECRET))
                    at = before.find(f"{name}={form}", at + 1)
        return self._replaced(before, [*found, *self._spans(before)]) if found else made

    def _spans(self, text: str) -> list[tuple[int, int, str]]:
        found = [(start, end, SECRET) for start, end in [*self._values.spans(text), *suspected(text)]]
        found += [(start, end, PATH) for start, end in self._personal.paths(text)]
        return found + [(start, end, NAME) for start, end in self._personal.names(text)]

    def _replaced(self, text: str, found: list[tuple[int, int, str]]) -> str:
        """A text with words in place of what was found; what overlaps is one, and a secret if one of it is."""
        merged: list[tuple[int, int, str]] = []
        for start, end, kind in sorted(found):
            if merged and start < merged[-1][1]:
                first, last, other = merged[-1]
                merged[-1] = first, max(last, end), SECRET if SECRET in (kind, other) else other
            else:
                merged.append((start, end, kind))
        for start, end, kind in reversed(merged):
            text = text[:start] + self._word(kind, text[start:end]) + text[end:]
        return text

    def _word(self, kind: str, text: str) -> str:
        """The word that stands for a text: small letters, digits and `_`, which every field of a plan takes."""
        if text in self._made:
            return text
        number = len([each for each, _ in self._words if each == kind]) + 1
        word = self._words.setdefault((kind, text), f"redacted_{kind}_{number}_{self.mark}")
        self._made.add(word)
        return word


def texts(value: object) -> Iterator[str]:
    """All strings in a value, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, each in value.items():
            yield str(name)
            yield from texts(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from texts(each)


def _redaction(found: dict[str, str]) -> Redaction:
    """What is taken out of everything that is written, and these values."""
    from execplan.engine.commands.environment import public_variables

    return Redaction({**os.environ, **found}, public_variables(os.environ))


def _keep(found: dict[str, str], name: str, value: str) -> None:
    """Remember the lines of a value that is a secret, or withheld, which can be told from others."""
    for line in map(str.strip, value.splitlines()):
        word = line.isalpha() or line.isdigit()
        if len(line) >= (_SURE if word else _LIKELY) and line not in found.values():
            found[f"{name}_SECRET_{len(found)}"] = line


def _is_listed(name: str) -> bool:
    return name.lower().replace("_", "").replace("-", "") in _KEYS


def _withheld_of(step: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What is not sent of a step by the name it is given to, each with that name, if it has one."""
    for argv in (step["argv"], step["validation"]["test_after"]):
        yield from [("", argv[at][begin:]) for at, begin in in_arguments(argv or ())]
    yield from [(name, value) for name, value in step["env"].items() if name not in _VARIABLES]
    yield from _unlisted(step["parameters"] or {})


def _unlisted(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """The strings that stand under a name that is not known, at any depth, each with that name."""
    if isinstance(value, dict):
        for own, each in value.items():
            yield from _unlisted(each, name or ("" if _is_listed(own) else own))
    elif isinstance(value, list):
        for each in value:
            yield from _unlisted(each, name)
    elif isinstance(value, str) and name:
        yield name, value
