//! Charts of more than has room, which is gathered.

use super::{START, chart, crossed, noise, normal, numbers, texts, times, walk};
use crate::{
    Chart,
    ChartKind::{Bar, Heatmap, Line, Scatter},
    times::DAY,
};

pub(super) fn cases() -> Vec<(&'static str, Chart)> {
    let mut cases = bars();
    cases.extend(lines());
    cases.extend(cells_and_dots());
    cases
}

fn bars() -> Vec<(&'static str, Chart)> {
    let two_years = chart(
        Bar,
        "Sales a day, for two years",
        times("day", (0..730).map(|day| START + day * DAY)),
        Some(numbers("sales", walk(30, 400.0, 9.0).map(f64::round).take(730))),
    );
    let moments = noise(31).map(|n| START + (n * 9.0 * DAY as f64) as i64).take(900);
    let moments = Chart {
        series: Some(texts(
            "level",
            (0..900).map(|n| ["error", "warning", "debug"][n * n % 7 % 3]),
        )),
        ..chart(Bar, "Events", times("at", moments), None)
    };
    let months = chart(
        Bar,
        "Rain by month",
        texts("month", ["Oct", "Jan", "Feb", "Dec", "Mar", "Nov", "Apr"]),
        Some(numbers("rain (mm)", noise(32).map(|n| (n * 90.0).round()).take(7))),
    );
    let prices = chart(
        Bar,
        "Houses by price",
        numbers("price", normal(33).map(|n| (300.0 + n * 80.0) * 1_000.0).take(2_000)),
        None,
    );
    vec![
        ("bar-two-years", two_years),
        ("bar-moments", moments),
        ("bar-months", months),
        ("bar-many-numbers", prices),
    ]
}

fn lines() -> Vec<(&'static str, Chart)> {
    let days: Vec<i64> = (0..60).map(|day| START + day * DAY).collect();
    let (at, _) = crossed(&days, &["a"; 12]);
    let many_per_day = chart(
        Line,
        "Twelve sensors each day",
        times("date", at),
        Some(numbers("degrees", normal(34).map(|n| 12.0 + n * 5.0).take(720))),
    );
    let dense = chart(
        Line,
        "Each request for a month",
        times("at", noise(35).map(|n| START + (n * 30.0 * DAY as f64) as i64).take(20_000)),
        Some(numbers("latency (ms)", normal(36).map(|n| (n + 4.0).exp()).take(20_000))),
    );
    let hosts: Vec<String> = (0..400).map(|n| format!("host-{n}")).collect();
    let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
    let steps: Vec<f64> = (0..50).map(f64::from).collect();
    let (at, series) = crossed(&steps, &hosts);
    let crowd = Chart {
        series: Some(texts("host", series)),
        ..chart(
            Line,
            "Four hundred hosts",
            numbers("step", at),
            Some(numbers("load", walk(37, 90.0, 0.1).take(20_000))),
        )
    };
    let moments = noise(41).map(|n| START + (n * n * 9.0 * DAY as f64) as i64).take(900);
    let counted = Chart {
        series: Some(texts("level", (0..900).map(|n| ["error", "warning"][n * n % 7 % 2]))),
        ..chart(Line, "Messages", times("at", moments), None)
    };
    vec![
        ("line-many-per-day", many_per_day),
        ("line-dense", dense),
        ("line-four-hundred", crowd),
        ("line-counted", counted),
    ]
}

fn cells_and_dots() -> Vec<(&'static str, Chart)> {
    let heaps = Chart {
        series: Some(texts("kind", (0..30_000).map(|n| ["a", "b", "c"][n % 3]))),
        ..chart(
            Scatter,
            "Thirty thousand dots",
            numbers("x", normal(38).zip(0..).map(|(n, i)| n + f64::from(i % 3) * 2.0).take(30_000)),
            Some(numbers("y", normal(39).take(30_000))),
        )
    };
    let (at, along) = crossed(&(0..400).collect::<Vec<i64>>(), &["api", "web", "worker"]);
    let long = Chart {
        value: Some(numbers("errors", noise(40).map(|n| (n * 9.0).round()).take(1_200))),
        ..chart(
            Heatmap,
            "Errors a day for more than a year",
            times("day", at.into_iter().map(|day| START + day * DAY)),
            Some(texts("service", along)),
        )
    };
    vec![("scatter-heaps", heaps), ("heatmap-long", long)]
}
