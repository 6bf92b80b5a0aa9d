"""Why a pattern stands where it does, where no person says why: the numbers of its evidence, or what was done."""

EVIDENCE, REFINED, APPROVED, RESTORED = "evidence", "refined", "approved", "restored"
IMPORTED, MERGED, SUPERSEDED, LOW_VALUE = "imported", "merged", "superseded", "low value"
