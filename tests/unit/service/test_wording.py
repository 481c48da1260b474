"""Errors name the field and what would be right, without Python's terms."""

import pytest

from foldnote.service.domain.requests import (
    BatchSubmission,
    JobSubmission,
    ModelDeployment,
    ResultRequest,
    RouterRequest,
    ScreeningSubmission,
)
from foldnote.service.faults import RefusalError
from foldnote.service.http.bodies import read_model

JOB = {"jobName": "j", "type": "anarci", "settings": {}}
BATCH = {"batchName": "b", "type": "anarci", "settings": [{}]}
TOOL = {"type": "mine", "schema": {}, "command": ["run"]}
SCREENING = {"batchName": "b", "receptor": "r", "ligands": ["l"]}


@pytest.mark.parametrize(
    ("model", "value", "sentence"),
    [
        (JobSubmission, {"type": "anarci", "settings": {}}, "jobName is required."),
        (JobSubmission, JOB | {"jobName": 5}, "jobName: this must be text."),
        (JobSubmission, JOB | {"settings": []}, "settings: this must be an object."),
        (JobSubmission, JOB | {"projectTag": "x" * 201}, "projectTag: this may have at most 200 characters."),
        (JobSubmission, JOB | {"maxRuntimeSeconds": "5"}, "maxRuntimeSeconds: this must be a number."),
        (JobSubmission, JOB | {"maxRuntimeSeconds": 0}, "maxRuntimeSeconds: this must be more than 0."),
        (
            JobSubmission,
            JOB | {"maxRuntimeSeconds": 1e9},
            "maxRuntimeSeconds: this must be at most 31536000.",
        ),
        (BatchSubmission, BATCH | {"settings": {}}, "settings: this must be an array."),
        (ResultRequest, {"jobName": "j", "pdbsOnly": "true"}, "pdbsOnly: this must be true or false."),
        (ResultRequest, {"jobName": "j", "jobEmail": "x"}, "jobEmail: this must be an email address."),
        (
            ResultRequest,
            {"jobName": "j", "jobEmail": f"{'a' * 65}@lab.org"},
            "jobEmail: the part before the @ has more than 64 characters.",
        ),
        (
            RouterRequest,
            {"prompt": "p", "inputs": [{"sequence": "M", "role": "x"}]},
            "inputs.0.role: this must be 'heavy', 'light', 'antigen', 'target' or 'enzyme'.",
        ),
        (
            ModelDeployment,
            TOOL | {"type": "My Tool"},
            "type: this must be 1 to 63 of a-z, 0-9 and '-', and begin with a letter or digit.",
        ),
        (
            ModelDeployment,
            TOOL | {"image": "a b"},
            "image: this must be the name of a container image, such as registry.example/tool:1.",
        ),
        (ModelDeployment, TOOL | {"cores": 0}, "cores: this must be at least 1."),
        (ModelDeployment, TOOL | {"cores": 1.5}, "cores: this must be a whole number."),
        (ModelDeployment, TOOL | {"command": []}, "command: this must have 1 or more items."),
        (ScreeningSubmission, SCREENING | {"ligands": []}, "ligands: this must have 1 or more items."),
    ],
)
def test_a_wrong_field_is_reported_in_plain_words(model, value, sentence):
    with pytest.raises(RefusalError) as caught:
        read_model(value, model)
    assert caught.value.sentence == sentence
    assert caught.value.status == 400


@pytest.mark.parametrize(
    ("value", "field", "row"),
    [
        (BATCH | {"settings": [{}, 5]}, "settings.1", 1),
        (BATCH | {"jobNames": ["a", 5]}, "jobNames.1", 1),
        (BATCH | {"settings": 5}, "settings", None),
    ],
)
def test_a_wrong_row_of_a_batch_has_its_number(value, field, row):
    with pytest.raises(RefusalError) as caught:
        read_model(value, BatchSubmission)
    assert (caught.value.field, caught.value.row) == (field, row)
