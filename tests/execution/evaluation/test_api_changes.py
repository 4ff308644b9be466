"""A change of what others use is rated by its content, wherever the file is."""

from __future__ import annotations

import difflib

import pytest

from execplan.execution.risk.step_risk import rate_step

ROUTES = [
    ("web.py", '@app.get("/users")', "GET /users"),
    ("web.py", '@bp.route(\n    "/users", methods=["POST"])', "/users"),
    ("urls.py", '    path("users/", views.users),', "users/"),
    ("server.js", "app.post('/users', create);", "POST /users"),
    ("lib/users.ts", "usersRouter.get(`/users/:id`, show)", "GET /users/:id"),
    ("users.controller.ts", "  @Get('users/:id')", "GET users/:id"),
    ("main.go", 'mux.HandleFunc("GET /users", list)', "GET /users"),
    ("main.go", 'r.GET("/users", list)', "GET /users"),
    ("Users.java", '    @GetMapping("/users")', "GET /users"),
    ("config/routes.rb", "  resources :users", "users"),
    ("web.php", "Route::get('/users', [UserController::class]);", "GET /users"),
    ("main.rs", '    .route("/users", get(list))', "/users"),
    ("Program.cs", 'app.MapGet("/users", List);', "GET /users"),
    ("router.ex", '    get "/users", UserController, :index', "GET /users"),
]
NO_ROUTES = [
    ("client.js", "const users = await axios.get('/users', options)"),
    ("client.py", 'requests.get("/users")'),
    ("client.go", 'http.Get("/users")'),
    ("cache.js", "app.get('trust proxy')"),
    ("tests/web.py", '@app.get("/users")'),
    ("README.md", '@app.get("/users")'),
]
BREAKING = [
    ("a.py", "def parse(text):", "def parse(text, strict):", "parse"),
    ("a.py", "def parse(text, strict=False):", "def parse(text):", "parse"),
    ("a.py", "async def parse(a, b):", "async def parse(b, a):", "parse"),
    ("a.py", "def parse(*, a=1):", "def parse(*, a):", "parse"),
    ("a.py", "    def parse(self, text):", "    def parse(self, text, strict):", "parse"),
    ("a.py", "def parse(text):", "def read(text):", "parse"),
    ("a.py", "class Parser:", "class Reader:", "Parser"),
    ("a.ts", "export function parse(text: string): Node {", "export function parse(text: string): Tree {", "parse"),
    ("a.ts", "export const parse = (text: string) => {", "export const parse = (text: Buffer) => {", "parse"),
    ("a.ts", "export interface Node {", "interface Node {", "Node"),
    ("a.cjs", "exports.parse = parse;", "exports.read = parse;", "parse"),
    ("a.go", "func Parse(text string) error {", "func Parse(text []byte) error {", "Parse"),
    ("a.go", "func (p *Parser) Next() {", "func (p *Parser) Next(n int) {", "(p *Parser) Next"),
    ("a.rs", "    pub fn parse(text: &str) -> Node {", "    pub fn parse(text: String) -> Node {", "parse"),
    ("A.java", "    public Node parse(String text) {", "    Node parse(String text) {", "parse"),
    ("a.swift", "public func parse(_ text: String) -> Node {", "func parse(_ text: String) -> Node {", "parse"),
    ("a.php", "    public function parse($text) {", "    public function parse($text, $mode) {", "parse"),
    ("a.h", "int parse(const char *text);", "int parse(const char *text, int mode);", "parse"),
    ("a.ex", "  def parse(text) do", "  defp parse(text) do", "parse"),
]
COMPATIBLE = [
    ("a.py", "def parse(text):", "def parse(text, strict=False, *, mode=None) -> Node:"),
    ("a.py", "def parse(a: int) -> None:", "def parse(a: str) -> str:"),
    ("a.py", "def _parse(text):", "def _read(text, more):"),
    ("a.py", "    def helper(text):", "    def helper(text, more):"),
    ("_internal.py", "def parse(text):", "def read(text):"),
    ("test_a.py", "def test_parse(tmp):", "def test_read(tmp):"),
    ("a.ts", "function parse(text) {", "function read(text) {"),
    ("a.ts", "export function parse( text ) {", "export function parse(text) { // fast"),
    ("a.go", "func parse(text string) {", "func parse(text []byte) {"),
    ("a.rs", "pub(crate) fn parse(text: &str) {", "pub(crate) fn parse(text: String) {"),
    ("a.h", "    return parse(text);", "    return read(text);"),
]


