"""The interactive board on a terminal; needs the extra `tui`."""
