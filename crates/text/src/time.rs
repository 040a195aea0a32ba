use jiff::{Timestamp, tz::TimeZone};

/// A time as it is written: a day, a clock, and perhaps how far that clock is from UTC.
#[derive(Debug, PartialEq, Eq)]
pub struct Time<'a> {
    date: &'a str,
    /// With seconds, and a point before their fraction.
    clock: String,
    zone: &'a str,
}

impl<'a> Time<'a> {
    /// Takes a time apart; whether the day and the clock are any shows in UTC.
    pub fn read(text: &'a str) -> Option<Self> {
        let (date, rest) = text.trim().split_at_checked(10)?;
        let rest = rest.strip_prefix(['T', 't', ' '])?;
        let is_clock = |letter: char| letter.is_ascii_digit() || matches!(letter, ':' | '.' | ',');
        let end = rest.find(|letter| !is_clock(letter)).unwrap_or(rest.len());
        let clock = rest[..end].replace(',', ".");
        let mut clock = if clock.len() == 5 { clock + ":00" } else { clock };
        // Finer than SQL is: it is asked for only where these are zeros.
        clock.truncate("00:00:00.000000".len());
        Some(Self { date, clock, zone: rest[end..].trim() })
    }

    /// True if it says how far it is from UTC, and that is not nothing.
    pub fn has_offset(&self) -> bool {
        self.zone.starts_with(['+', '-'])
            && self.zone.contains(|digit| ('1'..='9').contains(&digit))
    }

    /// What a clock showed, wherever it stood.
    pub fn local(&self) -> String {
        format!("{} {}", self.date, self.clock)
    }

    /// The same in UTC, in which one without a zone is.
    pub fn utc(&self) -> Option<String> {
        let Some(offset) = self.zone.strip_prefix(['+', '-']) else { return Some(self.local()) };
        let (hours, minutes) = offset.split_at_checked(2)?;
        let minutes = match minutes.trim_start_matches(':') {
            "" => "00",
            minutes => minutes,
        };
        let sign = &self.zone[..1];
        let time: Timestamp =
            format!("{}T{}{sign}{hours}:{minutes}", self.date, self.clock).parse().ok()?;
        Some(time.to_zoned(TimeZone::UTC).strftime("%Y-%m-%d %H:%M:%S%.f").to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_read_as_one_time() {
        for (given, local, utc) in [
            ("2024-01-01T10:00:00+02:00", "2024-01-01 10:00:00", "2024-01-01 08:00:00"),
            ("2024-01-01 00:30 -0330", "2024-01-01 00:30:00", "2024-01-01 04:00:00"),
            ("2024-01-01T10:00:00,5+02", "2024-01-01 10:00:00.5", "2024-01-01 08:00:00.5"),
            ("2024-01-01t10:00:00z", "2024-01-01 10:00:00", "2024-01-01 10:00:00"),
            ("2024-01-01T10:00Z", "2024-01-01 10:00:00", "2024-01-01 10:00:00"),
            ("2024-01-01 10:00:00 UTC", "2024-01-01 10:00:00", "2024-01-01 10:00:00"),
            (
                "2024-01-01T10:00:00.123456000",
                "2024-01-01 10:00:00.123456",
                "2024-01-01 10:00:00.123456",
            ),
        ] {
            let time = Time::read(given).unwrap();
            assert_eq!(
                (time.local().as_str(), time.utc().as_deref()),
                (local, Some(utc)),
                "{given}"
            );
            assert_eq!(time.has_offset(), local != utc, "{given}");
        }
    }

    #[test]
    fn what_is_no_time_with_an_offset_is_none() {
        for text in [
            "2024-01-01",
            "2024-01-01 and so on - 12",
            "äöüäöüäöüä+02:00",
            "2024-01-01T10:00:00+00:00",
            "",
        ] {
            let time = Time::read(text).filter(Time::has_offset).and_then(|time| time.utc());
            assert_eq!(time, None, "{text}");
        }
        assert_eq!(Time::read("2024-13-01T10:00:00+02:00").unwrap().utc(), None);
    }
}
