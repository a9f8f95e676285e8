#!/usr/bin/env bash
# An order whose acknowledgement is lost: kcat sends it, curl arms the fault rule and reads the verdict.
# Needs fauxka, kcat, curl and jq on the PATH.
set -euo pipefail

folder=$(mktemp --directory)
fauxka serve --port 0 --admin-port 0 --ready-file "$folder/ready.json" >"$folder/log" 2>&1 &
broker=$!
trap 'kill "$broker" 2>/dev/null || true; wait "$broker" 2>/dev/null || true; rm -r "$folder"' EXIT

# The ready file is created, complete, when clients can connect.
for _ in $(seq 1000); do
  [ -e "$folder/ready.json" ] && break
  kill -0 "$broker" || { cat "$folder/log" >&2; exit 1; }
  sleep 0.01
done
bootstrap=$(jq -r .bootstrap "$folder/ready.json")
admin=$(jq -r .admin "$folder/ready.json")

ask() { curl --silent --show-error --fail-with-body --max-time 30 "$@"; }

# The batch is appended; then the connection is closed instead of a response, once.
lose_one_ack() {
  ask "$admin/v1/rules" --data '{
    "name": "lose the ack of an order",
    "match": {"api": "Produce", "topic": "orders"},
    "point": "applied",
    "action": {"kind": "close"}}' | jq .id
}

# -E: without it kcat ends with its connection.
send_order() { printf 'order-1:one coffee\n' | kcat -E -P -b "$bootstrap" -t orders -K : -X retry.backoff.ms=10 "$@"; }

# expect WHAT PATH VALUE: compare a value of the verdict.
expect() {
  local got
  got=$(jq --compact-output "$2" <<<"$verdict")
  if [ "$got" != "$3" ]; then
    printf '%s: %s is %s instead of %s\n%s\n' "$1" "$2" "$got" "$3" "$verdict" >&2
    exit 1
  fi
  printf '%s: %s is %s\n' "$1" "$2" "$got"
}

rule=$(lose_one_ack)
send_order -X enable.idempotence=true
ask "$admin/v1/rules/$rule/await?hits=1&timeout_ms=5000" >"$folder/rule.json"
verdict=$(ask "$admin/v1/verdict?topic=orders&event_id=key")
expect "with idempotence" .batches.appended_once 1
expect "with idempotence" .batches.duplicates_recognised 1
expect "with idempotence" .records.duplicates 0

ask "$admin/v1/reset" --data '{"scope": "all"}' >"$folder/reset.json"
lose_one_ack >"$folder/rule.json"
send_order -X enable.idempotence=false
verdict=$(ask "$admin/v1/verdict?topic=orders&event_id=key")
expect "without idempotence" .batches.appended_twice 1
expect "without idempotence" .records.duplicates 1
expect "without idempotence" '.findings[0].offsets' '[0,1]'
