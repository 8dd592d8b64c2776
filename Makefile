# The two commands of the README do all the set-up themselves.
.PHONY: demo test lint clean

demo:
	@scripts/bootstrap
	@.venv/bin/screenloop demo

test:
	@scripts/bootstrap dev
	.venv/bin/python -m pytest -n 2 --dist loadgroup

lint:
	@scripts/bootstrap dev
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	.venv/bin/lint-imports

clean:
	rm -rf .venv runs dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
