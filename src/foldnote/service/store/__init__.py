"""The only room that speaks SQL: rows in SQLite (WAL, synchronous FULL), one writer, every change an event.

The database is the only truth of the service. Rules that every function here keeps: commit before anybody is
answered; every change of a job is `UPDATE … WHERE id AND attempt AND state`, and 0 rows mean a lost race, not
an error; terminal states never change; a deletion is a tombstone. It does not know HTTP, tools or processes.
"""
