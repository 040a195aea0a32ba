use super::*;

fn at(text: &str) -> i64 {
    text.parse::<Timestamp>().unwrap().as_microsecond()
}

/// Writes ticks as `label` or `label/context`.
fn read(from: &str, to: &str, max_count: usize) -> Vec<String> {
    let written = |tick: TimeTick| match tick.context {
        Some(context) => format!("{}/{context}", tick.label),
        None => tick.label,
    };
    ticks(at(from), at(to), max_count).into_iter().map(written).collect()
}

#[test]
fn ticks_stand_where_people_count() {
    assert_eq!(
        read("2025-11-03T10:00:05Z", "2025-11-03T10:00:55Z", 4),
        ["10:00:15/3 Nov 2025", "10:00:30", "10:00:45"]
    );
    assert_eq!(
        read("2025-11-03T21:30:00Z", "2025-11-04T02:30:00Z", 6),
        ["22:00/3 Nov 2025", "23:00", "00:00/4 Nov 2025", "01:00", "02:00"]
    );
    assert_eq!(
        read("2025-12-28T00:00:00Z", "2026-01-03T12:00:00Z", 4),
        ["28 Dec/2025", "30 Dec", "1 Jan/2026", "3 Jan"]
    );
    assert_eq!(
        read("2025-11-15T00:00:00Z", "2026-05-15T00:00:00Z", 6),
        ["Dec/2025", "Jan/2026", "Feb", "Mar", "Apr", "May"]
    );
    assert_eq!(
        read("1994-03-01T00:00:00Z", "2024-03-01T00:00:00Z", 8),
        ["1995", "2000", "2005", "2010", "2015", "2020"]
    );
}

#[test]
fn weeks_begin_on_monday() {
    assert_eq!(
        read("2025-11-01T00:00:00Z", "2025-11-30T00:00:00Z", 5),
        ["3 Nov/2025", "10 Nov", "17 Nov", "24 Nov"]
    );
}

#[test]
fn fractions_of_a_second_are_written_as_finely_as_they_differ() {
    assert_eq!(
        read("2025-11-03T10:00:00Z", "2025-11-03T10:00:00.4Z", 2),
        ["10:00:00.000/3 Nov 2025", "10:00:00.200", "10:00:00.400"]
    );
    assert_eq!(
        read("1969-12-31T23:59:59.99999Z", "1969-12-31T23:59:59.999999Z", 2),
        ["23:59:59.999990/31 Dec 1969", "23:59:59.999995"]
    );
}

#[test]
fn there_are_never_many_more_ticks_than_asked_for() {
    let lengths = (0..58).map(|power| 1_i64 << power);
    for length in lengths {
        let start = at("1600-06-15T13:14:15Z");
        for max_count in 1..14 {
            let ticks = ticks(start, start.saturating_add(length), max_count);
            assert!(ticks.len() <= max_count + 2, "{length} µs: {} ticks", ticks.len());
        }
    }
}

#[test]
fn names_are_as_exact_as_they_need_to_be() {
    let named = |times: &[&str]| names(&times.iter().map(|time| at(time)).collect::<Vec<_>>());
    assert_eq!(named(&["2024-01-01T00:00:00Z", "2025-01-01T00:00:00Z"]), ["2024", "2025"]);
    assert_eq!(named(&["2024-01-01T00:00:00Z", "2024-02-01T00:00:00Z"]), ["Jan 2024", "Feb 2024"]);
    assert_eq!(named(&["2024-01-31T00:00:00Z"]), ["2024-01-31"]);
    assert_eq!(named(&["2024-01-31T08:30:00Z"]), ["2024-01-31 08:30"]);
    assert_eq!(named(&["2024-01-31T08:30:01Z"]), ["2024-01-31 08:30:01"]);
    assert_eq!(named(&["2024-01-31T08:30:01.25Z"]), ["2024-01-31 08:30:01.250"]);
}
