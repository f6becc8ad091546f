test ! -e /usr/bin/kybern
test ! -e /usr/lib/systemd/system/kybern.service
test ! -e /etc/systemd/system/multi-user.target.wants/kybern.service
test ! -e /etc/kybern
test -z "$(dpkg-query --show --showformat '${Conffiles}' kybern 2>/dev/null)"
test -s /var/lib/kybern/master.key
ls /var/backups/kybern/*.backup
test "$(runuser -u postgres -- psql -At kybern -c 'SELECT count(*) > 1 FROM task')" = t
getent passwd kybern
# Installed again over what stayed, it goes on.
apt-get install -y ./kybern_0.1.0_*.deb
