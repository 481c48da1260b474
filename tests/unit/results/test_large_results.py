"""Results of thousands of files take time in proportion to their number."""

import time

import pytest
from result_archives import DATA, FV, write_zip

from foldnote.results import open_result


def write_designs(path, count):
    rows = "".join(f"design_{i},0.{i}\n" for i in range(count))
    members = {"scores.csv": f"description,iptm\n{rows}"} | {f"design_{i}.pdb": FV for i in range(count)}
    return write_zip(path, members)


def write_poses(path, count):
    record = (DATA / "imatinib.sdf").read_text().split("$$$$")[0].rstrip()
    pose = f"{record}\n\n> <minimizedAffinity>\n-7.5\n\n$$$$\n"
    return write_zip(
        path, {"receptor.pdb": (DATA / "abl_pocket.pdb").read_text(), "docked.sdf": pose * count}
    )


def measure(path, attribute, least):
    result = open_result(path)
    before = time.process_time()
    assert len(getattr(result, attribute)) >= least
    return time.process_time() - before


@pytest.mark.parametrize(
    ("write", "attribute", "sizes"),
    [(write_designs, "models", (500, 2000)), (write_poses, "contact_table", (50, 200))],
)
def test_four_times_as_much_takes_at_most_eight_times_as_long(tmp_path, write, attribute, sizes):
    paths = [write(tmp_path / f"{size}.zip", size) for size in sizes]
    # The best of three, since a busy machine slows single runs down.
    taken = [
        min(measure(path, attribute, size) for _ in range(3)) for path, size in zip(paths, sizes, strict=True)
    ]

    assert taken[1] < 8 * max(taken[0], 0.05)


def test_a_pose_is_measured_in_milliseconds(tmp_path):
    result = open_result(write_poses(tmp_path / "poses.zip", 200))
    assert len(result.poses) == 200

    before = time.process_time()
    assert len(result.contact_table) > 200 * 10

    assert (time.process_time() - before) / 200 < 0.01
