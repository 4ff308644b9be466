"""Entry point of `python -m execplan`."""

import sys

if not sys.flags.safe_path:
    del sys.path[0]  # the current directory, which may contain modules that shadow those of Python
try:
    from execplan.cli.main import run
except KeyboardInterrupt:
    sys.exit(130)

if __name__ == "__main__":  # a worker process on this machine imports it again
    sys.exit(run())
