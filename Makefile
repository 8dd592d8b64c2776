# The two commands of the README, `make demo` and `make test`, do all the set-up themselves.
.PHONY: demo test test-slow lint docs coverage lock pages clean

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
	.venv/bin/codespell
	.venv/bin/mypy
	.venv/bin/lint-imports

# The documentation as a site in site/: docs/, the API, a page per suite, app, dialect and recipe.
docs:
	@scripts/bootstrap dev
	.venv/bin/python scripts/make_site_pages.py
	NO_MKDOCS_2_WARNING=1 .venv/bin/mkdocs build --strict --config-file .site/mkdocs.yml

# The default suite once more, with the lines that it runs counted: slower than `make test`.
coverage:
	@scripts/bootstrap dev
	.venv/bin/python -m pytest -n 2 -m "not slow" --cov --cov-report=term --cov-report=json:coverage.json

# Versions of the development environment; `make lock UPGRADE=--upgrade` moves them.
lock:
	@scripts/bootstrap dev
	.venv/bin/python scripts/lock.py $(UPGRADE)

# Pages under docs/ that are made from the code or from figures; tests fail while one is not current.
pages:
	@scripts/bootstrap dev
	.venv/bin/python scripts/make_reference.py
	.venv/bin/python scripts/make_records.py
	.venv/bin/python scripts/make_layout.py
	.venv/bin/python scripts/make_migration.py
	.venv/bin/python scripts/make_measurements.py

clean:
	rm -rf .venv runs dist site coverage.json .coverage .coverage.* .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
