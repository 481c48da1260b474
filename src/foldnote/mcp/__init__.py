"""The MCP server ``foldnote mcp``: tools for assistants, over the client of one service.

An assistant finds and describes tools, validates, quotes, submits and watches jobs, and reads results as data
and pictures. What changes something at the service asks the user first, unless the user allowed it at the
start (``consent``). Answers hold no keys, no signed links and no folders of this computer, and texts that
programs or files wrote are marked as untrusted data (``answers``). The protocol is spoken by the official
SDK, which ``pip install 'foldnote[mcp]'`` installs.
"""
