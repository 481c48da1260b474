"""Build a release in ``dist/``: sdist and wheel, built twice with identical bytes, an SBOM and hashes.

The front end must be built (``make setup``). The SBOM (CycloneDX 1.6) lists every bundled package with version and
licence, and the requirements, which are not part of foldnote. Nothing is signed or uploaded.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from email.parser import Parser
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
DIST = ROOT / "dist"


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        first, second = Path(folder, "first"), Path(folder, "second")
        for place in (first, second):
            print(f"Building ({place.name})", flush=True)
            subprocess.run(
                (sys.executable, "-m", "build", "--outdir", place, ROOT), check=True, capture_output=True
            )
        if differing := compare(first, second):
            print(f"Two builds differ: {', '.join(differing)}.", file=sys.stderr)
            return 1
        shutil.rmtree(DIST, ignore_errors=True)
        shutil.copytree(first, DIST)
    (wheel,) = DIST.glob("*.whl")
    (DIST / f"{wheel.stem}.cdx.json").write_text(json.dumps(list_contents(wheel), indent=2) + "\n", "utf-8")
    sums = "".join(f"{hash_of(path)}  {path.name}\n" for path in sorted(DIST.iterdir()))
    (DIST / "SHA256SUMS").write_text(sums, "utf-8")
    print(sums, end="")
    return 0


def compare(first: Path, second: Path) -> list[str]:
    """Return the names of files that differ between the two folders."""
    names = {path.name for folder in (first, second) for path in folder.iterdir()}
    return sorted(name for name in names if hash_of(first / name) != hash_of(second / name))


def hash_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def list_contents(wheel: Path) -> dict[str, Any]:
    """Return the bill of materials of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (about,) = [name for name in names if name.endswith(".dist-info/METADATA")]
        (licences,) = [name for name in names if name.endswith("static/third-party-licenses.json")]
        metadata = Parser().parsestr(archive.read(about).decode())
        bundled = json.loads(archive.read(licences))["packages"]
    own = {
        "type": "application",
        "bom-ref": "foldnote",
        "name": metadata["Name"],
        "version": metadata["Version"],
        "purl": f"pkg:pypi/{metadata['Name']}@{metadata['Version']}",
        "hashes": [{"alg": "SHA-256", "content": hash_of(wheel)}],
        "licenses": [{"expression": metadata["License-Expression"]}],
    }
    inside = [
        {
            "type": "library",
            "bom-ref": f"bundled:{row['name']}@{row['versionInfo']}",
            "name": row["name"],
            "version": row["versionInfo"],
            "scope": "required",
            **({} if " " in row["name"] else {"purl": f"pkg:npm/{row['name']}@{row['versionInfo']}"}),
            "licenses": [name_licence(row)],
        }
        for row in bundled
    ]
    beside = [
        {"type": "library", "bom-ref": f"requirement:{text}", "name": text, "scope": "excluded"}
        for text in metadata.get_all("Requires-Dist", [])
        if "extra ==" not in text
    ]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": own},
        "components": [*inside, *beside],
    }


def name_licence(row: dict[str, Any]) -> dict[str, Any]:
    """Return the licence of a bundled package: its SPDX identifier or, without one, its name and text."""
    text = {"contentType": "text/plain", "content": row["extractedText"]}
    key = "name" if " " in row["licenseId"] else "id"
    return {"license": {key: row["licenseId"], "text": text}}


if __name__ == "__main__":
    sys.exit(main())
