"""The files around the code: workflows, hooks, templates, licences, audits, and their facts."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib import util
from typing import TYPE_CHECKING, Any

import pytest
import tomli
import yaml
from eventtide._version import SUPPORTED_SPARK
from packaging.requirements import Requirement

from tests.pages import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import ModuleType

GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
SCRIPT = re.compile(r"(?<![\w./$-])((?:dev|\.ci)/[\w-]+)")
PROJECT = tomli.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def loaded(path: Path) -> dict[Any, Any]:
    """Return a YAML file; its key `on` is read as true."""
    document = yaml.safe_load(path.read_text("utf-8"))
    assert isinstance(document, dict)
    return document


def module(name: str) -> ModuleType:
    """Return a script of project/."""
    spec = util.spec_from_file_location(name, ROOT / "project" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    made = util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def steps(workflow: dict[Any, Any]) -> Iterator[dict[str, Any]]:
    """Return the steps of all jobs."""
    for job in workflow["jobs"].values():
        yield from job["steps"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_calls_scripts_that_exist(path: Path) -> None:
    """It does no more itself, can do no more than it needs, and each action has a version."""
    workflow = loaded(path)
    assert workflow["permissions"] == {"contents": "read"}
    commands = [step["run"] for step in steps(workflow) if "run" in step]
    called = {script for command in commands for script in SCRIPT.findall(command)}
    assert called
    for script in called:
        assert os.access(ROOT / script, os.X_OK), script
    actions = [step["uses"] for step in steps(workflow) if "uses" in step]
    assert all(re.fullmatch(r"[\w./-]+@(release/)?v\d+", action) for action in actions)


def test_each_list_of_spark_versions_has_all_of_them() -> None:
    """The build has the releases; the package and the nightly run name their minors."""
    build = (ROOT / "project" / "SparkVersions.scala").read_text("utf-8")
    releases = re.findall(r'SparkVersion\("([\d.]+)"', build)
    minors = [release.rpartition(".")[0] for release in releases]
    assert [*SUPPORTED_SPARK] == minors
    nightly = (GITHUB / "workflows" / "nightly.yml").read_text("utf-8")
    assert {*re.findall(r"--spark (\S+)", nightly)} == {*releases[:-1]}
    major, minor = map(int, minors[-1].split("."))
    bounds = f">={minors[0]},<{major}.{minor + 1}"
    for project, package in ((".", "pyspark"), ("client", "pyspark-client")):
        pyproject = tomli.loads((ROOT / project / "pyproject.toml").read_text("utf-8"))
        assert f"{package}{bounds}" in pyproject["project"]["dependencies"]


def test_the_changelog_begins_with_the_version_of_the_build() -> None:
    """Otherwise main would build files with the name of a release."""
    first = re.search(r"^## (\S+) - ", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert first is not None
    assert first[1] == PROJECT["version"]


def test_the_release_has_no_password_for_pypi() -> None:
    """It is published by its identity, with attestations, and last of all."""
    jobs = loaded(GITHUB / "workflows" / "release.yml")["jobs"]
    pypi = jobs["pypi"]
    order = [jobs[job].get("needs") for job in ("build", "maven", "pypi", "notes")]
    assert order == ["tests", "build", "maven", "pypi"]
    assert pypi["permissions"] == {"id-token": "write"}
    [publish] = [step for step in pypi["steps"] if "pypi-publish" in step.get("uses", "")]
    assert publish["with"]["attestations"] is True
    assert "password" not in publish["with"]
    assert any("attest-build-provenance" in step.get("uses", "") for step in jobs["build"]["steps"])


@pytest.mark.parametrize(
    "path",
    [ROOT / ".pre-commit-config.yaml", *sorted(GITHUB.rglob("*.yml"))],
    ids=lambda path: path.name,
)
def test_yaml_can_be_read(path: Path) -> None:
    """With a mapping at its top."""
    assert loaded(path)


def test_hooks_call_scripts_that_exist() -> None:
    """None is fetched from elsewhere."""
    for repository in loaded(ROOT / ".pre-commit-config.yaml")["repos"]:
        assert repository["repo"] == "local"
        for hook in repository["hooks"]:
            assert os.access(ROOT / hook["entry"].partition(" ")[0], os.X_OK)


def test_the_citation_is_of_this_version() -> None:
    """Its facts are those of the package."""
    citation = loaded(ROOT / "CITATION.cff")
    assert citation["version"] == PROJECT["version"]
    assert citation["license"] == PROJECT["license"]
    assert [author["name"] for author in citation["authors"]] == [PROJECT["authors"][0]["name"]]
    assert PROJECT["description"].lower() in citation["title"].lower()


def test_third_party_lists_what_the_package_needs() -> None:
    """Each requirement with its range; dev/release has the versions."""
    page = (ROOT / "THIRD_PARTY.md").read_text("utf-8")
    lists = [PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()]
    for line in (line for lines in lists for line in lines):
        wanted = Requirement(line)
        if wanted.name != PROJECT["name"]:
            assert f"| {wanted.name} | `{line.removeprefix(wanted.name)}` |" in page


def test_third_party_says_how_it_is_written() -> None:
    """As the script writes it, but for licences, which other versions may state otherwise."""
    written = module("release_files").third_party()
    page = (ROOT / "THIRD_PARTY.md").read_text("utf-8")
    licences = re.compile(r"\| [^|\n]+ \|$", re.MULTILINE)
    assert licences.sub("", written) == licences.sub("", page)


def package(name: str, **more: object) -> dict[str, object]:
    """Return an entry of a report of pip-audit."""
    return {"name": name, "version": "1.0", **more}


@pytest.mark.parametrize(
    ("packages", "code", "last"),
    [
        ([], 0, "not checked: the database of vulnerabilities was not reached."),
        (
            [package("eventtide", skip_reason="unknown"), package("a", skip_reason="unknown")],
            0,
            "not checked: the database of vulnerabilities was not reached.",
        ),
        (
            [package("a", vulns=[]), package("b", skip_reason="unknown")],
            0,
            "0 vulnerabilities in 1 packages; not checked: b.",
        ),
        (
            [package("a", vulns=[{"id": "V-1", "fix_versions": ["1.1"]}])],
            1,
            "1 vulnerabilities in 1 packages.",
        ),
    ],
)
def test_an_audit_counts_only_what_it_checked(
    packages: list[dict[str, object]], code: int, last: str
) -> None:
    """A package that the database does not answer for is not a safe one."""
    lines, found = module("audit_report").summary(packages)
    assert (lines[-1], int(found)) == (last, code)
    assert (lines[0] == "a 1.0: V-1, fixed in 1.1") == (code == 1)


def test_an_audit_without_a_report_is_no_audit(tmp_path: Path) -> None:
    """pip-audit writes none where it ends early."""
    script = ROOT / "project" / "audit_report.py"
    command = [sys.executable, str(script), str(tmp_path / "none.json")]
    for more, code in (([], 0), (["--require"], 1)):
        told = subprocess.run([*command, *more], capture_output=True, text=True, check=False)  # noqa: S603
        assert (told.returncode, told.stdout.partition(":")[0]) == (code, "not checked")


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Return a repository with the scripts alone, in which nothing can be built."""
    for folder in ("dev", "project"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("target"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / ".gitignore").write_text(".build/\n", encoding="utf-8")
    author = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    for command in (("init", "-q"), ("add", "."), (*author, "commit", "-qm", "all")):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)  # noqa: S603, S607
    return tmp_path


