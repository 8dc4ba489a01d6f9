"""The first process of a simulated host: it makes the host's root folder, and then waits.

    unshare --mount --uts --pid ... python first_process.py DESCRIPTION

When it ends, Linux kills all processes of the host, and removes its mounts and its network. This
file imports no other file of the project, because hosts do not have them.
"""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys

WORK = "/srv/work"
HOME = "/srv/home"
PYTHON = "/srv/beam-bleu"


@dataclasses.dataclass(frozen=True)
class Description:
    """What a host has.

    Attributes:
      work: the folder of this machine that is its /srv/work.
      addresses: the lines of its /etc/hosts.
      programs: files and folders of this machine that it has at the same paths, read-only.
      python: the program that makes its virtual environment, with the libraries `site_packages`.
    """

    name: str
    root: str
    work: str
    addresses: list[str]
    programs: list[str]
    python: str
    site_packages: str


def main() -> None:
    """Makes the root folder, writes this process's number to work/pid, and waits."""
    described = Description(**json.loads(sys.argv[1]))
    number = os.readlink("/proc/self")  # as the machine sees it
    socket.sethostname(described.name)
    _make_root(described)
    os.chroot(described.root)
    os.chdir(HOME)
    pathlib.Path(WORK, ".pid").write_text(number)
    os.replace(f"{WORK}/.pid", f"{WORK}/pid")
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # so that orphans leave no zombies
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit())
    while True:
        signal.pause()


def _make_root(described: Description) -> None:
    root = pathlib.Path(described.root)
    _mount("-t", "tmpfs", "-o", "mode=755", "root", root)
    for name in ("bin", "lib", "lib32", "lib64", "libx32", "sbin"):
        machines = pathlib.Path("/", name)
        if machines.is_symlink():
            (root / name).symlink_to(os.readlink(machines))
        elif machines.exists():
            _show(machines, root)
    for path in ("/usr", "/etc", *described.programs):
        _show(pathlib.Path(path), root)

    _mount("--rbind", "/dev", _new(root / "dev"))
    _mount("-t", "tmpfs", "shm", root / "dev" / "shm")
    _mount("-t", "proc", "proc", _new(root / "proc"))
    _mount("-t", "sysfs", "sys", _new(root / "sys"))
    _mount("-t", "tmpfs", "-o", "mode=1777,size=2g", "tmp", _new(root / "tmp"))
    (root / "var").mkdir()
    (root / "var" / "tmp").symlink_to("/tmp")
    for name, lines in (("hosts", described.addresses), ("hostname", [described.name])):
        file = _new(root / "run") / name
        file.write_text("".join(f"{line}\n" for line in lines))
        _mount("--bind", file, root / "etc" / name)
    _mount("--bind", described.work, _new(root / WORK[1:]))
    _new(root / HOME[1:])

    # This machine's libraries; what the host writes or deletes is in an overlay above them.
    venv = [described.python, "-m", "venv", "--without-pip", PYTHON]
    subprocess.run(["chroot", described.root, *venv], check=True)
    (site_packages,) = (root / PYTHON[1:] / "lib").glob("python*/site-packages")
    layers = f"lowerdir={described.site_packages},upperdir={_new(root / '.changed')}"
    layers += f",workdir={_new(root / '.overlay')}"
    _mount("-t", "overlay", "-o", layers, "libraries", site_packages)


def _show(path: pathlib.Path, root: pathlib.Path) -> None:
    """Gives the host a file or a folder of this machine, read-only."""
    there = root / str(path)[1:]
    if path.is_dir():
        there.mkdir(parents=True, exist_ok=True)
    else:
        there.parent.mkdir(parents=True, exist_ok=True)
        there.touch()
    _mount("-o", "bind,ro", path, there)


def _new(folder: pathlib.Path) -> pathlib.Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _mount(*words: str | pathlib.Path) -> None:
    subprocess.run(["mount", *words], check=True)


if __name__ == "__main__":
    main()
