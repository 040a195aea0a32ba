//! Dots, one for each row.

use crate::{
    Axis, Chart, ChartError,
    axes::{self, Marks, Side},
    page::{self, HEIGHT, Page},
    palette::Colour,
    quantity::{self, Span},
    scene::Scene,
    series, texts,
};

const NEEDS: &str = "numbers or times";

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

    let note = page::left_out(x.len() - drawn.len(), "a value");
    let all = series::divide(chart, &y);
    let mut page = Page::begin(chart, note.as_slice(), HEIGHT)?;
    series::draw_legend(&mut page, chart, &all.legend);
    let side = |axis: &Axis, span: Span| Side {
        title: texts::clean(&axis.name),
        marks: Marks::Quantity(span.with_zero_if_near().padded(0.03)),
    };
    let plot = axes::draw(&mut page, &side(&chart.x, x_span), &side(y_axis, y_span));
    let (radius, opacity) = look(drawn.len());
    for series in &all.series {
        let opacity = if series.colour == Colour::OTHERS { opacity * 0.7 } else { opacity };
        for (x, y) in series.rows.iter().filter_map(|row| place(*row)) {
            page.scene.dot((plot.x.at(x), plot.y.at(y)), radius, series.colour, opacity);
        }
    }
    Ok(page.scene)
}

/// Returns the radius and opacity at which this many dots still show where they are dense.
fn look(dots: usize) -> (f64, f64) {
    match dots {
        0..=100 => (4.5, 0.85),
        101..=500 => (4.0, 0.7),
        501..=2_000 => (3.5, 0.5),
        2_001..=10_000 => (3.0, 0.35),
        _ => (2.5, 0.2),
    }
}
