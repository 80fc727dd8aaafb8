# One verb per habit. What a verb needs more than a line for stands in .ci/.
GOLANGCI := $(or $(shell command -v golangci-lint),go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0)

.PHONY: help build test lint vuln fmt golden bench why demo pages docs snapshot packages size clean
.DEFAULT_GOAL := help

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' Makefile | expand -t 10

build: ## bin/perfbench: one static binary
	CGO_ENABLED=0 go build -trimpath -o bin/perfbench ./cmd/perfbench

test: ## everything, against real servers where they are to be had
	@.ci/test

lint: ## golangci-lint, with the choices of .golangci.yml
	$(GOLANGCI) run

vuln: ## known vulnerabilities, in what is reached and in every module
	@.ci/vuln

fmt: ## gofumpt and goimports, as the linter wants them
	$(GOLANGCI) fmt

golden: ## write the expected documents and screens again; read the diff like code
	@.ci/golden

bench: ## our own benchmarks, one package at a time
	CGO_ENABLED=0 go test -p 1 -run '^$$' -bench . -benchmem ./...

why: ## prepared bottlenecks on real servers: are they named? Wants a machine to itself
	CGO_ENABLED=0 go test -tags bottlenecks ./internal/bench -run TestPreparedBottlenecks -count 1 -v -timeout 10m

demo: ## the workbench in a terminal, and the pictures of its screens in docs/screens
	@.ci/screens

pages: ## two runs on a Redis, and the pictures of their report in docs/screens
	@.ci/pages

docs: ## the pages of docs/ as a site that can be searched, in dist/site; wants mkdocs
	@.ci/docs

snapshot: ## what a release would hold, in dist/; publishes nothing
	.ci/release release --snapshot --clean

packages: ## a snapshot in seconds: made twice, installed, used, removed, unpacked (FULL=1: of all systems)
	@.ci/packages

size: ## what each client costs in bytes and in seconds of the compiler; minutes
	@.ci/size

clean: ## remove what build and snapshot made; runs under results/ stay
	rm -rf bin dist
