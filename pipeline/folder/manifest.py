"""manifest.json: which files and which choices a result was made from, and its data files."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from beam_bleu.transforms.errors import lost_data
from beam_bleu.transforms.pairing.files.streams import Stream
from beam_bleu.transforms.pairing.files.tables import table_kind
from beam_bleu.transforms.pairing.paired import Digests, FoundSegments
from beam_bleu.transforms.wiring.filesystems import is_local

# Fields of sources and definitions that have no influence on what is read or scored, and why.
_DECIDE_NOTHING = {
    "label": "it names a stream in messages",
    "pipe": "it names a stream in messages; the text of a pipe is never the same",
    "regex": "it follows from the pattern of a label",
    "range_bytes": "results do not depend on the division of the work",
    "row_folder": "it is where the rows of a join wait",
    "most": "with more slices there is no result",
}


def manifest(
    read: Sequence[Mapping[str, Any]],
    scores: bytes,
    request: Sequence[str],
    data: Sequence[str] = (),
    listed: Mapping[str, tuple[int, bytes]] = MappingProxyType({}),
) -> dict[str, Any]:
    """The document; of what is `listed`, it has the number that was asked for, and a SHA-256."""
    # Saved totals do not keep the versions of files.
    streams = [
        {**stream, "files": [{**file, "version": file.get("version")} for file in stream["files"]]}
        for stream in read
    ]
    document: dict[str, Any] = {
        "scores_sha256": sha256(scores),
        "request_sha256": request_digest(request, map(_files, streams)),
        "request": list(request),
        "streams": streams,
        "data_files": sorted(data),
    }
    for name, (number, content) in listed.items():
        document[name] = {"number": number, "sha256": sha256(content)}
    return document


def request_digest(
    request: Sequence[str], streams: Iterable[Iterable[tuple[str, int, str | None]]]
) -> str:
    files = [
        sorted((os.path.abspath(path) if is_local(path) else path, *rest) for path, *rest in stream)
        for stream in streams
    ]
    return sha256(json.dumps([list(request), files]).encode())


def _files(stream: Mapping[str, Any]) -> list[tuple[str, int, str | None]]:
    return [(file["path"], file["bytes"], file["version"]) for file in stream["files"]]


def described(value: Any, name: str = "") -> Iterator[str]:
    """Each choice in a value as "NAME = VALUE", except those that have no influence on a result."""
    parts: Iterable[tuple[object, Any]]
    if isinstance(value, Stream):
        shown = value.shown(value.pattern)
        is_file = is_local(shown) and not value.pipe and table_kind(shown) is None
        yield f"{name} = {os.path.abspath(shown) if is_file else shown}"
        return
    if dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
        kept = [attribute for attribute in names if attribute not in _DECIDE_NOTHING]
        form = ("form", type(value).__name__)
        parts = [form, *((attribute, getattr(value, attribute)) for attribute in kept)]
    elif isinstance(value, Mapping):
        parts = value.items()
    elif isinstance(value, list | tuple):
        parts = enumerate(value, 1)
    else:
        assert value is None or isinstance(value, str | int | float), value
        yield f"{name} = {value if isinstance(value, str) else json.dumps(value)}"
        return
    for key, part in parts:
        yield from described(part, f"{name} {key}".lstrip())


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def without_versions(read: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    streams = [dict(stream) for stream in read]
    for stream in streams:
        stream.pop("snapshot", None)
        stream["files"] = [{**file} for file in stream["files"]]
        for file in stream["files"]:
            del file["version"]
    return streams


def streams(segments: FoundSegments, digests: Digests) -> list[dict[str, Any]]:
    if digests.segments != segments.count:
        raise lost_data(
            f"the number of segments in the digests is not the number planned: {segments.count} "
            f"were planned, {digests.segments} were read"
        )
    count = len(segments.inputs)
    own, of_references = digests.texts[:count], digests.texts[count:]
    return [
        {
            "role": stream.role,
            "system": stream.system,
            **({"labels": list(stream.labels)} if stream.role == "labels" else {}),
            "pattern": stream.pattern,
            **({"snapshot": stream.snapshot} if stream.snapshot is not None else {}),
            "digest": digest,
            **({"references_digest": of_references[0]} if of_references else {}),
            "lines": sum(file.lines for file in stream.files),
            "bytes": sum(file.bytes for file in stream.files),
            "files": [dataclasses.asdict(file) for file in stream.files],
        }
        for stream, digest in zip(segments.inputs, own, strict=True)
    ]


def digests_of(read: Iterable[Mapping[str, Any]], role: str) -> tuple[str, ...]:
    return tuple(stream["digest"] for stream in read if stream["role"] == role)


def reference_digests(read: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """The digests of the references alone; () if they are not known, as of long records."""
    known = (
        stream["digest"] if stream["role"] == "references" else stream.get("references_digest")
        for stream in read
    )
    return tuple(digest for digest in known if digest is not None)


def belongs_to(data: bytes, scores: bytes) -> bool:
    """Whether a manifest, or saved totals, has the SHA-256 of this scores.json."""
    try:
        named = json.loads(data)["scores_sha256"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return False
    return bool(named == sha256(scores))
