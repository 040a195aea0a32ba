//! Bars: upright, or lying if the names of their categories are long.

mod place;

use crate::{
    Chart, ChartError, Column,
    axes::{self, Crowded, Marks, Side},
    categories::{Categories, Order},
    font::{Fonts, Weight},
    numbers,
    page::{self, HEIGHT, Page, WIDTH},
    palette::{self, Colour},
    pivot::Pivot,
    quantity::{self, Span},
    ranges::Room,
    scene::{LABEL_SIZE, Scene},
    series, texts,
};

/// More categories than are named are counted instead of drawn. Numbers and times are legible even
/// where only some of their names have room; more of them than that are gathered in ranges.
const ROOM: Room = Room { values: 300, named: 40, ranges: 120 };
/// More series than these are stacked, and so are more bars than these.
const MOST_GROUPED: usize = 4;
const MOST_ABREAST: usize = 120;

/// Long names and a legend leave at least this to lying bars and their labels.
const LEAST_LENGTH: f64 = 440.0;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    Upright,
    Lying,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Arrangement {
    Grouped,
    Stacked,
}

/// Everything about the bars but their places.
struct Bars {
    pivot: Pivot,
    colours: Vec<Colour>,
    direction: Direction,
    arrangement: Arrangement,
    /// What stands at the end of each category's only bar; empty if there are more or no room.
    labels: Vec<String>,
    widest_label: f64,
}

pub(crate) fn draw(chart: &Chart) -> Result<Scene, ChartError> {
    let mut pivot = pivot(chart)?;
    let name = chart.y.as_ref().map_or_else(String::new, |y| texts::clean(&y.name));
    let mut notes: Vec<String> = page::left_out(pivot.without_value, &name).into_iter().collect();
    if let Some(range) = &pivot.across.range {
        notes.push(format!("one bar per {range}"));
    }
    if pivot.across.order != Order::Scale {
        let more = pivot.keep_across(ROOM.named);
        if more > 0 {
            let rest = series::rest(more);
            notes.push(format!("the {} largest are shown, {rest} are not", ROOM.named));
        }
    }
    if pivot.across.order == Order::Rows && !chart.rows_are_sorted {
        pivot.sort_across();
    }
    let others = pivot.gather_along(palette::SERIES.len());
    let mut legend: Vec<(String, Colour)> =
        pivot.along.names.iter().cloned().zip(palette::SERIES).collect();
    if others > 0 {
        legend.push((series::rest(others), Colour::OTHERS));
    }
    let colours: Vec<Colour> = legend.iter().map(|(_, colour)| *colour).collect();
    let bars = Bars::arrange(&Fonts::load()?, pivot, colours);
    if bars.arrangement == Arrangement::Stacked {
        notes.push("bars are stacked".to_owned());
    }

    let mut page = Page::begin(chart, &notes, bars.page_height())?;
    series::draw_legend(&mut page, chart, &legend);
    let span = bars.span(chart.y.as_ref().map(|y| &y.values), page.ticks_on_the_left());
    let values = Side { title: title_of_values(chart, &bars.pivot), marks: Marks::Quantity(span) };
    let crowded = match bars.pivot.across.order {
        Order::Scale => Crowded::Thinned,
        Order::Known | Order::Rows => Crowded::Slanted,
    };
    let names = Side {
        title: texts::clean(&chart.x.name),
        marks: Marks::Names(&bars.pivot.across.names, crowded),
    };
    let plot = match bars.direction {
        Direction::Upright => axes::draw(&mut page, &names, &values),
        Direction::Lying => axes::draw(&mut page, &values, &names),
    };
    bars.place(&mut page, &plot);
    Ok(page.scene)
}

