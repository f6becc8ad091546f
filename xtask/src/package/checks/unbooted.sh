dpkg --install /srv/kybern_VERSION_*.deb
test "$(stat -c %U:%G:%a /var/lib/kybern)" = kybern:kybern:750
cd /var/lib/kybern
setpriv --reuid=kybern --regid=kybern --init-groups kybern serve --config /etc/kybern/kybern.toml &
server=$!
curl -sS --retry 40 --retry-delay 1 --retry-all-errors --fail http://127.0.0.1:7171/readyz
kill -TERM "$server"
wait "$server"
test "$(stat -c %a /var/lib/kybern/master.key)" = 600
dpkg --remove kybern
test -s /var/lib/kybern/kybern.db
test -e /etc/kybern/kybern.toml
dpkg --purge kybern
test ! -e /etc/kybern
test -s /var/lib/kybern/kybern.db
