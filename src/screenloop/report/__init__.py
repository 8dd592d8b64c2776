"""Reports: scores with intervals, comparisons, HTML."""
