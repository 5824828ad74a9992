#!/bin/bash
# What the image `mongo` does: the first start creates the user of MONGO_INITDB_ROOT_USERNAME without access control, then the
# permanent mongod starts. Here mongod listens on the address of its container only.
set -e
if [ -n "$MONGO_INITDB_ROOT_USERNAME" ] && [ ! -e /data/db/WiredTiger ]; then
  mongod --dbpath /data/db --bind_ip "$CONTAINER_ADDRESS" --fork --logpath /data/db/first-start.log >/dev/null
  mongosh --quiet --create-user "$MONGO_INITDB_ROOT_USERNAME" "$MONGO_INITDB_ROOT_PASSWORD"
  mongod --dbpath /data/db --shutdown >/dev/null
fi
program=$1
shift
args=()
for arg in "$@"; do
  if [ "$arg" = --bind_ip_all ]; then args+=(--bind_ip "$CONTAINER_ADDRESS"); else args+=("$arg"); fi
done
exec "$program" "${args[@]}" --dbpath /data/db --nounixsocket --oplogSize 256 --setParameter diagnosticDataCollectionEnabled=false
