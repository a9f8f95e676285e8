#!/usr/bin/env bash
# Start a broker that runs until the end of the job, and hand its addresses to later steps.
# PORT, ARGUMENTS: the inputs of action.yml. ARGUMENTS are options, which are separated at spaces and line ends.
set -euo pipefail

start_seconds_max=60
ready=$RUNNER_TEMP/fauxka-ready.json
log=$RUNNER_TEMP/fauxka.log
rm -f "$ready"
# The options are split at spaces, and * and ? stay as they are.
set -f
# shellcheck disable=SC2086
nohup fauxka serve --port "$PORT" --admin-port 0 --ready-file "$ready" $ARGUMENTS > "$log" 2>&1 < /dev/null &
broker=$!
trap 'kill "$broker" 2> /dev/null || true' EXIT
until [ -s "$ready" ]; do
  if ! kill -0 "$broker" 2> /dev/null || [ "$SECONDS" -ge "$start_seconds_max" ]; then
    cat "$log" >&2
    echo "fauxka: the broker did not start" >&2
    exit 1
  fi
  sleep 0.1
done
# The Python beside the command. Standard output has \r\n on Windows.
python - "$ready" >> "$GITHUB_OUTPUT" << 'END'
import json
import sys

sys.stdout.reconfigure(newline="\n")
ready = json.load(open(sys.argv[1], encoding="utf-8"))
first = ready["bootstrap"].split(",")[0]
admin = ready["admin"] or ""
print(f"bootstrap={ready['bootstrap']}")
print(f"port={first.rpartition(':')[2]}")
print(f"admin={admin if '://' in admin or not admin else f'http://{admin}'}")
END
# Later steps have the addresses as variables. The commands of fauxka read FAUXKA_ADMIN.
sed -n 's/^bootstrap=/FAUXKA_BOOTSTRAP=/p; s/^admin=/FAUXKA_ADMIN=/p' "$GITHUB_OUTPUT" >> "$GITHUB_ENV"
trap - EXIT
