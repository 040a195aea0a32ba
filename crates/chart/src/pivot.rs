//! A table turned around two columns: one number for each pair of their categories.

use std::collections::BTreeMap;

use crate::{
    categories::{self, Categories, Order},
    numbers::LARGEST,
};

#[derive(Debug)]
pub(crate) struct Pivot {
    pub(crate) across: Side,
    pub(crate) along: Side,
    /// By the indexes of both names. Only pairs that rows have.
    pub(crate) cells: BTreeMap<(usize, usize), f64>,
    /// Whether more than one row fell on a pair, so that their values were added up.
    pub(crate) is_summed: bool,
    /// How many rows had no value.
    pub(crate) without_value: usize,
}

#[derive(Debug)]
pub(crate) struct Side {
    pub(crate) names: Vec<String>,
    pub(crate) order: Order,
    /// What each category is a range of, if values that differ share one.
    pub(crate) range: Option<String>,
}

impl Pivot {
    /// Adds up `values` for each pair, or counts rows if there are none.
    pub(crate) fn of(
        across: Categories,
        along: Categories,
        values: Option<&[Option<f64>]>,
    ) -> Self {
        let mut cells = BTreeMap::new();
        let (mut is_summed, mut without_value) = (false, 0);
        for (row, pair) in across.of_row.iter().copied().zip(along.of_row).enumerate() {
            let value = values.map_or(Some(1.0), |values| values[row]);
            let Some(value) = value else {
                without_value += 1;
                continue;
            };
            is_summed |= values.is_some() && cells.contains_key(&pair);
            let sum = cells.entry(pair).or_insert(0.0);
            *sum = (*sum + value).clamp(-LARGEST, LARGEST);
        }
        Self {
            across: Side { names: across.names, order: across.order, range: across.range },
            along: Side { names: along.names, order: along.order, range: along.range },
            cells,
            is_summed,
            without_value,
        }
    }

    /// Keeps the `most` largest categories across and returns how many are gone.
    pub(crate) fn keep_across(&mut self, most: usize) -> usize {
        let kept = self.largest(&self.across, |(across, _)| across, most);
        let place = places(&kept, self.across.names.len());
        let cells = std::mem::take(&mut self.cells).into_iter();
        self.cells = cells
            .filter_map(|((across, along), value)| Some(((place[across]?, along), value)))
            .collect();
        self.across.keep(&kept)
    }

    /// Keeps the `most` largest categories along and returns how many are gone.
    pub(crate) fn keep_along(&mut self, most: usize) -> usize {
        let kept = self.largest(&self.along, |(_, along)| along, most);
        let place = places(&kept, self.along.names.len());
        let cells = std::mem::take(&mut self.cells).into_iter();
        self.cells = cells
            .filter_map(|((across, along), value)| Some(((across, place[along]?), value)))
            .collect();
        self.along.keep(&kept)
    }

    /// Keeps the `most` largest categories along, adds up all others in one more at the end, and
    /// returns how many these are.
    pub(crate) fn gather_along(&mut self, most: usize) -> usize {
        let kept = self.largest(&self.along, |(_, along)| along, most);
        let place = places(&kept, self.along.names.len());
        let mut cells = BTreeMap::new();
        for ((across, along), value) in std::mem::take(&mut self.cells) {
            *cells.entry((across, place[along].unwrap_or(kept.len()))).or_insert(0.0) += value;
        }
        self.cells = cells;
        self.along.keep(&kept)
    }

    /// Puts the categories across in the order of their sums, the largest first.
    pub(crate) fn sort_across(&mut self) {
        let mut sums = vec![0.0; self.across.names.len()];
        for ((across, _), value) in &self.cells {
            sums[*across] += value;
        }
        let mut sorted: Vec<usize> = (0..sums.len()).collect();
        // A stable sort: equals stay in the order of the rows.
        sorted.sort_by(|a, b| sums[*b].total_cmp(&sums[*a]));
        let place = places(&sorted, sums.len());
        let cells = std::mem::take(&mut self.cells).into_iter();
        self.cells = cells
            .filter_map(|((across, along), value)| Some(((place[across]?, along), value)))
            .collect();
        self.across.keep(&sorted);
    }

    pub(crate) fn value(&self, across: usize, along: usize) -> Option<f64> {
        self.cells.get(&(across, along)).copied()
    }

    fn largest(&self, side: &Side, index: fn((usize, usize)) -> usize, most: usize) -> Vec<usize> {
        let mut weights = vec![0.0; side.names.len()];
        for (pair, value) in &self.cells {
            weights[index(*pair)] += value.abs();
        }
        categories::largest(&weights, most)
    }
}

impl Side {
    fn keep(&mut self, kept: &[usize]) -> usize {
        let all = self.names.len();
        self.names = kept.iter().map(|index| std::mem::take(&mut self.names[*index])).collect();
        all - kept.len()
    }
}

/// Returns the new index of each old one that is kept.
fn places(kept: &[usize], all: usize) -> Vec<Option<usize>> {
    let mut places = vec![None; all];
    for (new, old) in kept.iter().enumerate() {
        places[*old] = Some(new);
    }
    places
}
