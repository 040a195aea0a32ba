//! What a model has answered, before anybody reads it: does it have the form that was asked for, is it
//! harmless, and does it say anything that the facts contradict?
//!
//! A line is dropped if the profile of the result contradicts a number in it ([`claims`]). What the profile
//! says nothing about stays: a model may see in the sample what no profile tells.

mod alike;
mod claims;
mod harmless;
mod known;
mod words;

use std::collections::HashSet;

use serde_json::Value;

pub(crate) use self::{harmless::name as model_name, known::Known};
use crate::failure::Failure;

/// How many findings there are to be.
pub(crate) const FINDINGS: std::ops::RangeInclusive<usize> = 3..=5;
/// How many insights there may be.
pub(crate) const MAX_INSIGHTS: usize = 5;
/// A longer line is none that was asked for.
const MAX_LINE_BYTES: usize = 1_000;

/// What a model has found, in lines that can be shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Lines {
    pub(crate) key_findings: Vec<String>,
    pub(crate) actionable_insights: Vec<String>,
}

impl Lines {
    /// Reads an answer, which must have the form that was asked for and nothing else.
    pub(crate) fn read(answer: &Value) -> Result<Self, Failure> {
        let wrong = |what: &str| Failure::WrongSchema(what.to_owned());
        let object = answer.as_object().ok_or_else(|| wrong("it is no object"))?;
        // The metadata are ours to say; a model that repeats the published form may name them.
        let known = ["keyFindings", "actionableInsights", "metadata"];
        if object.keys().any(|key| !known.contains(&key.as_str())) {
            return Err(wrong("it has members that were not asked for"));
        }
        let key_findings = lines(object.get("keyFindings"))
            .ok_or_else(|| wrong("`keyFindings` is no list of texts"))?;
        let actionable_insights = match object.get("actionableInsights") {
            None | Some(Value::Null) => Vec::new(),
            given => {
                lines(given).ok_or_else(|| wrong("`actionableInsights` is no list of texts"))?
            }
        };
        if key_findings.is_empty() && actionable_insights.is_empty() {
            return Err(Failure::Empty);
        }
        if !FINDINGS.contains(&key_findings.len()) {
            return Err(wrong("there are fewer than 3 key findings, or more than 5"));
        }
        if actionable_insights.len() > MAX_INSIGHTS {
            return Err(wrong("there are more than 5 actionable insights"));
        }
        Ok(Self { key_findings, actionable_insights }.without_doubles())
    }

    /// Without the lines that say again what one before them says.
    fn without_doubles(mut self) -> Self {
        let mut said = HashSet::new();
        let mut is_new = |line: &String| said.insert(line.trim_end_matches('.').to_lowercase());
        self.key_findings.retain(&mut is_new);
        self.actionable_insights.retain(&mut is_new);
        self
    }

    /// Without the lines that say something which is `known` to be otherwise, and how many these are; `None`
    /// in place of the lines if no finding is left.
    pub(crate) fn without_contradictions(self, known: &Known) -> (Option<Self>, u64) {
        self.with_those_that(|line| !claims::contradict(line, known))
    }

    /// The same of lines that were said of another result: without those, too, that have a number which this
    /// one is not known to have.
    pub(crate) fn without_what_is_not_known(self, known: &Known) -> (Option<Self>, u64) {
        self.with_those_that(|line| {
            !claims::contradict(line, known) && claims::are_known(line, known)
        })
    }

    fn with_those_that(mut self, stays: impl Fn(&str) -> bool) -> (Option<Self>, u64) {
        let before = self.key_findings.len() + self.actionable_insights.len();
        let stays = |line: &String| stays(line);
        self.key_findings.retain(stays);
        self.actionable_insights.retain(stays);
        let dropped = before - self.key_findings.len() - self.actionable_insights.len();
        let is_left = !self.key_findings.is_empty();
        (is_left.then_some(self), dropped as u64)
    }
}

/// A list of texts, none of which is empty, made harmless.
fn lines(list: Option<&Value>) -> Option<Vec<String>> {
    let texts = list?.as_array()?.iter().map(Value::as_str);
    let lines = texts.map(|text| {
        let line = harmless::line(text.filter(|text| text.len() <= MAX_LINE_BYTES)?);
        (!line.is_empty()).then_some(line)
    });
    lines.collect()
}

#[cfg(test)]
mod tests;
