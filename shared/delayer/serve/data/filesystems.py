"""Finds on which kind of filesystem a folder lies. On one of a network, a lock and a sync are not to be trusted."""

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

# As Linux and macOS name them. What FUSE brings has its own name behind a dot, on Linux alone.
NETWORK: Final = frozenset(
    {
        *("nfs", "nfs4", "cifs", "smb3", "smbfs", "afpfs", "afs", "webdav", "davfs", "ncpfs", "coda"),
        *("9p", "ceph", "glusterfs", "lustre", "beegfs", "gpfs", "orangefs", "pvfs2", "ocfs2", "gfs2"),
        *("sshfs", "s3fs", "gcsfuse", "rclone", "mount.davfs", "blobfuse", "juicefs", "cephfs"),
    }
)


def is_network(kind: str) -> bool:
    """By the name of a type of filesystem; one that is not known is none."""
    return kind.lower().removeprefix("fuse.") in NETWORK


def filesystem_of(descriptor: int, path: Path) -> str:
    """The type of the filesystem of an open folder; empty: this system does not say."""
    with suppress(OSError, subprocess.SubprocessError):
        if sys.platform == "darwin":
            asked = subprocess.run(["/sbin/mount"], capture_output=True, text=True, check=True, timeout=5)
            return kind_on_macos(asked.stdout, os.path.realpath(path))
        mount = mount_of(Path(f"/proc/self/fdinfo/{descriptor}").read_text())
        return kind_on_linux(Path("/proc/self/mountinfo").read_text(), mount)
    return ""


def mount_of(fdinfo: str) -> str:
    """The number of the mount on which an open file lies: exact, however mounts hide each other."""
    return next((line.split()[1] for line in fdinfo.splitlines() if line.startswith("mnt_id:")), "")


def kind_on_linux(mountinfo: str, mount: str) -> str:
    """By the lines of /proc/self/mountinfo. Behind a single dash, which follows optional fields, is the type."""
    for line in mountinfo.splitlines():
        about, dash, behind = line.partition(" - ")
        if dash and about.partition(" ")[0] == mount:
            return behind.partition(" ")[0]
    return ""


def kind_on_macos(listing: str, path: str) -> str:
    """By what `mount` prints: `//me@server/share on /Volumes/share (smbfs, nodev)`. The longest mount point is it."""
    mounts = (line.rpartition(" (") for line in listing.splitlines())
    kinds = {"/" + before.rpartition(" on /")[2]: about.rstrip(")").partition(",")[0] for before, _, about in mounts}
    return kinds[max((one for one in kinds if Path(path).is_relative_to(one)), key=len)] if kinds else ""
