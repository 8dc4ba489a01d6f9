"""A pool that starts Beam's Python workers on loopback: a process for each worker of an engine.

It takes the place of the pools beside the workers of a real cluster (Beam's own `worker_pool_main`,
which listens on all interfaces). Beam's portable engines use it with `--environment_type EXTERNAL
--environment_config HOST:PORT`.

    python deploy/local/worker_pool.py --port PORT [--boot EXECUTABLE]

With --boot, Beam's boot program installs the packages of the job (--extra_package, --setup_file)
before it starts each worker. Without it, workers have only the packages of this Python. This file
imports no other file of the project, so that a Python without the project can run it.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import grpc
from apache_beam.portability.api import beam_fn_api_pb2, beam_fn_api_pb2_grpc
from apache_beam.runners.worker.worker_pool_main import BeamFnExternalWorkerPoolServicer

HOST = "127.0.0.1"


class _Pool(BeamFnExternalWorkerPoolServicer):
    """Beam's pool, for an engine whose machines are processes of this one.

    Each of these processes numbers its workers from 1, and Beam's pool knows workers only by their
    numbers. Asked by one process to stop a worker, it could stop that of another process, and the
    job would hang waiting for it. So this pool stops no worker by number: a worker ends when the
    process for which it works closes the connection.
    """

    def __init__(self, boot: str | None) -> None:
        super().__init__(use_process=True, container_executable=boot, data_buffer_time_limit_ms=-1)
        self.workers: list[subprocess.Popen[bytes]] = []

    def StartWorker(  # noqa: N802
        self, request: beam_fn_api_pb2.StartWorkerRequest, context: object
    ) -> beam_fn_api_pb2.StartWorkerResponse:
        response = super().StartWorker(request, context)
        if not response.error:
            self.workers.append(self._worker_processes[request.worker_id])
        # `poll` also makes the system remove processes that have ended.
        self.workers = [worker for worker in self.workers if worker.poll() is None]
        return response

    def StopWorker(  # noqa: N802
        self, request: beam_fn_api_pb2.StopWorkerRequest, context: object
    ) -> beam_fn_api_pb2.StopWorkerResponse:
        """Does nothing: see the class."""
        return beam_fn_api_pb2.StopWorkerResponse()


def main() -> None:
    """Serves until it gets a SIGTERM, then stops its workers."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--boot", help="Beam's boot program")
    arguments = parser.parse_args()
    # Beam's servicer starts workers with the first `python` on the PATH.
    folder = os.path.dirname(sys.executable)
    os.environ["PATH"] = os.pathsep.join([folder, os.environ["PATH"]])
    pool = _Pool(arguments.boot)
    server = grpc.server(ThreadPoolExecutor())
    beam_fn_api_pb2_grpc.add_BeamFnExternalWorkerPoolServicer_to_server(pool, server)
    server.add_insecure_port(f"{HOST}:{arguments.port}")
    stop = threading.Event()
    # Not `sigwait`, because workers would inherit the blocked signals, and could not be stopped.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, frame: stop.set())
    server.start()
    stop.wait()
    server.stop(None)
    for worker in pool.workers:
        worker.terminate()


if __name__ == "__main__":
    main()
