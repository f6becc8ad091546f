//! `memory.remember`: writes down what is to be remembered. Whose word it is decides whether it waits for a person.

use kybern_core::context::Importance;
use kybern_core::error::ErrorCode;
use kybern_core::id::MemoryId;
use kybern_core::json_schema::object;
use kybern_core::memory::{MAX_CONTENT, MAX_OF_SUBJECT, Memory, MemoryCategory, MemoryStatus, NewMemory, said_before};
use kybern_core::policy::ToolCategory;
use kybern_core::ports::{StatelessTool, ToolContext};
use kybern_core::tool::{ToolFailure, ToolNeeds, ToolOutcome, ToolSpec, Write};
use serde_json::{Map, Value, json};

use super::super::given::{maybe, moment, refused};
use super::{
    category_schema, confidence, confidence_schema, entity_schema, expiry_schema, importance_schema, place,
    place_schema, subject, text,
};

pub(super) fn tool() -> StatelessTool {
    let properties = json!({
        "content": {
            "type": "string", "minLength": 1, "maxLength": MAX_CONTENT, "pattern": "\\S",
            "description": "One sentence that can be understood by itself, and nothing secret. A model has 200 \
                            characters.",
        },
        "category": category_schema(),
        "importance": importance_schema(),
        "entity_id": entity_schema(),
        "confidence": confidence_schema(),
        "place": place_schema(),
        "expires_at": expiry_schema(),
    });
    let description = "Writes down what is to be remembered of the user, or of an entity. What a model writes waits \
                       until a person accepts it: memory_status says so. What is remembered in the same words \
                       already is answered as it stands.";
    let spec = ToolSpec {
        needs: ToolNeeds { memories: true, ..ToolNeeds::default() },
        category: ToolCategory::Memory,
        ..ToolSpec::local("memory.remember", description, object(properties, ["content"]))
    }
    .shown(
        &["note", "keep in mind", "preference", "fact"],
        json!({"content": "Prefers trains to planes.", "category": "preference", "importance": 6}),
    );
    StatelessTool::new(spec, |context, args| Box::pin(call(context, args)))
}

/// What the caller wants written.
fn wanted(context: &ToolContext, args: &Map<String, Value>) -> Result<NewMemory, ToolFailure> {
    let importance = args.get("importance").and_then(Value::as_u64).and_then(|number| u8::try_from(number).ok());
    Ok(NewMemory {
        category: maybe(args, "category").and_then(MemoryCategory::parse).unwrap_or_default(),
        importance: importance.and_then(|number| Importance::try_from(number).ok()).unwrap_or_default(),
        confidence: confidence(args),
        provenance: place(args),
        expires_at: moment(args, "expires_at")?.flatten(),
        ..NewMemory::fact(subject(context, args)?, text(args, "content")?)
    })
}

fn outcome(memory: &Memory, is_new: bool) -> ToolOutcome {
    let data =
        [("memory_id", json!(memory.id)), ("memory_status", json!(memory.status)), ("memory_created", json!(is_new))];
    let summary = match (is_new, memory.status) {
        (false, _) => "was known in the same words",
        (true, MemoryStatus::Active) => "remembered",
        (true, MemoryStatus::Pending | MemoryStatus::Rejected) => "waits until a person accepts it",
    };
    ToolOutcome::new(data, summary)
}

async fn call(context: &ToolContext, args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
    keep(context, wanted(context, &args)?).await
}

/// What was said before, answered as it stands. Where it waits for a person and what is said now does not, it holds from
/// now on: whoever says it has accepted it.
fn repeated(context: &ToolContext, known: &Memory, new: &Memory) -> Result<ToolOutcome, ToolFailure> {
    if (known.status, new.status) != (MemoryStatus::Pending, MemoryStatus::Active) {
        return Ok(outcome(known, false));
    }
    let mut outcome = outcome(&context.behalf.accepted(known, context.now).map_err(super::unkept)?, false);
    outcome.writes.push(Write::Accept(Box::new(known.clone())));
    Ok(outcome)
}

/// What is to be remembered, unless it is remembered in the same words.
pub(super) async fn keep(context: &ToolContext, new: NewMemory) -> Result<ToolOutcome, ToolFailure> {
    let id = MemoryId::from_uuid(context.ids.next());
    let memory = context.behalf.remembered(new.clone(), id, context.now).map_err(super::unkept)?;
    let known = context.nouns.memories()?.of(new.subject).await.map_err(refused)?;
    if let Some(known) = said_before(&known, &memory, context.now) {
        return repeated(context, known, &memory);
    }
    // Those that were rejected take no place, and are no more than as many again.
    let (counts, rejected): (Vec<&Memory>, Vec<&Memory>) = known.iter().partition(|memory| memory.status.counts());
    if counts.len().max(rejected.len()) >= usize::try_from(MAX_OF_SUBJECT).unwrap_or(usize::MAX) {
        let message = format!("a subject has at most {MAX_OF_SUBJECT} memories: remove some that do not matter");
        return Err(ToolFailure::permanent(message).code(ErrorCode::Unprocessable));
    }
    let mut outcome = outcome(&memory, true);
    outcome.writes.push(Write::Remember(id, Box::new(new)));
    Ok(outcome)
}
