"""Files of a release: release_files.py check|sbom FOLDER, notes VERSION, or third-party.

`check` compares what dev/release has built, `sbom` writes a software bill of materials for each
jar, `notes` prints the changes of a version, and `third-party` writes THIRD_PARTY.md.
"""

from __future__ import annotations

import hashlib
import json
import re
import runpy
import sys
import tarfile
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET
from zipfile import ZipFile

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
POM = "{http://maven.apache.org/POM/4.0.0}"
FACTS = (
    *("name", "description", "url", "licenses/license/name", "developers/developer/name"),
    *("scm/url", "scm/connection", "scm/developerConnection"),
)
"""What Maven Central wants to see in a POM."""
LICENSE = "META-INF/LICENSE"


def check(release: Path) -> list[str]:
    """Return what is wrong with the files: each jar is the same everywhere, and is complete."""
    problems: list[str] = []
    pypi = release / "pypi"
    [wheel], [sdist] = pypi.glob("eventtide-*.whl"), pypi.glob("eventtide-*.tar.gz")
    [client], [_] = pypi.glob("eventtide_client-*.whl"), pypi.glob("eventtide_client-*.tar.gz")
    with ZipFile(client) as whl:
        problems += [f"{client.name} has {n}" for n in whl.namelist() if n.endswith(".jar")]
    with ZipFile(wheel) as whl, tarfile.open(sdist) as src:
        packed = {Path(n).name: whl.read(n) for n in whl.namelist() if n.endswith(".jar")}
        for member in src.getmembers():
            name = Path(member.name).name
            if name.endswith(".jar"):
                file = src.extractfile(member)
                if file is None or file.read() != packed.get(name):
                    problems.append(f"{name} differs between sdist and wheel")
    published = {path.parent.parent.name: path.parent for path in release.rglob("maven/**/*.pom")}
    if len(published) != len(packed):
        problems.append(f"Maven has {sorted(published)}, the wheel {sorted(packed)}")
    for artifact, folder in published.items():
        name = f"{artifact}-{folder.name}"
        if (folder / f"{name}.jar").read_bytes() != packed.get(f"{name}.jar"):
            problems.append(f"{name}.jar differs between Maven and the wheel")
        problems += [
            f"{name}-{kind}.jar is missing or empty"
            for kind, suffix in (("sources", ".scala"), ("javadoc", ".html"))
            if not _holds(folder / f"{name}-{kind}.jar", f"io/eventtide/kernel/.*{suffix}")
        ]
        pom = ET.parse(folder / f"{name}.pom").getroot()  # noqa: S314 - the build has written it
        problems += [f"{name}.pom has no {fact}" for fact in FACTS if not _text(pom, fact)]
        problems += [
            f"{jar.name} has no {LICENSE}"
            for jar in folder.glob("*.jar")
            if not _holds(jar, LICENSE)
        ]
    return problems


def _holds(jar: Path, pattern: str) -> bool:
    if not jar.is_file():
        return False
    with ZipFile(jar) as file:
        return any(re.fullmatch(pattern, name) for name in file.namelist())


def sbom(pom: Path) -> dict[str, Any]:
    """Return the bill of materials of a jar (CycloneDX): itself, and what Spark must bring."""
    project = ET.parse(pom).getroot()  # noqa: S314 - the build has written it
    version, artifact = _text(project, "version"), _text(project, "artifactId")
    jar = _component(_text(project, "groupId"), artifact, version)
    digest = hashlib.sha256(pom.with_suffix(".jar").read_bytes()).hexdigest()
    jar |= {
        "hashes": [{"alg": "SHA-256", "content": digest}],
        "licenses": [{"license": {"id": "Apache-2.0"}}],
    }
    needed = [
        _component(*(_text(d, k) for k in ("groupId", "artifactId", "version")))
        | {"scope": "excluded", "licenses": [{"license": {"id": "Apache-2.0"}}]}
        for d in project.iter(f"{POM}dependency")
    ]
    refs = [one["bom-ref"] for one in needed]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": jar},
        "components": needed,
        "dependencies": [{"ref": jar["bom-ref"], "dependsOn": refs}, *({"ref": r} for r in refs)],
    }


