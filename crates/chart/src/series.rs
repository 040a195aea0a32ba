//! The rows of each series, with its colour.

use crate::{
    Axis, Chart,
    categories::{self, Categories},
    legend, numbers,
    page::Page,
    palette::{self, Colour},
    texts,
};

/// Rows that are drawn in one colour.
#[derive(Debug)]
pub(crate) struct Series {
    pub(crate) colour: Colour,
    pub(crate) rows: Vec<usize>,
    /// How much of `y` it has.
    weight: f64,
}

#[derive(Debug)]
pub(crate) struct AllSeries {
    /// Those without a colour of their own come first, so that the others are drawn over them.
    pub(crate) series: Vec<Series>,
    pub(crate) legend: Vec<(String, Colour)>,
}

/// Divides the rows of `chart` by its series. Those with the most of `y` have colours of their own,
/// the others are counted in the legend.
pub(crate) fn divide(chart: &Chart, y: &[Option<f64>]) -> AllSeries {
    let Some(Axis { values, .. }) = &chart.series else {
        let series =
            Series { colour: palette::SERIES[0], rows: (0..y.len()).collect(), weight: 0.0 };
        return AllSeries { series: vec![series], legend: Vec::new() };
    };
    let categories = Categories::of(values);
    let mut rows = vec![Vec::new(); categories.names.len()];
    let mut weights = vec![0.0; categories.names.len()];
    for (row, category) in categories.of_row.iter().enumerate() {
        rows[*category].push(row);
        weights[*category] += y[row].map_or(0.0, f64::abs);
    }
    let coloured = categories::largest(&weights, palette::SERIES.len());
    let more = categories.names.len() - coloured.len();
    let named = || coloured.iter().zip(palette::SERIES);
    let mut legend: Vec<(String, Colour)> =
        named().map(|(index, colour)| (categories.names[*index].clone(), colour)).collect();
    if more > 0 {
        legend.push((rest(more), Colour::OTHERS));
    }
    let mut series = Vec::new();
    for (index, rows) in rows.iter_mut().enumerate() {
        if !coloured.contains(&index) {
            let (rows, weight) = (std::mem::take(rows), weights[index]);
            series.push(Series { colour: Colour::OTHERS, rows, weight });
        }
    }
    for (index, colour) in named() {
        let rows = std::mem::take(&mut rows[*index]);
        series.push(Series { colour, rows, weight: weights[*index] });
    }
    AllSeries { series, legend }
}

impl AllSeries {
    /// Keeps the `most` largest of all series and returns how many are gone.
    pub(crate) fn keep(&mut self, most: usize) -> usize {
        let all = self.series.len();
        if all > most {
            let weights: Vec<f64> = self.series.iter().map(|series| series.weight).collect();
            let kept = categories::largest(&weights, most);
            let mut index = 0..;
            self.series.retain(|_| index.next().is_some_and(|it| kept.binary_search(&it).is_ok()));
        }
        all - self.series.len()
    }
}

/// Draws the legend of `chart`, if it has series.
pub(crate) fn draw_legend(page: &mut Page, chart: &Chart, entries: &[(String, Colour)]) {
    if let Some(axis) = &chart.series {
        legend::series(page, &texts::clean(&axis.name), entries);
    }
}

/// Names what is left over.
pub(crate) fn rest(more: usize) -> String {
    format!("{} more", numbers::count(more))
}
