"""A small service that greets."""
