"""Archives whose bytes depend on nothing but their contents: files in order, of one time and one owner."""

import gzip
import io
import os
import tarfile
import time
import zipfile
from dataclasses import dataclass


@dataclass(frozen=True)
class File:
    """A file in an archive."""

    path: str
    content: bytes
    mode: int = 0o644


def source_date():
    """The time that every file in a package has: that of the commit, unless `SOURCE_DATE_EPOCH` says."""
    return int(os.environ["SOURCE_DATE_EPOCH"])


def tar_gz(files):
    """The files as a compressed tar archive."""
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for file in sorted(files, key=lambda file: file.path):
            entry = tarfile.TarInfo(file.path)
            entry.size = len(file.content)
            entry.mode = file.mode
            entry.mtime = source_date()
            entry.uname = entry.gname = "root"
            archive.addfile(entry, io.BytesIO(file.content))
    return gzip.compress(tar.getvalue(), compresslevel=9, mtime=0)


def zip_of(files):
    """The files as a zip archive, in the order given: a wheel's RECORD is its last."""
    data = io.BytesIO()
    when = time.gmtime(source_date())[:6]
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for file in files:
            entry = zipfile.ZipInfo(file.path, when)
            entry.external_attr = (0o100000 | file.mode) << 16
            entry.create_system = 3
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, file.content, compresslevel=9)
    return data.getvalue()
