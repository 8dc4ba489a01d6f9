"""Checks of the manifests for Kubernetes that need neither a cluster nor kubectl."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from command_line import PROJECT

from beam_bleu.pipeline.command_line.options import parse
from beam_bleu.transforms.version import VERSION

FOLDER = PROJECT / "deploy" / "kubernetes"

KUSTOMIZATIONS = [*FOLDER.glob("**/kustomization.yaml")]

IN_CLUSTER = {
    "FlinkDeployment": ["podTemplate", "jobManager.podTemplate", "taskManager.podTemplate"],
    "CronJob": ["jobTemplate.spec.template"],
}
"""Where the descriptions of pods are in the specification of a kind."""


def documents(pattern: str) -> list[dict[str, Any]]:
    """The objects in files, without what a kustomization adds."""
    paths = [path for path in FOLDER.glob(pattern) if path.name != "kustomization.yaml"]
    return [each for path in paths for each in yaml.safe_load_all(path.read_text())]


def of_kind(kind: str) -> list[dict[str, Any]]:
    return [each for each in documents("*/*.yaml") if each["kind"] == kind]


def inside(value: Any, path: str) -> Any:
    for name in path.split("."):
        value = value.get(name, {})
    return value


def pods() -> Iterator[dict[str, Any]]:
    """The specification of each kind of pod."""
    for kind, paths in IN_CLUSTER.items():
        for each in of_kind(kind):
            for path in paths:
                if pod := inside(each["spec"], path).get("spec"):
                    yield pod
    for each in of_kind("SparkApplication"):
        for role in ("driver", "executor"):
            pod = each["spec"][role]
            itself = {"name": role, "securityContext": pod["securityContext"]}
            others = pod.get("initContainers", [])
            yield {"containers": [itself], "initContainers": others, "mounts": pod["volumeMounts"]}


def containers() -> list[dict[str, Any]]:
    return [
        container
        for pod in pods()
        for container in [*pod.get("initContainers", []), *pod.get("containers", [])]
    ]


def settings(folder: str) -> dict[str, str]:
    """The variables of nightly.sh in a kustomization."""
    kustomization = yaml.safe_load((FOLDER / folder / "kustomization.yaml").read_text())
    (generator,) = kustomization["configMapGenerator"]
    return dict(literal.split("=", 1) for literal in generator["literals"])


def pool() -> dict[str, Any]:
    (found, of_spark) = (each for each in containers() if each["name"] == "python-workers")
    assert found["command"] == of_spark["command"]
    return found


@pytest.mark.parametrize("folder", ["base", "spark"])
def test_the_command_takes_the_flags_of_the_nightly_job(folder):
    flags = settings(folder)["FLAGS"].split()
    texts = ["--candidates=s=/texts/s", "--references=/texts/r", "--output=/scores/day"]
    arguments = parse([*texts, "--partition=day", "--progress=off", *flags])
    assert arguments.job.output == "/scores/day"
    port = pool()["command"][-1]
    assert f"--environment_config localhost:{port}" in settings(folder)["FLAGS"]


def test_the_job_server_and_flink_are_where_the_flags_say():
    flags = settings("base")["FLAGS"]
    (server,) = (each for each in containers() if each["name"] == "job-server")
    (flink,) = of_kind("FlinkDeployment")
    port = re.search(r"--job_endpoint localhost:(\d+)", flags)[1]
    assert f"--job-port={port}" in server["args"]
    rest = f"{flink['metadata']['name']}-rest:8081"
    assert f"--flink_master http://{rest}" in flags
    assert f"--flink-master={rest}" in server["args"]
    slots = int(flink["spec"]["flinkConfiguration"]["taskmanager.numberOfTaskSlots"])
    workers = flink["spec"]["taskManager"]["replicas"]
    assert f"--parallelism {slots * workers}" in flags
    assert pool()["resources"]["requests"]["cpu"] == str(slots)


def test_spark_takes_jobs_where_the_flags_say():
    (spark,) = of_kind("SparkApplication")
    (service,) = of_kind("Service")
    ports = {port["name"]: port["port"] for port in service["spec"]["ports"]}
    name = service["metadata"]["name"]
    assert f"--job_endpoint {name}:{ports['jobs']} " in settings("spark")["FLAGS"]
    for argument in (
        f"--job-host={name}",
        f"--job-port={ports['jobs']}",
        f"--artifact-port={ports['artifacts']}",
    ):
        assert argument in spark["spec"]["arguments"]


def test_images_have_the_versions_of_this_project():
    images = {
        image["name"]: image
        for path in KUSTOMIZATIONS
        for image in yaml.safe_load(path.read_text()).get("images", [])
        if "newTag" in image
    }
    assert images["beam-bleu"]["newTag"] == VERSION
    requirements = (PROJECT / "deploy" / "image" / "requirements.txt").read_text()
    beam = re.search(r"^apache-beam==(\S+)", requirements, re.M)[1]
    server = images["beam-flink-job-server"]
    assert server["newTag"] == beam
    (flink,) = of_kind("FlinkDeployment")
    version = re.fullmatch(r"flink:(\d+\.\d+)\.\d+-java17", flink["spec"]["image"])[1]
    assert flink["spec"]["flinkVersion"] == f"v{version.replace('.', '_')}"
    assert server["newName"] == f"apache/beam_flink{version}_job_server"


def test_what_cannot_be_mended_by_another_attempt_is_not_tried_again():
    (night,) = of_kind("CronJob")
    ignored, fails = night["spec"]["jobTemplate"]["spec"]["podFailurePolicy"]["rules"]
    assert ignored["action"] == "Ignore"
    assert fails["onExitCodes"] == {
        "containerName": "launcher",
        "operator": "In",
        "values": [2, 3, 4],  # docs/scheduling.md
    }


def test_no_container_has_more_rights_than_it_needs():
    assert len(containers()) == 7
    for container in containers():
        given = dict(container["securityContext"])
        for name in ("runAsUser", "runAsGroup"):
            given.pop(name, None)
        assert given == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }, container["name"]


def test_pods_run_as_a_user_and_without_a_token():
    contexts = [
        each["podSecurityContext"]
        for each in (
            of_kind("SparkApplication")[0]["spec"][role] for role in ("driver", "executor")
        )
    ]
    contexts += [pod["securityContext"] for pod in pods() if "securityContext" in pod]
    assert len(contexts) == 4
    for context in contexts:
        assert context["runAsNonRoot"] is True
        assert context["runAsUser"] > 0
        assert context["seccompProfile"] == {"type": "RuntimeDefault"}
    with_token = [
        each["metadata"]["name"]
        for each in of_kind("ServiceAccount")
        if each.get("automountServiceAccountToken", True)
    ]
    assert with_token == ["beam-bleu-spark"]  # its driver starts executors
