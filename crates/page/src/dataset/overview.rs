//! What the model got beside the original, and where the dataset comes from.

use askama::Template;
use forebay_store::{Dataset, Insight};
use forebay_text::{grouped, size};
use serde::Serialize;

use super::{Head, original::Excerpt};
use crate::{
    Pages,
    frame::{Frame, Section},
    percent::exact_percent,
    problem::Problem,
    visible::visible,
};

/// How much of the original stands beside the summary.
const EXCERPT_BYTES: usize = 6_000;
/// How many questions are told.
const MAX_ASKED: u64 = 50;

/// A dataset, at a glance.
#[derive(Template, Serialize)]
#[template(path = "overview.html")]
pub(crate) struct Overview {
    #[serde(skip)]
    frame: Frame,
    dataset: Head,
    /// What stood in the original's place.
    summary: Option<String>,
    summary_tokens: Option<u64>,
    excerpt: Option<Excerpt>,
    /// Which block of the result the excerpt is of.
    block: usize,
    /// Why the original cannot be shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    damage: Option<String>,
    insight: Option<Insight>,
    files: Vec<File>,
    made_from: Vec<String>,
    query: Option<String>,
    asked: Vec<Question>,
}

/// A file that the dataset holds.
#[derive(Serialize)]
pub(crate) struct File {
    block: usize,
    name: String,
    media_type: String,
    bytes: u64,
    description: Option<String>,
    is_picture: bool,
}

/// What was asked of the dataset.
#[derive(Serialize)]
pub(crate) struct Question {
    at: jiff::Timestamp,
    tool: String,
    client: String,
    what: String,
}

impl Overview {
    pub(crate) fn of(pages: &Pages, id: &str) -> Result<Self, Problem> {
        let dataset = pages.dataset(id)?;
        let facts = dataset.facts();
        let excerpt = Excerpt::of(pages, &dataset, dataset.main_part(), 0, EXCERPT_BYTES);
        // What else is known of it can be shown, though its payload cannot.
        let (excerpt, damage) = match excerpt {
            Ok(excerpt) => (excerpt, None),
            Err(problem) => (None, Some(problem.what().to_owned())),
        };
        let frame = Frame::new(Section::Shelf, dataset.id().as_str());
        let asked = pages.desk.store()?.asked_of(dataset.id(), MAX_ASKED)?;
        let asked = asked.into_iter().map(|it| Question {
            at: it.at,
            tool: it.tool,
            client: it.client,
            what: it.what,
        });
        Ok(Self {
            frame,
            damage,
            summary: facts.summary_text.clone().filter(|text| !text.is_empty()),
            summary_tokens: facts.summary_tokens,
            excerpt,
            block: dataset.main_part(),
            insight: dataset.findings(),
            files: files(&dataset),
            made_from: facts.made_from.clone(),
            query: facts.query.clone(),
            asked: asked.collect(),
            dataset: Head::of(&dataset, "Overview"),
        })
    }

    fn head(&self) -> &Head {
        &self.dataset
    }

    /// True if links stood in the place of files, and nothing else was said of them.
    fn is_linked(&self) -> bool {
        self.summary.is_none() && !self.files.is_empty()
    }

    /// Which part of the original is shown, if there are several.
    fn block_told(&self) -> Option<String> {
        block_told(self.block, self.dataset.blocks, &self.files)
    }

    fn summary_extent(&self) -> String {
        if self.is_linked() {
            return String::new();
        }
        self.summary_tokens.map(|tokens| format!("{} tokens", grouped(tokens))).unwrap_or_default()
    }

    /// By how much what the model got is shorter.
    fn reduction(&self) -> Option<String> {
        let (all, given) = (self.dataset.tokens?, self.summary_tokens?);
        let kept_out = all.saturating_sub(given);
        let share = exact_percent(kept_out, all);
        (all > 0).then(|| format!("{} tokens kept out ({share})", grouped(kept_out)))
    }
}

impl File {
    fn size(&self) -> String {
        size(self.bytes)
    }
}

impl Question {
    fn when(&self) -> String {
        self.at.strftime("%Y-%m-%d %H:%M:%S").to_string()
    }
}

/// A block of a result that has several, by its place and, if it is a file, its name.
fn block_told(block: usize, blocks: usize, files: &[File]) -> Option<String> {
    let name = files.iter().find(|file| file.block == block);
    let name = name.map(|file| format!(" ({})", visible(&file.name))).unwrap_or_default();
    (blocks > 1).then(|| format!("block {block}{name}, one of {}:", grouped(blocks as u64)))
}

fn files(dataset: &Dataset) -> Vec<File> {
    let files = dataset.facts().files.iter().filter_map(|file| dataset.artifact(file.block));
    let file = |file: forebay_store::Artifact| File {
        is_picture: super::file::is_picture(&file.media_type),
        block: file.block,
        name: file.name,
        media_type: file.media_type,
        bytes: file.bytes,
        description: file.description,
    };
    files.map(file).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_blocks_the_one_that_is_shown_is_named() {
        let name = "report.csv".to_owned();
        let file = |block| File {
            block,
            name: name.clone(),
            media_type: "text/csv".to_owned(),
            bytes: 1,
            description: None,
            is_picture: false,
        };
        assert_eq!(block_told(0, 1, &[file(0)]), None);
        let told = |block| block_told(block, 3, &[file(1)]);
        assert_eq!(told(0).as_deref(), Some("block 0, one of 3:"));
        assert_eq!(told(1).as_deref(), Some("block 1 (report.csv), one of 3:"));
    }
}
