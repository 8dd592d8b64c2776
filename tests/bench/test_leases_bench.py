from screenloop.bench.lease.run import run


async def test_operations_are_counted_and_schedules_break_no_rule() -> None:
    bench = await run(live=500, operations=2400, schedules=60)
    assert (bench.live, bench.operations, bench.schedules) == (500, 2400, 60)
    assert 0 < bench.cpu_us_per_op_memory < bench.cpu_us_per_op_journal
    assert bench.cost_ratio_20000_to_200 > 0
    assert (bench.double_grants, bench.violations) == (0, 0)
    assert bench.crashes > 20


async def test_without_fencing_the_bench_shows_violations() -> None:
    bench = await run(live=10, operations=120, schedules=60)
    assert bench.control_schedules == 60
    assert bench.control_violations > 0
