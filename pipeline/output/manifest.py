"""The manifest of a result, manifest.json: what was read, and to which scores.json it belongs.

It depends only on the files that were read and on how the user named them: it has no names of
machines and no versions of programs. So two runs on the same files write the same bytes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from beam_bleu.transforms.errors import JobError
from beam_bleu.transforms.pairing.paired import Digests, FoundInput, FoundSegments


def manifest(
    read: Sequence[Mapping[str, Any]], scores: bytes, asked: Sequence[str]
) -> dict[str, Any]:
    """The manifest of a result.

    Args:
      read: the streams that were read.
      scores: the bytes of scores.json.
      asked: what the job was asked to read.
    """
    # Saved totals do not keep the versions of files.
    streams = [
        {**stream, "files": [{**file, "version": file.get("version")} for file in stream["files"]]}
        for stream in read
    ]
    digest = hashlib.sha256(scores).hexdigest()
    return {"scores_sha256": digest, "input": list(asked), "streams": streams}


def without_versions(read: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The streams that were read, without the versions of files, which say nothing elsewhere."""
    return [
        {
            **stream,
            "files": [
                {name: value for name, value in file.items() if name != "version"}
                for file in stream["files"]
            ],
        }
        for stream in read
    ]


def streams(segments: FoundSegments, digests: Digests) -> list[dict[str, Any]]:
    """The streams that were read, as the manifest lists them.

    Args:
      segments: what the source found. Its inputs are described.
      digests: the digests of the texts that were scored.

    Raises:
      JobError: not every text was read exactly once for the digests.
    """
    if digests.segments != segments.count:
        raise JobError(
            f"the number of segments in the digests is not the number planned: {segments.count} "
            f"were planned, {digests.segments} were read",
            "the runner lost or repeated data: do not use it for this job",
        )
    return [
        _listed(stream, digest)
        for stream, digest in zip(segments.inputs, digests.texts, strict=True)
    ]


def belongs_to(data: bytes, scores: bytes) -> bool:
    """Whether the bytes of a manifest, or of saved totals, name the bytes of a scores.json."""
    try:
        named = json.loads(data)["scores_sha256"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return False
    return bool(named == hashlib.sha256(scores).hexdigest())


def _listed(stream: FoundInput, digest: str) -> dict[str, Any]:
    return {
        "role": stream.role,
        "system": stream.system,
        **({"labels": list(stream.labels)} if stream.role == "labels" else {}),
        "pattern": stream.pattern,
        "digest": digest,
        "lines": sum(file.lines for file in stream.files),
        "bytes": sum(file.bytes for file in stream.files),
        "files": [
            {
                "path": file.path,
                "bytes": file.bytes,
                "lines": file.lines,
                "version": file.version,
            }
            for file in stream.files
        ],
    }
