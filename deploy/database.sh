#!/bin/sh
# The image of PostgreSQL runs this once, when it makes its database. Kybern's role is no superuser and creates no roles.
set -eu

psql --username postgres --set ON_ERROR_STOP=1 --set password="$POSTGRES_PASSWORD" <<'SQL'
CREATE ROLE kybern LOGIN PASSWORD :'password';
CREATE ROLE kybern_app NOLOGIN;
CREATE ROLE kybern_worker NOLOGIN;
GRANT kybern_app, kybern_worker TO kybern;
CREATE DATABASE kybern OWNER kybern;
SQL
