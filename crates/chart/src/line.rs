//! Lines over times, numbers, or categories in the order of the rows: of a column, or of how many rows
//! there are.

mod points;

use crate::{
    Axis, Chart, ChartError, Column,
    axes::{self, Crowded, Marks, Plot, Side},
    categories::Categories,
    line::points::{Point, Points},
    numbers::Grouping,
    page::{self, HEIGHT, Page},
    palette::Colour,
    quantity::{self, Span},
    scene::Scene,
    series, texts,
    unit::Unit,
};

/// Each value is marked if there are no more than these.
const MOST_MARKED: usize = 120;
const WIDTH: f64 = 2.0;
/// What is measured by means, which are broken even if the values are whole.
const MEANS: Unit = Unit::Number(Grouping::Commas);
/// More lines cannot be told apart, least of all where most are grey.
const MOST_LINES: usize = 100;

pub(crate) fn draw(chart: &Chart) -> Result<Scene, ChartError> {
    let y = heights(chart)?;
    let categories = match &chart.x.values {
        column @ Column::Texts(_) => Some(Categories::of(column)),
        Column::Numbers(_) | Column::Times(_) => None,
    };
    let x = match &categories {
        Some(known) => known.of_row.iter().map(|index| Some(*index as f64)).collect(),
        None => quantity::values(&chart.x.values).unwrap_or_default(),
    };
    let drawn: Vec<f64> = x.iter().zip(&y).filter_map(|(x, y)| y.and(*x)).collect();
    if drawn.is_empty() {
        let x = &chart.x.name;
        let needed = match &chart.y {
            Some(y) => format!("both `{x}` and `{}`", y.name),
            None => format!("a value in `{x}`"),
        };
        return Err(ChartError::NoValues { needed });
    }

    let x_name = texts::clean(&chart.x.name);
    let y_name = chart.y.as_ref().map_or("number of rows".to_owned(), |y| texts::clean(&y.name));
    let nowhere = x.iter().filter(|x| x.is_none()).count();
    let without_height = x.len() - nowhere - drawn.len();
    let left_out = [page::left_out(nowhere, &x_name), page::left_out(without_height, &y_name)];
    let mut notes: Vec<String> = left_out.into_iter().flatten().collect();
    let mut all = series::divide(chart, &y);
    let hidden = all.keep(MOST_LINES);
    if hidden > 0 {
        let rest = series::rest(hidden);
        notes.push(format!("the {MOST_LINES} largest lines are shown, {rest} are not"));
    }
    let column = &chart.x.values;
    let points = match &chart.y {
        Some(_) => Points::means(&all.series, &x, &y, column),
        None => Points::counts(&all.series, &x, column),
    };
    notes.extend(points.note(&x_name));
    let places = match &chart.y {
        Some(_) => drawn,
        None => points.lines.iter().flatten().map(|point| point.x).collect(),
    };
    let x_unit = quantity::unit(column);
    let x_span = Span::of(places.into_iter(), x_unit);
    let x_span = x_span.unwrap_or(Span { min: 0.0, max: 1.0, unit: x_unit });
    let y_unit = quantity::unit_of_amount(chart.y.as_ref().map(|y| &y.values));
    let heights = points.lines.iter().flatten().filter_map(|point| point.y);
    let y_span = Span::of(heights, if points.are_exact() { y_unit } else { MEANS });
    let y_span = y_span.unwrap_or(Span { min: 0.0, max: 1.0, unit: y_unit });
    let mut page = Page::begin(chart, &notes, HEIGHT)?;
    series::draw_legend(&mut page, chart, &all.legend);
    let y_span = y_span.with_zero_if_near().rounded(page.ticks_on_the_left());
    let x_marks = match &categories {
        Some(categories) => Marks::Names(&categories.names, Crowded::Thinned),
        None => Marks::Quantity(x_span),
    };
    let y_title = if points.are_exact() { y_name } else { format!("mean of {y_name}") };
    let plot = axes::draw(
        &mut page,
        &Side { title: x_name, marks: x_marks },
        &Side { title: y_title, marks: Marks::Quantity(y_span) },
    );
    let is_marked = points.lines.iter().map(Vec::len).sum::<usize>() <= MOST_MARKED;
    for (series, points) in all.series.iter().zip(&points.lines) {
        draw_line(&mut page, &plot, points, series.colour, is_marked);
    }
    Ok(page.scene)
}

/// The height of each row; one for each where rows are counted.
fn heights(chart: &Chart) -> Result<Vec<Option<f64>>, ChartError> {
    match &chart.y {
        Some(Axis { values: column @ Column::Numbers(_), .. }) => {
            Ok(quantity::values(column).unwrap_or_default())
        }
        Some(axis) => Err(chart.wrong_type("y", axis, "numbers")),
        None => Ok(vec![Some(1.0); chart.x.values.len()]),
    }
}

/// Draws one line, interrupted where `y` is missing.
fn draw_line(page: &mut Page, plot: &Plot, points: &[Point], colour: Colour, is_marked: bool) {
    let is_other = colour == Colour::OTHERS;
    let width = if is_other { 1.0 } else { WIDTH };
    for run in points.split(|point| point.y.is_none()) {
        let place = |point: &Point| Some((plot.x.at(point.x), plot.y.at(point.y?)));
        let places: Vec<(f64, f64)> = run.iter().filter_map(place).collect();
        // A value between two gaps has no line to either side.
        if (is_marked && !is_other) || places.len() == 1 {
            for place in &places {
                page.scene.dot(*place, 3.0, colour, 1.0);
            }
        }
        if places.len() > 1 {
            page.scene.line(places, colour, width);
        }
    }
}
