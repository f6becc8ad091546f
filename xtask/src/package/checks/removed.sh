test ! -e /usr/bin/kybern
test ! -e /usr/lib/systemd/system/kybern.service
test ! -e /etc/systemd/system/multi-user.target.wants/kybern.service
test ! -e /etc/kybern
test -z "$(dpkg-query --show --showformat '${Conffiles}' kybern 2>/dev/null)"
test -s /var/lib/kybern/master.key
ls /var/backups/kybern/*.backup
test "$(runuser -u postgres -- psql -At kybern -c 'SELECT count(*) > 1 FROM task')" = t
getent passwd kybern

# The machine is lost: the package is installed on another one, over a key and a backup.
KEPT_BACKUP=$(ls -t /var/backups/kybern/*.backup | head -n 1)
cp /var/lib/kybern/master.key "$KEPT_BACKUP" /tmp/
rm -r /var/lib/kybern /var/backups/kybern
runuser -u postgres -- dropdb kybern
runuser -u postgres -- createdb --owner kybern kybern
apt-get install -y ./kybern_0.1.0_*.deb
cp kept.toml /etc/kybern/kybern.toml
install -o kybern -g kybern -m 600 master.key /var/lib/kybern/master.key
install -o kybern -g kybern -m 600 "$(basename "$KEPT_BACKUP")" /var/backups/kybern/
runuser -u kybern -- kybern restore --config /etc/kybern/kybern.toml "$KEPT_BACKUP"
env --unset=KYBERN_URL --unset=KYBERN_API_KEY runuser -u kybern -- kybern outbox list --config /etc/kybern/kybern.toml
systemctl enable --now kybern
curl -sS --retry 10 --retry-delay 1 --retry-all-errors --fail http://127.0.0.1:7171/readyz
kybern task show "$KEPT_TASK" || test $? = 3
