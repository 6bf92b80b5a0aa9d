"""English function words that full text ignores, except inside a quoted phrase."""

_LINES = """
a about above after again all also am an and any are aren as at be because been before being below
between both but by can cannot could couldn d did didn do does doesn doing don during each either few
for from further had hadn has hasn have haven having he her here hers herself him himself his how i if
in into is isn it its itself just ll m may me might more most must my myself neither nor of off on once
only or other our ours ourselves out over own re s same shall she should shouldn so some such t than that
the their theirs them themselves then there these they this those through to too under until up upon us
ve very was wasn we were weren what when where which while who whom whose why will with would wouldn you
your yours yourself yourselves
"""

STOP_WORDS: frozenset[str] = frozenset(_LINES.split())
