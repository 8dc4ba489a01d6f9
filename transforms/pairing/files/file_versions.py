"""Gets the versions of files from Beam's filesystems, to find files that have changed."""

from __future__ import annotations

from apache_beam.io.hadoopfilesystem import HadoopFileSystem

from beam_bleu.transforms.errors import InputError, unreadable
from beam_bleu.transforms.pairing.files.listing import local_version
from beam_bleu.transforms.pairing.files.streams import Stream
from beam_bleu.transforms.wiring.filesystems import filesystem_of, is_local

__all__ = ["version_of"]


def version_of(stream: Stream, path: str) -> str | None:
    """The version of a file, different for each change; None if the filesystem has no versions.

    On this machine's filesystem it is that of `local_version`. On HDFS it is the time of the last
    change. On object stores it is the object's checksum or ETag.

    Raises:
      InputError: the file was removed or cannot be read.
    """
    try:
        if is_local(path):
            return local_version(path)
        filesystem = filesystem_of(path)
        if isinstance(filesystem, HadoopFileSystem):
            # HDFS would compute a checksum on the nodes of the blocks, again for each call.
            version = filesystem.last_updated(path)
        else:
            version = filesystem.checksum(path)
    except NotImplementedError:
        return None
    except FileNotFoundError as error:
        raise InputError(
            stream.told("the file was removed while the job ran", path),
            "start again when the file is complete, and do not remove it",
        ) from error
    except Exception as error:  # each filesystem has exceptions of its own
        what = f"{stream.label}: cannot be read"
        raise unreadable(what, error, "check the file", stream.shown(path)) from error
    return None if version is None else str(version)
