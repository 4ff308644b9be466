"""What is taken out of an execution plan before it leaves, each with a word of its own in its place, so that it can come back."""

from __future__ import annotations

import os
import re
from collections import Counter
from typing import TYPE_CHECKING, Final

from execplan.agents.enhancer.field_sharing import withhold_fields
from execplan.agents.enhancer.sensitive_text import find_secret_arguments, find_suspected_secrets
from execplan.execution.documents.written_paths import written_paths
from execplan.secrets.redaction import Redactor
from execplan.secrets.secret_files import is_secret_file

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator
    from typing import Any

    from execplan.agents.enhancer.sensitive_text import PersonalData

SECRET: Final = "secret"  # noqa: S105 - the name of a kind
WITHHELD: Final = "withheld"
PATH: Final = "path"
NAME: Final = "name"
KINDS: Final = (SECRET, WITHHELD, PATH, NAME)
"""What is taken out: what may be a secret; all that stands under a key that is not known to be harmless, or in a file that
git ignores; paths of this machine; names of its users."""
_HARMLESS_KEYS = frozenset(
    "action branch count description encoding file files filter format folder globs include kind language limit line lines "
    "message mode name new newtext note offset old oldtext path paths pattern query range recursive replace revision search "
    "summary text timeout title tool type url".split()
)
"""Names of an agent's parameters whose values are sent once they have been looked at, whatever joins their words."""
_HARMLESS_VARIABLES = frozenset(
    "CARGO_TERM_COLOR CC CFLAGS CGO_ENABLED CI COLUMNS CXX CXXFLAGS DEBUG FORCE_COLOR GOARCH GOFLAGS GOOS LANG LANGUAGE LC_ALL "
    "LC_CTYPE LDFLAGS LINES MAKEFLAGS NODE_ENV NO_COLOR PYTHONDONTWRITEBYTECODE PYTHONHASHSEED PYTHONPATH PYTHONUNBUFFERED "
    "RUSTFLAGS RUST_BACKTRACE RUST_LOG SOURCE_DATE_EPOCH TERM TZ".split()
)
"""Variables of which the same holds."""
_CHOICE_FIELDS = frozenset("schema mode type phase effect shell kind level".split())
"""Fields of a plan that take a few words only."""
_CONTENT_FIELDS = ("content", "patch", "expect")
_ASSIGNMENT = re.compile(r"(?m)^[ +]?\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*[=:]\s*[\"']?([^\"'\n]+?)[\"']?\s*$")
_MIN_WORD_LENGTH = 12
"""Characters of a value from which on it is taken out wherever it stands."""
_MIN_MIXED_LENGTH = 6
"""The same of one that is no word."""


