from screenloop.bench.http import run


async def test_a_small_bench_of_http_measures_every_figure() -> None:
    bench = await run(phones=3, operations=1600, steps=6, idle_s=0.1)
    assert (bench.phones, bench.operations, bench.steps) == (3, 1600, 6)
    assert bench.server_cpu_us_per_small_op > 0
    assert bench.server_cpu_us_per_step > 0
    assert bench.step_http_ms_p50 > bench.step_in_process_ms_p50 > 0
    assert 0 < bench.control_bytes_max < 2048
