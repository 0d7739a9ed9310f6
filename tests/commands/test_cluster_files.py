"""The files that start clusters, as far as a machine without Slurm, Kubernetes or a cloud can."""

import json
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from harness.cli import cli

FILES = Path(__file__).parents[2] / "examples/cluster"
NAMES = sorted(path.name for path in FILES.iterdir())


def test_there_is_one_for_each_launcher() -> None:
    assert NAMES == ["autoscaler.yaml", "kuberay.yaml", "slurm.sh"]


@pytest.mark.parametrize("name", NAMES)
def test_their_command_is_one_of_ours(name: str) -> None:
    text = (FILES / name).read_text().replace("\\\n", " ")
    found = re.findall(r"harness submit ([^'\n]*)", text)
    assert found
    for arguments in found:
        command = cli.commands["submit"]
        context = click.Context(command)
        command.parse_args(context, shlex.split(arguments.replace('"$@"', "runs/")))
        assert context.params["resume"]
        assert any(key.endswith("cluster") for key in context.meta)


def test_the_script_is_one_that_bash_reads() -> None:
    subprocess.run(["bash", "-n", FILES / "slurm.sh"], check=True)


def test_every_cluster_has_a_token() -> None:
    assert "export RAY_AUTH_MODE=token" in (FILES / "slurm.sh").read_text()
    job = yaml.safe_load((FILES / "kuberay.yaml").read_text())
    assert job["spec"]["rayClusterSpec"]["authOptions"] == {"mode": "token"}
    for command in _starts(yaml.safe_load((FILES / "autoscaler.yaml").read_text())):
        assert command.startswith("RAY_AUTH_MODE=token ")


def _starts(config: dict[str, Any]) -> list[str]:
    commands = config["head_start_ray_commands"] + config["worker_start_ray_commands"]
    return [command for command in commands if "ray start" in command]


def test_the_autoscaler_takes_its_file() -> None:
    ray = pytest.importorskip("ray", reason="needs Ray: pip install -e '.[cluster]'")
    import jsonschema

    schema = Path(ray.__file__).parent / "autoscaler/ray-schema.json"
    config = yaml.safe_load((FILES / "autoscaler.yaml").read_text())
    jsonschema.validate(config, json.loads(schema.read_text()))
    assert config["head_node_type"] in config["available_node_types"]


def test_pods_ask_for_what_they_may_have() -> None:
    cluster = yaml.safe_load((FILES / "kuberay.yaml").read_text())["spec"]["rayClusterSpec"]
    for group in cluster["workerGroupSpecs"]:
        for container in group["template"]["spec"]["containers"]:
            asked = container["resources"]
            assert asked["requests"] == asked["limits"]
            assert asked["limits"]["nvidia.com/gpu"] == 1
    mounted = cluster["headGroupSpec"]["template"]["spec"]
    volumes = {volume["name"] for volume in mounted["volumes"]}
    assert {m["name"] for c in mounted["containers"] for m in c["volumeMounts"]} <= volumes
