"""Checks requests and answers against GitHub's published description of its REST API."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import jsonschema

_FILE = Path(__file__).with_name("api_description.json")


@cache
def _description() -> dict[str, Any]:
    description: dict[str, Any] = json.loads(_FILE.read_text("utf-8"))
    return description


class Operation:
    """What the description says about one request."""

    def __init__(self, method: str, path: str, arguments: dict[str, str]) -> None:
        self.method = method
        self.path = path
        self.arguments = arguments
        """Values of the path's parameters."""
        self._definition = _description()["operations"][path][method.lower()]

    def request_problems(self, url: str, body: bytes, headers: dict[str, str]) -> list[str]:
        """What is wrong with a request; empty if nothing is."""
        problems = [f"{name} is missing" for name in ("authorization", "user-agent", "accept") if not headers.get(name)]
        parameters = {(parameter["in"], parameter["name"]): parameter for parameter in self._definition["parameters"]}
        values = [("query", name, value) for name, value in parse_qsl(urlsplit(url).query, keep_blank_values=True)]
        values += [("path", name, value) for name, value in self.arguments.items()]
        for place, name, value in values:
            parameter = parameters.get((place, name))
            if name == "page" and parameter is None:
                continue  # in Link headers, which are opaque to clients
            if parameter is None:
                problems.append(f"no {place} parameter {name}")
            else:
                is_number = parameter["schema"].get("type") == "integer"
                problems += self._problems(parameter["schema"], int(value) if is_number else value)
        required = {key for key, parameter in parameters.items() if parameter.get("required")}
        problems += [f"{name} is missing" for place, name in required - {(place, name) for place, name, _ in values}]
        schema = self._definition["body"]
        if schema is None:
            return problems + (["a body"] if body else [])
        return problems + self._problems(_closed(schema), json.loads(body))

    def answer_problems(self, status: int, answer: Any) -> list[str]:
        """What is wrong with an answer of the server in the tests; empty if nothing is."""
        answers = self._definition["answers"]
        if str(status) not in answers:
            return [] if status in (301, 401, 403, 404, 410, 422, 429, 500, 502, 503) else [f"no status {status}"]
        schema = answers[str(status)]
        return self._problems(schema, answer) if schema is not None else []

    def _problems(self, schema: Any, value: Any) -> list[str]:
        validator = jsonschema.Draft202012Validator({**schema, "schemas": _description()["schemas"]})
        return [f"{error.json_path}: {error.message[:200]}" for error in validator.iter_errors(value)]


def find_operation(method: str, url: str) -> Operation | None:
    """Find the operation of a request; None if the description has none."""
    path = urlsplit(url).path
    for template, methods in _description()["operations"].items():
        pattern = re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[^/]+)", re.escape(template))
        match = re.fullmatch(pattern, path)
        if match and method.lower() in methods:
            return Operation(method, template, {name: unquote(value) for name, value in match.groupdict().items()})
    return None


def _closed(schema: Any) -> Any:
    """Return a schema of a body that allows only the properties that it describes, so that misspelled ones are found."""
    if isinstance(schema, dict):
        schema = {name: _closed(part) for name, part in schema.items()}
        if isinstance(schema.get("properties"), dict) and "oneOf" not in schema:
            schema.setdefault("additionalProperties", False)
        return schema
    return [_closed(part) for part in schema] if isinstance(schema, list) else schema
