"""Why a memory stands where it stands."""