fn pivot(chart: &Chart) -> Result<Pivot, ChartError> {
    let across = Categories::within(ROOM, &chart.x.values);
    let along = match &chart.series {
        Some(series) => Categories::of(&series.values),
        None => Categories::none(chart.x.values.len()),
    };
    let Some(y) = &chart.y else { return Ok(Pivot::of(across, along, None)) };
    let values = match &y.values {
        column @ Column::Numbers(_) => quantity::values(column).unwrap_or_default(),
        Column::Times(_) | Column::Texts(_) => {
            return Err(chart.wrong_type("y", y, "numbers"));
        }
    };
    let pivot = Pivot::of(across, along, Some(&values));
    if pivot.cells.is_empty() {
        return Err(ChartError::NoValues { needed: format!("a number in `{}`", y.name) });
    }
    Ok(pivot)
}

fn title_of_values(chart: &Chart, pivot: &Pivot) -> String {
    match &chart.y {
        Some(y) if pivot.is_summed => format!("sum of {}", texts::clean(&y.name)),
        Some(y) => texts::clean(&y.name),
        None => "number of rows".to_owned(),
    }
}

impl Bars {
    fn arrange(fonts: &Fonts, pivot: Pivot, colours: Vec<Colour>) -> Self {
        // About what axes and a legend leave of the page.
        let room = WIDTH - if colours.len() > 1 { 280.0 } else { 120.0 };
        let names = &pivot.across.names;
        let is_scale = pivot.across.order == Order::Scale;
        let direction = if is_scale || axes::has_room(fonts, names, room) {
            Direction::Upright
        } else {
            Direction::Lying
        };
        let is_crowded = colours.len() > 1 && colours.len() * names.len() > MOST_ABREAST;
        let arrangement = if colours.len() > MOST_GROUPED || is_crowded {
            Arrangement::Stacked
        } else {
            Arrangement::Grouped
        };
        let label = |across| pivot.value(across, 0).map(numbers::compact).unwrap_or_default();
        let mut labels: Vec<String> = match colours.len() {
            1 => (0..names.len()).map(label).collect(),
            _ => Vec::new(),
        };
        let widths = labels.iter().map(|label| fonts.width(label, LABEL_SIZE, Weight::Regular));
        let widest_label = widths.fold(0.0, f64::max);
        if direction == Direction::Upright && widest_label + 6.0 > room / names.len() as f64 {
            labels.clear();
        }
        Self { pivot, colours, direction, arrangement, labels, widest_label }
    }

    /// Returns the height at which the bars and names that lie below one another are legible.
    fn page_height(&self) -> f64 {
        let row = match (self.direction, self.arrangement) {
            (Direction::Upright, _) => return HEIGHT,
            (Direction::Lying, Arrangement::Stacked) => 19.0,
            (Direction::Lying, Arrangement::Grouped) => 13.0 + 6.0 * self.colours.len() as f64,
        };
        HEIGHT.max(170.0 + row * self.pivot.across.names.len() as f64)
    }

    /// Returns the span of the ends of all bars, which begin at zero.
    fn span(&self, column: Option<&Column>, ticks: usize) -> Span {
        let unit = quantity::unit_of_amount(column);
        let ends: Vec<f64> = match self.arrangement {
            Arrangement::Grouped => self.pivot.cells.values().copied().collect(),
            Arrangement::Stacked => {
                let mut sums = vec![(0.0, 0.0); self.pivot.across.names.len()];
                for ((across, _), value) in &self.pivot.cells {
                    let (below, above) = &mut sums[*across];
                    *if *value < 0.0 { below } else { above } += value;
                }
                sums.into_iter().flat_map(|(below, above)| [below, above]).collect()
            }
        };
        let zero = std::iter::once(0.0);
        let span = Span::of(ends.into_iter().chain(zero), unit);
        let span = span.unwrap_or(Span { min: 0.0, max: 1.0, unit });
        match self.direction {
            Direction::Lying if self.labels.is_empty() => span,
            Direction::Lying => {
                let room = self.widest_label + 10.0;
                span.stretched(room / (LEAST_LENGTH - 2.0 * room))
            }
            Direction::Upright => {
                let span = if self.labels.is_empty() { span } else { span.stretched(0.06) };
                span.rounded(ticks)
            }
        }
    }
}
