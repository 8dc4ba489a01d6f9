"""Makes obstore's clients: by Beam's options, else the environment, else the files of AWS."""

from __future__ import annotations

import configparser
import dataclasses
import functools
import os
import pathlib
import urllib.request
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from apache_beam.io.filesystems import FileSystems
from apache_beam.options.pipeline_options import AzureOptions, PipelineOptions, S3Options
from apache_beam.options.value_provider import RuntimeValueProvider
from obstore.store import AzureStore, GCSStore, HTTPStore, S3Store

from beam_bleu.transforms.wiring.objects import NO_PROXY_THERE, telling

RETRIES: dict[str, Any] = {
    "max_retries": 1000,  # only the time limits them
    "retry_timeout": timedelta(seconds=45),
    "backoff": {
        "init_backoff": timedelta(seconds=0.2),
        "max_backoff": timedelta(seconds=4),
        "base": 2,
    },
}
"""If no server answers, a call fails after 45 to 55 s: a restart may take half a minute."""

_TIMEOUTS = {
    "connect_timeout": "5s",
    "read_timeout": "15s",  # between two parts of an answer
    "timeout": "12h",  # of a whole answer: while its bytes are scored, it is not read
}

_TIMEOUTS_OF_WRITES = {"read_timeout": "45s"}  # until the answer, after a part of 8 MiB is sent

_ENVIRONMENT = ("AWS_", "AZURE_", "GOOGLE_", "STORAGE_EMULATOR_HOST", "HOME")
"""The beginnings of the names of environment variables on which a client depends."""


class WebOptions(PipelineOptions):
    """Beam's options that tell workers what the flag --allow redirects has allowed."""

    @classmethod
    def _add_argparse_args(cls, parser: Any) -> None:
        parser.add_argument(
            "--allow_web_redirects",
            action="store_true",
            help="Lets web servers redirect to other hosts, as --allow redirects does.",
        )


@dataclasses.dataclass(frozen=True)
class Place:
    """What a path of an object store names. Only azfs:// paths have an account."""

    scheme: str
    account: str
    bucket: str
    key: str

    @property
    def root(self) -> str:
        account = f"{self.account}/" if self.account else ""
        return f"{self.scheme}://{account}{self.bucket}/"


def place_of(path: str) -> Place:
    scheme, _, rest = path.partition("://")
    account = ""
    if scheme == "azfs":
        account, _, rest = rest.partition("/")
    bucket, _, key = rest.partition("/")
    if not bucket or (scheme == "azfs" and not account):
        raise OSError(f"{path} names no bucket, container or host")
    return Place(scheme, account, bucket, key)


def client(place: Place, *, writes: bool = False) -> Any:
    """The client for a place, which all of the same bucket share; `writes` if it sends much."""
    environment = sorted(item for item in os.environ.items() if item[0].startswith(_ENVIRONMENT))
    options = FileSystems._pipeline_options or RuntimeValueProvider.runtime_options
    with telling(place.root):
        return _client(
            dataclasses.replace(place, key=""), _flags(options), tuple(environment), writes
        )


@functools.lru_cache(maxsize=1)
def _flags(options: Any) -> tuple[tuple[str, Any], ...]:
    # Reading them takes milliseconds.
    if not isinstance(options, PipelineOptions):
        return ()
    views = (options.view_as(kind) for kind in (S3Options, AzureOptions, WebOptions))
    options_set = [view.get_all_options(drop_default=True, current_only=True) for view in views]
    return tuple(sorted((name, value) for flags in options_set for name, value in flags.items()))


