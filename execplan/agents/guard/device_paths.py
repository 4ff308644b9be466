"""Parts of the paths of devices that must not be read; written by scripts/generate.py from the risk table."""

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
