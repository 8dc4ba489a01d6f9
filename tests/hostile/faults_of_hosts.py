"""What can happen to the hosts of a cluster while a job runs, and how the run may end then."""

from __future__ import annotations

import dataclasses
import hashlib
import http.server
import json
import os
import pathlib
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable

from deploy.local.hosts import installing
from deploy.local.hosts.cluster import ClusterOnHosts
from deploy.local.hosts.host import Host, HostPython

_FAKETIME = pathlib.Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1")

_OTHER_PYTHON = pathlib.Path(os.environ.get("BEAM_BLEU_OTHER_PYTHON", "not-given"))
"""The Python of a virtual environment with beam-bleu's libraries, of another version than this."""

Act = Callable[[ClusterOnHosts], None]


@dataclasses.dataclass(frozen=True)
class Fault:
    """Something that happens to hosts.

    Attributes:
      name: what happens.
      act: makes it happen.
      before: whether it happens before the job, or while it scores.
      exits: the exit codes with which the command may end.
      flags: more flags of the command.
      touched: the hosts that are made again afterwards, by name.
      needs: a file without which it cannot happen, and what has it.
    """

    name: str
    act: Act
    before: bool = False
    exits: tuple[int, ...] = (0,)
    flags: tuple[str, ...] = ()
    touched: tuple[str, ...] = ()
    needs: tuple[pathlib.Path, str] | None = None


@dataclasses.dataclass(frozen=True)
class Outcome:
    """How a run with a fault ended.

    Attributes:
      exit: the exit code of the command; negative if it was killed, None if it hung.
      message: the first line of its error.
      seconds: from the fault, or from the start if that was later, to the end of the command.
      scores: "same", "none", or "DIFFERENT".
    """

    exit: int | None
    message: str
    seconds: float
    scores: str

    def is_right(self, fault: Fault) -> bool:
        """Whether it ended in time, in an allowed way, with the right scores or without any."""
        if self.exit not in fault.exits or self.scores == "DIFFERENT":
            return False
        return (self.scores == "same") == (self.exit == 0)


def _last_worker(cluster: ClusterOnHosts) -> Host:
    """A worker host; with Prism, whose workers are on head, that one."""
    hosts = cluster.hosts
    return hosts.workers[-1] if hosts.workers else hosts.head


def _nothing(cluster: ClusterOnHosts) -> None:
    pass


def _cut_off(cluster: ClusterOnHosts) -> None:
    _last_worker(cluster).pull_out()


def _cut_off_for_10_s(cluster: ClusterOnHosts) -> None:
    host = _last_worker(cluster)
    host.pull_out()
    time.sleep(10)
    host.plug_in()


def _slow_worker(cluster: ClusterOnHosts) -> None:
    _last_worker(cluster).limit("40mbit")


def _kill_worker(cluster: ClusterOnHosts) -> None:
    _last_worker(cluster).kill()


def _kill_head(cluster: ClusterOnHosts) -> None:
    cluster.hosts.head.kill()


def _storage_gone_for_30_s(cluster: ClusterOnHosts) -> None:
    cluster.hosts.storage.pull_out()
    time.sleep(30)
    cluster.hosts.storage.plug_in()


def _storage_gone(cluster: ClusterOnHosts) -> None:
    cluster.hosts.storage.kill()


def _slow_storage(cluster: ClusterOnHosts) -> None:
    cluster.hosts.storage.limit("100mbit")


def _lose_connections(cluster: ClusterOnHosts) -> None:
    for _ in range(3):
        cluster.store.processes.kill("versitygw")
        cluster.store.start()
        time.sleep(2)


