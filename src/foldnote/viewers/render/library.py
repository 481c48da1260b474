"""Access to the installed copy of 3Dmol.js, and to the program that writes scripts of views.

The build copies 3Dmol.js from its npm package. The notebook server serves both, the lab extension preloads
3Dmol.js, and standalone pages embed both. Neither is ever loaded from other hosts.
"""

from __future__ import annotations

from importlib.resources import files

from foldnote.errors import ConfigurationError

_NAME = "3Dmol-min.js"
SCRIPT_WRITER = "view-script.js"
"""The program that writes a view as a PyMOL or ChimeraX script; outputs of cells do not contain it."""


def read_library() -> str:
    """Return 3Dmol.js with its licences and the script writer, escaped for a script element.

    Raises:
        ConfigurationError: 3Dmol.js is missing from the installation.
    """
    # "<\/" is equivalent inside strings and regular expressions, the only places where "</script" occurs.
    text = f"/*\n{read_licences()}*/\n{_read_static(_NAME)}\n;{_read_static(SCRIPT_WRITER)}"
    return text.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _read_static(name: str) -> str:
    try:
        return files("foldnote").joinpath("static", name).read_text("utf-8")
    except FileNotFoundError as exc:
        raise ConfigurationError(
            f"{name}, which views of structures need, is missing from this installation. "
            "Install the package from its wheel, or run 'npm run build:static' in the source folder."
        ) from exc


def read_licences() -> str:
    """Return the licences of 3Dmol.js and the libraries bundled in it.

    Raises:
        ConfigurationError: the licence file is missing from the installation.
    """
    return _read_static(f"{_NAME}.LICENSE.txt")


def library_bundle() -> dict[str, str]:
    """Return a MIME bundle that loads 3Dmol.js in front ends without our lab extension and server.

    Raises:
        ConfigurationError: 3Dmol.js is missing from the installation.
    """
    text = "3Dmol.js is loaded; run the cells with structures again."
    code = (
        f"if(!window.$3Dmol){{(function(exports,module,define,require){{{read_library()}\n}}).call(window)}}"
    )
    html = f"<p>{text}</p><script>{code}</script>"
    return {"text/html": html, "text/plain": text}


def load_script() -> None:
    """Load 3Dmol.js into the page; needed once per page, and only outside JupyterLab and Notebook.

    Raises:
        ConfigurationError: 3Dmol.js is missing from the installation.
    """
    from IPython.display import publish_display_data

    publish_display_data(library_bundle())  # type: ignore[no-untyped-call]
