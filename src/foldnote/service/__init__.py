"""The embedded service: the whole interface over HTTP, from a laptop to a lab's server.

`create_app` (`http/app.py`) builds it from a `ServiceConfig`; `serve.py` runs it. It imports nothing of the
client, the forms, the viewers or the lab extension, and nothing of it is imported by them.
"""
