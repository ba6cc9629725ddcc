"""On which kind of filesystem a folder lies, by what Linux and macOS say."""

import os
from pathlib import Path

import pytest

from delayer.serve.data.filesystems import filesystem_of, is_network, kind_on_linux, kind_on_macos, mount_of

MOUNTINFO = """\
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
31 27 0:45 / /mnt/with\\040space rw,relatime shared:7 master:2 - nfs4 server:/export rw,vers=4.2
32 27 0:46 / /mnt/near rw,nosuid - fuse.sshfs me@server: rw
33 27 0:46 / /mnt/near rw,nosuid - xfs /dev/vdb rw
"""
MOUNT = """\
/dev/disk3s1s1 on / (apfs, sealed, local, read-only, journaled)
/dev/disk3s5 on /System/Volumes/Data (apfs, local, journaled, nobrowse)
//me@server/share on /Volumes/My share (1) (smbfs, nodev, nosuid, mounted by me)
server:/export on /Volumes/export (nfs)
"""


@pytest.mark.parametrize(("mount", "kind"), [("27", "ext4"), ("31", "nfs4"), ("32", "fuse.sshfs"), ("33", "xfs")])
def test_the_mount_of_an_open_folder_says_it(mount: str, kind: str) -> None:
    """By its number: a path may lie below several, of which only the last is seen."""
    assert kind_on_linux(MOUNTINFO, mount) == kind


@pytest.mark.parametrize("mount", ["", "2", "1", "99"])
def test_a_mount_that_is_not_listed_is_of_no_kind(mount: str) -> None:
    assert kind_on_linux(MOUNTINFO, mount) == ""


def test_the_number_of_the_mount_is_that_of_the_descriptor() -> None:
    assert mount_of("pos:\t0\nflags:\t02200000\nmnt_id:\t31\nino:\t2\n") == "31"
    assert mount_of("pos:\t0\n") == ""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/Users/me", "apfs"),
        ("/Volumes/My share (1)/data", "smbfs"),
        ("/Volumes/export", "nfs"),
        ("/Volumes/exported", "apfs"),
    ],
)
def test_on_macos_the_longest_mount_point_says_it(path: str, kind: str) -> None:
    assert kind_on_macos(MOUNT, path) == kind


@pytest.mark.parametrize(
    "kind", ["nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "fuse.sshfs", "ceph", "fuse.glusterfs", "lustre", "NFS"]
)
def test_of_a_network(kind: str) -> None:
    assert is_network(kind)


@pytest.mark.parametrize("kind", ["ext4", "xfs", "btrfs", "zfs", "tmpfs", "overlay", "apfs", "fuse.ntfs-3g", ""])
def test_of_this_machine_or_not_known(kind: str) -> None:
    assert not is_network(kind)


def test_this_machine_says_it(tmp_path: Path) -> None:
    descriptor = os.open(tmp_path, os.O_RDONLY)
    try:
        assert filesystem_of(descriptor, tmp_path)
        assert not is_network(filesystem_of(descriptor, tmp_path))
    finally:
        os.close(descriptor)
