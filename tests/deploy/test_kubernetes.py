"""deploy/kubernetes and the shared profile of deploy/compose.yaml: what they say of each other and of the program."""

from typing import Any

import pytest
from ruamel.yaml import YAML

from sandbox.serve.peers import LINGERS_MAX
from sandbox.world.placement import DRAINS_WITHIN
from tests.deploy.proxies import ROOT
from tests.deploy.test_image import known

FOLDER = ROOT / "deploy" / "kubernetes"
COMPOSE: dict[str, Any] = YAML(typ="safe").load((ROOT / "deploy/compose.yaml").read_text())["services"]
BANKS = ("bank-1", "bank-2")


def manifest(name: str) -> Any:
    return YAML(typ="safe").load((FOLDER / f"{name}.yaml").read_text())


@pytest.fixture
def pod() -> Any:
    return manifest("deployment")["spec"]["template"]["spec"]


def test_each_resource_is_there_under_one_name_and_version() -> None:
    kinds = {}
    for file in manifest("kustomization")["resources"]:
        found = manifest(file.removesuffix(".yaml"))
        kinds[found["kind"]] = found["apiVersion"]
        assert found["metadata"] == {"name": "bank-sandbox"}
    assert kinds == {"Deployment": "apps/v1", "Service": "v1", "PodDisruptionBudget": "policy/v1"}


def test_the_secret_names_options_of_serve_and_is_no_file_of_the_project(pod: Any) -> None:
    (secret,) = manifest("kustomization")["secretGenerator"]
    lines = (FOLDER / "secret.example.env").read_text().split()
    assert {line.partition("=")[0] for line in lines} == {"SANDBOX_KEY", "SANDBOX_PEERS_KEY", "SANDBOX_STATE"}
    assert {line.partition("=")[0] for line in lines} <= set(known("serve"))
    assert pod["containers"][0]["envFrom"] == [{"secretRef": {"name": secret["name"]}}]
    assert secret["envs"] == ["secret.env"] and "deploy/kubernetes/secret.env" in (ROOT / ".gitignore").read_text()


def test_a_pod_has_the_time_that_draining_takes(pod: Any) -> None:
    sleep = int(pod["containers"][0]["lifecycle"]["preStop"]["exec"]["command"][1])
    assert pod["terminationGracePeriodSeconds"] >= sleep + DRAINS_WITHIN + LINGERS_MAX


def test_one_more_is_ready_before_one_ends(pod: Any) -> None:
    spec = manifest("deployment")["spec"]
    assert spec["strategy"]["rollingUpdate"] == {"maxUnavailable": 0, "maxSurge": 1}
    assert pod["containers"][0]["readinessProbe"]["exec"]["command"] == ["bank-sandbox", "health"]
    assert manifest("disruption")["spec"]["minAvailable"] < spec["replicas"]


def test_the_shared_profile_has_two_banks_on_one_database_behind_nginx() -> None:
    shared = {name for name, service in COMPOSE.items() if service.get("profiles") == ["shared"]}
    assert shared == {"postgres", "balancer", *BANKS}
    conf = (ROOT / "deploy/nginx-shared.conf").read_text()
    assert conf.count("max_fails=0;") == len(BANKS)  # else two restarts in a row leave nginx without a server
    for name in BANKS:
        told = COMPOSE[name]["environment"]
        assert set(told) <= set(known("serve")) and told["SANDBOX_ADVERTISE"] == f"http://{name}:8080"
        assert "@postgres:5432/" in told["SANDBOX_STATE"] and f"server {name}:8080 " in conf
        assert "nginx-shared.conf:" in COMPOSE["balancer"]["volumes"][0]
