"""The offline reflector: sentences that recur, in their own words."""
