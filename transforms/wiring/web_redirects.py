"""Keeps web servers from sending a reader to other hosts.

The address of an input is what the user trusts. A server that redirects it could make a worker ask
any host that the worker can reach, such as the service that gives credentials to its machine.

obstore follows redirects and cannot be told not to. So its client gets a proxy that is not there,
for all hosts but the server's own. This holds for each request. To say at once what is wrong,
`refuse_redirect` asks the server before.
"""

from __future__ import annotations

import contextlib
import urllib.request
from http.client import HTTPException
from typing import Any
from urllib.parse import urlsplit

from apache_beam.options.pipeline_options import PipelineOptions

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.wiring.object_store_errors import NO_PROXY_THERE

__all__ = ["WebOptions", "only_host", "refuse_redirect"]

_PATIENCE = 15.0


class WebOptions(PipelineOptions):
    """Beam's options that tell workers what the flag --allow redirects has allowed."""

    @classmethod
    def _add_argparse_args(cls, parser: Any) -> None:
        parser.add_argument(
            "--allow_web_redirects",
            action="store_true",
            help="Lets web servers redirect to other hosts, as --allow redirects does.",
        )


def only_host(server: str) -> dict[str, str]:
    """Settings of obstore for a client that reaches only the host of a server.

    Behind a proxy, there are none: without it the server would not be reached.

    Args:
      server: the server, such as https://example.com:8443.
    """
    address = urlsplit(server)
    host = (address.hostname or "").encode("idna").decode()
    proxies = urllib.request.getproxies()
    is_proxied = address.scheme in proxies or "all" in proxies
    if is_proxied and not urllib.request.proxy_bypass(host):
        return {}
    return {"proxy_url": f"http://{NO_PROXY_THERE}", "proxy_excludes": host}


def refuse_redirect(url: str) -> None:
    """Checks that a server does not redirect an address to another host.

    Raises:
      InputError: it does.
    """
    request = urllib.request.Request(url, method="HEAD")
    # What else is wrong, obstore says.
    with contextlib.suppress(OSError, ValueError, HTTPException):
        urllib.request.build_opener(_SameHost).open(request, timeout=_PATIENCE).close()


class _SameHost(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self, req: urllib.request.Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        to = urlsplit(newurl)
        if to.hostname != urlsplit(req.full_url).hostname:
            # Without a user, and without a query, which can be a signature.
            shown = f"{to.scheme}://{to.netloc.rpartition('@')[2]}{to.path}"
            raise InputError(
                f"{req.full_url} is redirected to another host: {shown}",
                "name that address, if it needs no more than this; or write --allow redirects "
                "if its server may send workers to any host",
            )
        return super().redirect_request(req, fp, code, msg, headers, newurl)
