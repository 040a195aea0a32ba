//! Lines over times, numbers, or categories in the order of the rows.

use crate::{
    Chart, ChartError, Column,
    axes::{self, Crowded, Marks, Plot, Side},
    categories::Categories,
    page::{self, HEIGHT, Page},
    palette::Colour,
    quantity::{self, Span},
    scene::Scene,
    series::{self, Series},
    texts,
};

/// Each value is marked if there are no more than these.
const MOST_MARKED: usize = 120;
const WIDTH: f64 = 2.0;

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
    let drawn: Vec<(f64, f64)> =
        x.iter().zip(&y).filter_map(|(x, y)| Some(((*x)?, (*y)?))).collect();
    let x_span = Span::of(drawn.iter().map(|(x, _)| *x), quantity::unit(&chart.x.values));
    let y_span =
        Span::of(drawn.iter().map(|(_, y)| *y), quantity::unit_of_amount(Some(&y_axis.values)));
    let (Some(x_span), Some(y_span)) = (x_span, y_span) else {
        return Err(ChartError::NoValues {
            needed: format!("both `{}` and `{}`", chart.x.name, y_axis.name),
        });
    };

    let nowhere = x.iter().filter(|x| x.is_none()).count();
    let note = page::left_out(nowhere, &texts::clean(&chart.x.name));
    let all = series::divide(chart, &y);
    let mut page = Page::begin(chart, note.as_slice(), HEIGHT)?;
    series::draw_legend(&mut page, chart, &all.legend);
    let y_span = y_span.with_zero_if_near().rounded(page.ticks_on_the_left());
    let x_marks = match &categories {
        Some(categories) => Marks::Names(&categories.names, Crowded::Thinned),
        None => Marks::Quantity(x_span),
    };
    let plot = axes::draw(
        &mut page,
        &Side { title: texts::clean(&chart.x.name), marks: x_marks },
        &Side { title: texts::clean(&y_axis.name), marks: Marks::Quantity(y_span) },
    );
    for series in &all.series {
        draw_series(&mut page, &plot, series, &x, &y);
    }
    Ok(page.scene)
}

/// Draws one line, interrupted where `y` is missing.
fn draw_series(
    page: &mut Page,
    plot: &Plot,
    series: &Series,
    x: &[Option<f64>],
    y: &[Option<f64>],
) {
    let points = series.rows.iter().filter_map(|row| Some((x[*row]?, y[*row])));
    let mut points: Vec<(f64, Option<f64>)> = points.collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let is_marked = y.len() <= MOST_MARKED && series.colour != Colour::OTHERS;
    let width = if series.colour == Colour::OTHERS { 1.0 } else { WIDTH };
    for run in points.split(|(_, y)| y.is_none()) {
        let places: Vec<(f64, f64)> =
            run.iter().filter_map(|(x, y)| Some((plot.x.at(*x), plot.y.at((*y)?)))).collect();
        // A value between two gaps has no line to either side.
        if is_marked || places.len() == 1 {
            for place in &places {
                page.scene.dot(*place, 3.0, series.colour, 1.0);
            }
        }
        if places.len() > 1 {
            page.scene.line(places, series.colour, width);
        }
    }
}
