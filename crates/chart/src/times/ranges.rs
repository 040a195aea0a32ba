//! Ranges of the calendar that gather times: hours, days, weeks, months.

use crate::{
    ranges::{Ranges, Room},
    times::{CLOCK, DAY, HOUR, MINUTE, SECOND, Step, floor, month_index, month_start},
};

const MILLISECOND: i64 = 1_000;
const WEEK: i64 = 7 * DAY;
const FINER: [i64; 3] = [MILLISECOND, 10 * MILLISECOND, 100 * MILLISECOND];
const MONTHS: [i64; 8] = [1, 3, 12, 60, 120, 600, 1_200, 12_000];

/// Returns the ranges that `times`, which are sorted, distinct and known to the calendar, are shown
/// in; `None` if they are shown one by one. If they are as regular as the calendar, each has a range
/// of its own and what is missing between them leaves a gap.
pub(crate) fn ranges(times: &[i64], room: Room) -> Option<Ranges<i64>> {
    let (first, last) = (*times.first()?, *times.last()?);
    let count = |step: &Step| step.count(first, last);
    let regular = || steps().rev().find(|step| times.iter().all(|time| step.lies_on(*time)));
    if let Some(step) = regular().filter(|step| count(step) <= room.values) {
        return Some(Ranges { starts: step.starts(first, last), name: None });
    }
    if times.len() <= room.named {
        return None;
    }
    let step = steps().find(|step| count(step) <= room.ranges)?;
    Some(Ranges { starts: step.starts(first, last), name: Some(step.name()) })
}

/// The steps by which people count time, the shortest first.
fn steps() -> impl DoubleEndedIterator<Item = Step> {
    let clock = CLOCK.into_iter().filter(|length| *length != 2 * DAY);
    FINER.into_iter().chain(clock).map(Step::Fixed).chain(MONTHS.map(Step::Months))
}

impl Step {
    /// The start of the range that `time` lies in.
    fn start(self, time: i64) -> Option<i64> {
        match self {
            Step::Fixed(length) => Some(floor(time, length)),
            Step::Months(months) => month_start(month_index(time)?.div_euclid(months) * months),
        }
    }

    fn lies_on(self, time: i64) -> bool {
        self.start(time) == Some(time)
    }

    /// How many ranges there are from the one of `first` to that of `last`.
    fn count(self, first: i64, last: i64) -> usize {
        let (first, last, length) = match self {
            Step::Fixed(length) => (floor(first, length), floor(last, length), length),
            Step::Months(months) => {
                let index = |time| month_index(time).unwrap_or_default().div_euclid(months);
                (index(first), index(last), 1)
            }
        };
        usize::try_from((last - first) / length).unwrap_or_default() + 1
    }

    fn starts(self, first: i64, last: i64) -> Vec<i64> {
        let Some(start) = self.start(first) else { return Vec::new() };
        let places = (0..).take(self.count(first, last));
        match self {
            Step::Fixed(length) => places.map(|place| start + place * length).collect(),
            Step::Months(months) => {
                let index = month_index(start).unwrap_or_default();
                places.map_while(|place| month_start(index + place * months)).collect()
            }
        }
    }

    fn name(self) -> String {
        let (count, unit) = match self {
            Step::Fixed(length) if length % WEEK == 0 => (length / WEEK, "week"),
            Step::Fixed(length) if length % DAY == 0 => (length / DAY, "day"),
            Step::Fixed(length) if length % HOUR == 0 => (length / HOUR, "hour"),
            Step::Fixed(length) if length % MINUTE == 0 => (length / MINUTE, "minute"),
            Step::Fixed(length) if length % SECOND == 0 => (length / SECOND, "second"),
            Step::Fixed(length) => (length / MILLISECOND, "millisecond"),
            Step::Months(3) => (1, "quarter"),
            Step::Months(months) if months % 12 == 0 => (months / 12, "year"),
            Step::Months(months) => (months, "month"),
        };
        if count == 1 { unit.to_owned() } else { format!("{count} {unit}s") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: Room = Room { values: 300, named: 40, ranges: 120 };
    /// 1 January 2024, a Monday.
    const START: i64 = 19_723 * DAY;

    fn named(times: &[i64]) -> (usize, Option<String>) {
        let ranges = ranges(times, ROOM).unwrap();
        assert!(ranges.starts.is_sorted() && ranges.starts[0] <= times[0]);
        (ranges.starts.len(), ranges.name)
    }

    #[test]
    fn days_that_are_too_many_are_gathered_by_week_or_month() {
        let days = |count: i64| (0..count).map(|day| START + day * DAY).collect::<Vec<_>>();
        assert_eq!(named(&days(300)), (300, None));
        assert_eq!(named(&days(730)), (105, Some("week".to_owned())));
        assert_eq!(named(&days(366 + 4 * 365)), (60, Some("month".to_owned())));
        assert_eq!(named(&days(36_500)), (100, Some("year".to_owned())));
    }

    #[test]
    fn moments_are_gathered_by_what_fits() {
        let moments = |step: i64| (0..400).map(|n| START + n * step + n % 7).collect::<Vec<_>>();
        assert_eq!(named(&moments(HOUR)), (67, Some("6 hours".to_owned())));
        assert_eq!(named(&moments(SECOND)), (80, Some("5 seconds".to_owned())));
        assert_eq!(named(&moments(MILLISECOND)), (40, Some("10 milliseconds".to_owned())));
    }

    #[test]
    fn what_is_missing_between_regular_times_leaves_a_gap() {
        let months: Vec<i64> =
            [0, 1, 4].into_iter().filter_map(|n| month_start(2024 * 12 + n)).collect();
        let ranges = ranges(&months, ROOM).unwrap();
        assert_eq!((ranges.starts.len(), &ranges.name), (5, &None));
        assert_eq!(months.iter().map(|time| ranges.index(*time)).collect::<Vec<_>>(), [0, 1, 4]);
    }

    #[test]
    fn few_times_without_a_rule_are_shown_one_by_one() {
        assert_eq!(ranges(&[START, START + 12_345_678_901, START + 900 * DAY], ROOM), None);
        assert_eq!(ranges(&[], ROOM), None);
    }
}
