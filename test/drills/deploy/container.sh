#!/bin/sh
# Runs a command with the file system of a container: container.sh ROOT USER DIR read-only|writable FROM=TO[=ro] … -- COMMAND …
# Started by `unshare --mount`, so that the mounts end with the command. The command replaces this shell and keeps its process id.
set -e
root=$1 user=$2 dir=$3 access=$4
shift 4
mount -t tmpfs -o mode=755 tmpfs "$root"
for name in usr bin sbin lib lib64 etc; do
  if [ -L "/$name" ]; then
    cp -P "/$name" "$root/$name"
  elif [ -d "/$name" ]; then
    mkdir "$root/$name"
    mount --bind "/$name" "$root/$name"
    mount -o remount,bind,ro "$root/$name"
  fi
done
mkdir "$root/dev" "$root/proc" "$root/tmp"
mount --rbind /dev "$root/dev"
mount --rbind /proc "$root/proc"
while [ "$1" != -- ]; do
  from=${1%%=*} rest=${1#*=}
  to=${rest%%=*}
  if [ -d "$from" ]; then
    mkdir -p "$root$to"
  elif [ ! -e "$root$to" ]; then
    mkdir -p "$(dirname "$root$to")"
    : >"$root$to"
  fi
  mount --bind "$from" "$root$to"
  case $rest in *=ro) mount -o remount,bind,ro "$root$to" ;; esac
  shift
done
shift
[ "$access" = writable ] || mount -o remount,ro "$root"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
exec chroot --userspec="$user" --groups= "$root" sh -c 'cd "$0" && exec "$@"' "$dir" "$@"
