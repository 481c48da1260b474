"""The resources of a client: jobs, batches, files, tools, pipelines, account."""
