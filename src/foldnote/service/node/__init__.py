"""The agent on a node of a cluster: it fetches attempts from the service and reports their outcomes."""
