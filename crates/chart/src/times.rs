//! Times on an axis: where the ticks stand and how they read. All in microseconds since 1970, UTC.

pub(crate) mod ranges;

use jiff::{Timestamp, civil, tz::TimeZone};

use crate::numbers;

pub(crate) const SECOND: i64 = 1_000_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
pub(crate) const DAY: i64 = 24 * HOUR;
const MONTH: i64 = 30 * DAY;
/// The mean, by which the number of months in a span is told.
const MEAN_MONTH: f64 = 30.44 * DAY as f64;
/// The first Monday of 1970; weeks begin there.
const MONDAY: i64 = 4 * DAY;

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Lengths below a day by which people count.
const CLOCK: [i64; 20] = [
    SECOND,
    2 * SECOND,
    5 * SECOND,
    10 * SECOND,
    15 * SECOND,
    30 * SECOND,
    MINUTE,
    2 * MINUTE,
    5 * MINUTE,
    10 * MINUTE,
    15 * MINUTE,
    30 * MINUTE,
    HOUR,
    2 * HOUR,
    3 * HOUR,
    6 * HOUR,
    12 * HOUR,
    DAY,
    2 * DAY,
    7 * DAY,
];

/// A place on a time axis: what stands at it, and the day or year that it belongs to if that is
/// another than at the tick before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TimeTick {
    pub(crate) time: i64,
    pub(crate) label: String,
    pub(crate) context: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Fixed(i64),
    Months(i64),
}

/// Returns at most about `max_count` ticks from `min` to `max`.
pub(crate) fn ticks(min: i64, max: i64, max_count: usize) -> Vec<TimeTick> {
    let step = step(max.saturating_sub(min), max_count);
    let mut before = None;
    let times = match step {
        Step::Fixed(length) => fixed(min, max, length),
        Step::Months(months) => month_starts(min, max, months),
    };
    let ticks = times.into_iter().filter_map(|time| {
        let (label, context) = read(civil(time)?, step);
        let is_new = before.as_ref() != Some(&context);
        before = Some(context.clone());
        Some(TimeTick { time, label, context: context.filter(|_| is_new) })
    });
    ticks.collect()
}

/// Returns the length by which people would divide `span` into about `count` parts.
pub(crate) fn nice_length(span: i64, count: usize) -> i64 {
    match step(span, count) {
        Step::Fixed(length) => length,
        Step::Months(months) => months * MONTH,
    }
}

/// Returns the multiple of `length` at or before `time`; weeks begin on Monday.
pub(crate) fn floor(time: i64, length: i64) -> i64 {
    let origin = if length % (7 * DAY) == 0 { MONDAY } else { 0 };
    (time - origin).div_euclid(length) * length + origin
}

/// Writes each of `times` as exactly as they all need: years, months, days, minutes, or more.
pub(crate) fn names(times: &[i64]) -> Vec<String> {
    let civils: Vec<Option<civil::DateTime>> = times.iter().map(|time| civil(*time)).collect();
    let all = |holds: fn(&civil::DateTime) -> bool| civils.iter().flatten().all(holds);
    let days = all(|time| time.time() == civil::Time::midnight());
    let months = days && all(|time| time.day() == 1);
    let years = months && all(|time| time.month() == 1);
    let minutes = all(|time| time.second() == 0 && time.subsec_nanosecond() == 0);
    let seconds = all(|time| time.subsec_nanosecond() == 0);
    let name = |time: &Option<civil::DateTime>| match time {
        None => "(out of range)".to_owned(),
        Some(time) if years => time.year().to_string(),
        Some(time) if months => format!("{} {}", month(*time), time.year()),
        Some(time) if days => time.date().to_string(),
        Some(time) if minutes => time.strftime("%Y-%m-%d %H:%M").to_string(),
        Some(time) if seconds => time.strftime("%Y-%m-%d %H:%M:%S").to_string(),
        Some(time) => time.strftime("%Y-%m-%d %H:%M:%S%.3f").to_string(),
    };
    civils.iter().map(name).collect()
}

/// Tells whether the calendar has a date for `time`.
pub(crate) fn is_known(time: i64) -> bool {
    civil(time).is_some()
}

fn step(span: i64, max_count: usize) -> Step {
    let least = span as f64 / max_count.max(1) as f64;
    if least < SECOND as f64 {
        return Step::Fixed((numbers::nice_step(span.max(1) as f64, max_count) as i64).max(1));
    }
    if let Some(length) = CLOCK.into_iter().find(|length| *length as f64 >= least) {
        return Step::Fixed(length);
    }
    let months = [1, 2, 3, 6, 12].into_iter().find(|months| *months as f64 * MEAN_MONTH >= least);
    Step::Months(months.unwrap_or_else(|| {
        let years = span as f64 / (12.0 * MEAN_MONTH);
        (numbers::nice_step(years, max_count) as i64).max(1) * 12
    }))
}

fn fixed(min: i64, max: i64, length: i64) -> Vec<i64> {
    let floor = floor(min, length);
    let first = if floor < min { floor + length } else { floor };
    let count = if first > max { 0 } else { (max - first) / length + 1 };
    (0..count).map(|index| first + index * length).collect()
}

fn month_starts(min: i64, max: i64, months: i64) -> Vec<i64> {
    let Some(index) = month_index(min) else { return Vec::new() };
    let first = index.div_euclid(months) * months;
    (0..)
        .map_while(|step| month_start(first + step * months))
        .skip_while(|time| *time < min)
        .take_while(|time| *time <= max)
        .collect()
}

/// Returns how many months lie between `time` and the year 0.
fn month_index(time: i64) -> Option<i64> {
    let date = civil(time)?;
    Some(i64::from(date.year()) * 12 + i64::from(date.month()) - 1)
}

/// Returns when the month begins that [`month_index`] gives this index.
fn month_start(index: i64) -> Option<i64> {
    let year = i16::try_from(index.div_euclid(12)).ok()?;
    let month = i8::try_from(index.rem_euclid(12)).ok()? + 1;
    let date = civil::Date::new(year, month, 1).ok()?;
    Some(date.to_zoned(TimeZone::UTC).ok()?.timestamp().as_microsecond())
}

/// Returns what stands at a tick, and the day or year below it.
fn read(time: civil::DateTime, step: Step) -> (String, Option<String>) {
    let date = || Some(format!("{} {} {}", time.day(), month(time), time.year()));
    match step {
        Step::Months(months) if months % 12 == 0 => (time.year().to_string(), None),
        Step::Months(_) => (month(time).to_owned(), Some(time.year().to_string())),
        Step::Fixed(length) if length % DAY == 0 => {
            (format!("{} {}", time.day(), month(time)), Some(time.year().to_string()))
        }
        Step::Fixed(length) if length % MINUTE == 0 => (time.strftime("%H:%M").to_string(), date()),
        Step::Fixed(length) if length % SECOND == 0 => {
            (time.strftime("%H:%M:%S").to_string(), date())
        }
        Step::Fixed(length) if length % 1_000 == 0 => {
            (time.strftime("%H:%M:%S%.3f").to_string(), date())
        }
        Step::Fixed(_) => (time.strftime("%H:%M:%S%.6f").to_string(), date()),
    }
}

fn month(time: civil::DateTime) -> &'static str {
    MONTHS[time.month() as usize - 1]
}

fn civil(time: i64) -> Option<civil::DateTime> {
    Some(TimeZone::UTC.to_datetime(Timestamp::from_microsecond(time).ok()?))
}

#[cfg(test)]
mod tests;