@functools.cache
def _client(
    bucket: Place,
    given_flags: tuple[tuple[str, Any], ...],
    variables: tuple[tuple[str, str], ...],
    writes: bool,
) -> Any:
    flags, environment = dict(given_flags), dict(variables)
    # Only an endpoint that someone has named begins with http://.
    http: dict[str, Any] = {**_TIMEOUTS, "allow_http": True}
    if writes:
        http |= _TIMEOUTS_OF_WRITES
    arguments: dict[str, Any] = {"client_options": http, "retry_config": RETRIES}
    if bucket.scheme == "s3":
        config = _s3(flags, environment, http)
        if "access_key_id" in config and "session_token" not in config:
            # obstore would take a token from the environment, which belongs to another key.
            keys = {name: config.pop(name, "") for name in ("access_key_id", "secret_access_key")}
            arguments["credential_provider"] = lambda: {**keys, "token": None, "expires_at": None}
        return S3Store(bucket.bucket, config=config, **arguments)
    if bucket.scheme == "gs":
        if emulator := environment.get("STORAGE_EMULATOR_HOST"):  # as Google's own libraries
            base = emulator if "://" in emulator else f"http://{emulator}"
            # Any token: with `skip_signature`, obstore would still ask for credentials to write.
            arguments["config"] = {"base_url": base.rstrip("/"), "bearer_token": "emulator"}
        return GCSStore(bucket.bucket, **arguments)
    if bucket.scheme in ("az", "azfs"):
        return AzureStore(bucket.bucket, config=_azure(bucket, flags, environment), **arguments)
    server = f"{bucket.scheme}://{bucket.bucket}"
    if not flags.get("allow_web_redirects"):
        http.update(_only_host(server))
    return HTTPStore(server, **arguments)


def _only_host(server: str) -> dict[str, str]:
    """Settings of obstore for a client that reaches only the host of a server. obstore follows
    redirects, and another host could be the one that gives a worker its credentials. So all others
    get a proxy that does not exist, unless a proxy is needed to reach the server.
    """
    address = urlsplit(server)
    host = (address.hostname or "").encode("idna").decode()
    proxies = urllib.request.getproxies()
    is_proxied = address.scheme in proxies or "all" in proxies
    if is_proxied and not urllib.request.proxy_bypass(host):
        return {}
    return {"proxy_url": f"http://{NO_PROXY_THERE}", "proxy_excludes": host}


def _s3(flags: dict[str, Any], environment: dict[str, str], http: dict[str, Any]) -> dict[str, Any]:
    names = {
        "s3_access_key_id": "access_key_id",
        "s3_secret_access_key": "secret_access_key",
        "s3_session_token": "session_token",
        "s3_endpoint_url": "aws_endpoint_url_s3",
        "s3_region_name": "region",
    }
    config = {name: flags[flag] for flag, name in names.items() if flags.get(flag)}
    _verify(str(flags.get("s3_verify", environment.get("AWS_CA_BUNDLE", ""))), http)
    config = {**_of_profile(config, environment), **config}
    if flags.get("s3_disable_ssl"):
        told = (config.get("region"), *map(environment.get, _REGIONS_OF_AWS), "us-east-1")
        usual = f"https://s3.{next(filter(None, told))}.amazonaws.com"
        told = (config.get("aws_endpoint_url_s3"), *map(environment.get, _ENDPOINTS_OF_AWS), usual)
        endpoint = next(filter(None, told))
        config["aws_endpoint_url_s3"] = endpoint.replace("https://", "http://", 1)
    return config


def _verify(value: str, http: dict[str, Any]) -> None:
    """Applies --s3_verify: false, true, or the file with a certificate to trust."""
    if value.lower() == "false":
        http["allow_invalid_certificates"] = True
    elif value and value.lower() != "true":
        try:
            http["root_certificate"] = pathlib.Path(value).read_bytes()
        except OSError as error:  # raised anew: a FileNotFoundError could mean a missing object
            said = f"--s3_verify or AWS_CA_BUNDLE: {value} cannot be read: {error.strerror}"
            raise OSError(said) from error


# Environment variables, the one that counts first.
_ENDPOINTS_OF_AWS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
_REGIONS_OF_AWS = ("AWS_REGION", "AWS_DEFAULT_REGION")

