/**
 * Completes the sandbox of `unshare`, in a shell that is root in a user namespace of its own. A read-only copy of all mounts, with the
 * sandbox's mounts over it, becomes the root; the program runs in another user namespace, as the user and without rights over these mounts.
 * This shell stays the first process of its namespace: its end kills all others.
 *
 * Its name is the program `unshare`. Its words: user id, group id, working directory, limits script, mounts (kind, path), `--`, command line.
 */
export const UNSHARED = `set -e
path=$PATH PATH=/usr/sbin:/usr/bin:/sbin:/bin
uid=$1 gid=$2 at=$3 limits=$4; shift 4
ip link set lo up 2>/dev/null || true
mount -n -t tmpfs tmpfs /sys
mkdir /sys/new
mount -n --rbind / /sys/new
umount -n -l /sys/new/sys
seal() {
  flags=
  while read -r _ _ _ _ point options _; do
    if [ "$point" = "$1" ]; then flags=$options; fi
  done </proc/self/mountinfo
  case $flags in ro|ro,*) return 0 ;; esac
  name=$(printf '%b' "$1")
  mount -n -o "remount,bind,ro$(printf %s "$flags" | sed 's/^rw//')" "$name"
}
while read -r _ _ _ _ point _; do
  case $point in
    /sys/new/proc|/sys/new/proc/*) ;;
    /sys/new|/sys/new/*) seal "$point" ;;
  esac
done <<END
$(cat /proc/self/mountinfo)
END
escaped() { printf %s "$1" | sed 's/\\\\/\\\\134/g; s/ /\\\\040/g; s/\\t/\\\\011/g'; }
for name in sys sysrq-trigger irq bus; do
  if [ -e "/proc/$name" ]; then mount -n --bind "/proc/$name" "/sys/new/proc/$name"; seal "/sys/new/proc/$name"; fi
done
mount -n -t tmpfs tmpfs /sys/new/dev
for name in null zero full random urandom tty; do
  : >"/sys/new/dev/$name"; mount -n --bind "/dev/$name" "/sys/new/dev/$name"
done
for name in 0 1 2; do ln -s "/proc/self/fd/$name" "/sys/new/dev/$name"; done
ln -s 0 /sys/new/dev/stdin; ln -s 1 /sys/new/dev/stdout; ln -s 2 /sys/new/dev/stderr
ln -s /proc/self/fd /sys/new/dev/fd
mkdir /sys/new/dev/shm
while [ "$1" != -- ]; do
  to=/sys/new$2
  if [ -d "$2" ]; then [ -d "$to" ] || mkdir -p "$to"
  elif [ ! -e "$to" ]; then mkdir -p "$(dirname "$to")"; : >"$to"; fi
  case $1 in
    empty) mount -n -t tmpfs tmpfs "$to" ;;
    null) mount -n --bind /dev/null "$to" ;;
    read) mount -n --bind "$2" "$to"; seal "$(escaped "$to")" ;;
    write) mount -n --rbind "$2" "$to" ;;
  esac
  shift 2
done
shift
cd /sys/new
pivot_root . sys
umount -n -l /sys
cd "$at"
set +e
unset OLDPWD
PATH=$path
"$0" --user "--map-user=$uid" "--map-group=$gid" -- /bin/sh -c "$limits" sh "$@"
exit $?
`;
