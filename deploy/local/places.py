"""Where the processes of a cluster run: on this machine's loopback, or on a host of their own."""

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
    """This machine: its processes find each other on loopback, at ports that are free.

    Attributes:
      name: its name, for people.
      address: the address at which processes of other places reach it.
      ip: the same address as a number.
      own: the address at which its processes reach each other.
      bound: the address at which its servers listen.
      kept: the folder as this program sees it.
      folder: the same folder as the processes of the place see it.
      python: its Python, which has Beam and beam-bleu.
      is_shared: whether several processes of an engine run here. Then they share one pool.
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
        """The process that runs what `command` was given: its number, from that of `command`."""
        return process

    def environment(self, variables: Mapping[str, str]) -> dict[str, str]:
        """All variables of a process of this place that needs these."""
        return {**os.environ, **variables}

    @contextlib.contextmanager
    def reached(self) -> Iterator[None]:
        """In the body, this thread makes connections as the processes of the place do."""
        yield

    def listening(self, port: int) -> bool:
        """Whether a process of this place accepts connections at a port."""
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
    """A cluster on loopback, with this many workers of the engine."""
    place = Place(folder)
    return Places(place, [place] * workers)