_CREDENTIALS_OF_AWS = (
    "AWS_ACCESS_KEY_ID",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_SKIP_SIGNATURE",
)
"""Environment variables with which obstore finds credentials."""


def _of_profile(config: dict[str, Any], environment: dict[str, str]) -> dict[str, Any]:
    profile = environment.get("AWS_PROFILE") or environment.get("AWS_DEFAULT_PROFILE") or "default"
    home = pathlib.Path("~/.aws").expanduser()
    credentials = _section(
        environment.get("AWS_SHARED_CREDENTIALS_FILE") or home / "credentials", profile
    )
    section = profile if profile == "default" else f"profile {profile}"
    settings = _section(environment.get("AWS_CONFIG_FILE") or home / "config", section)
    of_profile: dict[str, Any] = {}
    if "region" in settings and not any(map(environment.get, _REGIONS_OF_AWS)):
        of_profile["region"] = settings["region"]
    if "endpoint_url" in settings and not any(map(environment.get, _ENDPOINTS_OF_AWS)):
        of_profile["aws_endpoint_url_s3"] = settings["endpoint_url"]
    if "access_key_id" in config or any(environment.get(name) for name in _CREDENTIALS_OF_AWS):
        return of_profile
    both = settings | credentials
    if "aws_access_key_id" in both and "aws_secret_access_key" in both:
        names = ("access_key_id", "secret_access_key", "session_token")
        return of_profile | {name: both[f"aws_{name}"] for name in names if f"aws_{name}" in both}
    if both.keys() & {"credential_process", "role_arn", "sso_account_id", "sso_session"}:
        raise OSError(
            f"the profile {profile} of AWS needs the AWS command line: "
            f'eval "$(aws configure export-credentials --profile {profile} --format env)"'
        )
    if environment.get("AWS_EC2_METADATA_DISABLED", "").lower() == "true":
        raise OSError("no credentials: there are none in the environment or in ~/.aws")
    return of_profile


def _section(file: str | pathlib.Path, name: str) -> dict[str, str]:
    parser = configparser.RawConfigParser()
    try:
        parser.read(file)
    except (configparser.Error, UnicodeDecodeError):
        # The text of the error would show a line of the file, which may have a key.
        raise OSError(f"{file} is not a file of the AWS command line") from None
    return dict(parser[name]) if parser.has_section(name) else {}


def _azure(place: Place, flags: dict[str, Any], environment: dict[str, str]) -> dict[str, Any]:
    config: dict[str, Any] = {}
    connection = flags.get("azure_connection_string")
    endpoint = flags.get("blob_service_endpoint")
    if not connection and not endpoint:
        connection = environment.get("AZURE_STORAGE_CONNECTION_STRING")
    if connection:
        config = _of_connection_string(connection)
    if endpoint:
        config["endpoint"] = endpoint.rstrip("/")
        config["account_name"] = endpoint.partition("://")[2].partition(".")[0]
    named = config.get("account_name")
    if place.account and connection and "endpoint" in config and place.account != named:
        raise OSError(f"the connection string is of the storage account {named}")
    if flags.get("azure_managed_identity_client_id"):
        config["client_id"] = flags["azure_managed_identity_client_id"]
    if place.account:
        config["account_name"] = place.account
    return config


def _of_connection_string(text: str) -> dict[str, Any]:
    parts = dict(part.partition("=")[::2] for part in text.split(";") if part)
    names = {
        "AccountName": "account_name",
        "AccountKey": "account_key",
        "BlobEndpoint": "endpoint",
        "SharedAccessSignature": "sas_key",
    }
    config: dict[str, Any] = {name: parts[part] for part, name in names.items() if part in parts}
    suffix = parts.get("EndpointSuffix", "core.windows.net")
    if suffix != "core.windows.net" and "account_name" in config:  # a cloud of its own
        config.setdefault("endpoint", f"https://{config['account_name']}.blob.{suffix}")
    if "endpoint" in config:
        config["endpoint"] = config["endpoint"].rstrip("/")
    return config