def _component(group: str, name: str, version: str) -> dict[str, Any]:
    ref = f"pkg:maven/{group}/{name}@{version}?type=jar"
    fields = {"group": group, "name": name, "version": version, "purl": ref}
    return {"type": "library", "bom-ref": ref, **fields}


def _text(element: ET.Element, path: str) -> str:
    return element.findtext("/".join(POM + tag for tag in path.split("/"))) or ""


def third_party() -> str:
    """Return the text of THIRD_PARTY.md, out of pyproject.toml and installed packages."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = [(line, "always") for line in project["dependencies"]]
    for extra, lines in sorted(project["optional-dependencies"].items()):
        needed += [(line, f"`eventtide[{extra}]`") for line in lines if extra != "all"]
    client = tomllib.loads((ROOT / "client" / "pyproject.toml").read_text(encoding="utf-8"))
    needed += [(line, "`eventtide-client`") for line in client["project"]["dependencies"]]
    table = [
        f"| {name} | `{bounds}` | {when} | {licence(name)} |"
        for line, when in needed
        for name, bounds in re.findall(r"^([\w-]+)(.*)$", line)
    ]
    return TEXT.format(rows="\n".join(table))


def licence(package: str) -> str:
    """Return the licence that an installed package states."""
    if package in OF_SPARK:
        return OF_SPARK[package]
    try:
        stated = metadata(package)
    except PackageNotFoundError:
        sys.exit(f"{package} is not installed: run dev/setup first.")
    found = str(stated["License-Expression"] or stated["License"] or "")
    if not found or "\n" in found:  # some packages state the text of their licence
        kinds = (kind.split(" :: ") for kind in stated.get_all("Classifier") or ())
        found = next((kind[-1] for kind in kinds if kind[0] == "License"), "see the package")
    return NAMES.get(found, found)


NAMES = {"BSD License": "BSD-3-Clause"}
OF_SPARK = {"pyspark-client": "Apache-2.0"}
"""Packages that cannot be installed beside the others."""


def notes(version: str) -> str:
    """Return the part of the changelog about a version, with links to the files of its tag."""
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    parts = re.split(r"^## ", changelog, flags=re.MULTILINE)
    [part] = [part for part in parts if part.startswith(f"{version} - ")]
    source = tomllib.loads((ROOT / "project" / "addresses.toml").read_text("utf-8"))["source"]
    made = runpy.run_path(str(ROOT / "project" / "hatch_readme.py"))
    text: str = made["long_description"](part.partition("\n")[2], source, f"v{version}")
    return text.strip() + "\n"


TEXT = """\
# Third-party software

`python project/release_files.py third-party` writes this page out of `pyproject.toml`.

The wheel, the sdist and the jars hold no third-party code: all of it is Eventtide's, under the
[Apache License 2.0](LICENSE).

## Needed by the jars

Spark brings both, so the POM marks them as provided and nothing is fetched for them.

| module | licence |
|---|---|
| `org.apache.spark:spark-sql_2.13`, of the minor in the name of the jar | Apache-2.0 |
| `org.scala-lang:scala-library`, 2.13 | Apache-2.0 |

## Needed by the package

| package | versions | when | licence |
|---|---|---|---|
{rows}

PySpark itself needs `py4j` (BSD-3-Clause). For each release there is a software bill of materials
(CycloneDX) with all versions, which `dev/release` writes.
"""


def main() -> None:
    """Run the part that is named."""
    part, *folder = sys.argv[1:]
    if part == "third-party":
        (ROOT / "THIRD_PARTY.md").write_text(third_party(), encoding="utf-8")
        return
    if part == "notes":
        sys.stdout.write(notes(*folder))
        return
    release = Path(*folder)
    if part == "check":
        sys.exit("\n".join(check(release)) or None)
    for pom in release.rglob("maven/**/*.pom"):
        target = release / "sbom" / f"{pom.stem}.cdx.json"
        target.write_text(json.dumps(sbom(pom), indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
