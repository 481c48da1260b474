"""A real service in its own process, with its contents in a bucket."""

import io
import json
import zipfile
from pathlib import Path

import httpx
import obstore
from object_server import CREDENTIALS, object_server
from obstore.store import S3Store
from service_process import QUICK, ServiceProcess


class BucketService(ServiceProcess):
    """A service whose contents are in its own bucket, behind a gate that can fail."""

    def __init__(self, folder: Path, *arguments: str, **options: object) -> None:
        super().__init__(folder, "--no-rate-limit", *arguments)
        self.environment = dict(CREDENTIALS)
        self.code = QUICK.replace("grace_s=2.0", "grace_s=2.0, sweep_s=1.0")
        self.gate = object_server().make_gate()
        self.bucket = object_server().make_bucket()
        rows = {"url": f"s3://{self.bucket}/lab", "endpoint": self.gate.url, **options}
        config = folder / "home" / "config" / "config.toml"
        config.parent.mkdir(parents=True)
        config.write_text(
            "[objects]\n" + "".join(f"{key} = {json.dumps(row)}\n" for key, row in rows.items())
        )

    def contents(self, folder: str = "objects") -> list[str]:
        """Return the keys of the contents in the bucket."""
        listing = httpx.get(f"{object_server().url}/{self.bucket}").text
        found = [part.partition("</Key>")[0] for part in listing.split("<Key>")[1:]]
        return [each for each in found if each.startswith(f"lab/{folder}/")]

    def delete(self, key: str) -> None:
        """Delete an object without the service's knowledge."""
        names = {"access_key_id": "AWS_ACCESS_KEY_ID", "secret_access_key": "AWS_SECRET_ACCESS_KEY"}
        known = {name: CREDENTIALS[variable] for name, variable in names.items()}
        url, options = object_server().url, {"allow_http": True}
        store = S3Store(
            self.bucket, prefix="lab", endpoint=url, region="us-east-1", client_options=options, **known
        )
        obstore.delete(store, key)

    def drop_copies(self) -> None:
        for path in (self.folder / "data" / "copies").glob("??/*"):
            path.unlink(missing_ok=True)

    def assert_whole(self, name: str) -> None:
        """Assert that the job is complete, and that its result is that of one run of the probe."""
        assert self.wait(name)["status"] == "Complete"
        content = httpx.get(self.result(name).json(), follow_redirects=True).content
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            assert archive.read("file-0.txt") == b"output 0\n"

    def make_replica(self, *arguments: str) -> ServiceProcess:
        """Start another service on the same data folder, and so with the same bucket."""
        made = ServiceProcess(self.folder, "--no-rate-limit", *arguments)
        made.environment, made.code = self.environment, self.code
        return made
