#!/bin/bash
# Session cache of the shop: fill it once, then read and renew.
HOST=cache.example
KEYS=200000
COMMON="--key-prefix=session: --key-maximum $KEYS --hide-histogram"

docker run --rm redislabs/memtier_benchmark:2.1.0 -s $HOST $COMMON --ratio=1:0 --key-pattern P:P -n allkeys \
  -t 2 -c 10 -d 512 2>&1 | tee load.log

memtier_benchmark -s $HOST -p 6380 $COMMON \
  --ratio 1:9 --key-pattern=G:Z --key-zipf-exp 1.2 --key-stddev=20000 --key-median 50000 \
  --data-size-list 100:60,1000:30,8192:10 --expiry-range=60-300 \
  --threads 4 -c25 --pipeline=8 --test-time "${SECONDS_TO_RUN:-120}" \
  --rate-limiting 50 > run.log
