//! Charts that are hard to lay out.

mod gathered;

use std::sync::LazyLock;

use crate::{Axis, Chart, ChartKind, Column, times::DAY};

const HOUR: i64 = DAY / 24;
/// 3 November 2025, 00:00.
pub(super) const START: i64 = 20_395 * DAY;

pub(super) fn numbers(name: &str, values: impl IntoIterator<Item = f64>) -> Axis {
    Axis { name: name.to_owned(), values: Column::Numbers(values.into_iter().map(Some).collect()) }
}

pub(super) fn times(name: &str, values: impl IntoIterator<Item = i64>) -> Axis {
    Axis { name: name.to_owned(), values: Column::Times(values.into_iter().map(Some).collect()) }
}

pub(super) fn texts<T: Into<String>>(name: &str, values: impl IntoIterator<Item = T>) -> Axis {
    let values = values.into_iter().map(|text| Some(text.into())).collect();
    Axis { name: name.to_owned(), values: Column::Texts(values) }
}

pub(super) fn chart(kind: ChartKind, title: &str, x: Axis, y: Option<Axis>) -> Chart {
    let title = title.to_owned();
    let (subtitle, series, value, rows_are_sorted) = (None, None, None, false);
    Chart { kind, title, subtitle, x, y, series, value, rows_are_sorted }
}

/// Numbers from 0 to 1 that look random and are the same each time.
fn noise(seed: u64) -> impl Iterator<Item = f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64
    })
}

/// About normal, with mean 0 and deviation 1.
fn normal(seed: u64) -> impl Iterator<Item = f64> {
    let mut noise = noise(seed);
    std::iter::repeat_with(move || noise.by_ref().take(12).sum::<f64>() - 6.0)
}

/// Adds up steps.
fn walk(seed: u64, start: f64, step: f64) -> impl Iterator<Item = f64> {
    normal(seed).scan(start, move |at, by| {
        *at += by * step;
        Some(*at)
    })
}

/// Repeats each of `rows` for all of `names`: row by row.
fn crossed<T: Copy>(rows: &[T], names: &[&str]) -> (Vec<T>, Vec<String>) {
    let pairs =
        rows.iter().flat_map(|row| names.iter().map(move |name| (*row, (*name).to_owned())));
    pairs.unzip()
}

