"""An intact archive with damaged files: the others are usable, and the command says what is missing."""

import io
import zipfile

from scripted_service import answers, serves

from foldnote.cli import main
from foldnote.cli.exit_codes import Exit


def test_the_command_unpacks_what_is_sound_and_ends_as_after_a_damaged_download(
    scripted, tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv("FOLDNOTE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("FOLDNOTE_BASE_URL", scripted.url)
    monkeypatch.setenv("FOLDNOTE_API_KEY", "k")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("sound.txt", "a")
        archive.writestr("spoilt.txt", "abcdef")
    scripted.on("GET", "/jobs", answers({"JobName": "a", "Type": "anarci", "JobStatus": "Complete"}))
    scripted.on("POST", "/result", answers({"url": f"{scripted.url}/f"}))
    scripted.on("GET", "/f", serves(buffer.getvalue().replace(b"abcdef", b"abcdeg")))

    assert main(["results", "a", "--unpack", "--to", str(tmp_path / "out")]) == Exit.BROKEN
    assert (tmp_path / "out/sound.txt").read_text() == "a"
    assert "spoilt.txt" in capsys.readouterr().err
