"""Where the processes of a cluster run: `Place` is this machine's loopback, or a simulated host."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import pathlib
import socket
import sys
from collections.abc import Iterator, Mapping, Sequence

from deploy.local.processes import HOST, free_port


class Place:
    """This machine, whose processes find each other on loopback, at free ports.

    Attributes:
      name: its name, for people.
      address: where processes of other places reach it.
      ip: the same as an IP address.
      own: where its own processes reach each other.
      bound: the address at which its servers listen.
      kept: its folder, as a path for this program.
      folder: its folder, as a path for the processes of the place.
      python: its Python, which has Beam and beam-bleu.
      is_shared: whether several workers of an engine run here, and so share one pool.
    """

    name = "this machine"
    address = ip = own = bound = HOST
    is_shared = True

    def __init__(self, kept: pathlib.Path) -> None:
        self.kept = kept
        self.folder = kept
        self.python: str | pathlib.Path = sys.executable

    def port(self, usual: int) -> int:
        """A port for a server: a free one, because the usual one may be taken."""
        return free_port()

    def command(self, words: Sequence[str | pathlib.Path]) -> list[str | pathlib.Path]:
        """The command that runs another command at this place."""
        return [*words]

    def program(self, process: int) -> int:
        """The process that runs what `command` was given, by the number of `command`'s process."""
        return process

    def environment(self, variables: Mapping[str, str]) -> dict[str, str]:
        """All variables for a process of this place that needs these."""
        return {**os.environ, **variables}

    @contextlib.contextmanager
    def reached(self) -> Iterator[None]:
        """Within the body, this thread makes connections like the processes of the place."""
        yield

    def listening(self, port: int) -> bool:
        """Whether a process of this place accepts connections at this port."""
        with self.reached(), socket.socket() as client:
            client.settimeout(1)
            return client.connect_ex((self.ip, port)) == 0


@dataclasses.dataclass(frozen=True)
class Places:
    """The places of a cluster.

    Attributes:
      head: where the engine's first process and Beam's job server run.
      workers: where each worker of the engine runs.
    """

    head: Place
    workers: Sequence[Place]


def here(folder: pathlib.Path, workers: int) -> Places:
    """The places of a cluster on loopback, with this number of workers of the engine."""
    place = Place(folder)
    return Places(place, [place] * workers)