class PlanMasker:
    """What is taken out, and the words that stand in for it, for one call; `mark` makes them unlike all that a plan holds."""

    def __init__(
        self,
        mark: str,
        personal: PersonalData,
        find_ignored: Callable[[Iterable[str]], set[str]],
        share: Collection[str] = (),
    ) -> None:
        """`find_ignored` tells which of some paths from the root git ignores; `share` are the fields whose texts may leave."""
        self._share = frozenset(share)
        self.mark = mark
        self._personal = personal
        self._find_ignored = find_ignored
        self._placeholders: dict[tuple[str, str], str] = {}
        self._known_placeholders: set[str] = set()
        self._secrets = _build_redaction({})
        self._withheld_texts: tuple[str, ...] = ()
        """Whole texts that were withheld."""

    def mask_plan(self, plan: dict[str, Any]) -> dict[str, Any]:
        """A plan, as plain data, without all that; the same shape, so that both can be walked beside each other."""
        self._learn_secrets(plan, self._find_hidden_steps(plan))
        return self.mask_revised_plan(plan)

    def mask_revised_plan(self, plan: dict[str, Any]) -> dict[str, Any]:
        """Another plan without what was taken out of the first one, with the same words."""
        hidden = self._find_hidden_steps(plan)
        plan = withhold_fields(plan, self._share, lambda text: self._make_placeholder(WITHHELD, text))
        steps = [self._mask_step(step, withheld=index in hidden) for index, step in enumerate(plan["steps"])]
        return {**self._mask_value({**plan, "steps": []}), "steps": steps}

    def mask_text(self, text: str) -> str:
        """A text without all that."""
        if text in self._known_placeholders:
            return text
        return self._replace_spans(text, self._find_spans(text))

    def count_redactions(self, masked_plan: object) -> dict[str, int]:
        """How often a word for each kind stands in what is sent."""
        pattern = re.compile(rf"redacted_({'|'.join(KINDS)})_\d+_{self.mark}")
        counts = Counter([match[1] for text in iter_texts(masked_plan) for match in pattern.finditer(text)])
        return {kind: counts[kind] for kind in KINDS}

    def has_leak(self, text: str) -> bool:
        """Whether a text holds what was taken out as a secret, or what is one by its looks."""
        return bool(self._secrets.spans(text)) or any([withheld_text in text for withheld_text in self._withheld_texts])

    def _find_hidden_steps(self, plan: dict[str, Any]) -> set[int]:
        """The steps, by their places, that write files which git ignores or which hold secrets by their names."""
        paths = {path for step in plan["steps"] for path in written_paths(step)}
        ignored = self._find_ignored(paths) | {path for path in paths if is_secret_file(path)}
        return {index for index, step in enumerate(plan["steps"]) if ignored.intersection(written_paths(step))}

    def _learn_secrets(self, plan: dict[str, Any], hidden: set[int]) -> None:
        """Know what is a secret wherever it stands: what is one in any place, and what is withheld."""
        secrets: dict[str, str] = {}
        for text in iter_texts(plan):
            for start, end in [*find_suspected_secrets(text), *self._secrets.spans(text)]:
                _remember_secret(secrets, "", text[start:end])
        for step in plan["steps"]:
            for name, value in _find_withheld_values(step):
                _remember_secret(secrets, name, value)
        contents = [plan["steps"][index][name] or "" for index in hidden for name in _CONTENT_FIELDS]
        for text in contents:
            for name, value in _ASSIGNMENT.findall(text):
                _remember_secret(secrets, name, value)
        self._secrets = _build_redaction(secrets)
        self._withheld_texts = tuple(
            [content.strip() for content in contents if len(content.strip()) >= _MIN_WORD_LENGTH]
        )

    def _mask_step(self, step: dict[str, Any], *, withheld: bool) -> dict[str, Any]:
        """A step without all that."""
        masked = {**step, "env": {}, "parameters": None}
        if withheld:
            masked |= {name: self._make_placeholder(WITHHELD, step[name]) for name in _CONTENT_FIELDS if step[name]}
        masked = {
            name: field_value if name in _CHOICE_FIELDS else self._mask_value(field_value)
            for name, field_value in masked.items()
        }
        pairs = [(name, value) for name, value in step["env"].items() if name not in _HARMLESS_VARIABLES and value]
        if pairs:
            masked |= {
                name: self._mask_assignments(step[name], masked[name], pairs)
                for name in ("command", "description", "argv")
            }
        masked["argv"] = self._mask_argv(step["argv"], masked["argv"])
        test = step["validation"]["test_after"]
        masked["validation"] = {
            **masked["validation"],
            "test_after": self._mask_argv(test, masked["validation"]["test_after"]),
        }
        masked["env"] = {
            self.mask_text(name): self.mask_text(value)
            if name in _HARMLESS_VARIABLES or not value
            else self._make_placeholder(WITHHELD, value)
            for name, value in step["env"].items()
        }
        parameters = step["parameters"]
        masked["parameters"] = None if parameters is None else self._mask_parameters(parameters)
        return masked

    def _mask_value(self, value: Any) -> Any:
        """A value of known shape without all that in its strings; its names are those of a plan."""
        if isinstance(value, str):
            return self.mask_text(value)
        if isinstance(value, list | tuple):
            return [self._mask_value(child) for child in value]
        if isinstance(value, dict):
            return {name: child if name in _CHOICE_FIELDS else self._mask_value(child) for name, child in value.items()}
        return value

    def _mask_parameters(self, value: Any) -> Any:
        """A value of which nobody knows the shape: what stands under a name that is not known is withheld, whatever it is."""
        if isinstance(value, dict):
            return {
                self.mask_text(name): self._mask_parameters(child)
                if _is_harmless_key(name)
                else self._withhold_value(child)
                for name, child in value.items()
            }
        return [self._mask_parameters(child) for child in value] if isinstance(value, list) else self._mask_value(value)

    def _withhold_value(self, value: Any) -> Any:
        import json

        if value in (None, "", [], {}) or (isinstance(value, str) and value in self._known_placeholders):
            return value
        return self._make_placeholder(WITHHELD, json.dumps(value, sort_keys=True))

    def _mask_argv(self, argv: list[str] | None, masked_argv: list[str] | None) -> list[str] | None:
        """Arguments, of which some are secrets by the option before them."""
        if argv is None or masked_argv is None:
            return masked_argv
        new_argv = list(masked_argv)
        for index, offset in find_secret_arguments(argv):
            new_argv[index] = self.mask_text(argv[index][:offset]) + (
                self._make_placeholder(SECRET, argv[index][offset:]) if argv[index][offset:] else ""
            )
        return new_argv

    def _mask_assignments(self, original: Any, masked: Any, pairs: list[tuple[str, str]]) -> Any:
        """What a command says of variables, whose values are withheld from the environment of its step."""
        from shlex import quote

        if isinstance(original, list):
            return [
                self._mask_assignments(original_arg, masked_arg, pairs)
                for original_arg, masked_arg in zip(original, masked, strict=True)
            ]
        if not isinstance(original, str):
            return masked
        spans = []
        for name, value in pairs:
            for form in (value, quote(value), f'"{value}"'):
                start = original.find(f"{name}={form}")
                while start >= 0:
                    spans.append((start + len(name) + 1, start + len(name) + 1 + len(form), SECRET))
                    start = original.find(f"{name}={form}", start + 1)
        return self._replace_spans(original, [*spans, *self._find_spans(original)]) if spans else masked

    def _find_spans(self, text: str) -> list[tuple[int, int, str]]:
        spans = [(start, end, SECRET) for start, end in [*self._secrets.spans(text), *find_suspected_secrets(text)]]
        spans += [(start, end, PATH) for start, end in self._personal.find_paths(text)]
        return spans + [(start, end, NAME) for start, end in self._personal.find_names(text)]

    def _replace_spans(self, text: str, spans: list[tuple[int, int, str]]) -> str:
        """A text with words in place of what was found; what overlaps is one, and a secret if one of it is."""
        merged: list[tuple[int, int, str]] = []
        for start, end, kind in sorted(spans):
            if merged and start < merged[-1][1]:
                previous_start, previous_end, previous_kind = merged[-1]
                merged[-1] = (
                    previous_start,
                    max(previous_end, end),
                    SECRET if SECRET in (kind, previous_kind) else previous_kind,
                )
            else:
                merged.append((start, end, kind))
        for start, end, kind in reversed(merged):
            text = text[:start] + self._make_placeholder(kind, text[start:end]) + text[end:]
        return text

    def _make_placeholder(self, kind: str, text: str) -> str:
        """The word that stands for a text: small letters, digits and `_`, which every field of a plan takes."""
        if text in self._known_placeholders:
            return text
        number = len([known_kind for known_kind, _ in self._placeholders if known_kind == kind]) + 1
        placeholder = self._placeholders.setdefault((kind, text), f"redacted_{kind}_{number}_{self.mark}")
        self._known_placeholders.add(placeholder)
        return placeholder


