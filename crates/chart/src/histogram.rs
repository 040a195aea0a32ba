//! How many rows fall into each range of a column.

mod bins;

use crate::{
    Chart, ChartError,
    axes::{self, Marks, Side},
    histogram::bins::Bins,
    numbers::Grouping,
    page::{self, HEIGHT, Page},
    palette,
    quantity::{self, Span},
    scene::{Area, Scene},
    texts,
    unit::Unit,
};

pub(crate) fn draw(chart: &Chart) -> Result<Scene, ChartError> {
    let Some(values) = quantity::values(&chart.x.values) else {
        return Err(chart.wrong_type("x", &chart.x, "numbers or times"));
    };
    let unit = quantity::unit(&chart.x.values);
    let known: Vec<f64> = values.iter().flatten().copied().collect();
    let Some(bins) = Bins::of(&known, unit) else {
        return Err(ChartError::NoValues { needed: format!("a value in `{}`", chart.x.name) });
    };

    let missing = values.len() - known.len();
    let note = page::left_out(missing, &texts::clean(&chart.x.name));
    let mut page = Page::begin(chart, note.as_slice(), HEIGHT)?;
    let most = bins.counts.iter().copied().max().unwrap_or_default() as f64;
    let counts = Span { min: 0.0, max: most, unit: Unit::Whole(Grouping::Commas) };
    let counts = counts.rounded(page.ticks_on_the_left());
    let plot = axes::draw(
        &mut page,
        &Side { title: texts::clean(&chart.x.name), marks: Marks::Quantity(bins.span) },
        &Side { title: "number of rows".to_owned(), marks: Marks::Quantity(counts) },
    );
    for (index, count) in bins.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        let bar = Area {
            left: plot.x.at(bins.edge(index)) + 0.5,
            top: plot.y.at(*count as f64),
            right: plot.x.at(bins.edge(index + 1)) - 0.5,
            bottom: plot.y.at(0.0),
        };
        page.scene.fill(bar, palette::SERIES[0]);
    }
    Ok(page.scene)
}
