//! The least and the greatest value of a field.

/// Longer texts have no place in a range.
pub(super) const MAX_BYTES: usize = 200;

/// The range of numbers, each bound as it is.
#[expect(clippy::cast_precision_loss, reason = "it is shown beside floats")]
pub(super) fn of_numbers(
    integers: Option<(i128, i128)>,
    floats: Option<(f64, f64)>,
) -> Option<(String, String)> {
    let integers = integers
        .map(|(low, high)| ((low as f64, low.to_string()), (high as f64, high.to_string())));
    let floats = floats
        .filter(|(low, high)| low.is_finite() && high.is_finite())
        .map(|(low, high)| ((low, shown(low)), (high, shown(high))));
    match (integers, floats) {
        // Each as it is: a long integer is not rounded because there are floats beside it.
        (Some((low, high)), Some((least, most))) => Some((
            if least.0 < low.0 { least.1 } else { low.1 },
            if most.0 > high.0 { most.1 } else { high.1 },
        )),
        (Some((low, high)), None) | (None, Some((low, high))) => Some((low.1, high.1)),
        (None, None) => None,
    }
}

/// A number in as few digits as tell it from others.
fn shown(number: f64) -> String {
    let size = number.abs();
    let is_handy = size == 0.0 || (1e-5..1e17).contains(&size);
    if is_handy { number.to_string() } else { format!("{number:e}") }
}

/// The range of texts, if they are short.
pub(super) fn of_texts((low, high): &(Vec<u8>, Vec<u8>)) -> Option<(String, String)> {
    let is_short = low.len() <= MAX_BYTES && high.len() <= MAX_BYTES;
    is_short.then(|| {
        (String::from_utf8_lossy(low).into_owned(), String::from_utf8_lossy(high).into_owned())
    })
}

/// Widens a range of texts.
pub(super) fn extend(range: &mut Option<(Vec<u8>, Vec<u8>)>, value: &[u8]) {
    // What is longer has no range, however it goes on.
    let value = &value[..value.len().min(MAX_BYTES + 1)];
    match range {
        None => *range = Some((value.to_vec(), value.to_vec())),
        Some((low, high)) => {
            if value < low.as_slice() {
                value.clone_into(low);
            } else if value > high.as_slice() {
                value.clone_into(high);
            }
        }
    }
}

/// True if what stands behind a time says how far its clock is from UTC, and that is not nothing.
pub(super) fn is_offset(zone: &[u8]) -> bool {
    let zone = zone.trim_ascii();
    matches!(zone.first(), Some(b'+' | b'-')) && zone.iter().any(|byte| matches!(byte, b'1'..=b'9'))
}

/// How a time is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TimeStyle<'t> {
    /// What stands between the day and the time.
    pub(super) separator: u8,
    /// What stands behind the time.
    pub(super) zone: &'t [u8],
    /// How long it is without that.
    pub(super) bytes: usize,
}

impl<'t> TimeStyle<'t> {
    pub(super) fn of(timestamp: &'t [u8]) -> Self {
        let rest = timestamp.get(16..).unwrap_or_default();
        let start = rest.iter().position(|byte| !matches!(byte, b'0'..=b'9' | b':' | b'.' | b','));
        let zone = start.map_or(&[][..], |start| &rest[start..]);
        let separator = timestamp.get(10).copied().unwrap_or_default();
        Self { separator, zone, bytes: timestamp.len() - zone.len() }
    }
}
