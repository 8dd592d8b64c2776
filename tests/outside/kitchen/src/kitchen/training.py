"""An advantage estimator and a policy loss."""

from screenloop.train.loss.policy import PolicyLoss


def halves(given):
    """Half of what an attempt earned above the mean of the update."""
    return (given.rewards_A - given.rewards_A.mean()) / 2


def plain_gradient(log_probs, old_log_probs, advantages, mask, *, clip=None):
    """The gradient without a ratio."""
    return PolicyLoss(
        loss_B_T=-advantages * log_probs, clip_fraction=0.0, clip_fraction_lower=0.0, approx_kl=0.0
    )