class _Busy(http.server.BaseHTTPRequestHandler):
    """Answers as a busy S3 does."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        said = b"<Error><Code>SlowDown</Code><Message>Reduce your request rate.</Message></Error>"
        self.send_response(503)
        self.send_header("Content-Type", "application/xml")
        self.send_header("Content-Length", str(len(said)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        if self.command != "HEAD":
            self.wfile.write(said)

    do_HEAD = do_PUT = do_POST = do_DELETE = do_GET  # noqa: N815

    def log_message(self, *words: object) -> None:
        pass


def _busy_for(cluster: ClusterOnHosts, seconds: float) -> None:
    cluster.store.processes.kill("versitygw")
    storage = cluster.hosts.storage
    http.server.ThreadingHTTPServer.allow_reuse_address = True
    cluster.store.processes.wait_until(
        "the port of the object store", lambda: not storage.listening(storage.port(7070))
    )
    with storage.reached():  # the socket stays in the host's network
        server = http.server.ThreadingHTTPServer((storage.ip, storage.port(7070)), _Busy)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    time.sleep(seconds)
    server.shutdown()
    server.server_close()
    cluster.store.start()


def _busy_for_10_s(cluster: ClusterOnHosts) -> None:
    _busy_for(cluster, 10)


def _busy_for_60_s(cluster: ClusterOnHosts) -> None:
    _busy_for(cluster, 60)


def _restart_pool(cluster: ClusterOnHosts, host: Host, variables: dict[str, str]) -> None:
    """Starts the pool of a host again with other variables."""
    name = f"workers-{host.name}"
    cluster.engine.processes.kill(name)
    usual = cluster.engine.worker_environment
    cluster.engine.worker_environment = {**usual, **variables}
    try:
        cluster.engine.start_workers()
    finally:
        cluster.engine.worker_environment = usual


def _clock(cluster: ClusterOnHosts) -> None:
    host = _last_worker(cluster)
    # Python's own `sleep` fails under this library.
    sleep = "import threading, time; time.sleep = lambda s: threading.Event().wait(s) and None"
    (host.site_packages / "sitecustomize.py").write_text(f"{sleep}\n")
    fake = {"LD_PRELOAD": str(_FAKETIME), "FAKETIME": "+1h", "DONT_FAKE_MONOTONIC": "1"}
    _restart_pool(cluster, host, fake)


def _wrong_key(cluster: ClusterOnHosts) -> None:
    _restart_pool(cluster, _last_worker(cluster), {"AWS_SECRET_ACCESS_KEY": "wrong"})


def _stopped_pool(cluster: ClusterOnHosts) -> None:
    cluster.engine.processes.kill(f"workers-{_last_worker(cluster).name}")


def _frozen_pool(cluster: ClusterOnHosts) -> None:
    process = cluster.engine.processes.pid(f"workers-{_last_worker(cluster).name}")
    os.killpg(process, signal.SIGSTOP)


def _no_library(cluster: ClusterOnHosts) -> None:
    packages = _last_worker(cluster).site_packages
    for name in ("MeCab", "ipadic"):
        for found in packages.glob(f"{name}*"):
            shutil.rmtree(found) if found.is_dir() else found.unlink()


def _no_beam_bleu(cluster: ClusterOnHosts) -> None:
    shutil.rmtree(_last_worker(cluster).site_packages / "beam_bleu")


def _other_version(cluster: ClusterOnHosts) -> None:
    """A beam-bleu that calls itself 0.0.9. It counts as this one does."""
    version = _last_worker(cluster).site_packages / "beam_bleu" / "transforms" / "version.py"
    version.write_text(f'VERSION = "0.0.9"  # {version.read_text()}')


def _other_python(cluster: ClusterOnHosts) -> None:
    host = _last_worker(cluster)
    asked = "import os, sys, sysconfig; print(os.path.realpath(sys.executable), sys.base_prefix, "
    asked += "sysconfig.get_path('purelib'), sep='\\n')"
    said = subprocess.run(
        [_OTHER_PYTHON, "-c", asked], stdout=subprocess.PIPE, text=True, check=True
    )
    host.has_python = HostPython(*said.stdout.split("\n")[:3])
    host.kill()
    cluster.hosts.mend()
    (wheel,) = cluster.hosts.folder.glob("beam_bleu-*.whl")
    installing.install(host, wheel)
    cluster.mend()


def _unreadable_shard(cluster: ClusterOnHosts) -> None:
    """Gives a worker an account that cannot read the last file of the references."""
    store = cluster.store
    owner = ("--access", store.access_key, "--secret", store.secret_key)
    user = ("--access", "worker", "--secret", "secret-of-the-worker", "--role", "user")
    cluster.hosts.storage.run(
        *(store.program, "admin", *owner, "--endpoint-url", store.endpoint, "create-user", *user)
    )
    files = (store.place.kept / "objects" / store.bucket / "text").glob("ref*")
    bucket = f"arn:aws:s3:::{store.bucket}"
    last = f"{bucket}/text/{max(files).name}"
    everything = {"Effect": "Allow", "Action": "s3:*", "Resource": [bucket, f"{bucket}/*"]}
    not_this = {"Effect": "Deny", "Action": "s3:GetObject", "Resource": last}
    statements = [{**statement, "Principal": "worker"} for statement in (everything, not_this)]
    policy = json.dumps({"Version": "2012-10-17", "Statement": statements})
    digest = hashlib.sha256(policy.encode()).hexdigest()
    cluster.hosts.head.run(
        *("curl", "--silent", "--show-error", "--fail-with-body", "--request", "PUT"),
        *("--aws-sigv4", f"aws:amz:{store.region}:s3"),
        *("--user", f"{store.access_key}:{store.secret_key}"),
        *("--header", f"x-amz-content-sha256: {digest}", "--data", policy),
        f"{store.endpoint}/{store.bucket}?policy=",
    )
    keys = {"AWS_ACCESS_KEY_ID": "worker", "AWS_SECRET_ACCESS_KEY": "secret-of-the-worker"}
    _restart_pool(cluster, _last_worker(cluster), keys)


def _full_tmp(cluster: ClusterOnHosts) -> None:
    host = _last_worker(cluster)
    host.run("sh", "-c", "head -c 4G /dev/zero > /tmp/fills; true")


def _missing_python(cluster: ClusterOnHosts) -> None:
    (_last_worker(cluster).site_packages.parents[2] / "bin" / "python").unlink()


_DIED = (-signal.SIGKILL, 128 + signal.SIGKILL)
_WORKER = ("last worker",)

FAULTS = (
    Fault("nothing", _nothing),
    Fault("a worker host is killed", _kill_worker, touched=_WORKER),
    Fault("a worker host is cut off for good", _cut_off, touched=_WORKER),
    Fault("a worker host is cut off for 10 s", _cut_off_for_10_s),
    Fault("a worker host is slow: 40 Mbit/s", _slow_worker, before=True, touched=_WORKER),
    Fault("the storage host is gone for 30 s", _storage_gone_for_30_s, exits=(0, 1, 3)),
    Fault("the storage host is killed", _storage_gone, exits=(1, 3), touched=("storage",)),
    Fault("the storage host is slow: 100 Mbit/s", _slow_storage, touched=("storage",), before=True),
    Fault("the object store loses all connections, three times", _lose_connections),
    Fault("the object store answers 503 for 10 s", _busy_for_10_s),
    Fault("the object store answers 503 for 60 s", _busy_for_60_s, exits=(0, 1, 3)),
    Fault("the launcher's host is killed", _kill_head, exits=_DIED, touched=("head", "workers")),
    Fault(
        "a worker's clock is an hour ahead",
        *(_clock, True, (0, 1, 3)),
        touched=_WORKER,
        needs=(_FAKETIME, "Debian's faketime"),
    ),
    Fault("a worker has a wrong secret key", _wrong_key, True, (1, 3), touched=_WORKER),
    Fault(
        "a worker has another version of beam-bleu", _other_version, True, (0, 1), touched=_WORKER
    ),
    Fault(
        "a worker has another Python",
        *(_other_python, True, (0, 1)),  # 0 if other workers do all the work
        touched=_WORKER,
        needs=(_OTHER_PYTHON, "another Python in BEAM_BLEU_OTHER_PYTHON"),
    ),
    Fault("a worker may not read one of the files", _unreadable_shard, True, (3,), touched=_WORKER),
    Fault("a worker has no beam-bleu", _no_beam_bleu, True, (0, 1), touched=_WORKER),
    Fault("a worker has no `python`", _missing_python, True, (1,), touched=_WORKER),
    Fault(
        "a worker lacks the tokenizer's library",
        *(_no_library, True, (1, 2)),
        flags=("--tokenize=ja-mecab",),
        touched=_WORKER,
    ),
    Fault("a worker's /tmp is full", _full_tmp, True, (0, 1), touched=_WORKER),
    Fault("a worker's pool does not run", _stopped_pool, True, (0, 1), touched=_WORKER),
    Fault("a worker's pool does not answer", _frozen_pool, True, (0, 1), touched=_WORKER),
)
