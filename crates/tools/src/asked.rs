//! What a call of an injected tool asks, and of which datasets, as far as they are named.

use forebay_store::DatasetId;
use serde_json::Value;

/// What is asked.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    /// The query, or the arguments without the dataset's name.
    pub(crate) what: String,
    /// Each once.
    pub(crate) datasets: Vec<DatasetId>,
}

impl Asked {
    /// What the arguments of a call say.
    pub(crate) fn of(arguments: &Value) -> Self {
        let Value::Object(members) = arguments else { return Self::default() };
        let mut datasets = Vec::new();
        for value in members.values() {
            find(value, &mut datasets);
        }
        let what = if let Some(Value::String(query)) = members.get("query") {
            query.clone()
        } else {
            let others = members.iter().filter(|(name, _)| *name != "dataset_id");
            let others: serde_json::Map<_, _> =
                others.map(|(name, value)| (name.clone(), value.clone())).collect();
            if others.is_empty() { String::new() } else { Value::Object(others).to_string() }
        };
        Self { what, datasets }
    }
}

/// Finds the names of datasets in a value.
fn find(value: &Value, found: &mut Vec<DatasetId>) {
    match value {
        Value::String(text) => {
            let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
            for word in text.split(|letter| !is_part(letter)) {
                let is_name = word.starts_with("dataset_");
                let id =
                    word.get(..DatasetId::LENGTH).filter(|_| is_name).and_then(DatasetId::parse);
                found.extend(id.filter(|id| !found.contains(id)));
            }
        }
        Value::Array(all) => all.iter().for_each(|value| find(value, found)),
        Value::Object(members) => members.values().for_each(|value| find(value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
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
        assert_eq!(asked(json!({"dataset_id": one})), (String::new(), one));
        assert_eq!(asked(json!("x")), (String::new(), String::new()));
    }
}
