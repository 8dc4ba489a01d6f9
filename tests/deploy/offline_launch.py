"""Runs the Flex Template's launcher with Google's services replaced by a folder: for tests.

    python offline_launch.py FOLDER --name=value ...

What would go to Cloud Storage is written below FOLDER, and a job that is
submitted is FOLDER/submitted.json. The process ends at once, with code 99, if
anything uses the network or asks how a job is getting on.
"""

from __future__ import annotations

import os
import pathlib
import runpy
import sys
import traceback
from typing import Any, BinaryIO, NoReturn

import google.auth
from apache_beam.io.gcp.gcsio import GcsIO
from apache_beam.runners.dataflow.internal import apiclient
from google.auth.credentials import AnonymousCredentials
from google.protobuf import json_format
from obstore.store import MemoryStore

from beam_bleu.transforms.wiring import object_stores

LAUNCHER = pathlib.Path(__file__).parents[2] / "deploy" / "dataflow" / "launch.py"
NOT_OFFLINE = 99


def end(*arguments: Any, **keywords: Any) -> NoReturn:
    """Ends the process at once, so that no retry and no handler can hide the call."""
    traceback.print_stack()
    sys.stderr.flush()
    os._exit(NOT_OFFLINE)


def refuse_network(event: str, arguments: tuple[Any, ...]) -> None:
    if event in ("socket.connect", "socket.sendto", "socket.getaddrinfo", "socket.bind"):
        end()


class Client:
    """A client of Dataflow's. It accepts a job, and every other call ends the process."""

    def __init__(self, **keywords: Any) -> None: ...

    def create_job(self, request: Any) -> Any:
        text = json_format.MessageToJson(request.job._pb)
        (folder / "submitted.json").write_text(text)
        request.job.id = "1"
        request.job.current_state = "JOB_STATE_RUNNING"
        return request.job

    __getattr__ = end


def stage_file(
    client: Any, place: str, name: str, stream: BinaryIO, *others: Any, **more: Any
) -> None:
    path = folder / place.removeprefix("gs://") / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(stream.read())


folder = pathlib.Path(sys.argv[1])
folder.mkdir(exist_ok=True)
sys.argv[:] = [str(LAUNCHER), *sys.argv[2:]]
sys.path[0] = str(LAUNCHER.parent)

google.auth.default = lambda **keywords: (AnonymousCredentials(), None)
GcsIO.is_soft_delete_enabled = lambda client, path: False
STORE = MemoryStore()  # --output is empty
object_stores.client = lambda place, **_: STORE
for name in ("Jobs", "Messages", "Metrics"):
    setattr(apiclient.dataflow, f"{name}V1Beta3Client", Client)
apiclient.DataflowApplicationClient.stage_file = stage_file
sys.addaudithook(refuse_network)

runpy.run_path(str(LAUNCHER), run_name="__main__")
