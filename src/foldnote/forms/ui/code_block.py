"""Code with a button that copies it."""

from __future__ import annotations

from foldnote.forms.ui.stylesheet import read_style
from foldnote.text import escape_html

_COPY = (
    "var p=this.parentNode.querySelector('pre'),r=document.createRange(),s=getSelection();"
    "r.selectNodeContents(p);s.removeAllRanges();s.addRange(r);document.execCommand('copy');"
    "this.textContent='Copied'"
)


def write_code_block(code: str, language: str = "Python") -> str:
    """HTML of a block of code; empty for an empty text."""
    if not code:
        return ""
    return (
        f"<style>{read_style('code')}</style>"
        f'<div class="fn-code"><button type="button" onclick="{escape_html(_COPY)}">Copy</button>'
        f'<pre tabindex="0" aria-label="{language} code">{escape_html(code)}</pre></div>'
    )
