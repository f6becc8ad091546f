//! What a tool wants written of the engine's own nouns, as effects of its step: whose word it is, and how far it may go,
//! is said here and not by the tool.

use kybern_core::audit::AuditEvent;
use kybern_core::error::{Error, ErrorCode};
use kybern_core::id::MemoryId;
use kybern_core::memory::{Memory, MemoryChange, NewMemory, Provenance};
use kybern_core::task::{
    Channel, Effect, MemoryEffect, NewChild, NewTask, Noun, NounEffect, PlanEffect, StepError, limits,
};
use kybern_core::time::Timestamp;
use kybern_core::tool::{Behalf, Submit, Write};
use serde_json::json;

use super::tool_call::ToolCall;
use crate::executor::step::failure;
use crate::executor::{Node, TaskRun};

/// Who says what a tool writes, and how far it is to be trusted.
struct WriteAuthor<'a> {
    run: &'a TaskRun,
    node: &'a Node,
    behalf: Behalf,
    now: Timestamp,
}

/// The effects of what a tool wants written; why there are none, when one of it may not be.
pub(super) fn effects(
    run: &TaskRun,
    call: &ToolCall,
    writes: Vec<Write>,
    now: Timestamp,
) -> Result<Vec<Effect>, StepError> {
    let node = run.walk.node(call.facts.index);
    let word = WriteAuthor { run, node, behalf: call.context.behalf, now };
    writes.into_iter().map(|write| word.effect(write, &call.context.key)).collect()
}

fn refused(error: Error) -> StepError {
    let places: Vec<&str> = error.details().iter().map(|detail| detail.message.as_str()).collect();
    let message = if places.is_empty() { error.to_string() } else { places.join("; ") };
    failure(error.code(), message)
}

impl WriteAuthor<'_> {
    fn effect(&self, write: Write, key: &str) -> Result<Effect, StepError> {
        match write {
            Write::Remember(id, new) => self.remember(id, *new),
            Write::Reword(before, change) => self.reword(*before, *change),
            Write::Accept(before) => self.accept(*before),
            Write::Forget(memory) => {
                let audit = self.audit("memory.delete", format!("memory:{}", memory.id), about(&memory));
                Ok(noun(Noun::Memory(MemoryEffect::Remove(*memory)), audit))
            }
            Write::Submit(task) => self.submit(*task, key),
            Write::Steer(task, wish) => {
                let audit = self.audit(wish.as_str(), format!("task:{task}"), json!({}));
                Ok(noun(Noun::Task(task, wish), audit))
            }
            Write::PutPlan(id, draft) => {
                let detail = json!({"key": draft.key, "version": draft.version});
                let audit = self.audit("plan.put", format!("plan:{}", draft.key), detail);
                Ok(noun(Noun::Plan(PlanEffect::Put { id, draft: *draft }), audit))
            }
            Write::RetirePlan(key, version) => {
                let audit = self.audit("plan.set_active", format!("plan:{key}"), json!({"active": false}));
                Ok(noun(Noun::Plan(PlanEffect::Retire { key, version }), audit))
            }
        }
    }

    fn remember(&self, id: MemoryId, new: NewMemory) -> Result<Effect, StepError> {
        let turn = self.run.task.turn();
        let provenance = Provenance {
            task: Some(self.run.task.id),
            chat: turn.map(|turn| turn.chat_id),
            message: turn.map(|turn| turn.answer_id),
            tool: self.node.spec.tool_key().map(str::to_owned),
            step: Some(self.node.id.clone()),
            place: new.provenance.place.clone(),
        };
        let new = NewMemory { provenance, ..new };
        let memory = self.behalf.remembered(new, id, self.now).map_err(refused)?;
        let audit = self.audit("memory.add", format!("memory:{id}"), about(&memory));
        Ok(noun(Noun::Memory(MemoryEffect::Add(memory)), audit))
    }

    fn reword(&self, before: Memory, change: MemoryChange) -> Result<Effect, StepError> {
        let after = self.behalf.reworded(&before, change, self.now).map_err(refused)?;
        let audit = self.audit("memory.change", format!("memory:{}", after.id), about(&after));
        Ok(noun(Noun::Memory(MemoryEffect::Change { before, after: Box::new(after) }), audit))
    }

    fn accept(&self, before: Memory) -> Result<Effect, StepError> {
        let after = self.behalf.accepted(&before, self.now).map_err(refused)?;
        let audit = self.audit("memory.accept", format!("memory:{}", after.id), about(&after));
        Ok(noun(Noun::Memory(MemoryEffect::Change { before, after: Box::new(after) }), audit))
    }

    /// A task that a step submits and does not wait for: a child, so that its tree pays for it and it cannot lie deeper
    /// than any. The key of the call stands for it, so it is submitted once.
    fn submit(&self, new: Submit, key: &str) -> Result<Effect, StepError> {
        let run = self.run;
        if run.task.depth >= limits::MAX_DEPTH {
            let message = format!("children may lie {} deep, this one would lie deeper", limits::MAX_DEPTH);
            return Err(failure(ErrorCode::Unprocessable, message));
        }
        // What a stranger wrote stays a stranger's when it is handed on.
        let strange = run.task.channel.is_untrusted() || self.behalf.tainted;
        let task = NewTask {
            channel: if strange { Channel::Webhook } else { Channel::System },
            dedupe_key: Some(key.to_owned()),
            input: new.input,
            payload: new.payload,
            plan: new.plan.map(|plan| run.kernel.frozen.freeze(&plan)),
            ..run.child(new.id, &self.node.id, self.now)
        };
        Ok(Effect::Spawn(Box::new(NewChild { task })))
    }

    fn audit(&self, action: &str, subject: String, mut detail: serde_json::Value) -> AuditEvent {
        detail["task"] = json!(self.run.task.id);
        detail["stepId"] = json!(self.node.id);
        detail["user"] = json!(self.run.task.user);
        AuditEvent::by_executor(action, subject, detail)
    }
}

fn noun(what: Noun, audit: AuditEvent) -> Effect {
    Effect::Noun(Box::new(NounEffect { what, audit }))
}

/// What the audit says of a memory. What the memory says is not in it.
fn about(memory: &Memory) -> serde_json::Value {
    crate::memory::detail(memory)
}
