# One target per task. A recipe that needs more than a line is a script in .ci/.
GOLANGCI := $(or $(shell command -v golangci-lint),go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0)

.PHONY: help build test test-all lint vuln fmt golden bench why trust sure proofs pace demo pages docs snapshot packages size clean
.DEFAULT_GOAL := help

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 10

build: ## bin/perfbench: one static binary
	CGO_ENABLED=0 go build -trimpath -o bin/perfbench ./cmd/perfbench

test: ## the platform, and each profile on each real server that is available
	@.ci/test

test-all: test ## what make test leaves, the race detector, and the packages
	@.ci/test -rest
	@.ci/packages

lint: ## golangci-lint, with the choices of .golangci.yml
	$(GOLANGCI) run

vuln: ## known vulnerabilities, in the code that is reached and in every module
	@.ci/vuln

fmt: ## gofumpt and goimports, as the linter requires
	$(GOLANGCI) fmt

golden: ## write the expected documents and screens again; read the diff like code
	@.ci/golden

bench: ## our own benchmarks, one package at a time
	CGO_ENABLED=0 go test -tags peers -p 1 -run '^$$' -bench . -benchmem ./...

why: ## does a run name bottlenecks prepared on real servers? Needs an otherwise idle machine
	CGO_ENABLED=0 go test -tags bottlenecks ./internal/testing/bench -run TestPreparedBottlenecks -count 1 -v -timeout 10m

trust: ## are clean runs VALID, and spoilt ones not? Needs an otherwise idle machine, and root for nice
	CGO_ENABLED=0 go test -tags trust ./internal/testing/bench -run TestVerdictsCanBeTrusted -count 1 -v -timeout 20m

sure: ## do comparisons find a shift of 5 %, and none where there is none? On real servers, nine minutes; needs an otherwise idle machine
	CGO_ENABLED=0 go test -tags trust ./internal/testing/bench -run TestComparisonsCanBeTrusted -count 1 -v -timeout 20m

proofs: ## what one run can only hint at, shown over many: 19 of 20, twelve seeds, minutes on real servers. Takes ten minutes
	@.ci/proofs

pace: ## how late operations start, on Redis and on null:, into docs/measurement.md. Needs an otherwise idle machine
	CGO_ENABLED=0 go test -tags trust ./internal/testing/bench -run TestLatenessIsSmall -count 1 -v -timeout 15m -args -table

demo: ## run the workbench in a terminal and draw its screens in docs/screens
	@.ci/screens

pages: ## do runs, a sweep and a search, and draw what they leave in docs/screens
	@.ci/pages

docs: ## the pages of docs/ as a searchable site in dist/site; needs mkdocs
	@.ci/docs

snapshot: ## what a release would contain, in dist/; publishes nothing
	.ci/release release --snapshot --clean

packages: ## a snapshot in seconds: built twice, installed, used, removed, unpacked (FULL=1: for all systems)
	@.ci/packages

size: ## what each client library costs in bytes and in compile time; takes minutes
	@.ci/size

clean: ## remove the output of build and snapshot; runs under results/ stay
	rm -rf bin dist
