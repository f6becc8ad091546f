pid=$(systemctl show --property MainPID --value kybern)
test "$(stat -c %U "/proc/$pid")" = kybern
grep -q '^NoNewPrivs:[[:space:]]*1$' "/proc/$pid/status"
grep -q '^Seccomp:[[:space:]]*2$' "/proc/$pid/status"
grep -q '^CapEff:[[:space:]]*0000000000000000$' "/proc/$pid/status"
test "$(stat -c %U:%G:%a /var/lib/kybern/master.key)" = kybern:kybern:600
# The first key was given, so none was printed.
if journalctl -u kybern | grep kyb_; then exit 1; fi
systemctl is-enabled --quiet kybern
