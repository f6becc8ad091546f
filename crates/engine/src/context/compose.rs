//! Five layers become the messages of a request.

use kybern_core::context::{
    Layer, LayerUse, LeftOut, Origin, SearchHit, Section, SectionKind, Shares, WindowLimits, WindowMessage, fitting,
    shortened, that_fit, window,
};
use kybern_core::digest::DigestKey;
use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::model::{ModelMessage, Part, Role};
use kybern_core::money::Tokens;

use crate::fence::fenced;
use crate::models::prompt::{CORE, TOOL_RULES, TURN_CLOSING};

/// What stands for a result for which there is no room any more.
const LEFT_OUT: &str = "[left out: there was no room for it any more; call again if it is needed]";
/// Between two sections of a layer.
const BREAK: &str = "\n\n---\n\n";

/// Everything that a turn could be told.
#[derive(Clone, Debug)]
pub struct Material {
    /// The governed prompt, and what stands beside it.
    pub sections: Vec<Section>,
    /// What was remembered of the user and of what they talk about.
    pub memories: Vec<SearchHit>,
    /// What was found in documents.
    pub knowledge: Vec<SearchHit>,
    /// What was said, the message that is asked now at the end.
    pub conversation: Vec<WindowMessage>,
    /// What has happened in this turn: replies with calls, and their results. It follows the conversation whole.
    pub turn: Vec<WindowMessage>,
    /// How much of it is shown at most; its share of the window limits it too.
    pub limits: WindowLimits,
    /// Whether the model is given tools.
    pub tools: bool,
    /// What is said when it has to answer with what it has.
    pub closing: Option<&'static str>,
}

/// A prompt.
#[derive(Clone, Debug)]
pub struct ComposedPrompt {
    /// What is sent, in order.
    pub messages: Vec<ModelMessage>,
    /// What each layer took, the strongest first; a layer that says nothing is not there.
    pub layers: Vec<LayerUse>,
    /// What found no place.
    pub left_out: LeftOut,
    /// Whether somebody else than the user and the operators may have written some of it.
    pub tainted: bool,
}

/// A prompt that grows by layers.
struct Draft<'a> {
    count: &'a dyn Fn(&str) -> Tokens,
    key: &'a DigestKey,
    messages: Vec<ModelMessage>,
    layers: Vec<LayerUse>,
}

impl Draft<'_> {
    fn add(&mut self, layer: Layer, tokens: Tokens, messages: Vec<ModelMessage>) {
        if messages.is_empty() {
            return;
        }
        self.layers.push(LayerUse { layer, tokens, hash: self.key.digest_as_written(&messages) });
        self.messages.extend(messages);
    }

    /// Adds a layer of texts; answers how many tokens they take.
    fn add_texts(&mut self, layer: Layer, role: Role, texts: Vec<String>) -> Tokens {
        let texts: Vec<String> = texts.into_iter().filter(|text| !text.is_empty()).collect();
        let tokens = Tokens(texts.iter().map(|text| (self.count)(text).0).sum());
        let messages = texts.into_iter().map(|text| ModelMessage::text(role, text)).collect();
        self.add(layer, tokens, messages);
        tokens
    }
}

