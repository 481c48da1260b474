"""The data of a table that the page gets."""

import base64
import gzip
import json
import re
from typing import Any


def unpack(html: str) -> dict[str, Any]:
    """Return the data of the first table."""
    packed = re.search(r'\("(H4sI[\w+/=]+)"\);</script>', html)[1]
    found: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(packed)))
    return found
