//! What models were asked about large results, and what it cost.

use std::{collections::BTreeMap, io::Write as _};

use anyhow::Result;
use forebay_insight::SUBJECT;
use forebay_store::Tally;
use serde_json::{Value, json};

use crate::cli::{
    figures::{counted, grouped, short},
    screen::Screen,
    table::{Column, Table},
};

/// What is counted of each provider.
pub(super) struct Models(BTreeMap<String, BTreeMap<String, u64>>);

impl Models {
    /// Those among all that is counted.
    pub(super) fn of(tallies: Vec<Tally>) -> Self {
        let mut models: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
        for Tally { subject, what, count } in tallies {
            if let Some(provider) = subject.strip_prefix(SUBJECT) {
                models.entry(provider.to_owned()).or_default().insert(what, count);
            }
        }
        Self(models)
    }

    /// Prints a table, if there is something to tell.
    pub(super) fn print(&self, screen: &mut Screen) -> Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        writeln!(screen, "\nSummaries by a model\n")?;
        let mut table = Table::new([
            Column::Flexible("PROVIDER"),
            Column::Right("ASKED"),
            Column::Right("ANSWERED"),
            Column::Right("LATE"),
            Column::Right("FAILED"),
            Column::Right("REUSED"),
            Column::Right("TOKENS IN"),
            Column::Right("TOKENS OUT"),
            Column::Right("ADDED"),
        ]);
        for (provider, counts) in &self.0 {
            let count = |what: &str| counts.get(what).copied().unwrap_or_default();
            table.push([
                provider.clone(),
                grouped(count("calls")),
                grouped(count("answers")),
                grouped(count("late")),
                grouped(count("failures")),
                reused(count("reused"), count("compared")),
                short(count("input_tokens")),
                short(count("output_tokens")),
                format!("{} ms", added_ms(counts)),
            ]);
        }
        table.print(screen)?;
        for (provider, counts) in &self.0 {
            let failures = failures(counts);
            if !failures.is_empty() {
                let told: Vec<String> = failures
                    .iter()
                    .map(|(kind, count)| format!("{} {}", grouped(*count), kind.replace('_', " ")))
                    .collect();
                writeln!(screen, "\nFailures of {provider}: {}.", told.join(", "))?;
            }
            let skipped = skipped(counts);
            if !skipped.is_empty() {
                writeln!(screen, "\nResults that {provider} was not asked about: {skipped}.")?;
            }
            let timed_out = counts.get("timed_out").copied().unwrap_or_default();
            if timed_out > 0 {
                let results = counted(timed_out, "result");
                writeln!(screen, "\n{results} went out before {provider} had answered.")?;
            }
            let dropped = counts.get("dropped_lines").copied().unwrap_or_default();
            if dropped > 0 {
                let lines = counted(dropped, "line");
                writeln!(
                    screen,
                    "{lines} of {provider} contradicted the facts and were left out."
                )?;
            }
        }
        Ok(())
    }

    /// The same as JSON; `None` if there is nothing to tell.
    pub(super) fn json(&self) -> Option<Value> {
        let told = self.0.iter().map(|(provider, counts)| {
            let count = |what: &str| counts.get(what).copied().unwrap_or_default();
            let told = json!({
                "calls": count("calls"),
                "answers": count("answers"),
                "timed_out": count("timed_out"),
                "late": count("late"),
                "failures": count("failures"),
                "failures_by_kind": failures(counts),
                "given": count("given"),
                "not_given": count("not_given"),
                "skipped_busy": count("skipped_busy"),
                "skipped_paused": count("skipped_paused"),
                "not_offered": count("not_offered"),
                "dropped_lines": count("dropped_lines"),
                "compared": count("compared"),
                "reused": count("reused"),
                "input_tokens": count("input_tokens"),
                "output_tokens": count("output_tokens"),
                "added_ms": added_ms(counts),
            });
            (provider.clone(), told)
        });
        (!self.0.is_empty()).then(|| Value::Object(told.collect()))
    }
}

/// How often each kind of failure came.
fn failures(counts: &BTreeMap<String, u64>) -> BTreeMap<&str, u64> {
    counts
        .iter()
        .filter_map(|(what, count)| Some((what.strip_prefix("failed_")?, *count)))
        .collect()
}

/// How many results were not read, and why.
fn skipped(counts: &BTreeMap<String, u64>) -> String {
    let reasons = [
        ("skipped_busy", "while as many questions as may be were under way"),
        ("skipped_paused", "after several failures"),
        ("not_offered", "since the client offers no sampling"),
    ];
    let told = reasons.iter().filter_map(|(what, why)| {
        let count = counts.get(*what).copied().filter(|count| *count > 0)?;
        Some(format!("{} {why}", grouped(count)))
    });
    told.collect::<Vec<_>>().join(", ")
}

/// By how many milliseconds a result came later, in the mean.
fn added_ms(counts: &BTreeMap<String, u64>) -> u64 {
    let count = |what: &str| counts.get(what).copied().unwrap_or_default();
    let results = count("given") + count("not_given");
    count("waited_micros") / results.max(1) / 1_000
}

/// How many, and of how many that were compared.
fn reused(reused: u64, compared: u64) -> String {
    match compared {
        0 => grouped(reused),
        compared => format!("{} ({} %)", grouped(reused), reused * 100 / compared),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_asked_is_told_with_why() {
        let counts = |pairs: &[(&str, u64)]| -> BTreeMap<String, u64> {
            pairs.iter().map(|(what, count)| ((*what).to_owned(), *count)).collect()
        };
        assert_eq!(skipped(&counts(&[("calls", 9), ("skipped_busy", 0)])), "");
        let all = counts(&[("skipped_busy", 1_200), ("skipped_paused", 3), ("not_offered", 1)]);
        assert_eq!(
            skipped(&all),
            "1,200 while as many questions as may be were under way, 3 after several failures, \
             1 since the client offers no sampling"
        );
    }
}
