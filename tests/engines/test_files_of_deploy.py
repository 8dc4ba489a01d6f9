"""Manifests for Kubernetes and files for Prometheus, as schemas and tools of theirs read them."""

from __future__ import annotations

import functools
import json
import re
import subprocess
import zipfile

import jsonschema
import pytest
import yaml
from command_line import EXAMPLE, EXAMPLES, PROJECT, called
from engine_parts import need
from prometheus_client.parser import text_string_to_metric_families

from deploy.local import parts

FOLDER = PROJECT / "deploy" / "kubernetes"

APPLIED = ["base", "overlays/aws", "overlays/gcp", "overlays/azure", "spark"]


CLOUDS = {
    "aws": "eks.amazonaws.com/role-arn",
    "gcp": "iam.gke.io/gcp-service-account",
    "azure": "azure.workload.identity/client-id",
}
"""The annotation with the identity of accounts in a cloud."""

SPARK = """
import json, sys
from kubeflow_spark_api.models.spark_v1beta2_spark_application import SparkV1beta2SparkApplication
read = SparkV1beta2SparkApplication.from_dict(json.load(sys.stdin))
print(json.dumps(read.to_dict()))
"""
"""The operator's own types leave out what they do not know."""


def written(folder):
    """What kubectl writes for a folder."""
    command = [parts.kubectl(), "kustomize", FOLDER / folder]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""  # nothing is deprecated
    return done.stdout


def refused_by_kubernetes(given, folder):
    """What the schemas of Kubernetes say."""
    file = folder / "objects.yaml"
    file.write_text(yaml.safe_dump_all(given))
    command = [parts.checkers(), "-m", "kubernetes_validate", "--strict", "--quiet", file]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr


@functools.cache
def flink_schema():
    """The schema of a FlinkDeployment, in which unknown fields are errors."""
    with zipfile.ZipFile(parts.flink_operator()) as jar:
        text = jar.read("META-INF/fabric8/flinkdeployments.flink.apache.org-v1.yml")
    (version,) = yaml.safe_load(text)["spec"]["versions"]

    def closed(schema):
        if isinstance(schema, list):
            return [closed(each) for each in schema]
        if not isinstance(schema, dict):
            return schema
        made = {name: closed(each) for name, each in schema.items()}
        if made.get("type") == "object" and isinstance(made.get("properties"), dict):
            made.setdefault("additionalProperties", False)
        if made.pop("x-kubernetes-int-or-string", False):
            made.pop("type", None)
        return made

    schema = closed(version["schema"]["openAPIV3Schema"])
    schema["properties"] |= {name: {} for name in ("apiVersion", "kind", "metadata")}
    return schema


def read_by_spark(given):
    command = [parts.checkers(), "-c", SPARK]
    done = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.engines
@pytest.mark.parametrize("folder", APPLIED)
def test_the_schemas_accept_every_object(folder, tmp_path):
    need("kubernetes")
    given = [*yaml.safe_load_all(written(folder))]
    operators = [each for each in given if each["kind"] in ("FlinkDeployment", "SparkApplication")]
    assert len(operators) == 1
    for each in operators:
        if each["kind"] == "FlinkDeployment":
            jsonschema.validate(each, flink_schema(), jsonschema.Draft202012Validator)
        else:
            assert read_by_spark(each) == each
    assert refused_by_kubernetes([x for x in given if x not in operators], tmp_path) == ""
    assert {each["metadata"].get("namespace", "beam-bleu") for each in given} == {"beam-bleu"}
    if cloud := CLOUDS.get(folder.rpartition("/")[2]):
        accounts = [each for each in given if each["kind"] == "ServiceAccount"]
        assert [[*each["metadata"]["annotations"]] for each in accounts] == [[cloud]] * 2


# The files of deploy/monitoring


MONITORING = PROJECT / "deploy" / "monitoring"
DASHBOARD = json.loads((MONITORING / "dashboard.json").read_bytes())
QUERIES = [target["expr"] for panel in DASHBOARD["panels"] for target in panel.get("targets", ())]
OF_SCRAPES = {"instance", "corpus"}
"""Labels that Prometheus adds, and the one that the README asks for."""


def promtool(*words, text=None):
    """What promtool says. It must find nothing wrong."""
    command = [parts.prometheus() / "promtool", *words]
    done = subprocess.run(command, input=text, capture_output=True, check=False)
    said = (done.stdout + done.stderr).decode()
    assert done.returncode == 0, said
    return said


@pytest.fixture
def metrics(tmp_path):
    """The metrics.prom of a run that has all metrics of the dashboard and the alerts."""
    (tmp_path / "pairs.txt").write_text("en-de\n" * 72)
    labels = [f"--labels=pair={tmp_path / 'pairs.txt'}", "--language_column=pair"]
    domains = [f"--labels=domain={EXAMPLES / 'domains.txt'}", "--slice_by=domain", "--metrics=bleu"]
    flags = ["--on_bad_record=reject", "--metrics_label=corpus=news", "--metrics_slices=5"]
    run = called(*EXAMPLE, *labels, *domains, *flags, "--metrics=ter", "--output", tmp_path / "out")
    assert run.code == 0, run.err
    return (tmp_path / "out" / "metrics.prom").read_bytes()


def test_promtool_accepts_alerts_their_tests_and_metrics(metrics):
    need("prometheus")
    assert "6 rules found" in promtool("check", "rules", MONITORING / "rules.yml")
    assert "SUCCESS" in promtool("test", "rules", MONITORING / "rules_test.yml")
    rules = PROJECT / "deploy" / "kubernetes" / "alerts.yml"
    assert "2 rules found" in promtool("check", "rules", rules)
    assert promtool("check", "metrics", text=metrics) == ""


def test_alerts_and_dashboard_ask_only_for_metrics_and_labels_that_exist(metrics):
    families = [*text_string_to_metric_families(metrics.decode())]
    labels = {name for family in families for sample in family.samples for name in sample.labels}
    known = {family.name for family in families}
    rules = (MONITORING / "rules.yml").read_text()
    variables = [variable["query"] for variable in DASHBOARD["templating"]["list"]]
    texts = [*QUERIES, rules, *(query["query"] for query in variables if isinstance(query, dict))]
    for text in texts:
        assert {*re.findall(r"\bbeam_bleu_\w+", text)} <= known
    used = {
        name
        for text in texts
        for braces in re.findall(r"(?:ignoring ?|on ?|by ?)\((.*?)\)|\{([^{}]*)\}", text)
        for part in "".join(braces).split(",")
        if (name := part.partition("=")[0].strip()) and name.isidentifier()
    }
    used |= {*re.findall(r"label_values\(\w+, (\w+)\)", "\n".join(texts))}
    used |= {*re.findall(r"\$labels\.(\w+)", rules)}
    legends = json.dumps([panel.get("targets") for panel in DASHBOARD["panels"]])
    used |= {*re.findall(r"\{\{(\w+)\}\}", legends)}
    assert {"system", "metric", "baseline", "slice", "signature"} <= used
    assert used <= labels | OF_SCRAPES
