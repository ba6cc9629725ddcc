# Needs Python 3.11 to 3.13 with pip, and make. Each target installs what it needs into .venv, from hashed requirements.

PORT ?= 8080
DELAYER_PERIOD ?=
PARAMETERS ?=
TAGS ?=
NAME ?=
FORCE ?=
STACK ?= delayer
FROM ?=
TO ?=
SEEDS ?=
FEATURE ?=
SEED ?=
ARGS ?=
URL ?=

BIN := .venv/bin
# What is installed: for the engine, the client and the console; with it, for the stack and its operators; with that, for
# tests and checks, and for the documentation (ADR 0136).
SERVE := .venv/installed-serve
LOCAL := .venv/installed-local
INSTALLED := .venv/installed
SITE := .venv/installed-docs
HANDLERS := .mypy_cache/handlers# each by a name of its own: mypy takes two files `app.py` for one module
ENGINES := .engines/installed
SAM := .sam/installed
# A function's name holds the stack's, and Lambda takes 64 characters. CloudFormation would find out in the middle.
LONGEST_STACK_NAME := 38
CODE := shared client local functions examples operate tests docs/hooks $(wildcard docs/pictures bench)
PIP_COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	--no-annotate --no-header
# All are resolved at once, so that they agree. Then each file gets its part, without what those before it have, and have
# for the same platforms.
RESOLVED := .venv/resolved.txt
BUT = $$(cat $(1) | grep -Fxf - $(RESOLVED) | sed -n 's/^\([a-z0-9._-]*\).*==.*/--no-emit-package \1/p')
BUT_SERVE = $(call BUT,requirements-serve.txt)
BUT_LOCAL = $(call BUT,requirements-serve.txt requirements-local.txt)

export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PYTHONUNBUFFERED := 1
# Where Python may not keep what it compiled, every process compiles everything anew: tests take three times as long.
unexport PYTHONDONTWRITEBYTECODE
export NO_MKDOCS_2_WARNING := 1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help local local-aws client screenshots test test-all test-fast defects lint format docs docs-check docs-serve readability weight bench profile scale frozen endpoints simulate crashes kills model record contract new-executor \
	rm-executor new-subscriber rm-subscriber new-policy rm-policy deploy verify restore move-queues dead-letters \
	owner-policy flow lock clean

help: ## list the targets
	@echo "make <target>:"
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /|/' | awk -F'|' '{printf "  %-14s %s\n", $$1, $$2}'

local: $(SERVE) ## run Delayer here, its data in delayer-data, with a receiver beside it (PORT=8080 ARGS="--attempts 200")
	@$(BIN)/python -m local.engine --port $(PORT) $(ARGS)

local-aws: $(LOCAL) ## run the stack of template.yaml here, in an emulator of AWS (PORT=8080 DELAYER_PERIOD=840 PARAMETERS="Shards=2 LogLevel=DEBUG")
	@$(BIN)/python -m local --port $(PORT) $(if $(DELAYER_PERIOD),--delayer-period $(DELAYER_PERIOD)) \
		$(foreach parameter,$(PARAMETERS),--parameter '$(subst ','\'',$(parameter))') $(ARGS)

# A test that runs make is to find none of the variables that this make was given.
UNMADE = env -u MAKEFLAGS -u MFLAGS -u MAKEOVERRIDES -u ARGS -u FEATURE
# Lint runs beside the tests, at a lower priority, and what it says comes after them. The end-to-end tests wait most of their
# time: where all of them run, a third process uses what the other two leave.
define test_beside_lint
	@said=$$(mktemp); trap 'kill $$lint 2>/dev/null; rm -f $$said' EXIT; trap 'exit 130' INT TERM; \
	nice -n 5 $(MAKE) --no-print-directory --silent lint >$$said 2>&1 & lint=$$!; \
	$(UNMADE) $(BIN)/pytest --numprocesses $(1) $(2) $(ARGS); tested=$$?; \
	wait $$lint; linted=$$?; cat $$said; \
	if [ $$linted = 0 ]; then echo "make lint: nothing to say."; else echo "make lint has failed; see above." >&2; fi; \
	[ $$tested = 0 ] && [ $$linted = 0 ]
endef

test: $(INSTALLED) $(SITE) ## each promise, end to end, and all that is quick: ten minutes on two cores
	$(call test_beside_lint,2,-m "not thorough")

