"""The agent: a harness that turns Observations into prompts and replies into Actions."""
