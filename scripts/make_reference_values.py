"""Record what reference implementations compute, as fixtures for tests/train.

Run it in an environment of its own; the package and its tests never import the references:

    pip install torch==2.13.0 numpy
    pip install --no-deps verl==0.9.1
    pip install "transformers<5.11" "tensordict>=0.8,<=0.10" ray hydra-core codetiming dill \
        torchdata pyarrow pylatexenc peft accelerate pandas datasets
    python scripts/make_reference_values.py tests/train/fixtures/verl.json

HGPO has no package: its published recipe (`recipe/hgpo/core_hgpo.py`) is given as a
file, and a second fixture is written:

    python scripts/make_reference_values.py --hgpo core_hgpo.py tests/train/fixtures/hgpo.json
"""

from __future__ import annotations

import argparse
import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

ROWS, TOKENS = 6, 5
SEEDS = (1, 2, 3)
STATISTICS = (
    "token_k1",
    "token_k2",
    "token_k3",
    "seq_sum_k1",
    "seq_sum_k2",
    "seq_sum_k3",
    "seq_mean_k1",
    "seq_mean_k2",
    "seq_mean_k3",
    "seq_max_k2",
    "seq_max_k3",
)
AGGREGATIONS = (
    "token-mean",
    "seq-mean-token-sum",
    "seq-mean-token-mean",
    "seq-mean-token-sum-norm",
)


def inputs(seed: int) -> dict[str, Tensor]:
    """Return one batch: log-probabilities, rewards and a mask with gaps, rounded for JSON."""
    draw = torch.Generator().manual_seed(seed)

    def normal(scale: float = 1.0) -> Tensor:
        return (torch.randn(ROWS, TOKENS, generator=draw) * scale).round(decimals=3)

    old = -torch.rand(ROWS, TOKENS, generator=draw).round(decimals=3) * 3
    mask = (torch.rand(ROWS, TOKENS, generator=draw) > 0.3).float()
    mask[:, -1] = 1.0
    rewards = torch.zeros(ROWS, TOKENS)
    rewards[:, -1] = torch.rand(ROWS, generator=draw).round(decimals=2)
    return {
        "old": old,
        "new": old + normal(0.4),
        "ref": old + normal(0.3),
        "rollout": old + normal(0.3),
        "advantages": normal(),
        "mask": mask,
        "rewards": rewards,
        "values": normal(),
        "new_values": normal(),
        "returns": normal(),
    }


def plain(value: Any) -> Any:
    """Return a tensor as nested lists of seven digits."""
    if isinstance(value, Tensor):
        return plain(value.tolist())
    if isinstance(value, list):
        return [plain(item) for item in value]
    return float(f"{value:.7g}")


def advantages(x: dict[str, Tensor]) -> dict[str, Any]:
    """Run the advantage estimators."""
    from verl.trainer.config import AlgoConfig
    from verl.trainer.ppo import core_algos as core

    index = np.array([0, 0, 0, 1, 1, 1])
    config = AlgoConfig(gamma=0.9)
    of = (x["rewards"], x["mask"])
    gae = core.compute_gae_advantage_return(x["rewards"], x["values"], x["mask"], 0.97, 0.9)
    return {
        "grpo": core.compute_grpo_outcome_advantage(*of, index)[0],
        "dr_grpo": core.compute_grpo_outcome_advantage(*of, index, norm_adv_by_std_in_grpo=False)[
            0
        ],
        "rloo": core.compute_rloo_outcome_advantage(*of, index)[0],
        "reinforce_plus_plus": core.compute_reinforce_plus_plus_outcome_advantage(
            *of, config=config
        )[0],
        "reinforce_plus_plus_baseline": (
            core.compute_reinforce_plus_plus_baseline_outcome_advantage(*of, index)[0]
        ),
        "gae_advantages": gae[0],
        "gae_returns": gae[1],
    }


def losses(x: dict[str, Tensor]) -> dict[str, Any]:
    """Run the policy losses, with gradients, and the value loss."""
    from verl.trainer.ppo import core_algos as core
    from verl.workers.config import ActorConfig

    weights = torch.exp(x["old"] - x["rollout"]).clamp(max=2.0)
    made: dict[str, Any] = {}
    for name, kind, low, high, weighted in (
        ("ppo", "vanilla", 0.2, 0.2, None),
        ("ppo_clip_higher", "vanilla", 0.2, 0.28, None),
        ("ppo_weighted", "vanilla", 0.2, 0.2, weights),
        ("ppo_dual", "vanilla", 0.2, 0.2, None),
        ("gspo", "gspo", 0.01, 0.02, None),
        ("cispo", "cispo", 0.2, 0.28, None),
    ):
        config = ActorConfig(
            strategy="fsdp",
            rollout_n=1,
            ppo_micro_batch_size_per_gpu=1,
            clip_ratio=low,
            clip_ratio_low=low,
            clip_ratio_high=high,
            clip_ratio_c=1.2 if name == "ppo_dual" else 3.0,
        )
        new = x["new"].clone().requires_grad_()
        loss, figures = core.get_policy_loss_fn(kind)(
            x["old"], new, x["advantages"], x["mask"], "token-mean", config, weighted
        )
        loss.backward()
        made[name] = {
            "loss": loss.item(),
            "gradient": new.grad,
            "clip_fraction": figures["actor/pg_clipfrac"],
            "clip_fraction_lower": figures["actor/pg_clipfrac_lower"],
            "approx_kl": figures["actor/ppo_kl"],
        }
    value, fraction = core.compute_value_loss(
        x["new_values"], x["returns"], x["values"], x["mask"], 0.5
    )
    made["value"] = {"loss": value.item(), "clip_fraction": fraction.item()}
    gap = x["mask"].clone()
    gap[2] = 0.0
    made["aggregate"] = {
        mode: core.agg_loss(x["advantages"], gap, mode).item() for mode in AGGREGATIONS
    }
    return made


