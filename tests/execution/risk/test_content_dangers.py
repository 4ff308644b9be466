"""Written code is rated by what it does, however it names that; what only looks dangerous is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from execplan.execution.risk.command_risk import builtin_table
from execplan.execution.risk.content_dangers import find_dangers, runs_unasked
from execplan.execution.risk.step_risk import rate_step

PACKAGE = Path(__file__).resolve().parent.parent.parent.parent / "execplan"
PYTHON_DANGERS = {
    'import shutil\nshutil.rmtree("/srv/data")\n': "deletes or moves `/srv/data`, outside the repository",
    'from shutil import rmtree as clean\nclean("/" + "srv")\n': "deletes or moves `/srv`",
    'import shutil\nROOT = "/"\nshutil.rmtree(ROOT)\n': "deletes or moves `/`",
    "import shutil, pathlib\nshutil.rmtree(pathlib.Path.home() / 'x')\n": "deletes or moves `~`",
    "import os, shutil\nshutil.rmtree(os.path.expanduser('~/x'))\n": "deletes or moves `~/x`",
    "import os, shutil\nshutil.rmtree(os.environ['HOME'])\n": "deletes or moves `~`",
    "import shutil\nshutil.rmtree(f'/home/{name}')\n": "deletes or moves `/home/`",
    "import os\nos.remove('../../other')\n": "deletes or moves `../../other`",
    "from pathlib import Path\nPath('/etc/hosts').unlink()\n": "deletes or moves `/etc/hosts`",
    'import subprocess\nsubprocess.run(["rm", "-rf", "/"])\n': "runs `rm -rf /`: ",
    'import subprocess as s\ncommand = ["rm", "-rf", "/"]\ns.check_call(command)\n': "runs `rm -rf /`: ",
    'from subprocess import Popen\nPopen(("git", "push", "--force"))\n': "runs `git push --force`: ",
    'import os\nos.execvp("rm", ["rm", "-rf", "/"])\n': "runs `rm -rf /`: ",
    'import os\nos.execlp("rm", "rm", "-rf", "/")\n': "runs ",
    'import subprocess\nsubprocess.run(args=["rm", "-rf", "/"])\n': "runs `rm -rf /`: ",
    'import subprocess\nsubprocess.run("rm -rf /".split())\n': "runs `rm -rf /`: ",
    'import shlex, subprocess\nsubprocess.run(shlex.split("rm -rf /"))\n': "runs `rm -rf /`: ",
    'import os\nos.spawnlp(os.P_WAIT, "rm", "rm", "-rf", "/")\n': "runs ",
    'import os\nos.posix_spawn("/bin/sh", ["sh", "-c", text], {})\n': "runs a command in a shell",
    "import shutil\nshutil.rmtree(path='/srv')\n": "deletes or moves `/srv`",
    "from pathlib import Path\n(Path('/etc') / name).unlink()\n": "deletes or moves `/etc`",
    "from pathlib import Path\nPath('/etc/hosts').write_text(text)\n": "writes `/etc/hosts`",
    "open('/etc/cron.d/x', 'w').write(text)\n": "writes `/etc/cron.d/x`",
    "open(file='/etc/hosts', mode='a')\n": "writes `/etc/hosts`",
    "from pathlib import Path\nPath('/etc/hosts').open('a')\n": "writes `/etc/hosts`",
    "import ctypes\nctypes.CDLL(None).system(text)\n": "runs a command in a shell",
    'import subprocess\nsubprocess.run(["bash", "-c", text])\n': "runs a command in a shell",
    "import subprocess\nsubprocess.run(text, shell=True)\n": "runs a command in a shell",
    "import subprocess\nsubprocess.run(text, shell=flag)\n": "runs a command in a shell",
    "import os\nos.system(text)\n": "runs a command in a shell",
    "from os import system as s\ns(text)\n": "runs a command in a shell",
    "from os import *\nsystem(text)\n": "runs a command in a shell",
    '__import__("os").system(text)\n': "runs a command in a shell",
    'import importlib\nimportlib.import_module("o" + "s").popen(text)\n': "runs a command in a shell",
    'import os\ngetattr(os, "sys" + "tem")(text)\n': "runs a command in a shell",
    "import os\nrun = os.system\nrun = os.system\nrun(text)\n": "runs a command in a shell",
    "import os\ngetattr(os, name)(text)\n": "calls a function whose name is computed",
    "class A:\n    def exec(self): pass\nexec(text)\n": "runs text as code",
    "e = eval\ne(text)\n": "runs text as code",
    "__builtins__['eval'](text)\n": "reaches built-in functions by `__builtins__`",
    'import pty\npty.spawn("/bin/sh")\n': "starts a program on a terminal of its own",
    "import os, socket\ns = socket.socket()\nos.dup2(s.fileno(), 0)\n": "connects a program to the network",
    "import pickle\npickle.load(file)\n": "loads pickled objects, which can run any code",
    "import requests\nrequests.get(url, verify=False)\n": "doesn't check certificates",
}
HARMLESS_PYTHON = [
    'DOC = "rm -rf / and curl x | sh, os.system(x), eval(y), shell=True"\n',
    "# os.system(x)\nmodel.eval()\nre.compile(x)\ncursor.exec(x)\n",
    "import shutil, tempfile\nshutil.rmtree('build')\nshutil.rmtree(tempfile.mkdtemp())\nshutil.rmtree('/tmp/x')\n",
    'import subprocess\nsubprocess.run(["git", "status"], shell=False, check=True)\n',
    "import subprocess\nsubprocess.run([sys.executable, '-c', text])\n",
    "import os\nos.dup2(log.fileno(), 1)\n",
    "import requests\nrequests.get(url, verify=True)\n",
    "class Model:\n    def eval(self):\n        return self.exec()\n",
    "import os\nyaml = None\nos.path.join('/', 'etc')\n",
    "open('/etc/os-release').read()\nopen('/proc/cpuinfo', 'rb')\nopen('out/x', 'w')\nopen(path, mode)\nimage.open('/srv', 'w')\n",
    "from pathlib import Path\nPath('out').write_text('/etc/hosts')\nPath('/etc/hosts').open()\nPath('a').rename('b')\n",
    "import os, subprocess\nos.makedirs('out')\nsubprocess.run(args=['git', 'status'])\nsubprocess.run('git log'.split())\n",
]
OTHER_DANGERS = [
    ("a.go", 'c := exec.Command("sh", "-c", text)', "runs a command in a shell"),
    ("a.go", "exec.Command(name)", "starts another program"),
    ("a.go", 'import e "os/exec"', "starts another program"),
    ("a.go", 'os.RemoveAll("/srv")', "deletes a directory outside"),
    ("a.rs", "use std::process::Command;", "starts another program"),
    ("a.rs", 'Command::new("sh").arg("-c")', "starts another program"),
    ("a.rs", 'fs::remove_dir_all("/srv")', "deletes a directory outside"),
    ("a.js", "new Function(text)()", "runs text as code"),
    ("a.ts", "require('child_process')", "runs a command in a shell"),
    ("a.mjs", 'fs.rmSync("/srv", {recursive: true})', "deletes a directory outside"),
    ("A.java", "Runtime.getRuntime().exec(text)", "runs a command in a shell"),
    ("A.java", "new ProcessBuilder(list).start()", "starts another program"),
    ("A.java", "new java.lang.ProcessBuilder(list)", "starts another program"),
    ("a.cs", 'System.Diagnostics.Process.Start("x")', "starts another program"),
    ("a.exs", 'System.cmd("x", [])', "starts another program"),
    ("a.dart", "Process.run('x', [])", "starts another program"),
    ("a.swift", "let task = Process()", "starts another program"),
    ("a.hs", "import System.Process", "starts another program"),
    ("a.kt", "Runtime.getRuntime()", "starts another program"),
    ("a.cs", 'Process.Start("x")', "starts another program"),
    ("a.rb", "IO.popen(text)", "starts another program"),
    ("a.rb", 'FileUtils.rm_rf("/srv")', "deletes a directory outside"),
    ("a.php", "proc_open(text)", "runs a command in a shell"),
    ("a.c", "int s = socket(0); dup2(s, 0);", "connects a program to the network"),
    ("a.c", "execve(path, argv, env);", "starts another program"),
    ("a.lua", "os.execute(text)", "starts another program"),
    ("a.ps1", "Invoke-Expression $text", "runs text as code"),
    ("Makefile", "\tcurl -s x | sh\n", "pipes text into a shell"),
    ("broken.py", "def (\nos.system(x)\n", "runs a command in a shell"),
    ("tool", "#!/usr/bin/env python3\nimport os\nos.system(x)\n", "runs a command in a shell"),
]


def dangers(path: str, text: str, old: str = "") -> list[str]:
    """What is dangerous in a text, with the table as it comes."""
    return find_dangers(path, text, old, builtin_table())


@pytest.mark.parametrize(("text", "effect"), PYTHON_DANGERS.items())
def test_dangerous_python(text: str, effect: str) -> None:
    assert [danger for danger in dangers("a.py", text) if danger.startswith(effect)], dangers("a.py", text)
    indented = "\n".join([f"        {line}" for line in text.splitlines()])
    assert dangers("a.py", indented) == dangers("a.py", text), "added lines of a diff are indented"
    assert dangers("a.py", text, text) == [], "what was there before is not new"


@pytest.mark.parametrize("text", HARMLESS_PYTHON)
def test_harmless_python(text: str) -> None:
    assert dangers("a.py", text) == []


@pytest.mark.parametrize(("path", "text", "effect"), OTHER_DANGERS)
def test_other_languages(path: str, text: str, effect: str) -> None:
    assert [danger for danger in dangers(path, text) if danger.startswith(effect)], dangers(path, text)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.c", "dup2(log, 1);"),
        ("a.go", "c := executor.Command(x)"),
        ("a.js", "pattern.exec(text); retrieval(1)"),
        ("a.rs", "struct CommandLine;"),
    ],
)
def test_what_only_looks_dangerous(path: str, text: str) -> None:
    assert dangers(path, text) == []


def test_a_second_call_is_new() -> None:
    text = "import os\nos.system(x)\n"
    assert dangers("a.py", f"{text}os.system(y)\n", text) == ["runs a command in a shell"]


def test_this_package_raises_few_alarms() -> None:
    files = sorted(PACKAGE.rglob("*.py"))
    alarms = [path for path in files[::7] if dangers(path.name, path.read_text(encoding="utf-8"))]
    assert len(alarms) <= 1, alarms


@pytest.mark.parametrize(
    "path",
    ["conftest.py", "tests/conftest.py", "setup.py", ".github/workflows/ci.yml", ".husky/pre-commit", "build.rs"],
)
def test_danger_in_code_that_runs_unasked_is_critical(path: str) -> None:
    assert runs_unasked(path)
    step = {"type": "create_file", "target": path, "content": "eval(x)\n"}
    risk = rate_step(step)
    assert risk.level == "CRITICAL"
    assert [reason for reason in risk.reasons if reason.endswith("runs text as code, and runs unasked")], risk


def test_code_that_runs_unasked_is_shown_to_a_person() -> None:
    assert not runs_unasked("src/app.py")
    levels = [
        rate_step({"type": "create_file", "target": path, "content": "x = 1\n"}).level
        for path in ("app.py", "conftest.py", "setup.py")
    ]
    assert levels == ["LOW", "MEDIUM", "MEDIUM"]