test-all: $(INSTALLED) $(SITE) $(ENGINES) $(SAM) ## every check and every test, as .ci/run does it: 27 minutes on two cores
	$(call test_beside_lint,3,)

test-fast: $(INSTALLED) $(SITE) ## the quick tests without the stack: some minutes; those of one feature: less than one (FEATURE=series)
	@files=$$($(BIN)/python -m tests.running.features $(FEATURE)) && $(UNMADE) $(BIN)/pytest --numprocesses 2 -m "not thorough" $$files $(ARGS)

defects: $(INSTALLED) ## make deliberate defects in a copy of the tree, and look which test finds each (ARGS=--help)
	@$(BIN)/python -m tests.defects $(ARGS)

lint: $(INSTALLED) ## ruff, mypy, cfn-lint, and whether `make contract` was forgotten
	@$(BIN)/ruff check --quiet $(CODE)
	@$(BIN)/ruff format --check --quiet $(CODE) || { echo "Not formatted; run: make format" >&2; exit 1; }
	@$(BIN)/python shared/contract.py --check && $(BIN)/python client/generate/models.py --check && \
		$(BIN)/python client/generate/surface.py --check
	@$(BIN)/mypy --no-error-summary shared/delayer shared/contract.py client/delayer_client local operate docs/hooks $(wildcard docs/pictures bench tests)
	@rm -rf $(HANDLERS); mkdir -p $(HANDLERS)
	@for handler in functions/*/app.py examples/*/app.py; do name=$$(basename $$(dirname $$handler)); \
		ln -s ../../$$handler $(HANDLERS)/$$(echo $$name | tr - _).py; done
	@$(BIN)/mypy --no-error-summary $(HANDLERS)
	@$(BIN)/cfn-lint template.yaml

format: $(INSTALLED) ## format the code
	@$(BIN)/ruff check --fix --quiet $(CODE); $(BIN)/ruff format $(CODE)

docs: $(SITE) ## build the documentation into site/
	@$(BIN)/mkdocs build --strict

docs-check: $(INSTALLED) $(SITE) ## build the documentation and look at every page with Chromium
	@$(UNMADE) $(BIN)/pytest --numprocesses 2 --dist loadscope tests/docs/browser $(ARGS)

docs-serve: $(SITE) ## serve the documentation while you write
	@$(BIN)/mkdocs serve --dev-addr 127.0.0.1:8000

readability: $(INSTALLED) ## which pages and sentences of the documentation are hard to read
	@$(BIN)/python -m tests.docs.reading

weight: $(INSTALLED) ## how much there is to read, and the limits that it keeps (ARGS=/path/to/another/tree)
	@$(BIN)/python -m tests.weight $(ARGS)

bench: $(INSTALLED) ## measure lateness, throughput and cost (ARGS=--help)
	@$(BIN)/python -m bench $(ARGS)

profile: $(INSTALLED) ## where the processor time of each function goes (ARGS=--in-memory without AWS; ARGS=--help)
	@$(BIN)/python -m bench.profile $(ARGS)

scale: $(INSTALLED) ## calculate lateness, what binds and cost on AWS (ARGS="--schedules 1000000 --within 60 --set lanes=1"; ARGS=--help)
	@$(BIN)/python -m bench.scale $(ARGS)

simulate: $(INSTALLED) ## play many stories full of faults (SEEDS=10000; SEED=7 prints one story; ARGS=--help)
	@PYTHONPATH=shared $(BIN)/python -m tests.simulation $(if $(SEEDS),--seeds $(SEEDS)) $(if $(SEED),--seed $(SEED)) $(ARGS)

crashes: $(INSTALLED) ## cut the power at each point of a story on SQLite, and look what is there (ARGS=--help)
	@PYTHONPATH=shared:client:. $(BIN)/python -m tests.crashes $(ARGS)

kills: $(INSTALLED) ## kill the real process of the engine under load, 200 times, and look what became of its promises (ARGS="--times 20")
	@PYTHONPATH=shared:client:. $(BIN)/python -m tests.crashes.kills $(ARGS)

model: $(INSTALLED) ## search every interleaving of one schedule, precise, relaxed, of a series or without a time, of a circuit, of a limit, of its seats, of a connection, of a repeat, of what comes back and of the turns of one machine, then remove each guard (ARGS=--help)
	@PYTHONPATH=shared $(BIN)/python -m tests.model $(ARGS)
	@$(if $(ARGS),,PYTHONPATH=shared:client $(BIN)/python -m tests.model.tables)

