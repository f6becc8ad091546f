test "$(dpkg-query --show --showformat '${Version}' kybern)" != 0.1.0
test "$(systemctl show --property MainPID --value kybern)" != "$KEPT_PID"
systemctl is-active --quiet kybern
systemctl is-active --quiet kybern-backup.timer
grep -q "^public_url = \"https://$SITE\"$" /etc/kybern/kybern.toml
grep -q '^# Something new' /etc/kybern/kybern.toml.dpkg-dist
kybern task show "$KEPT_TASK" || test $? = 3
cp /etc/kybern/kybern.toml kept.toml
