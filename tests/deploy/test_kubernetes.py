"""deploy/kubernetes: what its files say of each other and of the program."""

import os
import subprocess
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.deploy.proxies import ROOT, free_port
from tests.deploy.test_image import known
from tests.test_cli import PATIENCE, command, environment, serving

FOLDER = ROOT / "deploy" / "kubernetes"
NAMES = {"app.kubernetes.io/name": "bank-sandbox"}
ENDS_WITHIN = 10  # seconds, also where the database does not answer
VERSIONS = {
    "Deployment": "apps/v1",
    "Service": "v1",
    "PodDisruptionBudget": "policy/v1",
    "NetworkPolicy": "networking.k8s.io/v1",
}


def manifest(name: str) -> Any:
    return YAML(typ="safe").load((FOLDER / f"{name}.yaml").read_text())


def secret() -> dict[str, str]:
    lines = (FOLDER / "secret.example.env").read_text().split()
    return dict(line.split("=", 1) for line in lines)


@pytest.fixture
def pod() -> Any:
    return manifest("deployment")["spec"]["template"]["spec"]


@pytest.fixture
def bank(pod: Any) -> Any:
    (container,) = pod["containers"]
    return container


def test_each_resource_is_there_under_one_name_and_version() -> None:
    kinds = {}
    for file in manifest("kustomization")["resources"]:
        resource = manifest(file.removesuffix(".yaml"))
        kinds[resource["kind"]] = resource["apiVersion"]
        assert resource["metadata"] == {"name": "bank-sandbox"}
    assert kinds == VERSIONS
    files = {file.name for file in FOLDER.glob("*.yaml")} - {"kustomization.yaml"}
    assert files == set(manifest("kustomization")["resources"])


def test_all_that_selects_pods_selects_these(pod: Any) -> None:
    (label,) = manifest("kustomization")["labels"]
    assert label == {"pairs": NAMES, "includeSelectors": True}
    (spread,) = pod["topologySpreadConstraints"]
    assert spread["labelSelector"] == {"matchLabels": NAMES} and spread["topologyKey"] == "kubernetes.io/hostname"
    assert manifest("disruption")["spec"]["selector"] == {"matchLabels": NAMES}
    assert manifest("network")["spec"]["podSelector"] == {"matchLabels": NAMES}


def test_the_secret_names_variables_of_serve_and_is_no_file_of_the_project(bank: Any) -> None:
    (generator,) = manifest("kustomization")["secretGenerator"]
    assert set(secret()) - {"PGPASSWORD"} == {"SANDBOX_KEY", "SANDBOX_STATE"}
    assert set(secret()) - {"PGPASSWORD"} <= set(known("serve"))
    assert bank["envFrom"] == [{"secretRef": {"name": generator["name"]}}]
    assert generator["envs"] == ["secret.env"]
    assert "deploy/kubernetes/secret.env" in (ROOT / ".gitignore").read_text()


def test_every_variable_is_one_of_serve(bank: Any) -> None:
    assert {row["name"] for row in bank["env"]} <= set(known("serve"))


def arguments(bank: Any, **variables: str) -> list[str]:
    """What the container runs: a variable that is not there stays as it was written."""
    given = {f"$({name})": value for name, value in variables.items()}
    return [given.get(word, word) for word in bank["args"]]


def variables(bank: Any) -> dict[str, str]:
    return {row["name"]: row["value"] for row in bank["env"]}


@pytest.mark.parametrize("name, told", [("SANDBOX_STATE", "--state"), ("SANDBOX_KEY", "SANDBOX_KEY")])
def test_a_pod_whose_secret_is_empty_does_not_start(bank: Any, name: str, told: str) -> None:
    given = {"SANDBOX_KEY": "0123456789abcdef", "SANDBOX_STATE": "postgresql:///none?host=/none"} | {name: ""}
    words = arguments(bank, SANDBOX_STATE=given["SANDBOX_STATE"])
    env = environment(**variables(bank), SANDBOX_PORT="0", SANDBOX_KEY=given["SANDBOX_KEY"])
    done = subprocess.run(command(*words), env=env, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 2 and told in done.stderr


def test_the_secret_that_is_shipped_holds_none() -> None:
    assert secret()["SANDBOX_KEY"] == secret()["PGPASSWORD"] == ""
    assert secret()["SANDBOX_STATE"].startswith("postgresql://bank@")


def test_a_pod_listens_where_its_probes_and_its_service_look(bank: Any) -> None:
    """The Service has an address of each family that the cluster has; the bank listens on both."""
    assert manifest("service")["spec"]["ipFamilyPolicy"] == "PreferDualStack"
    port, given = str(free_port()), variables(bank)
    given = {"SANDBOX_HOST": given["SANDBOX_HOST"], "SANDBOX_KEY": "0123456789abcdef", "SANDBOX_PORT": port}
    program, *words = bank["startupProbe"]["exec"]["command"]
    assert program == "bank-sandbox"
    families = ["127.0.0.1", *(["::1"] if os.path.exists("/proc/net/if_inet6") else [])]
    with serving(greets="listening on http://127.0.0.1:", **given):
        for address in families:
            probe = [address if word == "127.0.0.1" else word for word in words]
            done = subprocess.run(command(*probe), env=environment(**given), capture_output=True, text=True)
            assert done.returncode == 0, done.stderr


def test_a_pod_that_began_stays_ready_while_its_database_is_away(bank: Any) -> None:
    """A probe of the database would take all pods out of the Service at once."""
    (port,) = bank["ports"]
    assert bank["readinessProbe"]["tcpSocket"] == bank["livenessProbe"]["tcpSocket"] == {"port": port["name"]}
    assert port["containerPort"] == known("serve")["SANDBOX_PORT"].default
    assert manifest("disruption")["spec"]["unhealthyPodEvictionPolicy"] == "AlwaysAllow"


def test_a_pod_waits_for_its_database_no_longer_than_for_its_start(bank: Any) -> None:
    probe = bank["startupProbe"]
    waits = int(variables(bank)["SANDBOX_WAIT_FOR_STATE"].removesuffix("s"))
    assert probe["periodSeconds"] * probe["failureThreshold"] > waits


def test_a_pod_has_the_time_that_its_end_takes(pod: Any, bank: Any) -> None:
    sleep = int(bank["lifecycle"]["preStop"]["exec"]["command"][1])
    assert pod["terminationGracePeriodSeconds"] >= sleep + ENDS_WITHIN


def test_one_more_is_ready_before_one_ends() -> None:
    spec = manifest("deployment")["spec"]
    assert spec["strategy"]["rollingUpdate"] == {"maxUnavailable": 0, "maxSurge": 1}
    assert manifest("disruption")["spec"]["minAvailable"] < spec["replicas"]


def test_pods_are_reached_at_one_port_and_reach_names_and_the_database() -> None:
    policy = manifest("network")["spec"]
    assert policy["policyTypes"] == ["Ingress", "Egress"]
    assert [rule["ports"] for rule in policy["ingress"]] == [[{"port": "http"}]]
    assert {port["port"] for rule in policy["egress"] for port in rule["ports"]} == {53, 5432}
    assert ":5432/" in secret()["SANDBOX_STATE"]
