"""Wheels that pip installs from a test's own folder."""

import base64
import hashlib
import zipfile


def write_wheel(folder, name, version="1.0", data=b""):
    """Write a pure wheel (PEP 427) with one module, and a data file if there are any data."""
    folder.mkdir(exist_ok=True)
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{name}.py", "ANSWER = 42\n")
        if data:
            wheel.writestr(f"{name}.bin", data)
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        wheel.writestr(f"{info}/RECORD", f"{name}.bin,sha256={digest},{len(data)}\n" if data else "")
