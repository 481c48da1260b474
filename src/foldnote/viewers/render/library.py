"""The one file of JavaScript that draws: 3Dmol.js, as it was installed with the package.

The build copies it from its npm package; it is served by the notebook server, preloaded by the lab extension,
and written into standalone pages. It is never fetched from another machine.
"""

from __future__ import annotations

from importlib.resources import files

from foldnote.errors import ConfigurationError

_NAME = "3Dmol-min.js"


def read_library() -> str:
    """The text of 3Dmol.js, safe inside a script element, after the licences that go with every copy.

    Raises:
        ConfigurationError: the package was built without it.
    """
    # Inside its strings and patterns "<\/" means the same; nothing else in it could end the script element.
    text = f"/*\n{read_licences()}*/\n{_read(_NAME)}"
    return text.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _read(name: str) -> str:
    try:
        return files("foldnote").joinpath("static", name).read_text("utf-8")
    except FileNotFoundError as exc:
        raise ConfigurationError(
            f"This installation lacks {name}, a part of what draws structures. "
            "Install the package from its wheel, or run 'npm run build:static' in the source folder."
        ) from exc


def read_licences() -> str:
    """The licences of 3Dmol.js and of what is bundled in it.

    Raises:
        ConfigurationError: the package was built without them.
    """
    return _read(f"{_NAME}.LICENSE.txt")


def library_bundle() -> dict[str, str]:
    """A bundle that puts 3Dmol.js on the page of a front end that has neither our extension nor our server.

    Raises:
        ConfigurationError: the package was built without it.
    """
    text = "3Dmol.js is loaded; run the cells with structures again."
    code = (
        f"if(!window.$3Dmol){{(function(exports,module,define,require){{{read_library()}\n}}).call(window)}}"
    )
    html = f"<p>{text}</p><script>{code}</script>"
    return {"text/html": html, "text/plain": text}


def load_script() -> None:
    """Put 3Dmol.js on the page of the running cell; needed once a page, outside JupyterLab and Notebook only.

    Raises:
        ConfigurationError: the package was built without it.
    """
    from IPython.display import publish_display_data

    publish_display_data(library_bundle())  # type: ignore[no-untyped-call]
