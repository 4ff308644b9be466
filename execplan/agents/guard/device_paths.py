"""Pieces of the paths of devices that nobody is to read; written by scripts/generate.py from the table of risks."""

PIECES = (
    "dev/disk",
    "dev/hd",
    "dev/mapper",
    "dev/mmcblk",
    "dev/nvme",
    "dev/random",
    "dev/sd",
    "dev/urandom",
    "dev/vd",
    "dev/xvd",
    "dev/zero",
)
