"""The recipes in packaging/ agree with the project: requirements, entry points, options. They are not built here."""

import argparse
import re
import tomllib
from pathlib import Path

import pytest
import yaml

from foldnote.cli.commands import COMMANDS
from foldnote.service.serve import add_arguments

ROOT = Path(__file__).parent.parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
RECIPE = re.sub(r"\$\{\{ (\w+) \}\}", r"<\1>", (ROOT / "packaging/conda/recipe.yaml").read_text())
OTHER_NAMES = {"msgpack": "msgpack-python", "py3dmol": "py3dmol", "prometheus-client": "prometheus_client"}


def split(requirement):
    name, bounds = re.match(r"([\w.-]+) *([^;]*)", requirement).groups()
    return OTHER_NAMES.get(name.lower(), name.lower()), bounds.strip()


def test_the_conda_recipe_has_the_requirements_of_the_project():
    recipe = yaml.safe_load(RECIPE)
    wanted = {split(each) for each in PROJECT["project"]["dependencies"] if ";" not in each}
    assert {split(each) for each in recipe["requirements"]["run"]} == wanted | {("python", ">=<python_min>")}
    assert PROJECT["project"]["requires-python"] == f">={recipe['context']['python_min']}"
    bundled = PROJECT["tool"]["hatch"]["build"]["hooks"]["jupyter-builder"]["ensured-targets"]
    notices = {path for path in bundled if re.search(r"LICENSE\.txt$|third-party-licenses\.json$", path)}
    assert set(recipe["about"]["license_file"]) == {"LICENSE", *notices}
    built_with = {split(each) for each in PROJECT["build-system"]["requires"]}
    assert {split(each) for each in recipe["requirements"]["host"]} >= built_with
    (script,) = PROJECT["project"]["scripts"].items()
    assert recipe["build"]["python"]["entry_points"] == [" = ".join(script)]


def test_the_service_s_image_starts_it_with_options_that_it_has():
    text = (ROOT / "packaging/service/Containerfile").read_text()
    command = re.search(r"^ENTRYPOINT \[(.+)\]$", text, re.M)[1].replace('"', "").split(", ")
    assert command[:2] == ["foldnote", "serve"]
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    options = parser.parse_args(command[2:])
    assert (options.host, options.port) == ("0.0.0.0", 8800)


def test_the_unit_starts_the_service_with_options_that_exist():
    unit = (ROOT / "packaging/systemd/foldnote.service").read_text()
    command = re.search("^ExecStart=(.*)$", unit, re.M)[1].split()
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    assert command[:2] == ["/opt/foldnote/bin/foldnote", "serve"]
    assert parser.parse_args(command[2:]).data_dir == Path("/var/lib/foldnote/service")


def test_the_unit_leaves_jobs_a_folder_for_temporary_files():
    unit = (ROOT / "packaging/systemd/foldnote.service").read_text()
    writable = re.search("^ReadWritePaths=(.*)$", unit, re.M)[1].split()
    assert {"/var/lib/foldnote", "/tmp", "/var/tmp"} <= set(writable)
    assert not re.search("^(PrivateTmp|PrivateDevices|ProtectClock)=", unit, re.M)


@pytest.mark.parametrize("name", ["README.md", "conda/recipe.yaml"])
def test_the_recipe_that_conda_forge_has_not_built_says_so(name):
    text = " ".join((ROOT / "packaging" / name).read_text().split())
    assert re.search(r"never built with conda-forge's packages", text, re.I)


@pytest.mark.parametrize("name", ["service/Containerfile", "jupyterhub/Containerfile"])
def test_an_image_that_no_container_engine_has_run_says_so(name):
    assert "packaging/README.md" in (ROOT / "packaging" / name).read_text()
    (row,) = [
        line for line in (ROOT / "packaging/README.md").read_text().splitlines() if f"| `{name}` |" in line
    ]
    assert "on a stand-in for its base image" in row
    assert "never run by" in row


def test_the_commands_beside_the_recipes_exist():
    said = (ROOT / "packaging/README.md").read_text()
    assert set(re.findall(r"\bfoldnote ([a-z]+)", said)) <= {command.name for command in COMMANDS}
