//! What a call of an injected tool asks, and of which datasets: those that its arguments name, and those that were
//! read for its reply.

use forebay_store::DatasetId;
use serde_json::Value;

use crate::{arguments::dataset_and_table, reply::Reply};

/// The arguments that say by themselves what is asked.
const QUESTIONS: [&str; 2] = ["query", "code"];

/// What is asked.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    /// The query, the program, or the arguments without the dataset's name.
    pub(crate) what: String,
    /// Each once.
    pub(crate) datasets: Vec<DatasetId>,
}

impl Asked {
    /// What the arguments of a call say.
    pub(crate) fn of(arguments: &Value) -> Self {
        let Value::Object(members) = arguments else { return Self::default() };
        let mut datasets = Vec::new();
        // It need not be written in full.
        if let Some(Value::String(name)) = members.get("dataset_id") {
            datasets.extend(dataset_and_table(name).map(|(id, _)| id));
        }
        for value in members.values() {
            find(value, &mut datasets);
        }
        let question = QUESTIONS.iter().find_map(|name| members.get(*name)?.as_str());
        let what = if let Some(question) = question {
            question.to_owned()
        } else {
            let others = members.iter().filter(|(name, _)| *name != "dataset_id");
            let others: serde_json::Map<_, _> =
                others.map(|(name, value)| (name.clone(), value.clone())).collect();
            if others.is_empty() { String::new() } else { Value::Object(others).to_string() }
        };
        Self { what, datasets }
    }

    /// The datasets that it was asked of, now that there is a reply. What is refused was not asked of a dataset.
    pub(crate) fn datasets_with(&self, reply: &Reply) -> Vec<DatasetId> {
        if reply.is_error() {
            return Vec::new();
        }
        let others = reply.datasets().iter().filter(|id| !self.datasets.contains(id));
        self.datasets.iter().chain(others).cloned().collect()
    }
}

/// The datasets that a text names, each once, whether or not they exist.
pub(crate) fn named_in(text: &str) -> Vec<DatasetId> {
    let mut found = Vec::new();
    find_in_text(text, &mut found);
    found
}

/// Finds the names of datasets in a value.
fn find(value: &Value, found: &mut Vec<DatasetId>) {
    match value {
        Value::String(text) => find_in_text(text, found),
        Value::Array(all) => all.iter().for_each(|value| find(value, found)),
        Value::Object(members) => members.values().for_each(|value| find(value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn find_in_text(text: &str, found: &mut Vec<DatasetId>) {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    for word in text.split(|letter| !is_part(letter)) {
        // SQL does not tell capital letters from small ones.
        let start = word.get(..DatasetId::LENGTH).map(str::to_ascii_lowercase);
        let id = start.filter(|start| start.starts_with("dataset_"));
        let id = id.and_then(|id| DatasetId::parse(&id));
        found.extend(id.filter(|id| !found.contains(id)));
    }
}

#[cfg(test)]
mod tests {
    use forebay_query::Source;
    use jiff::Timestamp;
    use serde_json::json;

    use super::*;

    #[test]
    fn datasets_are_found_wherever_they_are_named() {
        let asked = |arguments: Value| {
            let asked = Asked::of(&arguments);
            let names: Vec<String> = asked.datasets.iter().map(ToString::to_string).collect();
            (asked.what, names.join(" "))
        };
        let sql = "FROM dataset_k3v9x2ma JOIN dataset_22222222_authors, dataset_k3v9x2ma";
        let both = "dataset_k3v9x2ma dataset_22222222".to_owned();
        assert_eq!(asked(json!({"query": sql})), (sql.to_owned(), both));
        let read = json!({"dataset_id": "dataset_k3v9x2ma", "page": 2});
        let one = "dataset_k3v9x2ma".to_owned();
        assert_eq!(asked(read), ("{\"page\":2}".to_owned(), one.clone()));
        for written in
            ["dataset_k3v9x2ma", "k3v9x2ma", "forebay://dataset/dataset_k3v9x2ma_authors"]
        {
            assert_eq!(asked(json!({"dataset_id": written})), (String::new(), one.clone()));
        }
        assert_eq!(asked(json!({"query": "FROM DATASET_K3V9X2MA"})).1, one);
        assert_eq!(asked(json!({"code": "return 1"})), ("return 1".to_owned(), String::new()));
        assert_eq!(asked(json!("x")), (String::new(), String::new()));
    }

    #[test]
    fn datasets_that_a_tools_name_stood_for_are_among_those_that_were_asked() {
        let [named, meant] = ["k3v9x2ma", "22222222"].map(|id| DatasetId::parse(id).unwrap());
        let source = |dataset: &DatasetId| Source {
            name: "list_orders".to_owned(),
            dataset: dataset.clone(),
            kept: Timestamp::UNIX_EPOCH,
            is_of_another_session: false,
        };
        let sources = [source(&meant), source(&named), source(&meant)];
        let asked = Asked::of(&json!({"query": format!("FROM {named} JOIN list_orders")}));
        let reply = Reply::text("1 row").and_sources(&sources);
        assert_eq!(asked.datasets_with(&reply), [named, meant]);
        assert_eq!(asked.datasets_with(&Reply::error("It fails.")), []);
    }
}
