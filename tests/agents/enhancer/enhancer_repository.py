"""A repository whose user has named a program that proposes better execution plans."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from execplan.agents.enhancer.field_sharing import FIELDS
from execplan.execution.engine.audit_log import hash_chain, log_reader
from tests.in_process_repository import NAME, InProcessRepository

if TYPE_CHECKING:
    import pytest

PROGRAM = Path(__file__).with_name("fake_enhancer.py")
PLAN = """\
# Build the parser

## Progress

- [ ] Build the parser.

## Concrete Steps

```sh {#build confirm deny="rm *" inputs=Makefile}
make parser
```

```sh {#push needs=build env="DEPLOY_KEY=quiet-river-7"}
curl -H "X-Token: s3cr3t-river" https://ship.example.org/new
```

```python {#api type=create_file target=src/made.py}
X = 1
```
"""


class EnhancerRepository(InProcessRepository):
    """What is typed there, and what came of it."""

    def __init__(self, path: Path, patch: pytest.MonkeyPatch) -> None:
        super().__init__(path, patch)
        self.folder = path.parent / "kept"
        self.folder.mkdir()
        self.stub("curl")
        self.plan(PLAN)
        self.artifacts = path / f".agent/execplans/artifacts/{NAME}"

    def settings(self, text: str) -> None:
        """Write the user's own."""
        file = self.path.parent / ".config/execplan/config.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def configure_program(self, *behavior: str, extra_settings: str = "") -> None:
        """Let the program answer in this way."""
        argv = [sys.executable, "-I", "-S", str(PROGRAM), str(self.folder), *behavior]
        share = "" if "share" in extra_settings else f"share = {json.dumps(list(FIELDS))}\n"
        self.settings(f"[enhancer]\ncommand = {json.dumps(shlex.join(argv))}\n{share}{extra_settings}")

    def ask(self, *behavior: str, extra_settings: str = "") -> dict[str, Any]:
        """Let it answer so; what came of it, with the warnings."""
        self.configure_program(*behavior, extra_settings=extra_settings)
        result = self.type("compile", "--enhance", "--json")
        assert result.exit == 0, result
        enhanced: dict[str, Any] = result.json["data"]["enhanced"]
        return {**enhanced, "warnings": result.json["warnings"], "next": result.json["next"]}

    def sent_request(self) -> dict[str, Any]:
        """What it was sent."""
        request: dict[str, Any] = json.loads((self.folder / "request.json").read_text())
        return request

    def observed_process(self) -> dict[str, Any]:
        """What it saw."""
        observed: dict[str, Any] = json.loads((self.folder / "seen.json").read_text())
        return observed

    def records(self) -> list[hash_chain.AuditRecord]:
        """The ledger, which is whole."""
        walked = hash_chain.parse_chain(Path(log_reader.path_of(*self.project())).read_bytes())
        assert walked.flaw is None
        return walked.records

    def stored(self) -> dict[str, Any]:
        """The execution plan."""
        plan: dict[str, Any] = json.loads((self.artifacts / "execution-plan.json").read_text())
        return plan
