//! Lines over times, numbers, or categories in the order of the rows.

mod means;

use crate::{
    Chart, ChartError, Column,
    axes::{self, Crowded, Marks, Plot, Side},
    categories::Categories,
    line::means::{Means, Point},
    numbers::Grouping,
    page::{self, HEIGHT, Page},
    palette::Colour,
    quantity::{self, Span, Unit},
    scene::Scene,
    series, texts,
};

/// Each value is marked if there are no more than these.
const MOST_MARKED: usize = 120;
const WIDTH: f64 = 2.0;
/// What is measured by means, which are broken even if the values are whole.
const MEANS: Unit = Unit::Number(Grouping::Commas);
/// More lines cannot be told apart, least of all where most are grey.
const MOST_LINES: usize = 100;

pub(crate) fn draw(chart: &Chart) -> Result<Scene, ChartError> {
    let y_axis = chart.required_y("numbers")?;
    let Column::Numbers(_) = &y_axis.values else {
        return Err(chart.wrong_type("y", y_axis, "numbers"));
    };
    let y = quantity::values(&y_axis.values).unwrap_or_default();
    let categories = match &chart.x.values {
        column @ Column::Texts(_) => Some(Categories::of(column)),
        Column::Numbers(_) | Column::Times(_) => None,
    };
    let x = match &categories {
        Some(known) => known.of_row.iter().map(|index| Some(*index as f64)).collect(),
        None => quantity::values(&chart.x.values).unwrap_or_default(),
    };
    let drawn = || x.iter().zip(&y).filter_map(|(x, y)| Some(((*x)?, (*y)?)));
    let Some(x_span) = Span::of(drawn().map(|(x, _)| x), quantity::unit(&chart.x.values)) else {
        return Err(ChartError::NoValues {
            needed: format!("both `{}` and `{}`", chart.x.name, y_axis.name),
        });
    };

    let nowhere = x.iter().filter(|x| x.is_none()).count();
    let x_name = texts::clean(&chart.x.name);
    let mut notes: Vec<String> = page::left_out(nowhere, &x_name).into_iter().collect();
    let mut all = series::divide(chart, &y);
    let hidden = all.keep(MOST_LINES);
    if hidden > 0 {
        let rest = series::rest(hidden);
        notes.push(format!("the {MOST_LINES} largest lines are shown, {rest} are not"));
    }
    let means = Means::of(&all.series, &x, &y, &chart.x.values);
    notes.extend(means.note(&x_name));
    let y_unit = quantity::unit_of_amount(Some(&y_axis.values));
    let heights = means.lines.iter().flatten().filter_map(|point| point.y);
    let y_span = Span::of(heights, if means.is_exact() { y_unit } else { MEANS });
    let y_span = y_span.unwrap_or(Span { min: 0.0, max: 1.0, unit: y_unit });
    let mut page = Page::begin(chart, &notes, HEIGHT)?;
    series::draw_legend(&mut page, chart, &all.legend);
    let y_span = y_span.with_zero_if_near().rounded(page.ticks_on_the_left());
    let x_marks = match &categories {
        Some(categories) => Marks::Names(&categories.names, Crowded::Thinned),
        None => Marks::Quantity(x_span),
    };
    let y_name = texts::clean(&y_axis.name);
    let y_title = if means.is_exact() { y_name } else { format!("mean of {y_name}") };
    let plot = axes::draw(
        &mut page,
        &Side { title: x_name, marks: x_marks },
        &Side { title: y_title, marks: Marks::Quantity(y_span) },
    );
    let is_marked = means.lines.iter().map(Vec::len).sum::<usize>() <= MOST_MARKED;
    for (series, points) in all.series.iter().zip(&means.lines) {
        draw_line(&mut page, &plot, points, series.colour, is_marked);
    }
    Ok(page.scene)
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
