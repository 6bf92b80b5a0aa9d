"""A log that several machines share, in a PostgreSQL database: the tables and functions of `sql/`.

Only this package knows psycopg, and imports it when a server is asked.
"""
