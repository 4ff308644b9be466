"""Living plans in a repository: write, check, keep true, file."""

__version__ = "0.1.0"
