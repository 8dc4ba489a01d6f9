"""Compares the libraries that can read and write S3: obstore, boto3 and Beam's own filesystem.

    python -m benchmarks.speed.storage.libraries --output benchmarks/speed/storage/LIBRARIES.md

boto3 must be installed (pip install 'apache-beam[aws]'); the project does not need it. Each
measurement is a process of its own. The server is on the same machine and shares its cores.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import pathlib
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

from benchmarks.machine import machine
from benchmarks.program import add_output_flag, command_parser, publish
from deploy.local.engines import s3_server
from deploy.local.object_stores import S3Server

_ROOT = "s3://beam-bleu/"
_BIG = 64 << 20
_RANGES = 100
_SMALL = 100

_TASKS = {
    "start": "import and client",
    "whole": "4 reads of 64 MiB",
    "ranges": f"{_RANGES} ranges of 64 KiB",
    "small": f"{_SMALL} reads of 10 bytes",
    "puts": f"{_SMALL} writes of 1 kB",
    "list": "a listing of all objects",
}
_LIBRARIES = ("obstore", "boto3", "beam")


def _main() -> None:
    parser = command_parser("Compares obstore, boto3 and Beam's filesystem for S3.")
    parser.add_argument("--objects", type=int, default=10_000, metavar="N", help="to list")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    add_output_flag(parser)
    flags = parser.parse_args()
    if flags.measure:
        library, task = flags.measure
        _measure(library, task, json.loads(sys.stdin.read()))
        return
    rows = []
    with tempfile.TemporaryDirectory() as folder, s3_server(pathlib.Path(folder)) as store:
        _fill(store, flags.objects)
        for task, name in _TASKS.items():
            for library in _LIBRARIES:
                wall, cpu, memory = _measured(library, task, store)
                rows.append(f"| {name} | {library} | {wall:.2f} | {cpu:.2f} | {memory:.0f} |")
    publish(
        f"# Libraries for object stores\n\n{machine(('apache-beam', 'boto3', 'obstore'))} "
        f"{datetime.date.today()}; {flags.objects:,} objects to list; one run of each.\n\n"
        "| task | library | wall s | CPU s of the client | MB more at its peak |\n"
        "| --- | --- | ---: | ---: | ---: |\n" + "\n".join(rows) + "\n",
        flags.output,
    )


def _fill(store: S3Server, objects: int) -> None:
    import obstore

    obstore.put(store.client(), "big", random.Random(1).randbytes(_BIG))
    # Beam reads only objects with an ETag, which those have that the server was given.
    for number in range(_SMALL):
        obstore.put(store.client(), f"many/part-{number:06}", b"0123456789")
    folder = store.folder / "objects" / store.bucket / "many"  # its objects are files
    for number in range(_SMALL, objects):
        (folder / f"part-{number:06}").write_bytes(b"0123456789")


def _measured(library: str, task: str, store: S3Server) -> tuple[float, float, float]:
    command = [sys.executable, "-m", __spec__.name, "--measure", library, task]
    done = subprocess.run(
        command,
        input=json.dumps(store.flags()),
        env=os.environ | store.environment(),
        text=True,
        stdout=subprocess.PIPE,
        check=True,
    )
    wall, cpu, memory = json.loads(done.stdout.splitlines()[-1])
    return wall, cpu, memory


def _measure(library: str, task: str, flags: list[str]) -> None:
    from apache_beam.io.filesystems import FileSystems
    from apache_beam.options.pipeline_options import PipelineOptions

    FileSystems.set_options(PipelineOptions(flags))
    begun = time.perf_counter(), time.process_time(), _peak()
    client = _CLIENTS[library]()
    if task != "start":
        begun = time.perf_counter(), time.process_time(), _peak()
        client(task)
    ended = time.perf_counter(), time.process_time(), _peak()
    print(json.dumps([after - before for before, after in zip(begun, ended, strict=True)]))


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def _with_obstore() -> Callable[[str], None]:
    import obstore
    from obstore.store import S3Store

    store = S3Store("beam-bleu", client_options={"allow_http": True})

    def work(task: str) -> None:
        if task == "whole":
            for _ in range(4):
                assert sum(map(len, obstore.get(store, "big").stream(1 << 20))) == _BIG
        elif task == "ranges":
            for place in _places():
                assert len(obstore.get_range(store, "big", start=place, length=1 << 16)) == 1 << 16
        elif task == "small":
            for number in range(_SMALL):
                assert len(obstore.get(store, f"many/part-{number:06}").bytes()) == 10
        elif task == "puts":
            for number in range(_SMALL):
                obstore.put(store, f"new/{number}", bytes(1000))
        else:
            assert sum(map(len, obstore.list(store, "many", chunk_size=1000))) > 0

    return work


def _with_boto3() -> Callable[[str], None]:
    import boto3

    client = boto3.client("s3")

    def body(key: str, **options: str) -> Any:
        return client.get_object(Bucket="beam-bleu", Key=key, **options)["Body"]

    def work(task: str) -> None:
        if task == "whole":
            for _ in range(4):
                got = body("big")
                assert sum(map(len, iter(lambda: got.read(1 << 20), b""))) == _BIG  # noqa: B023
        elif task == "ranges":
            for place in _places():
                data = body("big", Range=f"bytes={place}-{place + (1 << 16) - 1}").read()
                assert len(data) == 1 << 16
        elif task == "small":
            for number in range(_SMALL):
                assert len(body(f"many/part-{number:06}").read()) == 10
        elif task == "puts":
            for number in range(_SMALL):
                client.put_object(Bucket="beam-bleu", Key=f"new/{number}", Body=bytes(1000))
        else:
            pages = client.get_paginator("list_objects_v2")
            found = pages.paginate(Bucket="beam-bleu", Prefix="many/")
            assert sum(len(page["Contents"]) for page in found) > 0

    return work


def _with_beam() -> Callable[[str], None]:
    from apache_beam.io.aws.s3filesystem import S3FileSystem
    from apache_beam.io.filesystems import FileSystems

    files = S3FileSystem(FileSystems._pipeline_options)

    def work(task: str) -> None:
        if task == "whole":
            for _ in range(4):
                with files.open(f"{_ROOT}big") as file:
                    read = iter(lambda: file.read(1 << 20), b"")
                    assert sum(map(len, read)) == _BIG
        elif task == "ranges":
            with files.open(f"{_ROOT}big") as file:
                for place in _places():
                    file.seek(place)
                    assert len(file.read(1 << 16)) == 1 << 16
        elif task == "small":
            for number in range(_SMALL):
                with files.open(f"{_ROOT}many/part-{number:06}") as file:
                    assert len(file.read()) == 10
        elif task == "puts":
            for number in range(_SMALL):
                with files.create(f"{_ROOT}new/{number}") as file:
                    file.write(bytes(1000))
        else:
            assert len(files.match([f"{_ROOT}many/*"])[0].metadata_list) > 0

    return work


def _places() -> list[int]:
    draw = random.Random(1)
    return [draw.randrange(_BIG - (1 << 16)) for _ in range(_RANGES)]


_CLIENTS = {"obstore": _with_obstore, "boto3": _with_boto3, "beam": _with_beam}


if __name__ == "__main__":
    _main()
