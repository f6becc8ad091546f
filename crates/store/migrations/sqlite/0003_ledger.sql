-- What may be spent, what has been, what is promised, and how often something may be called.
CREATE TABLE budget (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    subject TEXT NOT NULL,
    period TEXT NOT NULL CHECK (period = 'day' OR period = 'month' OR period = 'whole'),
    limit_cost INTEGER CHECK (limit_cost >= 0),
    limit_tokens INTEGER CHECK (limit_tokens >= 0),
    limit_calls INTEGER CHECK (limit_calls >= 0),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, subject, period),
    FOREIGN KEY (tenant_id) REFERENCES tenant (id)
) STRICT;

-- What each payer has used on each day; a tree of tasks is counted under day 0.
CREATE TABLE account (
    tenant_id BLOB NOT NULL,
    payer TEXT NOT NULL,
    day INTEGER NOT NULL,
    used_cost INTEGER NOT NULL CHECK (used_cost >= 0),
    used_tokens INTEGER NOT NULL CHECK (used_tokens >= 0),
    used_calls INTEGER NOT NULL CHECK (used_calls >= 0),
    PRIMARY KEY (tenant_id, payer, day),
    FOREIGN KEY (tenant_id) REFERENCES tenant (id)
) STRICT, WITHOUT ROWID;

-- Open reservations only: a settled one is gone. So few rows need no further index, and each would be two more pages to
-- write for every call.
CREATE TABLE reservation (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    owner TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    provider TEXT NOT NULL,
    user_id BLOB,
    tree_id BLOB,
    cost INTEGER NOT NULL CHECK (cost >= 0),
    tokens INTEGER NOT NULL CHECK (tokens >= 0),
    calls INTEGER NOT NULL CHECK (calls >= 0),
    day INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id) REFERENCES tenant (id)
) STRICT, WITHOUT ROWID;

CREATE TABLE usage_day (
    tenant_id BLOB NOT NULL,
    day INTEGER NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    provider TEXT NOT NULL,
    user_id TEXT NOT NULL,
    calls INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    estimated INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    cached_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cost_nanos INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, day, kind, name, provider, user_id),
    FOREIGN KEY (tenant_id) REFERENCES tenant (id)
) STRICT, WITHOUT ROWID;

-- A rate's calls within its window. Whoever judges takes the key's row first.
CREATE TABLE rate_key (
    tenant_id BLOB NOT NULL,
    key TEXT NOT NULL,
    touched_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, key),
    FOREIGN KEY (tenant_id) REFERENCES tenant (id)
) STRICT, WITHOUT ROWID;

CREATE TABLE rate_hit (
    tenant_id BLOB NOT NULL,
    key TEXT NOT NULL,
    at INTEGER NOT NULL,
    hits INTEGER NOT NULL CHECK (hits > 0),
    PRIMARY KEY (tenant_id, key, at),
    FOREIGN KEY (tenant_id, key) REFERENCES rate_key (tenant_id, key)
) STRICT, WITHOUT ROWID;
