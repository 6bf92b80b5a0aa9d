"""The system of record: TinyDB tables over an append-only journal."""
