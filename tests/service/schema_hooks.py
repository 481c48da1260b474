"""Hooks of schemathesis: some of what it makes up is given a tool that runs, so that stateful runs have jobs."""

import schemathesis
from service_process import SETTINGS


@schemathesis.hook
def map_body(context, body):
    """Submissions whose settings are empty become good ones of the probe."""
    label = context.operation.label
    if not isinstance(body, dict) or not isinstance(body.get("jobName"), str | type(None)):
        return body
    if not isinstance(body.get("type", ""), str):  # wrong on purpose
        return body
    if label == "POST /submit-job" and body.get("settings") == {} and isinstance(body.get("jobName"), str):
        return body | {"type": "anarci", "settings": SETTINGS}
    return body
