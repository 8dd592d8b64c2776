"""Online RL on the rollout path: samples, advantages, losses, rewards, curriculum.

Axis suffixes of tensors: `b` rows (training sequences), `t` tokens of a row, `v` vocabulary,
`n` attempts, `s` steps of all attempts in order. Everything but the trainer is pure.
"""
