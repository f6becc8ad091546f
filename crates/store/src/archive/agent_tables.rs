//! The tables of what agents are, are told and find; the others are in [`super::tables`].

use super::tables::Kind::{I, T, U};
use super::tables::Table;

/// They belong to tenants and users only, so they come behind all others.
pub(super) const AGENT_TABLES: &[Table] = &[
    Table { name: "user_preference", columns: &[("tenant_id", U), ("user_id", U), ("body", T), ("updated_at", I)] },
    Table {
        name: "agent",
        columns: &[
            ("tenant_id", U),
            ("id", U),
            ("key", T),
            ("body", T),
            ("version", I),
            ("created_at", I),
            ("updated_at", I),
        ],
    },
    Table {
        name: "prompt",
        columns: &[
            ("tenant_id", U),
            ("id", U),
            ("agent", T),
            ("version", I),
            ("text", T),
            ("status", T),
            ("authors", T),
            ("approved_by", U),
            ("note", T),
            ("created_at", I),
            ("updated_at", I),
        ],
    },
    Table {
        name: "memory",
        columns: &[
            ("tenant_id", U),
            ("id", U),
            ("subject_type", T),
            ("subject_id", U),
            ("content", T),
            ("category", T),
            ("importance", I),
            ("trust", T),
            ("status", T),
            ("provenance", T),
            ("expires_at", I),
            ("vector_model", T),
            ("vector", T),
            ("created_at", I),
            ("updated_at", I),
        ],
    },
    Table {
        name: "knowledge",
        columns: &[
            ("tenant_id", U),
            ("id", U),
            ("title", T),
            ("filename", T),
            ("content_type", T),
            ("hash", T),
            ("size", I),
            ("status", T),
            ("published", I),
            ("error", T),
            ("pieces", I),
            ("model", T),
            ("version", I),
            ("created_by", U),
            ("created_at", I),
            ("updated_at", I),
        ],
    },
    Table {
        name: "knowledge_piece",
        columns: &[
            ("tenant_id", U),
            ("knowledge_id", U),
            ("n", I),
            ("page", I),
            ("text", T),
            ("vector_model", T),
            ("vector", T),
        ],
    },
];