def divergences(x: dict[str, Tensor]) -> dict[str, Any]:
    """Run the KL estimators with gradients, and the rollout corrections."""
    from verl.trainer.ppo import core_algos as core
    from verl.trainer.ppo import rollout_corr_helper as corr

    made: dict[str, Any] = {"kl": {}, "weights": {}, "rejection": {}}
    for kind in ("k1", "k2", "k3", "k1+", "k3+"):
        new = x["new"].clone().requires_grad_()
        value = core.kl_penalty(new, x["ref"], kind)
        value.sum().backward()
        made["kl"][kind] = {"value": value.detach(), "gradient": new.grad}
    log_ratio = x["old"] - x["rollout"]
    for level in ("token", "sequence"):
        for name, threshold in (("truncated", 1.3), ("masked", "0.7_1.3")):
            weights, _ = corr.compute_rollout_correction_weights(
                log_ratio, x["mask"], level, threshold
            )
            made["weights"][f"{level}_{name}"] = weights
    for statistic in STATISTICS:
        threshold = "0.8_1.25" if statistic.endswith("k1") else "0.04"
        made["rejection"][statistic] = corr.compute_rollout_rejection_mask(
            log_ratio, x["mask"], statistic, threshold
        )[0]
    made["figures"] = corr.compute_offpolicy_metrics(x["old"], x["rollout"], x["mask"])
    return made


def hgpo(path: Path, seed: int) -> dict[str, Any]:
    """Run the published HGPO recipe on random trajectories that share states."""
    spec = importlib.util.spec_from_file_location("reference_hgpo", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    draw = np.random.default_rng(seed)
    lengths = draw.integers(2, 6, size=8).tolist()
    owners = np.array([n for n, length in enumerate(lengths) for _ in range(length)])
    groups = owners // 4
    anchors = np.array([f"s{i}" for i in draw.integers(0, 3, size=len(owners))])
    returns = torch.tensor(draw.random(len(owners)).round(3), dtype=torch.float32)
    scores = draw.random(8).round(2)
    token_rewards = torch.tensor(scores[owners], dtype=torch.float32).unsqueeze(-1)
    made = {
        f"{mode}_alpha{alpha:g}_history{history}": module.compute_hgpo_outcome_advantage(
            token_rewards,
            returns,
            torch.ones(len(owners), 1),
            anchors,
            groups,
            owners,
            history_length=history,
            mode=mode,
            length_weight_alpha=alpha,
        )[0][:, 0]
        for mode in ("mean_std_norm", "mean_norm")
        for alpha, history in ((1.0, 2), (0.5, 1), (2.0, 3))
    }
    return {
        "inputs": {
            "owners": owners.tolist(),
            "groups": [int(groups[owners == n][0]) for n in range(8)],
            "anchors": anchors.tolist(),
            "returns": plain(returns),
            "scores": plain(scores.tolist()),
        },
        "outputs": {name: plain(value) for name, value in made.items()},
    }


def _tree(value: Any) -> Any:
    return {k: _tree(v) for k, v in value.items()} if isinstance(value, dict) else plain(value)


def main() -> None:
    """Write the fixture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--hgpo", type=Path, help="the published recipe's core_hgpo.py")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    made: dict[str, Any] = {
        "made_by": "scripts/make_reference_values.py",
        "torch": torch.__version__,
    }
    if asked.hgpo:
        made["reference"] = "recipe/hgpo/core_hgpo.py: compute_hgpo_outcome_advantage"
        made["cases"] = [hgpo(asked.hgpo, seed) for seed in SEEDS]
    else:
        import verl

        made["reference"] = f"verl {verl.__version__}: trainer.ppo.core_algos, rollout_corr_helper"
        made["cases"] = []
        for seed in SEEDS:
            x = inputs(seed)
            outputs = {**advantages(x), **losses(x), **divergences(x)}
            made["cases"].append({"inputs": _tree(x), "outputs": _tree(outputs)})
    asked.out.write_text(json.dumps(made, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
