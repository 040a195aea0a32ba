//! Times that are given with an offset from UTC, in which SQL has all times.

use jiff::{Timestamp, tz::TimeZone};

/// A time with an offset, in UTC; `None` for anything else, and for one whose offset is nothing.
///
/// DuckDB would take it for a time, and drop the offset without a word.
pub fn in_utc(text: &str) -> Option<String> {
    let (date, rest) = text.trim().split_at_checked(10)?;
    let clock = rest.strip_prefix(['T', 't', ' '])?;
    let sign = clock.rfind(['+', '-'])?;
    let (clock, zone) = (clock[..sign].trim_end().replace(',', "."), &clock[sign..]);
    let digits: String = zone[1..].chars().filter(char::is_ascii_digit).collect();
    let is_offset = matches!(digits.len(), 2 | 4) && digits.bytes().any(|digit| digit != b'0');
    let clock = if clock.len() == 5 { clock + ":00" } else { clock };
    let minutes = digits.get(2..4).unwrap_or("00");
    let written = format!("{date}T{clock}{}{}:{minutes}", &zone[..1], digits.get(..2)?);
    let time: Timestamp = is_offset.then(|| written.parse().ok()).flatten()?;
    Some(time.to_zoned(TimeZone::UTC).strftime("%Y-%m-%d %H:%M:%S%.f").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_an_offset_is_told_in_utc() {
        for (given, utc) in [
            ("2024-01-01T10:00:00+02:00", Some("2024-01-01 08:00:00")),
            ("2024-01-01 00:30 -0330", Some("2024-01-01 04:00:00")),
            ("2024-01-01T10:00:00.5+02", Some("2024-01-01 08:00:00.5")),
            ("2024-01-01T10:00:00Z", None),
            ("2024-01-01T10:00:00+00:00", None),
            ("2024-01-01", None),
            ("2024-01-01 and so on - 12", None),
            ("äöüäöüäöüä+02:00", None),
        ] {
            assert_eq!(in_utc(given).as_deref(), utc, "{given}");
        }
    }
}
