"""Extract from GitHub's description of its REST API what the tests of `sync` check requests and answers against.

The argument is the file `api.github.com.json` of the npm package @octokit/openapi, which contains the description that
GitHub publishes, under the MIT license. Texts and examples are left out; `nullable` becomes a type of JSON Schema.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

TARGET = Path(__file__).resolve().parent.parent / "tests/team/github/api_description.json"
OPERATIONS = {
    "/repos/{owner}/{repo}": ("get",),
    "/repos/{owner}/{repo}/issues": ("get", "post"),
    "/repos/{owner}/{repo}/issues/{issue_number}": ("get", "patch"),
    "/repos/{owner}/{repo}/issues/{issue_number}/labels": ("post",),
    "/repos/{owner}/{repo}/issues/{issue_number}/labels/{name}": ("delete",),
    **{
        f"/{owner}/projectsV2/{{project_number}}/{path}": methods
        for owner in ("orgs/{org}", "users/{username}")
        for path, methods in (("fields", ("get",)), ("items", ("get", "post")), ("items/{item_id}", ("patch",)))
    },
}
TEXTS = ("description", "title", "example", "examples", "summary", "deprecated", "externalDocs")


def main() -> int:
    """Write the extract to its file in the tests."""
    description = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    components = description["components"]
    operations = {
        path: {method: _operation(description["paths"][path][method], components) for method in methods}
        for path, methods in OPERATIONS.items()
    }
    schemas: dict[str, Any] = {}
    pending = _references(operations)
    while pending:
        name = pending.pop()
        if name not in schemas:
            schemas[name] = _schema(components["schemas"][name])
            pending |= _references(schemas[name])
    extract = {
        "source": f"@octokit/openapi {description['info']['version']}",
        "license": "MIT, Copyright (c) 2020 Octokit contributors",
        "operations": operations,
        "schemas": dict(sorted(schemas.items())),
    }
    TARGET.write_text(json.dumps(extract, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    print(f"wrote: {TARGET.name}, {TARGET.stat().st_size:,} bytes")
    return 0


def _operation(operation: dict[str, Any], components: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters, the schema of the body and those of the answers."""
    parameters = [_resolve(parameter, components) for parameter in operation.get("parameters", ())]
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    answers = {}
    for status, reference in operation["responses"].items():
        content = _resolve(reference, components).get("content", {}).get("application/json")
        answers[status] = _schema(content["schema"]) if content is not None and status[0] == "2" else None
    return {
        "parameters": [
            {name: _schema(value) for name, value in parameter.items() if name in ("name", "in", "required", "schema")}
            for parameter in parameters
        ],
        "body": _schema(body) if body is not None else None,
        "answers": answers,
    }


def _resolve(value: dict[str, Any], components: dict[str, Any]) -> dict[str, Any]:
    """Return what a reference to a component means."""
    if "$ref" not in value:
        return value
    _, _, kind, name = value["$ref"].split("/")
    resolved: dict[str, Any] = components[kind][name]
    return resolved


def _schema(schema: Any, *, in_properties: bool = False) -> Any:
    """Return a schema without texts, as JSON Schema has it."""
    if isinstance(schema, list):
        return [_schema(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if in_properties:
        return {name: _schema(part) for name, part in schema.items()}
    converted = {
        name: _schema(part, in_properties=name == "properties")
        for name, part in schema.items()
        if name not in (*TEXTS, "nullable", "x-github-breaking-changes")
    }
    if "$ref" in converted:
        converted["$ref"] = converted["$ref"].replace("#/components/schemas/", "#/schemas/")
    if not schema.get("nullable"):
        return converted
    return {"anyOf": [{"type": "null"}, converted]}


def _references(value: Any) -> set[str]:
    """Return the names of the schemas that a value refers to."""
    if isinstance(value, dict):
        names = {value["$ref"].rpartition("/")[2]} if isinstance(value.get("$ref"), str) else set()
        return names.union(*[_references(part) for part in value.values()])
    return set().union(*[_references(part) for part in value]) if isinstance(value, list) else set()


if __name__ == "__main__":
    sys.exit(main())
