"""Redaction of secrets in output: those detected, and the values of variables that a command does not receive."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from execplan.core.secrets.all_secrets import HIDDEN, find_ignoring, find_secret_spans, merge_spans
from execplan.core.secrets.secret_names import classify_name, is_secret
from execplan.core.text.text_lines import digest

REDACTED: Final = "[redacted]"
"""Replacement text for a secret."""
_MAX_PASSES: Final = 3
"""Maximum number of searches of one text."""
KEY_BEGIN: Final = b"-----BEGIN "
KEY_END: Final = b"-----END "
KEY_LABEL: Final = b"PRIVATE KEY-----"
_SECRET_NAME_PARTS = ("KEY", "TOKEN", "SECRET", "PASS", "CRED", "AUTH")
"""Parts of variable names whose values are always secret."""
_MIN_LENGTH, _MIN_NAMED_LENGTH = 8, 4
"""Minimum length of a value to redact: of any variable, and of one with such a name."""


class Redactor:
    """A filter that redacts detected secrets and the values of variables, including encoded ones, in every text."""

    def __init__(self, environ: Mapping[str, str], allowed: Collection[str]) -> None:
        """Collect the values to redact from an environment: all but those of allowed variables without secret names."""
        values: set[str] = set()
        for name, secret_value in environ.items():
            is_named_secret = _is_secret_name(name)
            if is_named_secret or name not in allowed:
                values.update(
                    _printed_forms(
                        secret_value,
                        _MIN_NAMED_LENGTH if is_named_secret else _MIN_LENGTH,
                        include_paths=is_named_secret,
                    )
                )
        self._values = sorted(values, key=lambda secret_value: (-len(secret_value), secret_value))

    def with_values(self, values: Iterable[str]) -> Redactor:
        """Return a redactor that also redacts these values, as far as they are long enough to be recognized."""
        added_values = {value for text in values if len(value := text.strip()) >= _MIN_LENGTH}
        redactor = Redactor({}, ())
        redactor._values = sorted({*self._values, *added_values}, key=lambda value: (-len(value), value))
        return redactor

    @property
    def fingerprint(self) -> str:
        """A digest of the values to redact, to tell whether an earlier result is still right."""
        return digest("\0".join(self._values).encode("utf-8", "surrogatepass"))

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return the spans of secrets in order, with overlapping ones merged."""
        spans = [*find_secret_spans(text), *self._variable_spans(text)]
        if self._values:
            spans += find_ignoring(text, HIDDEN, self._variable_spans)
        return merge_spans(spans)

    def _variable_spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the spans of variable values, which may overlap."""
        for value in self._values:
            index = text.find(value)
            while index >= 0:
                yield index, index + len(value)
                index = text.find(value, index + len(value))

    def redact_text(self, text: str, previous_text: str = "") -> str:
        """Redact the secrets in a text; `previous_text` is the output before it, as context for detection.

        The result is searched again, so that a second redaction changes nothing.
        """
        if previous_text:
            size = len(previous_text)
            spans = [
                (max(start - size, 0), end - size) for start, end in self.spans(previous_text + text) if end > size
            ]
            text = _replace_spans(text, spans)
        for _ in range(_MAX_PASSES):
            if not (spans := self.spans(text)):
                break
            text = _replace_spans(text, spans)
        return text

    def redact_value(self, value: object) -> object:
        """Redact the strings and keys of a JSON value.

        A key may mark its value as secret, and an option the argument after it.
        """
        if isinstance(value, str):
            return self.redact_text(value)
        if isinstance(value, list | tuple):
            return self._redact_list(value)
        if isinstance(value, dict):
            return {self.redact_text(str(name)): self._redact_field(str(name), child) for name, child in value.items()}
        return value

    def _redact_field(self, name: str, value: object) -> object:
        """Redact the value of a key."""
        if (
            isinstance(value, str)
            and (name_kind := classify_name(name))
            and is_secret(value, name_kind, is_quoted=True, is_config=True)
        ):
            return REDACTED
        return self.redact_value(value)

    def _redact_list(self, values: Sequence[object]) -> list[object]:
        """Redact a list in context, as command arguments, where an option precedes its value, or as lines."""
        redacted = [self.redact_value(element) for element in values]
        texts = [element for element in values if isinstance(element, str)]
        if len(texts) < 2 or len(texts) < len(values):
            return redacted
        is_command = " " not in texts[0] and "\n" not in texts[0]
        spans, start = self.spans((" " if is_command else "\n").join(texts)), 0
        for index, text in enumerate(texts):
            end = start + len(text)
            within = [
                (max(span_start, start) - start, min(span_end, end) - start)
                for span_start, span_end in spans
                if span_start < end and span_end > start
            ]
            if within:
                is_whole_argument = is_command and within[0][0] == 0
                redacted[index] = REDACTED if is_whole_argument else self.redact_text(_replace_spans(text, within))
            start = end + 1
        return redacted


def _replace_spans(text: str, spans: list[tuple[int, int]]) -> str:
    """Replace each span of a text with the redaction mark."""
    pieces, copied_end = [], 0
    for start, end in spans:
        pieces += [text[copied_end:start], REDACTED]
        copied_end = end
    return "".join([*pieces, text[copied_end:]])


def _is_secret_name(name: str) -> bool:
    """Return whether a variable has the name of a secret; "author" does not count as "auth"."""
    name = name.upper()
    return any([name_part in name for name_part in _SECRET_NAME_PARTS[:-1]]) or _SECRET_NAME_PARTS[-1] in name.replace(
        "AUTHOR_", ""
    ).removesuffix("AUTHOR")


def _printed_forms(value: str, min_length: int, *, include_paths: bool) -> Iterator[str]:
    """Yield the forms in which a value may be printed: unchanged, line by line, and encoded."""
    stripped = value.strip()
    for line in {stripped, *[line.strip() for line in stripped.splitlines()]}:
        if len(line) < min_length or "\n" in line or (not include_paths and _is_path(line)):
            continue
        yield line
        yield from _escaped_forms(line)
    if len(stripped) >= _MIN_LENGTH and (include_paths or not _is_path(stripped)):
        yield from _encoded_forms(stripped)


def _is_path(value: str) -> bool:
    """Return whether a value is a path, or a list of paths, as in MANPATH."""
    return all([path.startswith(("/", "~/", "./", "../")) or not path for path in value.split(":")])


def _escaped_forms(line: str) -> Iterator[str]:
    """Yield a line as it is written in a URL, in JSON and in a shell, where that differs."""
    from json import dumps
    from urllib.parse import quote, quote_plus

    for form in (quote(line, safe=""), quote(line), quote_plus(line), dumps(line)[1:-1], line.replace("'", "'\\''")):
        if form != line:
            yield form


def _encoded_forms(value: str) -> Iterator[str]:
    """Yield a value as hexadecimal digits, and the part of its base64 form that is independent of surrounding bytes."""
    from base64 import b64encode

    data = value.encode("utf-8", "surrogateescape")
    yield data.hex()
    yield data.hex().upper()
    for padding in range(3):
        encoded = b64encode(b"\0" * padding + data)
        first_char, remainder = (0, 2, 3)[padding], (padding + len(data)) % 3
        form = encoded[first_char : len(encoded) - (0, 3, 2)[remainder]].decode()
        yield form
        yield form.replace("+", "-").replace("/", "_")
