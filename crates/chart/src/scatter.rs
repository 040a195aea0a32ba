//! Dots, one for each row, or for rows that lie together if there are many.

mod merge;

use crate::{
    Axis, Chart, ChartError,
    axes::{self, Marks, Side},
    numbers,
    page::{self, HEIGHT, Page},
    palette::Colour,
    quantity::{self, Span},
    scatter::merge::merged,
    scene::Scene,
    series, texts,
};

const NEEDS: &str = "numbers or times";

/// More dots than these are merged: nobody could tell them apart, and each makes the file longer.
const MOST_DOTS: usize = 2_500;

pub(crate) fn draw(chart: &Chart) -> Result<Scene, ChartError> {
    let y_axis = chart.required_y(NEEDS)?;
    let values = |role, axis: &Axis| {
        quantity::values(&axis.values).ok_or_else(|| chart.wrong_type(role, axis, NEEDS))
    };
    let (x, y) = (values("x", &chart.x)?, values("y", y_axis)?);
    let place = |row: usize| Some((x[row]?, y[row]?));
    let drawn: Vec<(f64, f64)> = (0..x.len()).filter_map(place).collect();
    let x_span = Span::of(drawn.iter().map(|(x, _)| *x), quantity::unit(&chart.x.values));
    let y_span = Span::of(drawn.iter().map(|(_, y)| *y), quantity::unit(&y_axis.values));
    let (Some(x_span), Some(y_span)) = (x_span, y_span) else {
        return Err(ChartError::NoValues {
            needed: format!("both `{}` and `{}`", chart.x.name, y_axis.name),
        });
    };

    let mut notes: Vec<String> =
        page::left_out(x.len() - drawn.len(), "a value").into_iter().collect();
    let all = series::divide(chart, &y);
    let is_merged = drawn.len() > MOST_DOTS;
    if is_merged {
        notes.push(format!(
            "{} rows, those that lie together as one dot: the darker, the more",
            numbers::count(drawn.len())
        ));
    }
    let mut page = Page::begin(chart, &notes, HEIGHT)?;
    series::draw_legend(&mut page, chart, &all.legend);
    let side = |axis: &Axis, span: Span| Side {
        title: texts::clean(&axis.name),
        marks: Marks::Quantity(span.with_zero_if_near().padded(0.03)),
    };
    let plot = axes::draw(&mut page, &side(&chart.x, x_span), &side(y_axis, y_span));
    let dots = all.series.iter().flat_map(|series| {
        let places = series.rows.iter().filter_map(|row| place(*row));
        places.map(|(x, y)| (plot.x.at(x), plot.y.at(y), series.colour))
    });
    if is_merged {
        let merged = merged(&dots.collect::<Vec<_>>(), MOST_DOTS);
        let most = merged.dots.iter().map(|dot| dot.rows).max().unwrap_or(1).max(2) as f64;
        for dot in merged.dots {
            // By the logarithm, or one heap of rows would make all others invisible.
            let darkness = (dot.rows as f64).ln() / most.ln();
            let (radius, opacity) = (merged.size * (0.3 + 0.3 * darkness), 0.2 + 0.8 * darkness);
            page.scene.dot((dot.x, dot.y), radius, dot.colour, opacity);
        }
        return Ok(page.scene);
    }
    let (radius, opacity) = look(drawn.len());
    for (x, y, colour) in dots {
        let opacity = if colour == Colour::OTHERS { opacity * 0.7 } else { opacity };
        page.scene.dot((x, y), radius, colour, opacity);
    }
    Ok(page.scene)
}

/// Returns the radius and opacity at which this many dots still show where they are dense.
fn look(dots: usize) -> (f64, f64) {
    match dots {
        0..=100 => (4.5, 0.85),
        101..=500 => (4.0, 0.7),
        501..=2_000 => (3.5, 0.5),
        _ => (3.0, 0.35),
    }
}