record: $(INSTALLED) ## write down what the simulation and the model find (ARGS=--help)
	@PYTHONPATH=shared $(BIN)/python -m tests.proofs $(ARGS)

contract: $(INSTALLED) ## write openapi.yaml, the layer's schemas and the client's classes anew
	@$(BIN)/python shared/contract.py && $(BIN)/python client/generate/models.py && $(BIN)/python client/generate/surface.py

client: $(INSTALLED) ## build the wheel of the client, its command line and its console into client/dist/
	@rm -rf client/dist; $(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir client/dist ./client && \
		echo "Built $$(ls client/dist/*.whl)."

screenshots: $(INSTALLED) ## take the pictures of docs/use/console.md anew, with Chromium
	@PYTHONPATH=shared:client:. $(BIN)/python -m tests.e2e.console.screenshots

frozen: $(INSTALLED) ## write the requests, rights and modules anew that later changes are compared with (ARGS=--help)
	@PYTHONPATH=shared:client:. $(BIN)/python -m tests.frozen $(ARGS)

endpoints: $(LOCAL) ## write the layer's list of AWS's endpoints anew, from that of botocore
	@PYTHONPATH=shared $(BIN)/python shared/endpoints.py

new-executor new-subscriber new-policy rm-executor rm-subscriber rm-policy: $(INSTALLED)
	@PYTHONPATH=client $(BIN)/python -m local.scaffold $@ --name="$(NAME)" --longest-stack-name $(LONGEST_STACK_NAME) $(if $(FORCE),--force) && \
		$(BIN)/python client/generate/models.py && PYTHONPATH=shared:client:. $(BIN)/python -m tests.frozen --deployment
new-executor: ## add an action: a folder, a test, a name in the template (NAME=slack-post)
rm-executor: ## take an action out again (NAME=slack-post; FORCE=1 also deletes what git cannot bring back)
new-subscriber: ## add a reader of lifecycle events (NAME=big-spenders)
new-policy: ## add a policy, which decides times (NAME=next-full-hour)
rm-policy: ## take a policy out again (NAME=next-full-hour; FORCE=1 also deletes what git cannot bring back)
rm-subscriber: ## take a reader of lifecycle events out again (NAME=big-spenders; FORCE=1)

move-queues: $(LOCAL) ## move what waits in a deleted stack's queues (FROM=old TO=new ARGS=--dry-run)
	@PYTHONPATH=shared $(BIN)/python -m operate.move_queues --from "$(FROM)" --to "$(TO)" $(ARGS)

deploy: $(LOCAL) ## deploy to AWS with the SAM CLI (STACK=delayer PARAMETERS="Actions=http-request,sqs-send,remote,canary" TAGS="team=payments")
	@name="$(STACK)"; [ $${#name} -le $(LONGEST_STACK_NAME) ] || \
		{ echo "The name of a stack has at most $(LONGEST_STACK_NAME) characters; this one has $${#name}." >&2; exit 1; }
	@$(BIN)/python -m operate.deploy --stack "$(STACK)" $(foreach tag,$(TAGS),--tag '$(subst ','\'',$(tag))') \
		$(foreach parameter,$(PARAMETERS),'$(subst ','\'',$(parameter))')

# The command line as a shell without settings of its own has it: what is typed counts, and what the AWS CLI would use.
# The shell sets it: as an argument of env, every user of the machine could read the token.
UNTOLD = unset DELAYER_URL DELAYER_TOKEN DELAYER_OWNER DELAYER_STACK; DELAYER_CONFIG=/dev/null PYTHONPATH=shared:client

verify: $(LOCAL) ## check what a deployed stack promises (URL=https://… STACK=delayer, a token in the variable TOKEN; ARGS=--help)
	@$(UNTOLD) DELAYER_TOKEN="$$TOKEN" $(BIN)/python -m delayer_client.cli verify --stack "$(STACK)" $(if $(URL),--url $(URL)) \
		$(if $(URL)$(findstring --url,$(ARGS)),--yes) $(ARGS)

restore: $(LOCAL) ## copy restored tables into a stack (STACK=delayer; ARGS=--help)
	@PYTHONPATH=shared $(BIN)/python -m operate.restore --stack $(STACK) $(ARGS)

dead-letters: $(LOCAL) ## redrive or discard dead letters, one or many (STACK=delayer ARGS="redrive --reason 'HTTP 503' --dry-run"; ARGS=--help)
	@$(UNTOLD) $(BIN)/python -m delayer_client.cli dead-letters --by-name --stack "$(STACK)" \
		$(if $(filter redrive discard,$(ARGS)),--yes) $(ARGS)

owner-policy: $(LOCAL) ## say what owners may do (STACK=delayer ARGS="set NAME --policy '{…}'"; ARGS=--help)
	@$(UNTOLD) $(BIN)/python -m delayer_client.cli policy --by-name --stack "$(STACK)" \
		$(if $(filter set remove,$(ARGS)),--revision 0) $(ARGS)

flow: $(LOCAL) ## what waits though it is due: list, suspend, release, limit, close (STACK=delayer ARGS="suspend --of NAME --reason '…'"; ARGS=--help)
	@$(UNTOLD) $(BIN)/python -m delayer_client.cli flow --by-name --stack "$(STACK)" $(ARGS)

lock: $(LOCAL) ## resolve the requirements again
	@$(PIP_COMPILE) --upgrade --output-file $(RESOLVED) requirements-uv.in requirements-serve.in requirements-local.in \
		requirements-dev.in requirements-docs.in
	@$(PIP_COMPILE) --constraint $(RESOLVED) --no-emit-package botocore --no-emit-package python-dateutil \
		--no-emit-package six --output-file shared/requirements.txt shared/requirements.in
	@$(PIP_COMPILE) --constraint $(RESOLVED) --output-file requirements-uv.txt requirements-uv.in
	@$(PIP_COMPILE) --constraint $(RESOLVED) --output-file requirements-serve.txt requirements-serve.in
	@$(PIP_COMPILE) --constraint $(RESOLVED) $(BUT_SERVE) --output-file requirements-local.txt requirements-local.in
	@$(PIP_COMPILE) --constraint $(RESOLVED) $(BUT_LOCAL) --output-file requirements-dev.txt requirements-dev.in
	@$(PIP_COMPILE) --constraint $(RESOLVED) $(BUT_LOCAL) --output-file requirements-docs.txt requirements-docs.in
	@for apart in bench/peers/requirements tests/deployment/sam/oldest tests/deployment/sam/newest; do \
		$(PIP_COMPILE) --upgrade --output-file $$apart.txt $$apart.in || exit 1; done
	@echo "Wrote $$(ls requirements-*.txt shared/requirements.txt bench/peers/requirements.txt tests/deployment/sam/*.txt | paste -sd ' ')."

clean: ## remove what make has made
	@rm -rf .venv .engines .sam .local .schemathesis .mypy_cache .pytest_cache .ruff_cache .hypothesis .aws-sam .defects site

# A third DynamoDB for the contract tests, which say so if it is not there. The lock file has the hash of its content.
$(ENGINES): tests/contract/dynoxide/package.json tests/contract/dynoxide/package-lock.json
	@mkdir -p $(@D); cp $^ $(@D)/; echo "Installing a third DynamoDB for the contract tests, by npm (some seconds)."; \
	if command -v npm >/dev/null && (cd $(@D) && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null); \
		then touch $@; else echo "Without npm, the contract tests leave out the engine dynoxide."; fi

# Two versions of the SAM CLI, for the test that performs the deployment.
$(SAM): tests/deployment/sam/oldest.txt tests/deployment/sam/newest.txt | $(LOCAL)
	@$(BIN)/python -m local.install sam-oldest && $(BIN)/python -m local.install sam-newest
	@touch $@

$(SERVE): requirements-uv.txt requirements-serve.txt client/pyproject.toml
	@python=; for candidate in $(PYTHON) python3.13 python3.12 python3.11 python3 python; do \
		if $$candidate -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null; \
		then python=$$candidate; break; fi; done; \
	[ -n "$$python" ] || { echo "Delayer needs Python 3.11, 3.12 or 3.13 on the PATH (or make PYTHON=/path/to/it)." >&2; exit 1; }; \
	$$python -m local.install engine
	@touch $@

$(LOCAL): requirements-local.txt | $(SERVE)
	@$(BIN)/python -m local.install stack
	@touch $@

$(INSTALLED): requirements-dev.txt | $(LOCAL)
	@$(BIN)/python -m local.install checks
	@touch $@

$(SITE): requirements-docs.txt | $(LOCAL)
	@$(BIN)/python -m local.install site
	@touch $@
