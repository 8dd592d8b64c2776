"""A judge: a function that tells whether a check holds."""

from screenloop.verify.finding import Finding


def even(evidence, claim, params):
    """Pass an even number of minutes that is large enough, and was not there before."""
    minutes = evidence.after["timer"]["minutes"]
    passed = minutes % 2 == 0 and minutes >= params["least"]
    return Finding(passed=passed, detail=f"{minutes} minutes")
