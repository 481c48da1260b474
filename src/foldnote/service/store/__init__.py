"""The service's database, the only place with SQL: SQLite in WAL mode, synchronous FULL, a single writer.

The database is the service's single source of truth. All functions follow these rules: commit before
responding; change a job only by `UPDATE … WHERE id AND attempt AND state`, where 0 rows mean a lost race and
not an error; never change a terminal state; delete by a tombstone; record every change as an event. This
package does not know about HTTP, tools or processes.
"""
