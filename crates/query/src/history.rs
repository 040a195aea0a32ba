//! All results of a tool as one table.
//!
//! They stand one under the other, with one type for each column, so that the same query is right for
//! all of them. A database reads one file much faster than thousands: all but the latest results are read
//! from segments, into which [`unite`] brings the rows of many.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use forebay_store::{DatasetId, Origin, Outline, Segment, Store};

use crate::{
    QueryError,
    columns::{self, Made, Type, literal, named, quoted},
    segments::{self, About, OURS, captured_at, in_file},
    tables::{self, History, Table},
    unite,
    views::{self, Files},
};

/// So many results are read one by one; if there are more, they are united first.
const FEW: usize = 16;

/// A segment that a history reads.
struct Placed {
    segment: Segment,
    about: About,
    /// The columns of those of its results that can be seen, with their places in the file.
    columns: Vec<(Made, usize)>,
}

impl Placed {
    /// `None` if none of its results can be seen.
    fn of(segment: Segment, is_seen: impl Fn(&DatasetId) -> bool) -> Option<Self> {
        let about = About::read(&segment)?;
        let forms = segment.datasets.iter().zip(&about.form_of);
        let seen: BTreeSet<usize> =
            forms.filter(|(id, _)| is_seen(id)).map(|(_, form)| *form).collect();
        let columns = if segment.datasets.iter().all(&is_seen) {
            about.columns.iter().cloned().zip(0..).collect()
        } else {
            about.columns_of(&seen)
        };
        (!seen.is_empty()).then_some(Self { segment, about, columns })
    }

    /// What of it is selected, to have these columns; `None` if it cannot be read so.
    fn selected(&self, columns: &[Made]) -> Option<String> {
        let mut places = HashMap::<String, BTreeSet<usize>>::new();
        for (own, place) in &self.columns {
            if own.kind != Type::Null {
                places.entry(own.name.to_ascii_lowercase()).or_default().insert(*place);
            }
        }
        let mut selected: Vec<String> = OURS.map(str::to_owned).into();
        for column in columns {
            let Some(places) = places.get(&column.name.to_ascii_lowercase()) else { continue };
            let cast = |place: &usize| {
                let (own, name) = (&self.about.columns[*place].kind, in_file(*place));
                let cast = own.cast(&name, &column.kind).unwrap_or(name);
                own.can_be_cast_to(&column.kind).then_some(cast)
            };
            let values = places.iter().map(cast).collect::<Option<Vec<String>>>()?;
            let value = match values.as_slice() {
                [value] => value.clone(),
                several => format!("coalesce({})", several.join(", ")),
            };
            selected.push(format!("{value} AS {}", quoted(&column.name)));
        }
        Some(selected.join(", "))
    }
}

/// The query for all results of a tool; `None` if none of them exists any more.
pub(crate) fn select(
    history: &History,
    files: &mut Files<'_>,
) -> Result<Option<String>, QueryError> {
    let workshop = files.workshop;
    workshop.watch.progress(0.0, &format!("reading {} results", history.results.len()));
    let mut of_projects = BTreeMap::<&str, Vec<&Outline>>::new();
    for result in &history.results {
        of_projects.entry(&result.project).or_default().push(result);
    }
    let mut parts = Vec::new();
    for (project, results) in of_projects {
        let (server, tool) = (history.server.clone(), history.tool.clone());
        let (principal, project) = (history.principal.clone(), project.to_owned());
        let origin = Origin { principal, server, tool, project };
        parts.push((Divided::of(workshop.store, &origin, &results)?, origin, results));
    }
    let new = parts.iter().map(|(divided, ..)| divided.new.len()).sum::<usize>();
    if new > FEW && workshop.store.is_writable() {
        for (divided, origin, results) in &mut parts {
            if !divided.new.is_empty() {
                unite::unite(workshop, origin, &divided.new)?;
                *divided = Divided::of(workshop.store, origin, results)?;
            }
        }
    }
    let (mut placed, mut alone) = (Vec::new(), HashSet::new());
    for (divided, ..) in parts {
        placed.extend(divided.placed);
        alone.extend(divided.new.iter().chain(&divided.apart).map(|result| result.id.clone()));
    }
    Whole::of(workshop.store, history, placed, &alone).select(files)
}

