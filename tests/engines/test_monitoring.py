"""The files of deploy/monitoring: the tools of Prometheus read them."""

from __future__ import annotations

import json
import re
import subprocess

import pytest
from command_line import EXAMPLE, EXAMPLES, PROJECT, called
from engine_parts import need
from prometheus_client.parser import text_string_to_metric_families

from deploy.local import parts

FOLDER = PROJECT / "deploy" / "monitoring"
DASHBOARD = json.loads((FOLDER / "dashboard.json").read_bytes())
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
    assert "6 rules found" in promtool("check", "rules", FOLDER / "rules.yml")
    assert "SUCCESS" in promtool("test", "rules", FOLDER / "rules_test.yml")
    rules = PROJECT / "deploy" / "kubernetes" / "alerts.yml"
    assert "2 rules found" in promtool("check", "rules", rules)
    assert promtool("check", "metrics", text=metrics) == ""


def test_alerts_and_dashboard_ask_only_for_metrics_and_labels_that_exist(metrics):
    families = [*text_string_to_metric_families(metrics.decode())]
    labels = {name for family in families for sample in family.samples for name in sample.labels}
    known = {family.name for family in families}
    rules = (FOLDER / "rules.yml").read_text()
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