/// All of them, made once.
pub(super) fn cases() -> &'static [(&'static str, Chart)] {
    static CASES: LazyLock<Vec<(&'static str, Chart)>> = LazyLock::new(all);
    &CASES
}

fn all() -> Vec<(&'static str, Chart)> {
    let mut cases = bars();
    cases.extend(more_bars());
    cases.extend(lines());
    cases.extend(lines_over_other_things());
    cases.extend(dots_and_ranges());
    cases.extend(heatmaps());
    cases.extend(gathered::cases());
    cases
}

fn bars() -> Vec<(&'static str, Chart)> {
    use ChartKind::Bar;
    let countries = ["Norway", "Chile", "Japan", "Kenya", "Peru", "Spain", "Ghana"];
    let few = Chart {
        subtitle: Some("first 2,000 of 10,000 rows".to_owned()),
        ..chart(
            Bar,
            "Revenue by country",
            texts("country", countries),
            Some(numbers(
                "revenue (USD)",
                [1_240_500.0, 830_000.0, 2_100_000.0, 97_000.0, 450_000.0, 1_700_000.0, 12_300.0],
            )),
        )
    };
    let (regions, quarters) =
        crossed(&["North", "South", "East", "West", "Centre"], &["Q1", "Q2", "Q3", "Q4"]);
    let grouped = Chart {
        series: Some(texts("quarter", quarters)),
        ..chart(
            Bar,
            "Orders by region and quarter",
            texts("region", regions),
            Some(numbers("orders", noise(1).map(|n| (n * 900.0).round()).take(20))),
        )
    };
    let kinds = [
        "error", "warning", "notice", "info", "debug", "trace", "audit", "access", "slow", "panic",
        "retry", "drop", "late",
    ];
    let days: Vec<i64> = (0..14).map(|day| START + day * DAY).collect();
    let (days, kinds) = crossed(&days, &kinds);
    let stacked = Chart {
        series: Some(texts("kind", kinds)),
        ..chart(
            Bar,
            "Log lines a day",
            times("day", days),
            Some(numbers("lines", noise(2).map(|n| (n * 4e4).round()).take(14 * 13))),
        )
    };
    let long = [
        "Ministry of Agriculture, Forestry and Fisheries of the Northern Territories",
        "Department of Health",
        "https://example.com/a/very/long/path/that/never/seems/to/end/index.html",
        "Office of the Commissioner for Environmental Protection",
        "Treasury",
    ];
    let long = chart(
        Bar,
        "Spending by department",
        texts("department", long),
        Some(numbers("spent (million €)", [482.1, 1290.75, 12.0, -75.5, 930.0])),
    );
    let hundred = chart(
        Bar,
        "Downloads of each package",
        texts(
            "package",
            (0..100).map(|index| format!("package-{index:03}-{}", "x".repeat(index % 17))),
        ),
        Some(numbers("downloads", noise(3).map(|n| (1.0 / (n + 0.01) * 900.0).round()).take(100))),
    );
    vec![
        ("bar-few", few),
        ("bar-grouped", grouped),
        ("bar-stacked-days", stacked),
        ("bar-long-names", long),
        ("bar-hundred", hundred),
    ]
}

fn more_bars() -> Vec<(&'static str, Chart)> {
    use ChartKind::Bar;
    let one = chart(Bar, "One", texts("name", ["only"]), Some(numbers("value", [42.0])));
    let zero = chart(
        Bar,
        "All zero",
        texts("name", ["a", "b", "c"]),
        Some(numbers("value", [0.0, 0.0, 0.0])),
    );
    let negative = chart(
        Bar,
        "Change since last year",
        texts("month", ["Jan", "Feb", "Mar", "Apr", "May", "Jun"]),
        Some(numbers("change (%)", [-3.2, 4.1, -12.75, 0.0, 7.0, -0.4])),
    );
    let hostile = chart(
        Bar,
        "<script>alert(1)</script> & \"quotes\" \u{202e}desrever\u{0}",
        texts(
            "name <b>",
            [
                "</text><script>alert(1)</script>",
                "a\u{202e}b\u{7}c\nd",
                "",
                "&amp;",
                "Ωμέγα Привет → ≤ 5 µm",
                "漢字カナ",
                "\u{ffff}",
            ],
        ),
        Some(numbers("n", (1..8).map(f64::from))),
    );
    let counted = chart(
        Bar,
        "Rows of each status",
        texts("status", (0..60).map(|n| ["open", "closed", "merged"][n * n % 7 % 3])),
        None,
    );
    let years = chart(
        Bar,
        "Papers by year",
        numbers("year", (0..26).map(|n| f64::from(2000 + n))),
        Some(numbers("papers", noise(4).map(|n| (n * 90.0).round()).take(26))),
    );
    let daily = chart(
        Bar,
        "Requests a day",
        times("day", (0..200).map(|day| START + day * DAY)),
        Some(numbers("requests", walk(5, 4000.0, 90.0).map(f64::round).take(200))),
    );
    let (names, series) = crossed(
        &[
            "Instituto Nacional de Estadística y Geografía",
            "Statistisches Bundesamt",
            "Office for National Statistics",
            "Istituto Nazionale di Statistica",
            "Centraal Bureau voor de Statistiek",
            "Statistics Norway",
        ],
        &["budget", "spent", "left"],
    );
    let lying = Chart {
        series: Some(texts("item", series)),
        ..chart(
            Bar,
            "Budgets of statistical offices",
            texts("office", names),
            Some(numbers("million €", noise(6).map(|n| n * 300.0 - 60.0).take(18))),
        )
    };
    vec![
        ("bar-one", one),
        ("bar-zero", zero),
        ("bar-negative", negative),
        ("bar-hostile", hostile),
        ("bar-counted", counted),
        ("bar-years", years),
        ("bar-two-hundred-days", daily),
        ("bar-lying-grouped", lying),
    ]
}

fn lines() -> Vec<(&'static str, Chart)> {
    use ChartKind::Line;
    let over = |title: &str, step: i64, count: usize| {
        let at = (0..).map(|index| START + 37 * 61_000_000 + index * step).take(count);
        let y = walk(count as u64, 250.0, 4.0).take(count);
        chart(Line, title, times("time (UTC)", at), Some(numbers("latency (ms)", y)))
    };
    let names = [
        "frankfurt",
        "virginia",
        "oregon",
        "tokyo",
        "sydney",
        "são paulo",
        "mumbai",
        "london",
        "paris",
        "seoul",
    ];
    let months: Vec<i64> = (0..36).map(|month| START - month * 30 * DAY).collect();
    let (at, series) = crossed(&months, &names);
    let ten = Chart {
        series: Some(texts("data centre", series)),
        ..chart(
            Line,
            "Cost by data centre",
            times("month", at.clone()),
            Some(numbers("cost (USD)", walk(7, 30_000.0, 900.0).take(360))),
        )
    };
    let fifteen: Vec<String> = (0..15).map(|n| format!("host-{n}")).collect();
    let fifteen: Vec<&str> = fifteen.iter().map(String::as_str).collect();
    let (at, series) = crossed(&months, &fifteen);
    let rest = Chart {
        series: Some(texts("host", series)),
        ..chart(
            Line,
            "Load",
            times("month", at),
            Some(numbers("load", walk(8, 9.0, 0.1).take(540))),
        )
    };
    let mut gaps = over("A sensor that fails at times", HOUR, 72);
    if let Some(Axis { values: Column::Numbers(values), .. }) = &mut gaps.y {
        for row in [10, 11, 12, 30, 32, 50] {
            values[row] = None;
        }
        values[40] = Some(f64::NAN);
        values[60] = Some(f64::INFINITY);
    }
    vec![
        ("line-microseconds", over("Within a millisecond", 20, 40)),
        ("line-second", over("Within a few seconds", 130_000, 40)),
        ("line-minute", over("Within one minute", 1_000_000, 50)),
        ("line-hours", over("One afternoon", 60_000_000, 300)),
        ("line-days", over("Two weeks", HOUR, 340)),
        ("line-two-months", over("Two months", DAY, 62)),
        ("line-three-years", over("Three years", 7 * DAY, 160)),
        ("line-thirty-years", over("Thirty years", 30 * DAY, 365)),
        ("line-gaps", gaps),
        ("line-ten-series", ten),
        ("line-fifteen-series", rest),
    ]
}

fn lines_over_other_things() -> Vec<(&'static str, Chart)> {
    use ChartKind::Line;
    let one = chart(Line, "One point", times("time", [START]), Some(numbers("value", [3.0])));
    let equal = chart(
        Line,
        "Always the same",
        numbers("step", (0..20).map(f64::from)),
        Some(numbers("value", vec![1_234_567.0; 20])),
    );
    let texts_below = chart(
        Line,
        "Signups",
        texts("month", (0..30).map(|n| format!("20{:02}-{:02}", 23 + n / 12, n % 12 + 1))),
        Some(numbers("signups", walk(9, 400.0, 20.0).map(f64::round).take(30))),
    );
    let tiny = chart(
        Line,
        "Very small numbers",
        numbers("x", noise(10).map(|n| n * 1e-7).take(30)),
        Some(numbers("y", noise(11).map(|n| n * 3e-9 - 1e-9).take(30))),
    );
    let huge = chart(
        Line,
        "Very large numbers",
        numbers("x", (0..30).map(|n| f64::from(n) * 1e17)),
        Some(numbers("y", (0..30).map(|n| f64::from(n - 15) * 1e307))),
    );
    let close = chart(
        Line,
        "Large numbers close together",
        numbers("x", (0..30).map(|n| 1_200_000.0 + f64::from(n) / 3.0)),
        Some(numbers("y", noise(12).map(|n| 5_000_000.0 + n).take(30))),
    );
    let long = Chart {
        subtitle: Some("A subtitle that goes on and on. ".repeat(12)),
        ..chart(
            Line,
            &"A title that does not fit on one line of any page. ".repeat(10),
            numbers(&"the name of the x axis ".repeat(20), (0..5).map(f64::from)),
            Some(numbers(&"the name of the y axis ".repeat(20), (0..5).map(f64::from))),
        )
    };
    vec![
        ("line-one-point", one),
        ("line-equal", equal),
        ("line-texts", texts_below),
        ("line-tiny", tiny),
        ("line-huge", huge),
        ("line-close", close),
        ("line-long-texts", long),
    ]
}

fn dots_and_ranges() -> Vec<(&'static str, Chart)> {
    use ChartKind::{Histogram, Scatter};
    let (heights, weights): (Vec<f64>, Vec<f64>) = normal(13)
        .zip(normal(14))
        .take(150)
        .map(|(a, b)| (170.0 + a * 9.0, 70.0 + a * 8.0 + b * 5.0))
        .unzip();
    let few = Chart {
        series: Some(texts("sex", (0..150).map(|n| if n % 2 == 0 { "female" } else { "male" }))),
        ..chart(
            Scatter,
            "Height and weight",
            numbers("height (cm)", heights),
            Some(numbers("weight (kg)", weights)),
        )
    };
    let many = chart(
        Scatter,
        "Five thousand dots",
        numbers("x", normal(15).take(5_000)),
        Some(numbers("y", normal(16).take(5_000))),
    );
    let at = noise(17).map(|n| START + (n * 40.0 * DAY as f64) as i64).take(300);
    let over_time = chart(
        Scatter,
        "Size of each upload",
        times("uploaded", at),
        Some(numbers("size (bytes)", normal(18).map(|n| (n * 2.0 + 14.0).exp()).take(300))),
    );
    let bell = chart(
        Histogram,
        "Response times",
        numbers("milliseconds", normal(19).map(|n| 120.0 + n * 30.0).take(3_000)),
        None,
    );
    let skewed = chart(
        Histogram,
        "Sizes of files",
        numbers("bytes", normal(20).map(|n| (n + 10.0).exp()).take(2_000)),
        None,
    );
    let ratings = chart(
        Histogram,
        "Ratings",
        numbers("stars", noise(21).map(|n| (n.sqrt() * 5.0).ceil()).take(400)),
        None,
    );
    let when = noise(22).map(|n| START + (n * n * 20.0 * DAY as f64) as i64).take(900);
    let when = chart(Histogram, "When issues were opened", times("opened", when), None);
    let same = chart(Histogram, "All the same", numbers("value", vec![0.25; 30]), None);
    let instant = chart(Histogram, "One instant", times("at", vec![START; 30]), None);
    vec![
        ("scatter-few", few),
        ("scatter-many", many),
        ("scatter-times", over_time),
        ("scatter-one", chart(Scatter, "One dot", numbers("x", [0.0]), Some(numbers("y", [-7.5])))),
        ("histogram-bell", bell),
        ("histogram-skewed", skewed),
        ("histogram-ratings", ratings),
        ("histogram-times", when),
        ("histogram-same", same),
        ("histogram-instant", instant),
    ]
}

fn heatmaps() -> Vec<(&'static str, Chart)> {
    use ChartKind::Heatmap;
    let weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
    let hours: Vec<f64> = (0..24).map(f64::from).collect();
    let (at, days) = crossed(&hours, &weekdays);
    let week = Chart {
        value: Some(numbers("commits", noise(23).map(|n| (n * 120.0).round()).take(168))),
        ..chart(
            Heatmap,
            "Commits by hour and weekday",
            numbers("hour", at),
            Some(texts("weekday", days)),
        )
    };
    let names = ["open", "high", "low", "close", "volume"];
    let (across, along) = crossed(&names, &names);
    let correlation = Chart {
        value: Some(numbers(
            "correlation",
            (0..25).map(|n| if n % 6 == 0 { 1.0 } else { (f64::from(n) * 1.7).sin() }),
        )),
        ..chart(Heatmap, "Correlation of prices", texts("", across), Some(texts("", along)))
    };
    let long: Vec<String> = (0..45)
        .map(|n| format!("{} of the long-named thing {n}", ["production", "sale", "return"][n % 3]))
        .collect();
    let long: Vec<&str> = long.iter().map(String::as_str).collect();
    let (across, along) = crossed(&long, &long);
    let crowded = Chart {
        value: Some(numbers("tonnes a year", noise(24).map(|n| n * 5e6).take(45 * 45))),
        ..chart(Heatmap, "Many long names", texts("from", across), Some(texts("to", along)))
    };
    let days: Vec<i64> = (0..60).map(|day| START + day * DAY).collect();
    let (at, along) = crossed(&days, &["api", "web", "worker"]);
    let dates = Chart {
        value: Some(numbers("errors", noise(25).map(|n| (n * 9.0).round()).take(180))),
        ..chart(Heatmap, "Errors a day", times("day", at), Some(texts("service", along)))
    };
    let one = chart(Heatmap, "One cell", texts("x", ["a"]), Some(texts("y", ["b"])));
    vec![
        ("heatmap-week", week),
        ("heatmap-correlation", correlation),
        ("heatmap-crowded", crowded),
        ("heatmap-dates", dates),
        ("heatmap-one", one),
    ]
}