def iter_texts(value: object) -> Iterator[str]:
    """All strings in a value, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, child in value.items():
            yield str(name)
            yield from iter_texts(child)
    elif isinstance(value, list | tuple):
        for child in value:
            yield from iter_texts(child)


def _build_redaction(secrets: dict[str, str]) -> Redactor:
    """What is taken out of everything that is written, and these values."""
    from execplan.engine.commands.command_environment import public_variables

    return Redactor({**os.environ, **secrets}, public_variables(os.environ))


def _remember_secret(secrets: dict[str, str], name: str, value: str) -> None:
    """Remember the lines of a value that is a secret, or withheld, which can be told from others."""
    for line in map(str.strip, value.splitlines()):
        is_word = line.isalpha() or line.isdigit()
        if len(line) >= (_MIN_WORD_LENGTH if is_word else _MIN_MIXED_LENGTH) and line not in secrets.values():
            secrets[f"{name}_SECRET_{len(secrets)}"] = line


def _is_harmless_key(name: str) -> bool:
    return name.lower().replace("_", "").replace("-", "") in _HARMLESS_KEYS


def _find_withheld_values(step: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What is not sent of a step by the name it is given to, each with that name, if it has one."""
    for argv in (step["argv"], step["validation"]["test_after"]):
        yield from [("", argv[index][offset:]) for index, offset in find_secret_arguments(argv or ())]
    yield from [(name, value) for name, value in step["env"].items() if name not in _HARMLESS_VARIABLES]
    yield from _find_unlisted_values(step["parameters"] or {})


def _find_unlisted_values(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """The strings that stand under a name that is not known, at any depth, each with that name."""
    if isinstance(value, dict):
        for key, child in value.items():
            yield from _find_unlisted_values(child, name or ("" if _is_harmless_key(key) else key))
    elif isinstance(value, list):
        for child in value:
            yield from _find_unlisted_values(child, name)
    elif isinstance(value, str) and name:
        yield name, value
