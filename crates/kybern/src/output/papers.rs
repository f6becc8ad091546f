//! A question about documents: the text that a person confirms, line by line, with a mark at what may be wrong in it, and
//! each way to answer.

use serde_json::{Value, json};

use super::command::kybern;
use super::read::read_table;
use super::table::Table;
use super::text::{clean, field};

/// One document that is asked about.
#[derive(Clone, Debug)]
pub(crate) struct AskedPaper {
    pub(crate) n: String,
    /// Its name.
    pub(crate) filename: String,
    /// The name of the text that was read of it, with which a person confirms it; none where nothing was read.
    pub(crate) confirm: Option<String>,
    pages: Vec<Value>,
    /// What was read out of it; `None` where nobody knows.
    fields: Option<Vec<Value>>,
    /// What is wrong with it, and what helps.
    problem: String,
}

/// The documents that a wait asks about.
pub(crate) fn papers(wait: &Value) -> Vec<AskedPaper> {
    let listed = |name: &str| wait.pointer(&format!("/details/{name}")).and_then(Value::as_array);
    let asked = wait.pointer("/schema/properties/documents/properties").and_then(Value::as_object);
    let paper = |n: &String| {
        let find = |name: &str| listed(name).into_iter().flatten().find(|file| field(file, "n") == *n);
        let (scan, extraction) = (find("scans"), find("extractions"));
        let file = scan.or_else(|| find("files"));
        let said = |name: &str| file.map(|file| field(file, name)).filter(|text| !text.is_empty());
        let list = |of: &Value, name: &str| of.get(name).and_then(Value::as_array).cloned();
        AskedPaper {
            n: clean(n),
            filename: said("filename").unwrap_or_else(|| format!("file {}", clean(n))),
            confirm: said("confirm"),
            pages: scan.and_then(|scan| list(scan, "pages")).unwrap_or_default(),
            fields: extraction.and_then(|extraction| list(extraction, "fields")),
            problem: [said("problem"), said("remedy")].into_iter().flatten().collect::<Vec<_>>().join("; "),
        }
    };
    asked.into_iter().flat_map(|asked| asked.keys()).map(paper).collect()
}

impl AskedPaper {
    /// What a person has to see to answer: what is wrong with it, or each page's text with where its picture is.
    pub(super) fn shown(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if self.confirm.is_none() {
            lines.push(format!("file {} {}: {}", self.n, self.filename, self.problem));
        }
        for page in &self.pages {
            let of = |name: &str| field(page, name);
            let sure = match (page.get("read").and_then(Value::as_bool), page.get("confidence")) {
                (Some(false), _) => ", not read".to_owned(),
                (_, None | Some(Value::Null)) => String::new(),
                (_, Some(sure)) => format!(", least sure word {sure}"),
            };
            let number = of("page");
            let picture = fetching(&of("picture"));
            lines.push(format!("{} page {number}{sure}: look at it with {picture}", self.filename));
            lines.push("the text that was read, which a yes confirms:".to_owned());
            lines.extend(self.marked(page));
        }
        lines
    }

    /// The lines of a page's text, with what is known to be doubtful about each.
    fn marked(&self, page: &Value) -> Vec<String> {
        let text = page.get("text").and_then(Value::as_str).unwrap_or_default();
        let mut start = 0;
        let mut lines = Vec::new();
        for line in text.split('\n') {
            let span = (start, start + line.len());
            start = span.1 + 1;
            let doubts = self.doubts(page, line, span);
            let line = clean(line);
            lines.push(match doubts.is_empty() {
                true => format!("  | {}", line.trim_end()).trim_end().to_owned(),
                false => format!("! | {}   <- {}", line.trim_end(), doubts.join("; ")),
            });
        }
        lines
    }

    fn doubts(&self, page: &Value, line: &str, (start, end): (usize, usize)) -> Vec<String> {
        let place =
            |of: &Value, name: &str| of.get(name).and_then(Value::as_u64).and_then(|at| usize::try_from(at).ok());
        let within =
            |of: &Value| place(of, "start").zip(place(of, "end")).is_some_and(|(from, to)| from < end && start < to);
        let unsure = page.get("unsure").and_then(Value::as_array).into_iter().flatten().filter(|word| within(word));
        let unsure: Vec<String> =
            unsure.map(|word| format!("{} ({})", field(word, "words"), field(word, "confidence"))).collect();
        let mut doubts = Vec::new();
        if !unsure.is_empty() {
            doubts.push(format!("not sure of {}", unsure.join(", ")));
        }
        let Some(fields) = &self.fields else { return doubts };
        let is_here = |found: &&Value| {
            let source = found.get("source").unwrap_or(&Value::Null);
            source.get("page") == page.get("page") && within(source)
        };
        let here: Vec<&Value> = fields.iter().filter(is_here).collect();
        doubts.extend(here.iter().map(|found| field(found, "problem")).filter(|problem| !problem.is_empty()));
        // Numbers, dates and amounts are what is read out of papers.
        if here.is_empty() && line.contains(|c: char| c.is_ascii_digit()) {
            doubts.push("no value was read in this line".to_owned());
        }
        doubts
    }

    /// Its answers, the likeliest first: what each means, and how it is written.
    pub(super) fn answers(&self) -> Vec<(&'static str, Value)> {
        let mut answers = Vec::new();
        if let Some(read) = &self.confirm {
            let words = json!([{"replace": "OLD WORDS", "with": "NEW WORDS"}]);
            answers.push(("it says that", json!({"confirm": read})));
            answers.push(("with words corrected", json!({"confirm": read, "corrections": words})));
        }
        let typed = ("typed in", json!({"text": "WHAT IT SAYS"}));
        let left_out = ("left out", json!({"ignore": true}));
        match self.confirm {
            Some(_) => answers.extend([typed, left_out]),
            None => answers.extend([left_out, typed]),
        }
        answers
    }