/// The results of an origin, by how they are read.
struct Divided<'r> {
    placed: Vec<Placed>,
    /// Those that can be united.
    new: Vec<&'r Outline>,
    /// Those that are left alone.
    apart: Vec<&'r Outline>,
}

impl<'r> Divided<'r> {
    fn of(store: &Store, origin: &Origin, results: &[&'r Outline]) -> Result<Self, QueryError> {
        let seen: HashSet<&DatasetId> = results.iter().map(|result| &result.id).collect();
        let united = store.united(origin, &|id| seen.contains(id))?;
        let mut divided = Self { placed: Vec::new(), new: Vec::new(), apart: Vec::new() };
        let mut taken = HashSet::new();
        for segment in united.segments {
            let Some(placed) = Placed::of(segment, |id| seen.contains(id)) else { continue };
            taken.extend(placed.segment.datasets.iter().cloned());
            divided.placed.push(placed);
        }
        for result in results.iter().filter(|result| !taken.contains(&result.id)) {
            let is_apart = united.apart.contains(&result.id);
            if is_apart { &mut divided.apart } else { &mut divided.new }.push(result);
        }
        Ok(divided)
    }
}

/// A result that is read by itself.
struct Alone<'r> {
    result: &'r Outline,
    table: Table,
    columns: Vec<Made>,
}

/// All results, and the columns that they have together.
struct Whole<'r> {
    /// Segments, with what of them is selected.
    segments: Vec<(Placed, String)>,
    alone: Vec<Alone<'r>>,
    /// Those that can be seen.
    seen: HashSet<&'r DatasetId>,
    columns: Vec<Made>,
}

impl<'r> Whole<'r> {
    fn of(
        store: &Store,
        history: &'r History,
        placed: Vec<Placed>,
        alone: &HashSet<DatasetId>,
    ) -> Self {
        let datasets = placed.iter().enumerate().flat_map(|(at, placed)| {
            placed.segment.datasets.iter().map(move |id| (id.clone(), at))
        });
        let place_of: HashMap<DatasetId, usize> = datasets.collect();
        let mut placed: Vec<Option<Placed>> = placed.into_iter().map(Some).collect();
        let (mut segments, mut singles) = (Vec::new(), Vec::new());
        // The newest results come first, and their columns.
        let mut forms = Vec::new();
        for result in &history.results {
            if let Some(at) = place_of.get(&result.id) {
                if let Some(placed) = placed[*at].take() {
                    forms.extend(placed.columns.iter().map(|(own, _)| own.clone()));
                    segments.push(placed);
                }
            } else if alone.contains(&result.id)
                && let Some(alone) = Alone::load(store, result)
            {
                forms.extend(alone.columns.iter().cloned());
                singles.push(alone);
            }
        }
        let mut whole = Self {
            segments: Vec::new(),
            alone: singles,
            seen: history.results.iter().map(|result| &result.id).collect(),
            columns: covering(&forms),
        };
        for placed in segments {
            if let Some(selected) = placed.selected(&whole.columns) {
                whole.segments.push((placed, selected));
                continue;
            }
            // What keeps it from being read so is not seen.
            let inside: HashSet<&DatasetId> = placed.segment.datasets.iter().collect();
            let results = history.results.iter().filter(|result| inside.contains(&result.id));
            whole.alone.extend(results.filter_map(|result| Alone::load(store, result)));
        }
        whole
    }

    fn select(&self, files: &mut Files<'_>) -> Result<Option<String>, QueryError> {
        let mut parts = Vec::new();
        if !self.segments.is_empty() {
            parts.push(heading(&self.columns));
        }
        for alone in &self.alone {
            parts.push(alone.select(&self.columns, files)?);
        }
        // Files with the same columns are read as one.
        let mut groups: Vec<(&[Made], &str, Vec<&Segment>)> = Vec::new();
        for (Placed { segment, about, .. }, selected) in &self.segments {
            files.paths.insert(segment.path.clone());
            let same = groups
                .iter_mut()
                .find(|(columns, known, _)| *columns == about.columns && known == selected);
            match same {
                Some((.., segments)) => segments.push(segment),
                None => groups.push((&about.columns, selected, vec![segment])),
            }
        }
        for (_, selected, segments) in groups {
            let paths = segments.iter().map(|segment| segment.path.as_path());
            let (reading, condition) = (segments::reading(paths), self.condition(&segments));
            parts.push(format!("SELECT {selected} FROM {reading}{condition}"));
        }
        Ok((!parts.is_empty()).then(|| parts.join(" UNION ALL BY NAME ")))
    }

