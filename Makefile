# The two commands of the README do all the set-up themselves.
.PHONY: demo test test-slow lint clean

demo:
	@scripts/bootstrap train
	@.venv/bin/screenloop demo

test:
	@scripts/bootstrap dev
	.venv/bin/python -m pytest -n 2 -m "not slow"

# All 125 web pages twice, the built wheel in an empty environment: minutes, run by CI.
test-slow:
	@scripts/bootstrap dev
	.venv/bin/python -m pytest -n 2 -m slow

lint:
	@scripts/bootstrap dev
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	.venv/bin/lint-imports

clean:
	rm -rf .venv runs dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
