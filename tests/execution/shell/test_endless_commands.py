"""Commands that never end: only those of which it is certain."""

from __future__ import annotations

import pytest

from execplan.execution.shell.endless_commands import find_endless_command
from tests.conftest import Folder
from tests.in_process_repository import NAME, InProcessRepository
from tests.plans import CLEAN

NEVER_ENDS = """\
npx vite
npm run dev
npm run dev -- --port 3
pnpm --filter web dev
yarn dev
npm exec vite dev
npx --yes http-server -p 3
./node_modules/.bin/vite
vite --port 3
next dev
cd web && npm run dev
FOO=1 npm run dev
sudo docker compose up
docker compose -f x.yml up
env A=b python3 -m http.server
python -m http.server 8000 -d site
python3.12 manage.py runserver
python3 -m uvicorn a:b
uv run uvicorn app:app
poetry run flask --app x run
rails s -p 3000
bin/rails server
php -S localhost:8000
tail -f x.log
tail -n 5 -F x
watch ls
sleep infinity
sh -c "npm run dev"
npx tsc --watch
tsc -p . -w
jest --watchAll
npx vitest watch
"""
ENDS = """\
npm run build
npm run build dev
name=world
> log.txt
npm run dev:build
npm run dev --help
npm start
npm test
timeout 5 npm run dev
nohup npm run dev &
sh -c 'npm run dev & sleep 1; kill $!'
echo npm run dev
docker compose up -d
docker compose -f x.yml up --wait
docker compose up --abort-on-container-exit
docker compose build
tsc --noEmit
jest --coverage
vitest
vitest run
sh -c "npm test"
vite build
next build
uvicorn --version
gunicorn app:app -D
flask routes
rails db:migrate
php artisan migrate
php -r 'x'
tail -n 5 x
tail -fn1 --pid=3 x
tail x-f
tail -f x | head -1
watch -g ls
python manage.py test
grep vite x
"""


@pytest.mark.parametrize("line", NEVER_ENDS.splitlines())
def test_it_never_ends(line: str) -> None:
    assert find_endless_command(line) == line


@pytest.mark.parametrize("line", ENDS.splitlines())
def test_it_may_end(line: str) -> None:
    assert not find_endless_command(line)


def with_step(command: str, attributes: str) -> str:
    """A clean plan with a step."""
    return CLEAN.replace("## Validation and", f"```sh {{#web {attributes}}}\n{command}\n```\n\n## Validation and", 1)


@pytest.mark.parametrize("attributes", ["exit=0", "shell exit=0", "type=install_package exit=0"])
def test_a_step_that_never_ends_is_an_error_that_names_service(repo: Folder, attributes: str) -> None:
    repo.plan(with_step("npm run dev", attributes))
    message = "`npm run dev` never ends: make it a service for the steps after it, such as service=port:8000"
    for command in ("compile", "evaluate", "approve"):
        result = repo.run(command, "--json")
        assert (result.exit, result.json["error"]["code"]) == (3, "bad-steps"), (command, result)
        assert f"EP613 {message}" in result.json["error"]["message"]
    lint = repo.run("lint")
    assert lint.exit == 1
    assert f"EP613 {message}" in lint.out
    repo.plan(with_step("npm run dev", "service=port:5173"))
    assert repo.run("lint").exit == 0
    assert len(repo.ok("compile")["steps"]) == 1


def test_an_inferred_one_is_skipped_with_the_attribute_to_use(repo: Folder) -> None:
    repo.plan(CLEAN.replace("`make test` prints `12 passed`.", "run:\n\n    npm run dev\n", 1))
    assert "it runs until it is stopped: a step with `service` can start it" in repo.run("compile").err


def test_a_script_of_package_json_that_never_ends_is_an_error_of_evaluate(desk: InProcessRepository) -> None:
    desk.stub("npm", "vite")
    for script, finding in (("vite", True), ("node build.js", False)):
        desk.write("web/package.json", f'{{"scripts": {{"start": "{script}"}}}}')
        desk.plan(with_step("npm start", "exit=0 cwd=web"), NAME)
        findings = desk.type("evaluate", "--json").json["data"]["findings"]
        assert any(["`npm start` never ends" in found["message"] for found in findings]) == finding, findings


def test_a_network_that_only_one_side_has_is_a_warning(desk: InProcessRepository) -> None:
    after = "```sh {#get network exit=0}\nmake parser\n```\n"
    for attributes, finding in (("", True), ("network", False)):
        plan = with_step("python3 -m http.server 8765", f"service=port:8765 {attributes}")
        desk.plan(plan.replace("## Validation and", f"{after}\n## Validation and", 1), NAME)
        findings = desk.type("evaluate", "--json").json["data"]["findings"]
        messages = [found["message"] for found in findings if found["check"] == "services"]
        expected = "in the sandbox it can't reach the service web: only get has `network`"
        assert messages == ([expected] if finding else [])
