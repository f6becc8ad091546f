test "$(systemctl is-active kybern)" = inactive
test "$(systemctl is-enabled kybern)" = disabled
test "$(stat -c %U:%G:%a /etc/kybern/kybern.env)" = root:root:600
test "$(stat -c %U:%G:%a /etc/kybern/kybern.toml)" = root:kybern:640
test "$(stat -c %U:%G:%a /etc/kybern)" = root:kybern:750
test "$(stat -c %U:%G:%a /var/lib/kybern)" = kybern:kybern:750
test "$(stat -c %U:%G:%a /var/backups/kybern)" = kybern:kybern:750
systemd-analyze verify kybern.service kybern-backup.service kybern-backup.timer
test -f /usr/share/bash-completion/completions/kybern
# grep reads to the end: one that stops at its match would end dpkg with SIGPIPE.
dpkg --listfiles kybern | grep /usr/share/man/man1/kybern-task-submit.1.gz > /dev/null
