//! What a model has found, behind the summary and marked as its words.

use std::fmt::Write as _;

use forebay_records::tokens;
use forebay_store::{CAUTION, Insight};
use serde_json::{Value, json};

use super::harmless::harmless;

const MAX_LINE_CHARS: usize = 400;
const MAX_BY_CHARS: usize = 200;

/// The name under which a result's `_meta`, or the facts, hold what was found.
pub(crate) const KEY: &str = "insights";

/// As much of what was found as there is room for.
#[derive(Debug)]
pub(crate) struct Shown {
    /// In words.
    pub(crate) text: String,
    /// The same lines, for programs.
    pub(crate) insight: Insight,
}

/// What was found, within `budget` tokens of words: advice goes first, then the last findings; at least
/// one finding stays.
pub(crate) fn within(insight: &Insight, budget: u64) -> Shown {
    let (mut found, mut advice) = (insight.key_findings.len(), insight.actionable_insights.len());
    loop {
        let text = written(insight, found, advice);
        if tokens(&text) <= budget || (found <= 1 && advice == 0) {
            let mut insight = insight.clone();
            insight.key_findings.truncate(found);
            insight.actionable_insights.truncate(advice);
            return Shown { text, insight };
        }
        if advice > 0 && (advice > 1 || found <= 3) {
            advice -= 1;
        } else if found > 1 {
            found -= 1;
        } else {
            advice -= 1;
        }
    }
}

fn written(insight: &Insight, found: usize, advice: usize) -> String {
    let mut out = format!("\n\n{CAUTION}\nKey findings ({}):", by(insight));
    for line in insight.key_findings.iter().take(found) {
        let _ = write!(out, "\n- {}", harmless(line, MAX_LINE_CHARS));
    }
    if advice > 0 {
        out.push_str("\nActionable insights:");
        for line in insight.actionable_insights.iter().take(advice) {
            let _ = write!(out, "\n- {}", harmless(line, MAX_LINE_CHARS));
        }
    }
    out
}

/// Who found it, and of what.
fn by(insight: &Insight) -> String {
    harmless(&insight.by(), MAX_BY_CHARS)
}

/// The same as JSON; what comes from another dataset says so.
pub(crate) fn object(insight: &Insight) -> Value {
    let Insight { key_findings, actionable_insights, metadata, model: _, reused } = insight;
    let mut object = json!({
        "keyFindings": key_findings,
        "actionableInsights": actionable_insights,
        "metadata": metadata,
    });
    if let Some(reused) = reused {
        object["reused"] = json!(reused);
    }
    object
}

/// Adds what was found to the facts, which are a JSON object.
pub(crate) fn added_to(facts: &str, insight: &Insight) -> Option<String> {
    let mut facts: Value = serde_json::from_str(facts).ok()?;
    facts[KEY] = object(insight);
    facts["insights_by"] = by(insight).into();
    facts["insights_caution"] = CAUTION.into();
    Some(facts.to_string())
}

#[cfg(test)]
mod tests {
    use forebay_store::{DatasetId, InsightMetadata, Reused};

    use super::*;

    fn insight(found: usize, advice: usize) -> Insight {
        let id = DatasetId::parse("dataset_k3v9x2ma").unwrap();
        let lines =
            |word: &str, count| (1..=count).map(|it| format!("{word} number {it}.")).collect();
        Insight {
            key_findings: lines("Finding", found),
            actionable_insights: lines("Advice", advice),
            metadata: InsightMetadata {
                tool_name: "list".to_owned(),
                server_id: "shop".to_owned(),
                timestamp: "2026-11-18T10:00:00Z".parse().unwrap(),
                artifact_id: id,
            },
            model: "a-model".to_owned(),
            reused: None,
        }
    }

    #[test]
    fn what_was_found_is_told_with_who_found_it_and_as_much_as_fits() {
        let insight = insight(5, 2);
        let all = within(&insight, 1_000).text;
        assert_eq!(all.matches("\n- ").count(), 7, "{all}");
        let heading = "\n\nA model wrote this from a sample; it may be wrong.\n\
                       Key findings (by a-model):\n- Finding number 1.";
        assert!(all.starts_with(heading), "{all}");
        let mut before = usize::MAX;
        for budget in (0..100).rev() {
            let Shown { text, insight } = within(&insight, budget);
            let lines = text.matches("\n- ").count();
            let for_programs = insight.key_findings.len() + insight.actionable_insights.len();
            assert_eq!(lines, for_programs, "programs are told the same");
            assert!(lines <= before && lines >= 1, "{text}");
            assert!(tokens(&text) <= budget || lines == 1, "{budget}: {text}");
            before = lines;
        }
        assert_eq!(before, 1);
    }

    #[test]
    fn what_comes_from_another_dataset_says_so() {
        let mut insight = insight(1, 0);
        let from = DatasetId::parse("dataset_22222222").unwrap();
        for (age_seconds, told) in [(5, "5 s"), (725, "12 min"), (7_300, "2 h 1 min")] {
            insight.reused = Some(Reused { from: from.clone(), similarity: 0.971, age_seconds });
            let text = within(&insight, 100).text;
            let told =
                format!("(by a-model, reused from dataset_22222222, similarity 0.97, {told} old)");
            assert!(text.contains(&told), "{text}");
            let marked = json!({"from": "dataset_22222222", "similarity": 0.971_f32, "ageSeconds": age_seconds});
            assert_eq!(object(&insight)["reused"], marked);
        }
    }

    #[test]
    fn no_line_of_a_models_can_pass_for_another() {
        let mut insight = insight(1, 0);
        insight.key_findings[0] = "one\ntwo\u{202e}\u{1b}[31m\r- three".to_owned();
        let text = within(&insight, 100).text;
        assert_eq!(text.lines().count(), 5, "{text}");
        assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'), "{text}");
    }

    #[test]
    fn the_object_has_the_published_form() {
        let facts = added_to(r#"{"dataset_id":"x"}"#, &insight(3, 1)).unwrap();
        let facts: Value = serde_json::from_str(&facts).unwrap();
        assert_eq!(facts["dataset_id"], "x");
        assert_eq!(
            facts[KEY]["metadata"],
            json!({"toolName": "list", "serverId": "shop", "timestamp": "2026-11-18T10:00:00Z",
                   "artifactId": "dataset_k3v9x2ma"})
        );
        assert_eq!(facts[KEY]["keyFindings"].as_array().unwrap().len(), 3);
        assert_eq!(facts[KEY].as_object().unwrap().len(), 3);
        assert_eq!(facts["insights_caution"], CAUTION);
    }
}
