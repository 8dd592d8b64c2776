import os

import msgspec
import pytest

from screenloop.bench.web.run import memory_mb, run, tree_pids


@pytest.mark.browser
async def test_the_bench_reports_its_figures_and_null_for_a_peer_that_is_not_there() -> None:
    bench = await run(tasks=("click-test",), rounds=1, peer=False)
    figures = msgspec.to_builtins(bench)
    assert set(figures) == {
        "reset_ms_p50",
        "step_ms_p50",
        "cpu_ms_per_step",
        "rss_mb",
        "peer_reset_ms_p50",
        "peer_step_ms_p50",
    }
    assert figures.pop("peer_reset_ms_p50") is None
    assert figures.pop("peer_step_ms_p50") is None
    assert all(value > 0 for value in figures.values())


def test_memory_and_processes_of_this_process_can_be_read() -> None:
    pids = tree_pids((os.getpid(),))
    assert os.getpid() in pids
    assert memory_mb(pids) > 1


def test_processes_that_are_gone_hold_nothing() -> None:
    assert memory_mb((2**22 + 1,)) == 0
