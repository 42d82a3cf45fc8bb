# Two commands are enough: `make serve` and `make test`. docs/BUILD.md tells what stands behind them.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:

PORT ?= 8080
STEP := scripts/step.sh

.PHONY: help
help: ## List what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: serve
serve: build ## Build the page and serve it on 127.0.0.1 (PORT=8080)
	@PORT=$(PORT) exec node scripts/page/serve.mjs dist

.PHONY: dev
dev: setup-page ## Serve an unoptimised page that rebuilds itself after an edit
	@source scripts/env.sh; use_wasm_rust; exec trunk serve --port $(PORT)

.PHONY: test
test: ## Prove everything: what CI runs
	@scripts/step.sh --begin
	@$(MAKE) --no-print-directory check proofs wasm-test build size browser-test
	@scripts/step.sh --end

.PHONY: check
check: setup-rust ## Format, lints, house rules and native tests
	@$(STEP) "format" cargo fmt --all --check
	@$(STEP) "lints" cargo clippy --quiet --all-features --all-targets -- -D warnings
	@$(STEP) "library without the page" cargo check --quiet --lib --no-default-features
	@$(STEP) "native tests" cargo test --quiet --no-default-features --features cli

.PHONY: proofs
proofs: setup-rust ## Play the lessons, and hold the conformance floors
	@$(STEP) "lessons and conformance" scripts/proofs.sh

.PHONY: digests
digests: setup-rust ## Write the determinism session's digests down again, after a change that was meant
	KUBESTEP_BLESS=1 cargo test --quiet --no-default-features --features cli --test determinism

.PHONY: facts
facts: setup-rust ## Write tests/conformance/FACTS.md down again: which facts hold
	FACTS=write cargo test --quiet --no-default-features --features cli --test facts

.PHONY: wasm-test
wasm-test: setup-wasm ## Run tests/wasm in headless Chromium
	@$(STEP) "WebAssembly tests" scripts/wasm-test.sh

.PHONY: build
build: setup-page ## Build the released page into dist/
	@$(STEP) "the page" scripts/build-page.sh

.PHONY: size
size: setup-node ## Print the bytes of every file of the page; fail over budget
	@test -d dist || $(MAKE) --no-print-directory build
	@$(STEP) "size budget" node scripts/page/size.mjs dist

.PHONY: browser-test
browser-test: setup-browser ## Run the journeys of tests/browser against dist/
	@test -d dist || $(MAKE) --no-print-directory build
	@$(STEP) "browser journeys" scripts/browser-test.sh

.PHONY: later
later: setup-page setup-browser ## Watch the page start and write down again which code can wait (scripts/page/later.txt)
	@node scripts/page/watch-start.mjs

.PHONY: bench
bench: setup-rust ## Criterion benchmarks
	cargo bench --no-default-features --features cli

.PHONY: browser-bench
browser-bench: setup-browser ## The benchmarks of the page, in Chromium
	@test -d dist || $(MAKE) --no-print-directory build
	@node tests/browser/bench.mjs

.PHONY: clean
clean: ## Remove what was built here (tools kept for other clones stay)
	cargo clean
	rm -rf dist editor/dist node_modules editor/node_modules tests/browser/node_modules tests/browser/shots

.PHONY: setup-rust setup-node setup-wasm setup-page setup-browser
setup-rust:
	@scripts/setup.sh rust
setup-node:
	@scripts/setup.sh node
setup-wasm:
	@scripts/setup.sh rust wasm wasm-bindgen browser
setup-page:
	@scripts/setup.sh rust wasm wasm-bindgen trunk node
setup-browser:
	@scripts/setup.sh node browser
