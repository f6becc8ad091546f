//! The tables of an archive, parents before children. The test of the round trip finds a table or column that is
//! missing here.

use super::agent_tables::AGENT_TABLES;

/// How a column is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// An id.
    U,
    /// A number.
    I,
    /// A fraction.
    F,
    /// Text.
    T,
}

use Kind::{F, I, T, U};

/// A table.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) name: &'static str,
    pub(super) columns: &'static [(&'static str, Kind)],
}

impl Table {
    /// The column that says whose a row is.
    pub(super) fn owner(&self) -> &'static str {
        if self.name == "tenant" { "id" } else { "tenant_id" }
    }

    /// The same column's place.
    pub(super) fn owner_at(&self) -> usize {
        self.columns.iter().position(|(name, _)| *name == self.owner()).unwrap_or(0)
    }

    /// A query of its rows, tenant by tenant; of one tenant only where `one` is set.
    pub(super) fn select(&self, one: bool) -> String {
        let columns: Vec<&str> = self.columns.iter().map(|(name, _)| *name).collect();
        let filter = if one { format!(" WHERE {} = $1", self.owner()) } else { String::new() };
        format!("SELECT {} FROM {}{filter} ORDER BY {}", columns.join(", "), self.name, self.owner())
    }

    /// An insertion of some of its columns, for several rows at once.
    pub(super) fn insert(&self, columns: &[&str], rows: usize) -> String {
        let width = columns.len();
        let row = |n: usize| {
            let places: Vec<String> = (1..=width).map(|at| format!("${}", n * width + at)).collect();
            format!("({})", places.join(", "))
        };
        let values: Vec<String> = (0..rows).map(row).collect();
        format!("INSERT INTO {} ({}) VALUES {}", self.name, columns.join(", "), values.join(", "))
    }
}

/// Every table.
pub(super) fn every_table() -> impl Iterator<Item = &'static Table> {
    TABLES.iter().chain(AGENT_TABLES)
}