    /// Leaves out what cannot be seen.
    fn condition(&self, segments: &[&Segment]) -> String {
        let all = segments.iter().flat_map(|segment| &segment.datasets);
        let (seen, unseen): (Vec<_>, Vec<_>) = all.partition(|id| self.seen.contains(id));
        let (is, ids) = if seen.len() < unseen.len() { ("IN", seen) } else { ("NOT IN", unseen) };
        if ids.is_empty() && is == "NOT IN" {
            return String::new();
        }
        let ids: Vec<String> = ids.iter().map(|id| literal(id.as_str())).collect();
        format!(" WHERE _dataset {is} ({})", ids.join(", "))
    }
}

impl<'r> Alone<'r> {
    /// `None` if it has just been removed, or is files without records: then it is no part of the history.
    fn load(store: &Store, result: &'r Outline) -> Option<Self> {
        let dataset = store.dataset(&result.id).ok().filter(|dataset| !dataset.is_of_files())?;
        let table = Table { dataset, index: 0 };
        let columns = tables::columns_of(&table);
        Some(Self { result, table, columns })
    }

    fn select(&self, united: &[Made], files: &mut Files<'_>) -> Result<String, QueryError> {
        let select = views::one(&self.table, files, false)?;
        let changed: Vec<String> = self
            .columns
            .iter()
            .filter_map(|own| {
                let column = named(united, &own.name)?;
                let cast = own.kind.cast(&quoted(&own.name), &column.kind)?;
                Some(format!("{cast} AS {}", quoted(&own.name)))
            })
            .collect();
        let columns = match changed.as_slice() {
            [] => "*".to_owned(),
            changed => format!("* REPLACE ({})", changed.join(", ")),
        };
        let arguments = tables::arguments(&self.table.dataset);
        Ok(format!(
            "SELECT {} AS _dataset, TIMESTAMP {} AS _captured_at, {}::JSON AS _arguments, {columns} \
             FROM ({select})",
            literal(self.result.id.as_str()),
            literal(&captured_at(self.result.timestamp)),
            arguments.map_or_else(|| "NULL".to_owned(), |arguments| literal(&arguments)),
        ))
    }
}

/// The columns that cover all of these, each name once.
fn covering(all: &[Made]) -> Vec<Made> {
    let mut distinct: Vec<&Made> = Vec::new();
    for column in all {
        if !distinct.contains(&column) {
            distinct.push(column);
        }
    }
    let united = distinct
        .iter()
        .fold(Vec::new(), |united, column| columns::united(united, vec![(*column).clone()]));
    // Where a column cannot be read as what covers all, it is JSON everywhere.
    let covering = united.into_iter().map(|column| {
        let mut own = distinct.iter().filter(|own| own.name.eq_ignore_ascii_case(&column.name));
        let fits = own.all(|own| own.kind.can_be_cast_to(&column.kind));
        if fits { column } else { Made { kind: Type::Json, ..column } }
    });
    covering.collect()
}

/// No rows, with all columns in their order.
fn heading(columns: &[Made]) -> String {
    let own = columns.iter().map(|it| format!("NULL::{} AS {}", it.kind.sql(), quoted(&it.name)));
    let ours = [("VARCHAR", "_dataset"), ("TIMESTAMP", "_captured_at"), ("JSON", "_arguments")];
    let ours = ours.map(|(kind, name)| format!("NULL::{kind} AS {name}"));
    let all: Vec<String> = ours.into_iter().chain(own).collect();
    format!("SELECT {} WHERE false", all.join(", "))
}
