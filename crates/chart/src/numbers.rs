//! Numbers on an axis: where the ticks stand and how they read.

/// Values beyond this are drawn at its place, so that spans stay finite.
pub(crate) const LARGEST: f64 = 1e300;

/// Whether a thousand is set off by a comma.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Grouping {
    Commas,
    /// For years, which read `2024`.
    Plain,
}

/// Returns the smallest step of 1, 2 or 5 times a power of ten that divides `span` into at most
/// `max_count` parts.
pub(crate) fn nice_step(span: f64, max_count: usize) -> f64 {
    let least = span / max_count.max(1) as f64;
    let power = 10_f64.powf(least.log10().floor());
    let times = [1.0, 2.0, 5.0].into_iter().find(|times| times * power >= least * (1.0 - 1e-9));
    times.unwrap_or(10.0) * power
}

/// Returns the multiples of `step` from `min` to `max`.
pub(crate) fn multiples(min: f64, max: f64, step: f64) -> Vec<f64> {
    let first = (min / step - 1e-6).ceil();
    let last = (max / step + 1e-6).floor();
    let count = (last - first + 1.0).max(0.0) as usize;
    // Adding zero turns a negative zero into zero.
    (0..count).map(|index| (first + index as f64) * step + 0.0).collect()
}

/// Writes the ticks of an axis alike: with the same decimals and the same unit.
pub(crate) fn labels(ticks: &[f64], step: f64, grouping: Grouping) -> Vec<String> {
    let largest = ticks.iter().fold(0.0_f64, |largest, tick| largest.max(tick.abs()));
    if largest > 0.0 && !(1e-4..1e15).contains(&largest) {
        let digits = (largest.log10().floor() - step.log10().floor()).clamp(0.0, 15.0) as usize;
        return ticks.iter().map(|tick| scientific(*tick, digits)).collect();
    }
    let unit = UNITS.iter().find(|(size, _)| {
        largest >= *size && decimals(step / size) <= 3 && grouping == Grouping::Commas
    });
    let (size, suffix) = unit.copied().unwrap_or((1.0, ""));
    let decimals = decimals(step / size);
    let label = |tick: &f64| {
        let number = format!("{:.decimals$}", tick / size);
        let suffix = if *tick == 0.0 { "" } else { suffix };
        match grouping {
            Grouping::Commas if *tick == 0.0 => "0".to_owned(),
            Grouping::Commas => grouped(&number) + suffix,
            Grouping::Plain => number,
        }
    };
    ticks.iter().map(label).collect()
}

/// Writes one value in as few letters as still tell it: `1,234`, `1.23M`, `0.0123`.
pub(crate) fn compact(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 {
        return "0".to_owned();
    }
    if !(1e-4..1e15).contains(&size) {
        return scientific(value, 2);
    }
    let unit = UNITS.iter().find(|(unit, _)| size >= *unit);
    let (unit, suffix) = unit.copied().unwrap_or((1.0, ""));
    let whole_digits = (size / unit).log10().floor() + 1.0;
    let decimals = (3.0 - whole_digits).max(0.0) as usize;
    let number = format!("{:.decimals$}", value / unit);
    grouped(without_zeros(&number)) + suffix
}

/// Writes one value whole, as the name of a category.
pub(crate) fn exact(value: f64, grouping: Grouping) -> String {
    if value != 0.0 && !(1e-4..1e15).contains(&value.abs()) {
        return format!("{value:e}");
    }
    let number = (value + 0.0).to_string();
    match grouping {
        Grouping::Commas => grouped(&number),
        Grouping::Plain => number,
    }
}

/// Writes a count of things.
pub(crate) fn count(number: usize) -> String {
    grouped(&number.to_string())
}

const UNITS: [(f64, &str); 3] = [(1e12, "T"), (1e9, "B"), (1e6, "M")];

/// Returns how many decimals `step` needs.
fn decimals(step: f64) -> usize {
    let mut step = step;
    let mut decimals = 0;
    while (step - step.round()).abs() > 1e-6 * step.abs() && decimals < 12 {
        step *= 10.0;
        decimals += 1;
    }
    decimals
}

fn scientific(value: f64, digits: usize) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let text = format!("{value:.digits$e}");
    match text.split_once('e') {
        Some((number, power)) => format!("{}e{power}", without_zeros(number)),
        None => text,
    }
}

/// Takes away the zeros that end the decimals of a number.
fn without_zeros(number: &str) -> &str {
    if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number }
}

/// Sets commas into the whole part of a number that has been written.
fn grouped(number: &str) -> String {
    let (whole, rest) = number.find('.').map_or((number, ""), |point| number.split_at(point));
    let (sign, digits) = whole.strip_prefix('-').map_or(("", whole), |digits| ("-", digits));
    let mut grouped = sign.to_owned();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped + rest
}

#[cfg(test)]
mod tests;