/// Writes a prompt. `count` says about how many tokens a text takes, `key` makes the digests.
///
/// # Errors
/// `UNPROCESSABLE` when the governed prompt takes more than half of all there is, or the message that is asked now does
/// not fit into what is left: neither is cut, because half an instruction is another one.
pub fn compose(
    material: Material,
    shares: &Shares,
    key: &DigestKey,
    count: &dyn Fn(&str) -> Tokens,
) -> Result<ComposedPrompt> {
    let Material { sections, memories, knowledge, conversation, turn, limits, tools, closing } = material;
    let mut left_out = LeftOut::default();
    let mut draft = Draft { count, key, messages: Vec::new(), layers: Vec::new() };
    let mut used = draft.add_texts(Layer::Core, Role::System, vec![CORE.text.to_owned()]).0;

    let [mut ours, mut wishes, mut facts] = [Layer::Prompt, Layer::Preferences, Layer::Retrieved]
        .map(|layer| sections.iter().filter(|section| section.kind.layer() == layer).cloned().collect::<Vec<_>>());
    let rules = if tools { TOOL_RULES.text } else { "" };
    let closing = closing.unwrap_or_default();
    // The last question has closing words in place of the rules: there is room for them from the first, so that they are
    // never what makes it fail.
    let for_rules = (count(rules).0 + count(closing).0).max(count(TURN_CLOSING.text).0);
    let fits = |sections: &mut Vec<Section>, share: u64, left_out: &mut LeftOut| {
        let all: Vec<SectionKind> = sections.iter().map(|section| section.kind).collect();
        *sections = fitting(std::mem::take(sections), Tokens(share));
        left_out.sections.extend(all.into_iter().filter(|kind| sections.iter().all(|section| section.kind != *kind)));
    };
    let stay: u64 = ours.iter().filter(|section| section.kind.stays()).map(|section| section.tokens.0).sum();
    let room = room(shares, stay + for_rules)?;
    fits(&mut ours, room.prompt.saturating_sub(for_rules), &mut left_out);
    let prompt = ours.iter().map(|section| section.text.as_str()).collect::<Vec<_>>().join(BREAK);
    used += draft.add_texts(Layer::Prompt, Role::System, vec![prompt, rules.to_owned(), closing.to_owned()]).0;

    // What is handed over as data takes its marks along, and they count.
    let frame = count(&fenced(&[(Origin::Document.as_str(), String::new())])).0;
    for section in &mut facts {
        section.tokens = Tokens(count(&section.text).0 + frame);
    }
    let all: Vec<SectionKind> = wishes.iter().map(|section| section.kind).collect();
    (wishes, left_out.items) = shortened(wishes, Tokens(shares.preferences.0.saturating_sub(frame)), count);
    let gone = all.into_iter().filter(|kind| wishes.iter().all(|section| section.kind != *kind));
    left_out.sections.extend(gone);
    left_out.sections.dedup();
    used += draft.add_texts(Layer::Preferences, Role::User, vec![material_of(Origin::User, &wishes)]).0;

    let (all_memories, all_knowledge) = (memories.len(), knowledge.len());
    let framed = |mut found: Vec<SearchHit>| {
        found.iter_mut().for_each(|one| one.tokens = Tokens(count(&one.title).0 + count(&one.text).0 + frame));
        found
    };
    let (memories, knowledge) =
        (that_fit(framed(memories), Tokens(room.memories)), that_fit(framed(knowledge), Tokens(room.knowledge)));
    (left_out.memories, left_out.knowledge) = (all_memories - memories.len(), all_knowledge - knowledge.len());
    let taken: u64 = memories.iter().map(|found| found.tokens.0).sum();
    fits(&mut facts, room.memories.saturating_sub(taken), &mut left_out);
    let found: Vec<&SearchHit> = memories.iter().chain(&knowledge).collect();
    let tainted = found.iter().any(|found| found.origin.taints());
    let looked_up: Vec<(&'static str, String)> = found
        .into_iter()
        .map(|found| (found.origin.as_str(), format!("{}\n{}", found.title, found.text)))
        .chain(facts.iter().map(|section| (Origin::Core.as_str(), section.text.clone())))
        .collect();
    let looked_up = if looked_up.is_empty() { String::new() } else { fenced(&looked_up) };
    used += draft.add_texts(Layer::Retrieved, Role::User, vec![looked_up]).0;

    // What the other layers leave is the conversation's.
    let kept_free = for_rules - count(rules).0 - count(closing).0;
    let left = shares.prompt_total().0.saturating_sub(used + kept_free);
    let mut turn = turn;
    let asked = conversation.last().map_or(0, |spoken| spoken.tokens.0);
    let for_turn = trimmed(&mut turn, left.saturating_sub(asked), count);
    let limits = WindowLimits { tokens: limits.tokens.min(Tokens(left.saturating_sub(for_turn))), ..limits };
    let shown = window(&conversation, &limits);
    left_out.messages = conversation.len() - shown.len();
    let spoken: Vec<&WindowMessage> = shown.iter().filter_map(|place| conversation.get(*place)).chain(&turn).collect();
    let tokens = spoken.iter().map(|spoken| spoken.tokens.0).sum();
    if tokens > left {
        return Err(too_long("the message, with what was called for it,", tokens, left, shares));
    }
    let tainted = tainted || spoken.iter().any(|spoken| spoken.tainted);
    draft.add(Layer::Conversation, Tokens(tokens), spoken.iter().map(|spoken| spoken.message.clone()).collect());
    let Draft { messages, layers, .. } = draft;
    Ok(ComposedPrompt { messages, layers, left_out, tainted })
}

/// The room of what may be longer than its share, or has to make way for that.
struct PromptRoom {
    prompt: u64,
    memories: u64,
    knowledge: u64,
}

/// A prompt that is longer than its share takes room from the conversation, half of it at most, and then from what was
/// looked up.
fn room(shares: &Shares, stays: u64) -> Result<PromptRoom> {
    let half = shares.prompt_total().0 / 2;
    if stays > half {
        return Err(too_long("the prompt of the agent", stays, half, shares));
    }
    // Beside a long prompt there is still room for small sections: the time is among them.
    let prompt = shares.prompt.0.max((stays + shares.prompt.0 / 8).min(half));
    let lacking = (prompt - shares.prompt.0).saturating_sub(shares.conversation.0 / 2);
    let knowledge = shares.knowledge.0.saturating_sub(lacking);
    let lacking = lacking.saturating_sub(shares.knowledge.0);
    Ok(PromptRoom { prompt, memories: shares.memories.0.saturating_sub(lacking), knowledge })
}

/// Makes room for what has happened in a turn: the oldest results go first, and say so. Answers what it takes.
fn trimmed(turn: &mut [WindowMessage], most: u64, count: &dyn Fn(&str) -> Tokens) -> u64 {
    let total = |turn: &[WindowMessage]| turn.iter().map(|spoken| spoken.tokens.0).sum::<u64>();
    for place in 0..turn.len() {
        let over = total(turn).saturating_sub(most);
        if over == 0 {
            break;
        }
        let Some(spoken) = turn.get_mut(place) else { break };
        let mut saved = 0;
        for part in &mut spoken.message.parts {
            let Part::ToolAnswer(answer) = part else { continue };
            let (before, after) = (count(&answer.content).0, count(LEFT_OUT).0);
            if before > after {
                LEFT_OUT.clone_into(&mut answer.content);
                saved += before - after;
            }
        }
        spoken.tokens = Tokens(spoken.tokens.0.saturating_sub(saved));
    }
    total(turn)
}

fn material_of(origin: Origin, sections: &[Section]) -> String {
    if sections.is_empty() {
        return String::new();
    }
    let written: Vec<String> = sections.iter().map(Section::written).collect();
    fenced(&[(origin.as_str(), written.join("\n"))])
}

fn too_long(what: &str, tokens: u64, room: u64, shares: &Shares) -> Error {
    let remedy = if shares.windowed {
        "shorten it, let the agent write shorter replies (maxTokens), or use a model with a larger window"
    } else {
        "shorten it: a step of a plan has no more, whatever the model's window"
    };
    let message = format!("{what} takes about {tokens} tokens, and {room} are there for it: {remedy}");
    Error::new(ErrorCode::Unprocessable, message)
}

#[cfg(test)]
mod tests;
