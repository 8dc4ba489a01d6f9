"""Addresses of other processes, and whether a process accepts connections there."""

from __future__ import annotations

import dataclasses
import ipaddress
import socket

PATIENCE = 10.0
"""Seconds within which the launcher knows whether an address answers."""

WORKER_TIMEOUT = 300
"""Seconds that the workers of an engine may take to answer, if the user gives no other number."""


@dataclasses.dataclass(frozen=True)
class Address:
    """A host and a port.

    Attributes:
      host: the name or the number of a host. A number of IPv6 has no brackets here.
      port: the port.
    """

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def connect(self, seconds: float) -> None:
        """Opens a connection, and closes it again.

        Raises:
          OSError: nothing accepts connections there, or not within this time.
          OverflowError: there is no such port.
          UnicodeError: there can be no host of this name.
        """
        socket.create_connection((self.host, self.port), seconds).close()

    @property
    def is_loopback(self) -> bool:
        """Whether every machine means itself by this address."""
        if self.host.lower() == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


def parse_address(text: str) -> Address | None:
    """The address of a text HOST:PORT; None if the text is something else."""
    host, _, port = text.rpartition(":")
    if not host or not port.isascii() or not port.isdecimal():
        return None
    return Address(host.removeprefix("[").removesuffix("]"), int(port))
