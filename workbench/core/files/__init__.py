"""Files that are opened with care and replaced in one step."""
