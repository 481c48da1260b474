"""The MCP server ``foldnote mcp``: tools for assistants, using the client of one service.

An assistant finds and describes tools, validates, quotes, submits and watches jobs, and reads results as data
and pictures. Tools that change something at the service ask the user first, unless the user allowed it at the
start (``consent``). Answers contain no keys, signed links or folders of this computer, and texts written by
programs or files are marked as untrusted data (``answers``). The official SDK, installed by ``pip install
'foldnote[mcp]'``, implements the protocol.
"""