const TABLES: &[Table] = &[
    Table { name: "tenant", columns: &[("id", U), ("name", T), ("slug", T), ("created_at", I)] },
    Table {
        name: "app_user",
        columns: &[
            ("tenant_id", U),
            ("id", U),
            ("name", T),
            ("email", T),
            ("roles", T),
            ("timezone", T),
            ("created_at", I),
            ("made_by_user_id", U),
        ],
    },
    Table {
        name: "api_key",
        columns: &[
            ("tenant_id", U),
            ("id", U),
            ("user_id", U),
            ("name", T),
            ("prefix", T),
            ("roles", T),
            ("scopes", T),
            ("expires_at", I),
            ("revoked_at", I),
            ("created_at", I),
            ("key_hash", T),
            ("made_by_key_id", U),
            ("made_by_user_id", U),
        ],
    },
    Table {
        name: "outbound_webhook",
        columns: &[("tenant_id", U), ("id", U), ("url", T), ("events", T), ("active", I), ("created_at", I)],
    },
    Table { name: "frozen_plan", columns: &[("tenant_id", U), ("hash", T), ("body", T)] },
    Table {
        name: "task",
        columns: &[
            ("id", U),
            ("tenant_id", U),
            ("channel", T),
            ("source", T),
            ("dedupe_key", T),
            ("body_hash", T),
            ("status", T),
            ("input", T),
            ("payload", T),
            ("created_by", T),
            ("user_id", U),
            ("intent", T),
            ("confidence", F),
            ("plan_key", T),
            ("plan_version", I),
            ("plan_hash", T),
            ("max_steps", I),
            ("confidence_threshold", F),
            ("budget_nanos", I),
            ("input_tokens", I),
            ("output_tokens", I),
            ("cost_nanos", I),
            ("trace_id", T),
            ("parent_id", U),
            ("parent_step", T),
            ("depth", I),
            ("waits", T),
            ("current_step", T),
            ("workflow_id", T),
            ("result", T),
            ("error", T),
            ("created_at", I),
            ("started_at", I),
            ("completed_at", I),
            ("paused_at", I),
            ("cancel_requested", I),
            ("recoveries", I),
            ("signals", I),
            ("lease_owner", T),
            ("lease_epoch", I),
            ("claimable_at", I),
            ("forked_from", U),
            ("rights", I),
            ("kind", T),
        ],
    },
    Table {
        name: "task_hold",
        columns: &[("tenant_id", U), ("task_id", U), ("reason", T), ("held_by", T), ("held_at", I)],
    },
    Table {
        name: "step_row",
        columns: &[
            ("task_id", U),
            ("seq", I),
            ("tenant_id", U),
            ("kind", T),
            ("status", T),
            ("step_id", T),
            ("tool_key", T),
            ("at", I),
            ("body", T),
        ],
    },
    Table {
        name: "attempt",
        columns: &[
            ("tenant_id", U),
            ("task_id", U),
            ("step_id", T),
            ("generation", I),
            ("attempt", I),
            ("n", I),
            ("tool", T),
            ("effect", T),
            ("args_hash", T),
            ("epoch", I),
            ("at", I),
            ("rendered", T),
        ],
    },
    Table {
        name: "delegation",
        columns: &[
            ("tenant_id", U),
            ("task_id", U),
            ("workflow_id", T),
            ("step_id", T),
            ("workflow", T),
            ("deadline", I),
            ("seq", I),
            ("at", I),
        ],
    },
    Table {
        name: "signal",
        columns: &[
            ("tenant_id", U),
            ("task_id", U),
            ("number", I),
            ("kind", T),
            ("dedupe_key", T),
            ("body_hash", T),
            ("body", T),
            ("at", I),
        ],
    },
    Table {
        name: "attachment",
        columns: &[
            ("tenant_id", U),
            ("task_id", U),
            ("n", I),
            ("filename", T),
            ("content_type", T),
            ("size", I),
            ("hash", T),
            ("source", T),
        ],
    },
    Table {
        name: "record",
        columns: &[
            ("tenant_id", U),
            ("id", U),
            ("kind", T),
            ("key", T),
            ("props", T),
            ("version", I),
            ("created_at", I),
            ("updated_at", I),
        ],
    },
    Table {
        name: "artifact_link",
        columns: &[
            ("tenant_id", U),
            ("task_id", U),
            ("n", I),
            ("kind", T),
            ("record_id", U),
            ("key", T),
            ("role", T),
            ("metadata", T),
            ("step_id", T),
            ("tool_key", T),
            ("at", I),
        ],
    },
    Table {
        name: "record_lookup",
        columns: &[("tenant_id", U), ("record_id", U), ("kind", T), ("name", T), ("value", T), ("is_unique", I)],
    },
    Table {
        name: "plan",
        columns: &[
            ("tenant_id", U),
            ("id", U),
            ("key", T),
            ("version", I),
            ("active", I),
            ("body", T),
            ("created_at", I),
        ],
    },
    Table {
        name: "outbox",
        columns: &[
            ("tenant_id", U),
            ("id", U),
            ("task_id", U),
            ("channel", T),
            ("target", T),
            ("key", T),
            ("body", T),
            ("status", T),
            ("attempts", I),
            ("error", T),
            ("created_at", I),
            ("sent_at", I),
        ],
    },
    Table {
        name: "job",
        columns: &[
            ("tenant_id", U),
            ("id", U),
            ("kind", T),
            ("payload", T),
            ("dedupe_key", T),
            ("status", T),
            ("attempts", I),
            ("max_attempts", I),
            ("last_error", T),
            ("lease_owner", T),
            ("lease_epoch", I),
            ("claimable_at", I),
            ("created_at", I),
            ("finished_at", I),
        ],
    },
    Table {
        name: "idempotency",
        columns: &[
            ("tenant_id", U),
            ("principal", T),
            ("route", T),
            ("key", T),
            ("body_hash", T),
            ("status", I),
            ("body", T),
            ("taken_at", I),
            ("expires_at", I),
            ("seed", U),
            ("tries", I),
        ],
    },
    Table {
        name: "audit_event",
        columns: &[("tenant_id", U), ("seq", I), ("at", I), ("body", T), ("prev_hash", T), ("hash", T)],
    },
    Table {
        name: "audit_head",
        columns: &[("tenant_id", U), ("seq", I), ("hash", T), ("removed_seq", I), ("removed_hash", T)],
    },
    Table {
        name: "usage_row",
        columns: &[
            ("tenant_id", U),
            ("task_id", U),
            ("seq", I),
            ("step_id", T),
            ("tool_key", T),
            ("generation", I),
            ("attempt", I),
            ("input_tokens", I),
            ("output_tokens", I),
            ("cost_nanos", I),
            ("at", I),
        ],
    },
    Table {
        name: "budget",
        columns: &[
            ("tenant_id", U),
            ("id", U),
            ("subject", T),
            ("period", T),
            ("limit_cost", I),
            ("limit_tokens", I),
            ("limit_calls", I),
            ("created_at", I),
            ("updated_at", I),
        ],
    },
    Table {
        name: "account",
        columns: &[("tenant_id", U), ("payer", T), ("day", I), ("used_cost", I), ("used_tokens", I), ("used_calls", I)],
    },
    Table {
        name: "reservation",
        columns: &[
            ("tenant_id", U),
            ("id", U),
            ("owner", T),
            ("kind", T),
            ("name", T),
            ("provider", T),
            ("user_id", U),
            ("tree_id", U),
            ("cost", I),
            ("tokens", I),
            ("calls", I),
            ("day", I),
            ("expires_at", I),
        ],
    },
    Table {
        name: "usage_day",
        columns: &[
            ("tenant_id", U),
            ("day", I),
            ("kind", T),
            ("name", T),
            ("provider", T),
            ("user_id", T),
            ("calls", I),
            ("failed", I),
            ("estimated", I),
            ("input_tokens", I),
            ("cached_tokens", I),
            ("output_tokens", I),
            ("cost_nanos", I),
        ],
    },
    Table { name: "model_policy", columns: &[("tenant_id", U), ("providers", T), ("updated_at", I)] },
    Table { name: "tenant_key", columns: &[("tenant_id", U), ("wrapped", T), ("created_at", I)] },
    Table {
        name: "secret",
        columns: &[
            ("tenant_id", U),
            ("name", T),
            ("version", I),
            ("hosts", T),
            ("description", T),
            ("sealed", T),
            ("created_by", T),
            ("created_at", I),
            ("updated_at", I),
        ],
    },
    Table { name: "rate_key", columns: &[("tenant_id", U), ("key", T), ("touched_at", I)] },
    Table { name: "rate_hit", columns: &[("tenant_id", U), ("key", T), ("at", I), ("hits", I)] },
    Table { name: "user_permission", columns: &[("tenant_id", U), ("user_id", U), ("policy", T), ("updated_at", I)] },
    Table { name: "tool_setting", columns: &[("tenant_id", U), ("tool", T), ("body", T), ("updated_at", I)] },
    Table {
        name: "approval",
        columns: &[
            ("tenant_id", U),
            ("id", U),
            ("task_id", U),
            ("step_id", T),
            ("wait_seq", I),
            ("kind", T),
            ("tool", T),
            ("user_id", U),
            ("reason", T),
            ("input", T),
            ("input_hash", T),
            ("status", T),
            ("created_at", I),
            ("expires_at", I),
            ("decided_at", I),
            ("decided_by", T),
            ("note", T),
            ("edited", I),
        ],
    },
    Table {
        name: "chat",
        columns: &[
            ("tenant_id", U),
            ("id", U),
            ("user_id", U),
            ("agent", T),
            ("title", T),
            ("forked_from", U),
            ("created_at", I),
            ("updated_at", I),
        ],
    },
    Table {
        name: "message",
        columns: &[
            ("tenant_id", U),
            ("chat_id", U),
            ("id", U),
            ("role", T),
            ("content", T),
            ("task_id", U),
            ("body", T),
            ("redacted_at", I),
            ("created_at", I),
        ],
    },
    Table {
        name: "turn",
        columns: &[("tenant_id", U), ("task_id", U), ("chat_id", U), ("message_id", U), ("waits", I)],
    },
];
