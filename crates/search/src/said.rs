//! How what a model has found is marked as its words, wherever it is shown.

use forebay_store::{Insight, Reused};

const BEGIN: &str = "A model (";
const MIDDLE: &str = ") said";
const END: &str = ": ";
/// No mark is longer.
const MAX_BYTES: usize = 200;

/// What stands before what a model has said: who it was, and of what other dataset, if it was of another.
pub fn mark(insight: &Insight) -> String {
    let of_another = insight.reused.as_ref().map(|Reused { from, similarity, .. }| {
        format!(" (of {from}, reused, similarity {similarity:.2})")
    });
    format!("{BEGIN}{}{MIDDLE}{}{END}", insight.model, of_another.unwrap_or_default())
}

/// The mark that a passage begins with, if it has one, and the rest.
pub fn parted(passage: &str) -> (&str, &str) {
    let end = || {
        let middle = passage.strip_prefix(BEGIN)?.find(MIDDLE)? + BEGIN.len();
        let end = middle + passage[middle..].find(END)? + END.len();
        (end <= MAX_BYTES).then_some(end)
    };
    passage.split_at(end().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use forebay_store::{DatasetId, InsightMetadata};

    use super::*;

    #[test]
    fn a_mark_tells_who_said_it_and_of_what() {
        let id = DatasetId::parse("dataset_k3v9x2ma").unwrap();
        let mut insight = Insight {
            key_findings: Vec::new(),
            actionable_insights: Vec::new(),
            metadata: InsightMetadata {
                tool_name: "list".to_owned(),
                server_id: "shop".to_owned(),
                timestamp: "2026-11-18T10:00:00Z".parse().unwrap(),
                artifact_id: id.clone(),
            },
            model: "qwen3:8b".to_owned(),
            reused: None,
        };
        let own = mark(&insight);
        assert_eq!(own, "A model (qwen3:8b) said: ");
        insight.reused = Some(Reused { from: id, similarity: 0.971, age_seconds: 60 });
        let again = mark(&insight);
        let told = "A model (qwen3:8b) said (of dataset_k3v9x2ma, reused, similarity 0.97): ";
        assert_eq!(again, told);
        for mark in [own, again] {
            let passage = format!("{mark}It is so: all of it.");
            assert_eq!(parted(&passage), (mark.as_str(), "It is so: all of it."));
        }
        for plain in ["It said: so", "A model (x", "A model (x) said so", ""] {
            assert_eq!(parted(plain), ("", plain));
        }
    }
}
