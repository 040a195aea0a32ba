//! The records of many results as JSON lines, with the number of its result in each.

use std::{
    collections::HashSet,
    fs::File,
    io::{self, BufWriter, Write},
};

use forebay_records::Written;
use forebay_store::{DatasetId, Outline};

use crate::{
    QueryError,
    columns::{self, Made},
    rows::{self, Lines, Workshop},
    segments::OURS,
    tables::{self, Table},
};

/// A result in the making of a segment.
pub(super) struct Member<'r> {
    pub(super) result: &'r Outline,
    /// Its place in the chunk, from 1 on.
    pub(super) number: usize,
    pub(super) arguments: Option<String>,
    pub(super) form: Vec<Made>,
}

/// A file of lines of results that have columns of the same names in the same order.
pub(super) struct Stack<'r> {
    pub(super) columns: Vec<Made>,
    pub(super) lines: Lines,
    out: BufWriter<File>,
    pub(super) longest: usize,
    pub(super) rows: u64,
    pub(super) members: Vec<Member<'r>>,
}

impl Stack<'_> {
    fn new(lines: Lines, columns: &[Made]) -> io::Result<Self> {
        let out = BufWriter::with_capacity(1 << 16, File::create(&lines.0)?);
        let (columns, members) = (columns.to_vec(), Vec::new());
        Ok(Self { columns, lines, out, longest: 0, rows: 0, members })
    }
}

/// Writes the records of results down, in as few files as can be; tells those that cannot be united.
pub(super) fn gather<'r>(
    workshop: Workshop<'_>,
    results: &[&'r Outline],
    worker: usize,
) -> Result<(Vec<Stack<'r>>, Vec<DatasetId>), QueryError> {
    let (mut stacks, mut apart) = (Vec::<Stack<'r>>::new(), Vec::new());
    for (at, result) in results.iter().enumerate() {
        if workshop.watch.is_stopped() {
            return Err(workshop.watch.why());
        }
        let Some(records) = Records::of(workshop, result) else {
            apart.push(result.id.clone());
            continue;
        };
        let fitting = stacks.iter().enumerate().find_map(|(place, stack)| {
            Some((place, columns::joined(&stack.columns, &records.form)?))
        });
        let place = if let Some((place, joined)) = fitting {
            stacks[place].columns = joined;
            place
        } else {
            let name = format!("united-{worker}-{}.ndjson", stacks.len());
            stacks.push(Stack::new(Lines::new(workshop.spill, &name), &records.form)?);
            stacks.len() - 1
        };
        let stack = &mut stacks[place];
        let number = at + 1;
        records.write(number, &mut stack.out)?;
        stack.longest = stack.longest.max(records.longest);
        stack.rows += records.rows;
        let Records { form, arguments, .. } = records;
        stack.members.push(Member { result, number, arguments, form });
    }
    for stack in &mut stacks {
        stack.out.flush()?;
    }
    Ok((stacks, apart))
}

/// The records of a result.
struct Records {
    form: Vec<Made>,
    arguments: Option<String>,
    lines: Vec<u8>,
    rows: u64,
    longest: usize,
}

impl Records {
    /// Reads them; `None` if they cannot be united with others, or not be read at all. Of what is wrong
    /// then, whoever reads the result by itself is told.
    fn of(workshop: Workshop<'_>, result: &Outline) -> Option<Self> {
        let store = workshop.store;
        let table = Table { dataset: store.dataset(&result.id).ok()?, index: 0 };
        let dataset = &table.dataset;
        let facts = tables::facts(dataset).first();
        let lies_in_another = facts.is_some_and(|facts| facts.within.is_some());
        let grows = dataset.facts().edition.is_some();
        if tables::is_result(dataset) || dataset.is_of_files() || lies_in_another || grows {
            return None;
        }
        let form = tables::columns_of(&table);
        let mut names: HashSet<String> = OURS.map(str::to_owned).into();
        if form.is_empty() || !form.iter().all(|own| names.insert(own.name.to_ascii_lowercase())) {
            return None;
        }
        let part = dataset.main_part();
        // While it is open, nobody removes it.
        let _held = dataset.open(part).ok()?;
        let payload = store.map_once(dataset, part).ok()?;
        let mut lines = Vec::with_capacity(payload.len());
        let written = rows::records(&payload, facts, &mut lines).ok()?;
        let Written { rows, longest_line: longest } = written;
        Some(Self { form, arguments: tables::arguments(dataset), lines, rows, longest })
    }

    /// Writes them with the number of the result in each.
    fn write(&self, number: usize, out: &mut dyn Write) -> io::Result<()> {
        for line in self.lines.split_inclusive(|byte| *byte == b'\n') {
            let members = line.strip_prefix(b"{").unwrap_or(line);
            let comma = if members.starts_with(b"}") { "" } else { "," };
            write!(out, "{{\"d\":{number}{comma}")?;
            out.write_all(members)?;
        }
        Ok(())
    }
}
