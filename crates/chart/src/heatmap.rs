//! Coloured cells, one for each pair of categories.

use crate::{
    Axis, Chart, ChartError, Column,
    axes::{self, Crowded, Marks, Plot, Side},
    categories::{Categories, Order},
    font::Weight,
    legend, numbers,
    page::{self, HEIGHT, Page},
    palette::{self, Colour, Gradient},
    pivot::{self, Pivot},
    quantity::{self, Span},
    ranges::Room,
    scene::{Anchor, Area, LABEL_SIZE, Scene, Text},
    series, texts,
};

/// More categories than are named are counted instead of drawn. Numbers and times are legible even
/// where only some of their names have room; more of them than that are gathered in ranges.
const ROOM: Room = Room { values: 60, named: 30, ranges: 60 };

pub(crate) fn draw(chart: &Chart) -> Result<Scene, ChartError> {
    let y = chart.required_y("categories")?;
    let mut pivot = turned(chart, &y.values)?;
    let mut notes: Vec<String> =
        page::left_out(pivot.without_value, "a value").into_iter().collect();
    for (side, what) in [(&pivot.across, "column"), (&pivot.along, "row")] {
        if let Some(range) = &side.range {
            notes.push(format!("one {what} per {range}"));
        }
    }
    let most = |side: &pivot::Side| match side.order {
        Order::Scale => usize::MAX,
        Order::Known | Order::Rows => ROOM.named,
    };
    let (columns, rows) = (most(&pivot.across), most(&pivot.along));
    for (more, most, what) in
        [(pivot.keep_across(columns), columns, "columns"), (pivot.keep_along(rows), rows, "rows")]
    {
        if more > 0 {
            let rest = series::rest(more);
            notes.push(format!("the {most} largest {what} are shown, {rest} are not"));
        }
    }

    let height = if pivot.along.order == Order::Scale {
        HEIGHT
    } else {
        HEIGHT.max(230.0 + 16.0 * pivot.along.names.len() as f64)
    };
    let mut page = Page::begin(chart, &notes, height)?;
    let unit = quantity::unit_of_amount(chart.value.as_ref().map(|value| &value.values));
    let span = Span::of(pivot.cells.values().copied(), unit);
    let span = span.unwrap_or(Span { min: 0.0, max: 1.0, unit }).with_zero_if_near();
    let gradient = Gradient::between(span.min, span.max);
    legend::gradient(&mut page, &title_of_values(chart, &pivot), gradient, unit);
    let plot = axes::draw(&mut page, &side(&chart.x, &pivot.across), &side(y, &pivot.along));
    cells(&mut page, &plot, &pivot, gradient);
    Ok(page.scene)
}

fn turned(chart: &Chart, y: &Column) -> Result<Pivot, ChartError> {
    let (across, along) = (Categories::within(ROOM, &chart.x.values), Categories::within(ROOM, y));
    let Some(value) = &chart.value else { return Ok(Pivot::of(across, along, None)) };
    let values = match &value.values {
        column @ Column::Numbers(_) => quantity::values(column).unwrap_or_default(),
        Column::Times(_) | Column::Texts(_) => {
            return Err(chart.wrong_type("value", value, "numbers"));
        }
    };
    let pivot = Pivot::of(across, along, Some(&values));
    if pivot.cells.is_empty() {
        return Err(ChartError::NoValues { needed: format!("a number in `{}`", value.name) });
    }
    Ok(pivot)
}

fn side<'a>(axis: &Axis, categories: &'a pivot::Side) -> Side<'a> {
    let crowded = match categories.order {
        Order::Scale => Crowded::Thinned,
        Order::Known | Order::Rows => Crowded::Slanted,
    };
    let marks = Marks::Names(&categories.names, crowded);
    Side { title: texts::clean(&axis.name), marks }
}

fn title_of_values(chart: &Chart, pivot: &Pivot) -> String {
    match &chart.value {
        Some(value) if pivot.is_summed => format!("sum of {}", texts::clean(&value.name)),
        Some(value) => texts::clean(&value.name),
        None => "number of rows".to_owned(),
    }
}

/// Draws the cells, with their values if all of them have room.
fn cells(page: &mut Page, plot: &Plot, pivot: &Pivot, gradient: Gradient) {
    let (width, height) = (plot.x.step(), plot.y.step());
    let gap = if width.min(height) > 8.0 { 0.75 } else { 0.0 };
    let fonts = &page.scene.fonts;
    let fits = |value: &f64| {
        let label = numbers::compact(*value);
        fonts.width(&label, LABEL_SIZE, Weight::Regular) + 6.0 <= width
    };
    let are_labelled =
        width >= LABEL_SIZE * 1.8 && height >= LABEL_SIZE * 1.4 && pivot.cells.values().all(fits);
    page.scene.fill(plot.area, Colour::BLANK);
    for ((across, along), value) in &pivot.cells {
        let (x, y) = (plot.x.at(*across as f64), plot.y.at(*along as f64));
        let colour = gradient.colour(*value);
        let cell = Area {
            left: x - width / 2.0 + gap,
            top: y - height / 2.0 + gap,
            right: x + width / 2.0 - gap,
            bottom: y + height / 2.0 - gap,
        };
        page.scene.fill(cell, colour);
        if are_labelled {
            let y = y + LABEL_SIZE * 0.36;
            let label = Text::label(numbers::compact(*value), x, y, Anchor::Middle);
            page.scene.text(label.coloured(palette::ink_on(colour)));
        }
    }
}