def release(part: str, clone: Path, addresses: str) -> str:
    """Return what dev/release says when it refuses to begin."""
    path = clone / ".build" / "addresses.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(addresses, encoding="utf-8")
    told = subprocess.run(  # noqa: S603 - our own arguments
        ["bash", "dev/release", part],  # noqa: S607
        cwd=clone,
        env={**os.environ, "EVENTTIDE_ADDRESSES": str(path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 1
    return told.stderr


@pytest.mark.parametrize("part", ["build", "maven", "pypi"])
def test_nothing_is_published_without_addresses(clone: Path, part: str) -> None:
    """The empty ones are named, before anything is built."""
    told = release(part, clone, 'home = "https://a.b"\ndocs = ""\nsecurity = "" # mail\n')
    assert "fill in docs, security in project/addresses.toml" in told


@pytest.mark.parametrize("part", ["maven", "pypi"])
def test_only_what_a_build_has_completed_is_uploaded(clone: Path, part: str) -> None:
    """Not files of a build that has failed, or of another commit."""
    for folder in ("maven", "pypi"):
        (clone / ".build" / "release" / folder).mkdir(parents=True)
        (clone / ".build" / "release" / folder / "file").write_text("", encoding="utf-8")
    for built in ("", "0" * 40):
        (clone / ".build" / "release" / "built").write_text(built, encoding="utf-8")
        told = release(part, clone, 'home = "https://a.b"\n')
        assert "There is nothing of this commit to upload" in told
