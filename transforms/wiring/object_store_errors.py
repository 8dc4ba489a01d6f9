"""Makes `OSError`s that say what a server said of the exceptions of obstore."""

from __future__ import annotations

import contextlib
import errno
import html
import re
from collections.abc import Iterator

from obstore.exceptions import AlreadyExistsError, BaseError, PreconditionError

_MISSING = frozenset(["NoSuchKey", "BlobNotFound", "404 Not Found", ""])
"""What servers answer if an object is missing. A missing bucket has another code."""

_CODE = re.compile(r"<Code>\s*([^<]+?)\s*</Code>")
_MESSAGE = re.compile(r"<Message>\s*([^<]+?)\s*(?:</Message>|\n)")
_STATUS = re.compile(r"Server returned non-2xx status code: (\d{3} [A-Za-z -]+)")
_SYSTEM = re.compile(r'\n\s*message: "([^"]+)"')
_URL = re.compile(r"Error performing [A-Z]+ (\S+) in ")
_METADATA_SERVICES = ("//169.254.", "//[fd00:ec2::", "//metadata.google.internal")
NO_PROXY_THERE = "0.0.0.0:9"
"""The proxy for the hosts to which a web server must not redirect. The address
is that of this machine, and the port is that for discarded bytes: nothing there answers."""


class ChangedError(OSError):
    """An object is not the one that was expected: another writer has replaced or made it."""


@contextlib.contextmanager
def telling(path: str) -> Iterator[None]:
    """Makes an `OSError` with one sentence of any exception that obstore raises in the body.

    Raises:
      FileNotFoundError: the object is missing.
      ChangedError: a condition on the object is not met.
      OSError: any other error, such as a missing bucket.
    """
    try:
        yield
    except (AlreadyExistsError, PreconditionError) as error:
        raise ChangedError(_said(error, path)) from error
    except FileNotFoundError as error:
        # A missing bucket is one, too, for obstore.
        if code_of(error) in _MISSING:
            raise FileNotFoundError(errno.ENOENT, _said(error, path), path) from error
        raise OSError(_said(error, path)) from error
    except (BaseError, ValueError) as error:  # ValueError: the name of an object or an option
        raise OSError(_said(error, path)) from error


def code_of(error: BaseException | None) -> str:
    """The server's word for an error, or the HTTP status; empty if it did not answer."""
    text = str(error)
    for pattern in (_CODE, _STATUS):
        if found := pattern.search(text):
            return found[1].strip()
    return ""


def _said(error: BaseException, path: str) -> str:
    whole = str(error)
    text, _, details = whole.partition("\n\nDebug source:")
    url = _URL.search(text)
    if url and any(place in url[1] for place in _METADATA_SERVICES):
        return (
            "no credentials: there are none in the environment, and this machine has no service "
            "that gives them"
        )
    root = "/".join(path.split("/")[:3])
    # obstore hides an address with a secret, such as a signature of Azure.
    server = url[1] if url and url[1] != "REDACTED" else f"the server of {root}"
    code = code_of(error)
    if code:
        found = _MESSAGE.search(text)
        message = f": {html.unescape(found[1])}".rstrip(".") if found else ""
        return f"the server says {code}{message}"
    cause = _SYSTEM.search(details)
    if NO_PROXY_THERE in details:
        return f"{server} redirects to another host, without --allow redirects"
    if "kind: Connect" in details and url:
        return f"could not connect to {server}: {cause[1] if cause else 'no such host?'}"
    if "TimedOut" in details:
        return f"no answer in time from {server}"
    if "kind: Body" in details:
        return f"the connection broke while the object was read from {server}"
    text = re.sub(r"^Generic \w+ error: ", "", text.strip().splitlines()[0])
    return f"{text}: {cause[1]}" if cause else text
