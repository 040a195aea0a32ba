//! What the datasets of the shelf can be told apart by, with how many there are of each.
//!
//! A facet tells what would be listed if its value were chosen: all other filters hold, its own does not. Of a search,
//! which lists no more than the best, it tells how many of these have the value; choosing it seeks among all that do.

use forebay_store::{Facet as Counted, Filter, Store, Tag, Total};
use forebay_text::grouped;
use serde::Serialize;

use super::Line;
use crate::{given::Given, problem::Problem};

/// How many values a facet shows.
const MAX_VALUES: usize = 12;
/// The sizes to choose from.
const SIZES: [(u64, &str); 4] = [
    (10_000, "10 kB and more"),
    (100_000, "100 kB and more"),
    (1_000_000, "1 MB and more"),
    (10_000_000, "10 MB and more"),
];

/// Values, each with how many datasets have it, if that is known.
type Counts = Vec<(String, Option<u64>)>;

/// What datasets can be told apart by.
#[derive(Serialize)]
pub(crate) struct Facet {
    pub(crate) name: &'static str,
    pub(crate) values: Vec<Choice>,
    /// How many values are not shown.
    pub(crate) more: usize,
    /// Where they are.
    #[serde(skip)]
    pub(crate) all: String,
}

/// A value of a facet.
#[derive(Serialize)]
pub(crate) struct Choice {
    value: String,
    datasets: Option<u64>,
    pub(crate) is_chosen: bool,
    #[serde(skip)]
    pub(crate) link: String,
}

/// The facets of what a filter lets through.
pub(super) fn of_filter(
    store: &Store,
    given: &Given,
    filter: &Filter,
) -> Result<Vec<Facet>, Problem> {
    let without_server = Filter { server: None, ..filter.clone() };
    let without_tool = Filter { tool: None, ..filter.clone() };
    let without_day = Filter { from: None, until: None, ..filter.clone() };
    let without_tags = Filter { tags: Vec::new(), ..filter.clone() };
    let totals = store.totals(&filter.viewer)?;
    let of = |filter: &Filter, facet| counted(store, filter, facet, &totals);
    let tags = of(&without_tags, Counted::Tag)?;
    let tags = tags.into_iter().filter(|(tag, _)| Tag::parse(tag).is_ok()).collect();
    Ok(shown(
        of(&without_server, Counted::Server)?,
        of(&without_tool, Counted::Tool)?,
        of(&without_day, Counted::Day)?,
        tags,
        given,
    ))
}

/// The facets of what a search has found.
pub(super) fn of_lines(lines: &[Line], given: &Given) -> Vec<Facet> {
    let (mut servers, mut tools, mut days, mut tags) =
        <(Counts, Counts, Counts, Counts)>::default();
    for line in lines {
        add(&mut servers, &line.server, 1);
        add(&mut tools, &line.tool, 1);
        add(&mut days, &line.day(), 1);
        line.tags.iter().for_each(|tag| add(&mut tags, tag, 1));
    }
    shown(servers, tools, days, tags, given)
}

fn shown(
    servers: Counts,
    tools: Counts,
    mut days: Counts,
    tags: Counts,
    given: &Given,
) -> Vec<Facet> {
    days.sort_by(|one, other| other.0.cmp(&one.0));
    let sizes = SIZES.map(|(bytes, _)| (bytes.to_string(), None)).into();
    let all = [
        Facet::of("server", by_count(servers), given),
        Facet::of("tool", by_count(tools), given),
        Facet::of("day", days, given),
        Facet::of("size", sizes, given),
        Facet::of("tag", by_count(tags), given),
    ];
    all.into_iter().filter(|facet| !facet.values.is_empty()).collect()
}

/// The values of a facet under a filter. What is kept up by the store itself is not counted again.
fn counted(
    store: &Store,
    filter: &Filter,
    facet: Counted,
    totals: &[Total],
) -> Result<Counts, Problem> {
    let is_of_origins = filter.tags.is_empty()
        && filter.min_bytes.is_none()
        && filter.from.is_none()
        && filter.until.is_none();
    let is_of = |wanted: &Option<String>, name: &str| wanted.as_deref().is_none_or(|it| it == name);
    let mut counts = Counts::new();
    match facet {
        Counted::Server | Counted::Tool if is_of_origins => {
            for Total { server, tool, datasets, .. } in totals {
                if is_of(&filter.server, server) && is_of(&filter.tool, tool) {
                    let value = if facet == Counted::Server { server } else { tool };
                    add(&mut counts, value, *datasets);
                }
            }
        }
        Counted::Day if is_of_origins => {
            let (server, tool) = (filter.server.as_deref(), filter.tool.as_deref());
            let days = store.days(&filter.viewer, server, tool)?;
            counts.extend(days.into_iter().map(|(day, count)| (day.to_string(), Some(count))));
        }
        Counted::Server | Counted::Tool | Counted::Day | Counted::Tag => {
            let found = store.facet(filter, facet)?;
            counts.extend(found.into_iter().map(|(value, count)| (value, Some(count))));
        }
    }
    Ok(counts)
}

fn add(counts: &mut Counts, name: &str, datasets: u64) {
    match counts.iter_mut().find(|(known, _)| known == name) {
        Some((_, count)) => *count = count.map(|count| count + datasets),
        None => counts.push((name.to_owned(), Some(datasets))),
    }
}

fn by_count(mut values: Counts) -> Counts {
    values.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
    values
}

impl Facet {
    fn of(name: &'static str, values: Counts, given: &Given) -> Self {
        let parameter = if name == "size" { "min" } else { name };
        let is_chosen = |value: &str| given.all(parameter).any(|it| it == value);
        let is_whole = given.all("all").any(|it| it == name);
        let total = values.len();
        let shown = values
            .into_iter()
            .enumerate()
            .filter(|(index, (value, _))| is_whole || *index < MAX_VALUES || is_chosen(value));
        let values: Vec<Choice> = shown
            .map(|(_, (value, datasets))| {
                let is_chosen = is_chosen(&value);
                let without = given.without(parameter).without("page");
                let link = if is_chosen { without } else { without.with(parameter, &value) };
                Choice { link: link.at("/shelf"), value, datasets, is_chosen }
            })
            .collect();
        let more = total - values.len();
        Self { name, values, more, all: given.and("all", name).at("/shelf") }
    }
}

impl Facet {
    pub(crate) fn more_told(&self) -> String {
        format!("and {} more", grouped(self.more as u64))
    }
}

impl Choice {
    pub(crate) fn told(&self) -> String {
        let bytes = self.value.parse::<u64>().ok();
        let size = SIZES.iter().find(|(size, _)| Some(*size) == bytes);
        size.map_or_else(|| self.value.clone(), |(_, told)| (*told).to_owned())
    }

    pub(crate) fn count(&self) -> String {
        self.datasets.map(grouped).unwrap_or_default()
    }
}
