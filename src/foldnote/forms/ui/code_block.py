"""Code with buttons that copy it or write it into a cell."""

from __future__ import annotations

from foldnote.forms.ui.stylesheet import read_style
from foldnote.text import escape_html

_COPY = (
    "var p=this.closest('.fn-code').querySelector('pre'),r=document.createRange(),s=getSelection();"
    "r.selectNodeContents(p);s.removeAllRanges();s.addRange(r);document.execCommand('copy');"
    "this.textContent='Copied'"
)
_INSERT = (
    "var c=this.closest('.fn-code').querySelector('pre').textContent,"
    "e=new CustomEvent('fn-insert-cell',{bubbles:true,cancelable:true,detail:{code:c}});"
    "this.textContent=this.dispatchEvent(e)?'No notebook here: copy it':'Inserted'"
)
"""Attribute that dispatches an event in JupyterLab and Notebook: the lab extension inserts the cell and
cancels the event."""
_PYTHON = "Python"


def write_code_block(code: str, language: str = _PYTHON) -> str:
    """Return the HTML of a block of code; empty for empty text. Python can be inserted as a cell below."""
    if not code:
        return ""
    actions = {"Insert as a cell below": _INSERT} if language == _PYTHON else {}
    buttons = "".join(
        f'<button type="button" onclick="{escape_html(script)}">{label}</button>'
        for label, script in (actions | {"Copy": _COPY}).items()
    )
    return (
        f"<style>{read_style('code')}</style>"
        f'<div class="fn-code"><div class="fn-code-bar">{buttons}</div>'
        f'<pre tabindex="0" aria-label="{language} code">{escape_html(code)}</pre></div>'
    )
