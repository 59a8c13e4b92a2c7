#!/bin/sh
# Make the tokens that compose.yaml hands over, once: deploy/make-secrets.sh [FOLDER]
# asc_token may do everything; prometheus_token only reads, and asc_tokens.toml has its hash.
set -eu
folder=${1:-$(dirname "$0")/secrets}
if [ -e "$folder" ]; then
    echo "$folder is there already: remove it for new tokens" >&2
    exit 1
fi
mkdir -m 700 "$folder"
for name in asc_token prometheus_token; do
    od -An -N32 -tx1 /dev/urandom | tr -d ' \n' > "$folder/$name"
done
hash=$(sha256sum < "$folder/prometheus_token" | cut -d ' ' -f 1)
printf '[tokens.prometheus]\nsha256 = "%s"\nread_only = true\n' "$hash" > "$folder/asc_tokens.toml"
# Containers have users of their own, which have to read them; the folder keeps out the others of this machine.
chmod 444 "$folder"/*
