"""Tests the image without a container engine: builds it, and runs commands in it as in a container.

For machines that cannot get Python's image from a registry, Debian's own Python takes its place.
This needs Linux, root, and Debian's packages of the release `DEBIAN`.
"""

from __future__ import annotations

import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Sequence

PROJECT = pathlib.Path(__file__).parents[2]

DOCKERFILE = PROJECT / "deploy" / "image" / "Dockerfile"

DEBIAN = "bookworm"
"""The release of Debian that has the image's version of Python, 3.11."""

_PACKAGES = "ca-certificates,python-is-python3,python3,python3-venv"

_OF_DOWNLOADS = re.compile(r"PIP_\w+|\w+_PROXY|\w+_proxy|SSL_CERT_FILE")
"""Variables of this machine that say where pip gets packages."""


def instructions(text: str) -> Iterator[tuple[str, str]]:
    """(name, arguments) of each instruction of a Dockerfile."""
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    for whole in "\n".join(lines).replace("\\\n", " ").splitlines():
        name, _, arguments = whole.strip().partition(" ")
        yield name, " ".join(arguments.split())


class Stage:
    """A stage of a Dockerfile, in a folder.

    Attributes:
      root: the folder.
      variables: the variables that ENV sets.
      user: the user that USER sets.
    """

    def __init__(self, root: pathlib.Path) -> None:
        self.root = root
        self.variables = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/root"}
        self.arguments: dict[str, str] = {}
        self.user = "0:0"
        self.folder = "/"

    def do(self, name: str, arguments: str, others: dict[str, Stage]) -> None:
        """Carries out an instruction."""
        if name == "RUN":
            self.run(["sh", "-c", arguments])
            return
        if name == "COPY":
            self._copy(shlex.split(arguments), others)
            return
        known = {**self.arguments, **self.variables}
        filled = re.sub(r"\$\{(\w+)\}", lambda word: known[word[1]], arguments)
        if name in ("ARG", "ENV"):
            into = self.arguments if name == "ARG" else self.variables
            for word in shlex.split(filled):
                variable, _, value = word.partition("=")
                into[variable] = value
        elif name == "USER":
            self.user = filled
        elif name == "WORKDIR":
            self.folder = filled
            self._inside(filled).mkdir(parents=True, exist_ok=True)
        elif name not in ("ENTRYPOINT", "CMD", "LABEL"):
            raise NotImplementedError(f"{name} {arguments}")

    def run(self, command: Sequence[str]) -> None:
        """Runs a command in the stage, as root and with the network."""
        downloads = {
            name: value for name, value in os.environ.items() if _OF_DOWNLOADS.fullmatch(name)
        }
        variables = {**downloads, **self.arguments, **self.variables}
        inside = f"cd {self.folder} && exec {shlex.join(command)}"
        # Not by `env=`, because then PATH would also decide where `unshare` is found.
        words = ["env", "-i", *(f"{name}={value}" for name, value in variables.items())]
        mounted = 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"'
        unshare = ["unshare", "--mount", "--pid", "--fork", "sh", "-c", mounted]
        subprocess.run([*unshare, self.root, *words, "/bin/sh", "-c", inside], check=True)

    def _inside(self, path: str) -> pathlib.Path:
        return self.root / os.path.join(self.folder, path).lstrip("/")

    def _copy(self, words: list[str], others: dict[str, Stage]) -> None:
        options = dict(word[2:].split("=") for word in words if word.startswith("--"))
        *sources, target = (word for word in words if not word.startswith("--"))
        source = others[options["from"]].root if "from" in options else PROJECT
        for name in sources:
            path = source / name.lstrip("/")
            into = self._inside(target)
            if target.endswith("/"):
                into.mkdir(parents=True, exist_ok=True)
                if not path.is_dir():
                    into = into / path.name
            ignored = None if "from" in options else shutil.ignore_patterns("__pycache__")
            if path.is_dir():
                shutil.copytree(path, into, symlinks=True, ignore=ignored, dirs_exist_ok=True)
            else:
                shutil.copy2(path, into)
                into.chmod(int(options.get("chmod", "644"), 8))


def build(folder: pathlib.Path) -> None:
    """Builds the image: the last stage is in FOLDER/image, its settings in FOLDER/image.json."""
    base = folder / "base"
    folder.mkdir(parents=True, exist_ok=True)
    options = ["--quiet", "--variant=minbase", f"--include={_PACKAGES}"]
    subprocess.run(["mmdebstrap", *options, DEBIAN, base], check=True)
    for name in ("/etc/resolv.conf", "/etc/ssl/certs/ca-certificates.crt"):
        shutil.copy(name, base / name[1:])
    stages: dict[str, Stage] = {}
    stage = None
    for name, arguments in instructions(DOCKERFILE.read_text()):
        if name == "FROM":
            _, _, alias = arguments.partition(" AS ")
            root = folder / (alias or "image")
            subprocess.run(["cp", "--archive", base, root], check=True)
            stage = stages[alias or "image"] = Stage(root)
        elif stage is not None:
            stage.do(name, arguments, stages)
    settings = {"user": stages["image"].user, "variables": stages["image"].variables}
    (folder / "image.json").write_text(json.dumps(settings))


_CONTAINER = """
mount --make-rprivate /
mount --bind "$1" "$1"
mount -t proc proc "$1/proc"
mount -t tmpfs -o mode=1777 tmpfs "$1/tmp"
mount -t tmpfs -o mode=755 tmpfs "$1/dev"
for device in null zero random urandom; do
  touch "$1/dev/$device"
  mount --bind "/dev/$device" "$1/dev/$device"
done
for path in $3; do mount --bind "$path" "$1$path"; done
mount -o remount,bind,ro "$1"
root=$1 user=$2
shift 3
exec chroot --userspec="$user" --groups= "$root" "$@"
"""


def container(folder: pathlib.Path, command: Sequence[str], binds: Sequence[str] = ()) -> list[str]:
    """The command that runs another one in the built image: read-only, and as the image's user."""
    settings = json.loads((folder / "image.json").read_text())
    image = folder / "image"
    for path in binds:
        (image / path.lstrip("/")).mkdir(parents=True, exist_ok=True)
    variables = [f"{name}={value}" for name, value in settings["variables"].items()]
    # As in the manifests of Kubernetes, nothing that it starts can gain more rights.
    inside = ["setpriv", "--no-new-privs"]
    if settings["user"].startswith("0"):
        raise ValueError("the image runs as root")
    return [
        *("unshare", "--mount", "--pid", "--fork", "--kill-child"),
        *("sh", "-euc", _CONTAINER, "sh", str(image), settings["user"], " ".join(binds)),
        *("env", "-i", *variables, *inside),
        *command,
    ]