def patch(path: str, old: str, new: str) -> dict[str, str]:
    old_lines, new_lines = old.splitlines(), new.splitlines()
    diff = "\n".join(difflib.unified_diff(old_lines, new_lines, f"a/{path}", f"b/{path}", lineterm="")) + "\n"
    return {"type": "modify_file", "target": path, "patch": diff}


def api_reasons(step: dict[str, str]) -> tuple[str, list[str]]:
    risk = rate_step(step)
    return risk.level, [reason for reason in risk.reasons if "public" in reason or "other code" in reason]


@pytest.mark.parametrize(("path", "text", "route"), ROUTES)
def test_routes(path: str, text: str, route: str) -> None:
    created = {"type": "create_file", "target": path, "content": f"{text}\n"}
    assert api_reasons(created) == ("MEDIUM", [f"`{path}`: adds the public route `{route}`"])
    removed = f"`{path}`: removes or changes the public route `{route}`"
    assert api_reasons(patch(path, text, "nothing")) == ("CRITICAL", [removed])
    level, reasons = api_reasons(patch(path, text, text.replace("users", "people")))
    assert (level, reasons) == ("CRITICAL", [removed])
    assert api_reasons(patch(path, f"{text}\n    a = 1", f"{text}\n    a = 2")) == ("MEDIUM", []), (
        "only its body changes"
    )


@pytest.mark.parametrize(("path", "text"), NO_ROUTES)
def test_calls_of_a_client_and_tests_are_no_routes(path: str, text: str) -> None:
    assert api_reasons({"type": "create_file", "target": path, "content": text}) == ("LOW", [])


@pytest.mark.parametrize(("path", "old", "new", "name"), BREAKING)
def test_breaking_changes(path: str, old: str, new: str, name: str) -> None:
    level, reasons = api_reasons(patch(path, old, new))
    assert level == "HIGH"
    assert len(reasons) == 1
    assert f"`{name}`, which other code can use" in reasons[0]
    assert api_reasons(patch(path, f"{old}\n    a = 1", f"{old}\n    a = 2")) == ("MEDIUM", []), "only its body changes"
    assert api_reasons({"type": "create_file", "target": path, "content": old}) == ("LOW", []), "nothing uses it yet"


@pytest.mark.parametrize(("path", "old", "new"), COMPATIBLE)
def test_compatible_changes(path: str, old: str, new: str) -> None:
    assert api_reasons(patch(path, old, new)) == ("MEDIUM", [])


def test_a_parameter_on_a_line_of_its_own() -> None:
    old = "def parse(\n    text: str,\n    mode: str = 'a',\n) -> Node:\n    pass"
    assert api_reasons(patch("a.py", old, old.replace(" = 'a'", "")))[0] == "HIGH"
    assert api_reasons(patch("a.py", old, old.replace("'a'", "'b'")))[0] == "MEDIUM"
    old = "export function parse(\n  text: string,\n): Node {"
    assert api_reasons(patch("a.ts", old, old.replace("string", "Buffer")))[0] == "HIGH"


def test_a_definition_that_moves_within_its_file_stays() -> None:
    filler = "\n".join([f"x{number} = {number}" for number in range(30)])
    assert api_reasons(patch("a.py", f"def parse(text):\n{filler}", f"{filler}\ndef parse(text):"))[0] == "MEDIUM"


def test_replaced_text_and_every_file_of_a_patch_count() -> None:
    replacement = {"paths": ["src/*.py"], "find": "def parse(", "with": "def read(", "count": 1, "regex": False}
    assert api_reasons({"type": "replace", "replacement": replacement})[0] == "HIGH"  # type: ignore[dict-item]
    both = patch("b.md", "a", "b")["patch"] + patch("a.go", "func Parse() {", "func Read() {")["patch"]
    level, reasons = api_reasons({"type": "refactor_code", "patch": both})
    assert (level, reasons) == ("HIGH", ["`a.go`: removes `Parse`, which other code can use"])
    removed = "--- a/web.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-@app.get('/users')\n"
    assert api_reasons({"type": "refactor_code", "patch": removed})[0] == "CRITICAL"


@pytest.mark.parametrize("text", ["public " * 20_000, "a " * 50_000 + "(", "\n" * 200_000, "def f(" * 20_000])
def test_long_texts_take_no_long_time(text: str) -> None:
    for path in ("a.py", "a.h", "a.java", "a.ts", "a.rs", "a.rb"):
        assert rate_step({"type": "create_file", "target": path, "content": text}).level in ("LOW", "MEDIUM")
