//! `extract_documents`: two-stage extraction by a named schema, as it comes, or by one that the plan brings itself. What
//! the fields of a named one mean is for a domain's own extraction tool to say.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use kybern_core::count::count;
use kybern_core::error::{Detail, ErrorCode};
use kybern_core::model::ExtractionSchema;
use kybern_core::model::own_schema::OwnSchemas;
use kybern_core::ports::{Tool, ToolContext};
use kybern_core::time::Millis;
use kybern_core::tool::{ToolFailure, ToolNeeds, ToolOutcome, ToolSpec};
use serde_json::{Map, Value, json};

use super::{contact_schema, own};
use crate::args::{fields, text};
use crate::reading::{self, ReadDocument};

/// The tool.
#[derive(Debug)]
pub struct ExtractDocuments {
    spec: ToolSpec,
    schemas: BTreeMap<String, Arc<ExtractionSchema>>,
    own: OwnSchemas,
}

impl ExtractDocuments {
    /// The tool with the schemas that it offers, by name.
    #[must_use]
    pub fn new(schemas: BTreeMap<String, Arc<ExtractionSchema>>) -> Self {
        let names: Vec<&str> = schemas.keys().map(String::as_str).collect();
        let whose = format!(
            "whose fields to look for: {}; null means contact. Or a schema of one's own, with a name and with fields that \
             have name, type and labels by language, see docs/own-schemas.md",
            names.join(", ")
        );
        let input = json!({
            "type": "object",
            "properties": {"schema": {"type": ["string", "object", "null"], "description": whose}},
            "additionalProperties": false
        });
        let description = "Finds out what each attached document and the message are, then extracts the fields that \
                           are there, with source and confidence.";
        let taken = [own::EXTRACTIONS, own::CATEGORIES, own::FOR_REVIEW].into_iter().map(str::to_owned);
        let own = OwnSchemas::new(schemas.keys().cloned().chain(taken).collect());
        Self {
            schemas,
            own,
            spec: ToolSpec {
                aliases: vec!["core.extract_documents".to_owned()],
                domain: "core".to_owned(),
                untrusted_output: true,
                timeout: Millis::from_secs(120),
                needs: ToolNeeds { task: true, documents: true, model: true, ..ToolNeeds::default() },
                ..ToolSpec::read("extract_documents", description, input)
                    .shown(&["document", "fields", "pdf", "read"], json!({"schema": "contact"}))
            },
        }
    }
}

impl ExtractDocuments {
    /// The bundled schema that the arguments name.
    fn named(&self, args: &Map<String, Value>) -> Result<(String, &Arc<ExtractionSchema>), String> {
        let name = text(args, "schema").unwrap_or_else(|| contact_schema::NAME.to_owned());
        let known = || self.schemas.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
        let unknown = || format!("there is no extraction schema {name:?}, use one of {}", known());
        let schema = self.schemas.get(&name).ok_or_else(unknown)?;
        Ok((name, schema))
    }
}

#[async_trait]
impl Tool for ExtractDocuments {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn faults(&self, args: &Map<String, Value>) -> Vec<Detail> {
        match args.get("schema") {
            Some(own @ Value::Object(_)) => {
                let faults = self.own.faults(own).into_iter();
                faults.map(|fault| Detail::new(format!("/schema{}", fault.path), fault.message)).collect()
            }
            _ => self.named(args).err().map(|unknown| Detail::new("/schema", unknown)).into_iter().collect(),
        }
    }

    async fn call(&self, context: &ToolContext, args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
        if let Some(schema) = args.get("schema").filter(|schema| schema.is_object()) {
            let refused = |faults: Vec<Detail>| {
                let told = faults.first().map(|fault| format!("schema{}: {}", fault.path, fault.message));
                ToolFailure::permanent(told.unwrap_or_default()).code(ErrorCode::Validation)
            };
            let schema = self.own.get(context.tenant(), schema).map_err(refused)?;
            return own::read(context, &schema).await;
        }
        let (name, schema) = self.named(&args).map_err(ToolFailure::permanent)?;
        let read = reading::read_all(context, schema).await?;
        let found: usize = read.iter().map(|document| document.extraction.fields.len()).sum();
        let summary =
            format!("read {} by the schema {name:?}, found {}", count(read.len(), "document"), count(found, "field"));
        let categories: Vec<&str> =
            read.iter().filter_map(|document| document.extraction.analysis.category.as_deref()).collect();
        let data = fields([
            ("extractions", read.iter().map(ReadDocument::to_json).collect()),
            ("document_categories", json!(categories)),
            ("fields_for_review", json!(reading::doubtful(&read))),
        ]);
        Ok(ToolOutcome::new(data, summary))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::World;

    fn tool() -> ExtractDocuments {
        let schemas = [("contact".to_owned(), contact_schema::schema())];
        ExtractDocuments::new(schemas.into_iter().collect())
    }

    #[tokio::test]
    async fn documents_and_the_message_are_read_with_sources() {
        let mut world = World::new();
        world.mail("a@b.example", "x", "DOT: 9104417");
        world.document("a.txt", "Company Name: Acme LLC");
        let data = world.run(&tool(), json!({})).await;
        let found = &data["extractions"];
        assert_eq!(found[0]["filename"], "a.txt");
        assert_eq!(found[0]["fields"][0]["value"], "Acme LLC");
        assert_eq!(found[0]["fields"][0]["source"]["document"], 1);
        assert_eq!((&found[1]["n"], &found[1]["fields"][0]["value"]), (&json!(0), &json!("9104417")));
    }

    #[tokio::test]
    async fn an_unknown_schema_is_named_with_those_that_exist() {
        let failure = World::new().call(&tool(), json!({"schema": "x"})).await.unwrap_err();
        assert!(failure.message.contains("contact"), "{failure}");
    }
}
