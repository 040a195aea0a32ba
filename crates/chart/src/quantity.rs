//! A continuous axis: the span of its values and the ticks along it.

use crate::{
    Column,
    numbers::{self, Grouping},
    times,
    unit::Unit,
};

/// A span of values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Span {
    pub(crate) min: f64,
    pub(crate) max: f64,
    pub(crate) unit: Unit,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tick {
    pub(crate) value: f64,
    pub(crate) label: String,
    /// Stands below the label.
    pub(crate) context: Option<String>,
}

/// Returns the values of a column as numbers, `None` if it holds texts. What cannot be placed on an
/// axis is missing.
pub(crate) fn values(column: &Column) -> Option<Vec<Option<f64>>> {
    let bound = |value: f64| value.clamp(-numbers::LARGEST, numbers::LARGEST);
    match column {
        Column::Numbers(values) => {
            Some(values.iter().map(|value| value.filter(|v| v.is_finite()).map(bound)).collect())
        }
        Column::Times(values) => {
            let known = |value: &Option<i64>| value.filter(|v| times::is_known(*v));
            Some(values.iter().map(|value| known(value).map(|v| v as f64)).collect())
        }
        Column::Texts(_) => None,
    }
}

/// Returns what the values of `column` measure.
pub(crate) fn unit(column: &Column) -> Unit {
    let Column::Numbers(numbers) = column else { return Unit::Time };
    let numbers = || numbers.iter().flatten().filter(|number| number.is_finite());
    let whole = numbers().all(|number| number.fract() == 0.0);
    if whole && numbers().all(|number| (1900.0..=2100.0).contains(number)) {
        Unit::Whole(Grouping::Plain)
    } else if whole {
        Unit::Whole(Grouping::Commas)
    } else {
        Unit::Number(Grouping::Commas)
    }
}

/// Returns what the values of `column` measure if they are amounts, which are never years.
pub(crate) fn unit_of_amount(column: Option<&Column>) -> Unit {
    match column.map(unit) {
        Some(Unit::Number(_)) => Unit::Number(Grouping::Commas),
        Some(Unit::Time) => Unit::Time,
        // Without a column it is rows that are counted.
        Some(Unit::Whole(_)) | None => Unit::Whole(Grouping::Commas),
    }
}

impl Span {
    /// Returns the span of `values`, widened if it has no width; `None` without a value.
    pub(crate) fn of(values: impl Iterator<Item = f64>, unit: Unit) -> Option<Self> {
        let ends = values.fold(None, |ends: Option<(f64, f64)>, value| {
            Some(ends.map_or((value, value), |(min, max)| (min.min(value), max.max(value))))
        });
        let (min, max) = ends?;
        Some(Self { min, max, unit }.widened())
    }

    /// Returns the span with zero in it.
    pub(crate) fn with_zero(self) -> Self {
        Self { min: self.min.min(0.0), max: self.max.max(0.0), ..self }
    }

    /// Returns the span with zero in it, if that costs the values little room.
    pub(crate) fn with_zero_if_near(self) -> Self {
        let far = self.min.abs().max(self.max.abs());
        if self.max - self.min >= far * 0.75 { self.with_zero() } else { self }
    }

    /// Returns the span with a margin on either side.
    pub(crate) fn padded(self, part: f64) -> Self {
        let margin = (self.max - self.min) * part;
        Self { min: self.min - margin, max: self.max + margin, ..self }
    }

    /// Returns the span with a margin on each side of zero that has values.
    pub(crate) fn stretched(self, part: f64) -> Self {
        let margin = (self.max - self.min) * part;
        let min = if self.min < 0.0 { self.min - margin } else { self.min };
        let max = if self.max > 0.0 { self.max + margin } else { self.max };
        Self { min, max, ..self }
    }

    /// Returns the span of numbers with its ends moved out to ticks.
    pub(crate) fn rounded(self, max_count: usize) -> Self {
        let step = self.step(max_count);
        let rounded = Self {
            min: (self.min / step + 1e-6).floor() * step,
            max: (self.max / step - 1e-6).ceil() * step,
            ..self
        };
        // The wider span may have no room for as many ticks.
        if rounded.step(max_count) > step { rounded.rounded(max_count) } else { rounded }
    }

    /// Returns about `max_count` ticks at most, all within the span.
    pub(crate) fn ticks(self, max_count: usize) -> Vec<Tick> {
        let grouping = match self.unit {
            Unit::Number(grouping) | Unit::Whole(grouping) => grouping,
            Unit::Time => {
                let ticks = times::ticks(self.min.ceil() as i64, self.max as i64, max_count);
                let tick = |tick: times::TimeTick| Tick {
                    value: tick.time as f64,
                    label: tick.label,
                    context: tick.context,
                };
                return ticks.into_iter().map(tick).collect();
            }
        };
        let step = self.step(max_count);
        let values = numbers::multiples(self.min, self.max, step);
        let labels = numbers::labels(&values, step, grouping);
        let ticks = values.into_iter().zip(labels);
        ticks.map(|(value, label)| Tick { value, label, context: None }).collect()
    }

    fn step(self, max_count: usize) -> f64 {
        let step = numbers::nice_step(self.max - self.min, max_count);
        match self.unit {
            Unit::Whole(_) => step.max(1.0),
            Unit::Number(_) | Unit::Time => step,
        }
    }

    fn widened(self) -> Self {
        let far = self.min.abs().max(self.max.abs());
        let margin = match self.unit {
            Unit::Time if self.max > self.min => return self,
            Unit::Time => (times::DAY / 2) as f64,
            // Less cannot be told apart in the labels.
            _ if self.max - self.min > far * 1e-9 => return self,
            _ if far == 0.0 => return Self { max: 1.0, ..self },
            Unit::Whole(Grouping::Plain) => 1.0,
            Unit::Whole(Grouping::Commas) => (far * 0.1).max(1.0),
            Unit::Number(_) => far * 0.1,
        };
        Self { min: self.min - margin, max: self.max + margin, ..self }
    }
}