    /// How often these words stand in its text.
    pub(crate) fn count(&self, words: &str) -> usize {
        let text = |page: &Value| page.get("text").and_then(Value::as_str).unwrap_or_default().matches(words).count();
        if words.is_empty() { 0 } else { self.pages.iter().map(text).sum() }
    }
}

/// The commands that answer for these documents: one for each way where there is one document; where there are several,
/// one for all and then what may stand in it for each.
pub(super) fn commands(papers: &[AskedPaper], command: &str) -> Vec<(String, String)> {
    let written = |answer: Value| format!("{command} --set documents='{answer}'");
    if let [paper] = papers {
        let all = paper.answers().into_iter();
        return all.map(|(what, answer)| (what.to_owned(), written(json!({&paper.n: answer})))).collect();
    }
    let first = papers.iter().filter_map(|paper| Some((paper.n.clone(), paper.answers().into_iter().next()?.1)));
    let mut commands = vec![("answer".to_owned(), written(first.collect()))];
    for paper in papers {
        let ways: Vec<String> = paper.answers().iter().map(|(what, answer)| format!("{what} {answer}")).collect();
        commands.push((format!("for {} ({})", paper.n, paper.filename), ways.join(", ")));
    }
    commands
}

/// The command that fetches a picture of which the API tells the place.
fn fetching(picture: &str) -> String {
    let parts = picture.strip_prefix("/api/tasks/").and_then(|rest| rest.split_once("/attachments/"));
    let parts = parts.and_then(|(task, rest)| rest.split_once("?page=").map(|(n, page)| (task, n, page)));
    match parts {
        Some((task, n, page)) => format!("{} task attachment {task} {n} --page {page}", kybern()),
        None => format!("GET {picture}"),
    }
}

/// What was read from pictures and waits for a person, as rows; `None` where nothing was.
pub(super) fn read_of_wait(wait: &Value) -> Option<Table> {
    wait.pointer("/details/scans")?;
    let extractions = wait.pointer("/details/extractions").and_then(Value::as_array)?;
    let (table, _all) = read_table(extractions, usize::MAX);
    (!table.is_empty()).then_some(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(numbers: &[&str]) -> Value {
        let page = |n: u32, read: bool, sure: Value| {
            json!({"page": n, "picture": format!("/api/tasks/t1/attachments/3?page={n}"), "read": read,
                "text": "DOT 9171809\n\nWabash 1JV532\nVIN 7", "confidence": sure,
                "unsure": [{"words": "1JV532", "start": 20, "end": 26, "confidence": 0.47}]})
        };
        let found = |start: u32, end: u32, problem: Value| json!({"name": "x", "problem": problem, "source": {"page": 2, "start": start, "end": end}});
        let fields = json!([found(4, 11, Value::Null), found(31, 32, json!("the check digit is 4, it should be 7"))]);
        let properties: serde_json::Map<String, Value> = numbers.iter().map(|n| ((*n).to_owned(), json!({}))).collect();
        json!({
            "schema": {"properties": {"documents": {"properties": properties}}},
            "details": {
                "extractions": [{"n": 3, "fields": fields}],
                "files": [{"n": 4, "filename": "locked.pdf", "problem": "it wants a password", "remedy": "type it in"}],
                "scans": [{"n": 3, "filename": "a.tif", "confirm": "h", "pages": [page(2, true, json!(0.47))]}]
            }
        })
    }

    #[test]
    fn the_text_that_is_confirmed_is_shown_with_what_may_be_wrong_in_it() {
        let lines = papers(&wait(&["3"]))[0].shown();
        assert_eq!(
            lines,
            [
                "a.tif page 2, least sure word 0.47: look at it with kybern task attachment t1 3 --page 2",
                "the text that was read, which a yes confirms:",
                "  | DOT 9171809",
                "  |",
                "! | Wabash 1JV532   <- not sure of 1JV532 (0.47); no value was read in this line",
                "! | VIN 7   <- the check digit is 4, it should be 7",
            ]
        );
        assert_eq!(papers(&wait(&["4"]))[0].shown(), ["file 4 locked.pdf: it wants a password; type it in"]);
        assert!(read_of_wait(&wait(&["3"])).is_some());
        assert!(papers(&json!({"details": {"files": []}})).is_empty());
    }

    #[test]
    fn each_way_to_answer_is_a_command() {
        let written = |numbers: &[&str]| -> Vec<String> {
            let all = commands(&papers(&wait(numbers)), "review").into_iter();
            all.map(|(what, command)| format!("{what}: {command}")).collect()
        };
        assert_eq!(
            written(&["3"]),
            [
                "it says that: review --set documents='{\"3\":{\"confirm\":\"h\"}}'",
                "with words corrected: review --set documents='{\"3\":{\"confirm\":\"h\",\"corrections\":[{\"replace\":\"OLD \
                 WORDS\",\"with\":\"NEW WORDS\"}]}}'",
                "typed in: review --set documents='{\"3\":{\"text\":\"WHAT IT SAYS\"}}'",
                "left out: review --set documents='{\"3\":{\"ignore\":true}}'",
            ]
        );
        let both = written(&["3", "4"]);
        assert_eq!(both[0], "answer: review --set documents='{\"3\":{\"confirm\":\"h\"},\"4\":{\"ignore\":true}}'");
        assert!(both[2].starts_with("for 4 (locked.pdf): left out {\"ignore\":true}, typed in"), "{both:?}");
    }
}
