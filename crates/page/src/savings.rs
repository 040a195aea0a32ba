//! Savings: tokens kept out of models' contexts, net of what that cost, by tool, server and day.

use askama::Template;
use forebay_store::{Counts, Savings as Saved, Usage};
use forebay_text::{counted, grouped, short, signed};
use jiff::civil::Date;
use serde::Serialize;

use crate::{
    Pages,
    frame::{Frame, Section},
    given::Given,
    problem::Problem,
    visible::named,
};

/// The spans to choose from, in days; 0 stands for all.
const SPANS: [(u16, &str); 4] = [(1, "today"), (7, "7 days"), (30, "30 days"), (0, "all")];
/// How many days are drawn.
const DRAWN_DAYS: usize = 30;
/// How high the highest bar and the lowest are together.
const CHART_HEIGHT: u64 = 80;
/// How thick the line is that bars stand on.
const GROUND_HEIGHT: u64 = 1;

/// What was kept out, and what that cost.
#[derive(Template, Serialize)]
#[template(path = "savings.html")]
pub(crate) struct Savings {
    #[serde(skip)]
    frame: Frame,
    days: Option<u16>,
    results: u64,
    captured: u64,
    cached: u64,
    /// Tokens of the results that were kept.
    captured_tokens: u64,
    /// Tokens of the summaries in their place.
    summary_tokens: u64,
    /// Tokens of what injected tools have told since.
    reply_tokens: u64,
    /// Tokens of the injected tools' definitions, each time that they were listed.
    definition_tokens: u64,
    /// What is left.
    net_tokens: i64,
    /// What a person pays for a million tokens.
    price: Option<f64>,
    /// What that makes of the net.
    money: Option<f64>,
    by_day: Vec<Day>,
    by_server: Vec<Of>,
    by_tool: Vec<Of>,
    #[serde(skip)]
    given: Given,
}

/// A day, net of everything.
#[derive(Serialize)]
pub(crate) struct Day {
    day: Date,
    kept_out_tokens: i64,
    cost_tokens: u64,
    net_tokens: i64,
}

/// A server or a tool. Replies and definitions are not theirs, and are not taken off.
#[derive(Serialize)]
pub(crate) struct Of {
    name: String,
    results: u64,
    captured: u64,
    captured_tokens: u64,
    summary_tokens: u64,
    kept_out_tokens: i64,
    #[serde(skip)]
    percent: i64,
}

/// The chart of days: what is net kept out stands on the ground, what is net lost hangs below.
pub(crate) struct Chart {
    /// How far below the top the ground is.
    pub(crate) ground: u64,
    pub(crate) bars: Vec<Bar>,
}

/// A bar of the chart of days.
pub(crate) struct Bar {
    pub(crate) x: usize,
    pub(crate) y: u64,
    pub(crate) height: u64,
    pub(crate) class: &'static str,
    pub(crate) told: String,
}

impl Savings {
    pub(crate) fn of(pages: &Pages, given: &Given) -> Result<Self, Problem> {
        let given = given.only(&["days", "price"])?;
        let days = given.number("days")?.map_or(Ok(30), u16::try_from);
        let days =
            days.map_err(|_| Problem::refused("days are 65535 at most; 0 stands for all."))?;
        let days = (days > 0).then_some(days);
        let price = given.get("price").map(price).transpose()?;
        let store = pages.desk.store()?;
        let usage = store.usage(days)?;
        let by_day = store.savings_by_day(days)?;
        let all: Saved = by_day.iter().map(|(_, of_day)| *of_day).sum();
        let (total, net_tokens) = (all.counts, all.net_tokens());
        #[expect(clippy::cast_precision_loss, reason = "money is told to the cent")]
        let money = price.map(|price| net_tokens as f64 / 1e6 * price);
        Ok(Self {
            frame: Frame::new(Section::Savings, "Savings"),
            days,
            results: total.results,
            captured: total.captured,
            cached: total.cached,
            captured_tokens: total.captured_tokens,
            summary_tokens: total.given_tokens,
            reply_tokens: all.reply_tokens,
            definition_tokens: all.definition_tokens,
            net_tokens,
            price,
            money,
            by_day: by_day.into_iter().map(|(day, saved)| Day::of(day, saved)).collect(),
            by_server: grouped_by(&usage, |usage| usage.server.clone()),
            by_tool: grouped_by(&usage, |it| {
                format!("{} · {}", named(&it.server), named(&it.tool))
            }),
            given,
        })
    }

    fn net_told(&self) -> String {
        signed(self.net_tokens, short)
    }

    fn exact_net(&self) -> String {
        signed(self.net_tokens, grouped)
    }

    fn sum(&self) -> [(&'static str, String, &'static str); 4] {
        [
            ("", grouped(self.captured_tokens), "tokens of results that were kept"),
            (
                "−",
                grouped(self.summary_tokens),
                "tokens of the summaries that stood in their place",
            ),
            ("−", grouped(self.reply_tokens), "tokens that Forebay's own tools replied since"),
            (
                "−",
                grouped(self.definition_tokens),
                "tokens of those tools' definitions, each time a client listed them",
            ),
        ]
    }

    fn passed_told(&self) -> String {
        let again = match self.cached {
            0 => String::new(),
            cached => format!("; {} given again", grouped(cached)),
        };
        let results = counted(self.results, "result");
        format!("{results} seen, {} of them kept{again}", grouped(self.captured))
    }

    fn money_told(&self) -> Option<String> {
        self.money.map(|money| format!("{money:.2}"))
    }

    fn price_told(&self) -> String {
        self.price.map(|price| price.to_string()).unwrap_or_default()
    }

    /// The spans, each with its link.
    fn spans(&self) -> Vec<(&'static str, String, bool)> {
        let link = |days: u16| {
            let given = Given::default().and("days", &days.to_string());
            let given = match self.price {
                Some(price) => given.and("price", &price.to_string()),
                None => given,
            };
            given.at("/savings")
        };
        let chosen = self.days.unwrap_or(0);
        SPANS.map(|(days, told)| (told, link(days), days == chosen)).into()
    }

    fn days_told(&self) -> u16 {
        self.days.unwrap_or(0)
    }

    fn twin(&self) -> String {
        self.given.at("/savings.json")
    }

    fn chart(&self) -> Chart {
        Chart::of(&self.drawn())
    }

    /// The last days, each with its place: the latest is the last, and days without anything leave theirs empty.
    fn drawn(&self) -> Vec<(usize, &Day)> {
        let Some(latest) = self.by_day.first() else { return Vec::new() };
        let place = |day: &Day| {
            let before = latest.day.since(day.day).ok()?.get_days();
            (DRAWN_DAYS - 1).checked_sub(usize::try_from(before).ok()?)
        };
        self.by_day.iter().filter_map(|day| Some((place(day)?, day))).collect()
    }

    /// The first and the last day that are drawn.
    fn ends(&self) -> Option<(Date, Date)> {
        let latest = self.by_day.first()?.day;
        let days = i64::try_from(DRAWN_DAYS - 1).ok()?;
        Some((latest.saturating_sub(jiff::Span::new().days(days)), latest))
    }
}

impl Chart {
    /// The chart of these days, each with its place.
    fn of(drawn: &[(usize, &Day)]) -> Self {
        let net = || drawn.iter().map(|(_, day)| day.net_tokens);
        let most = net().max().map_or(0, |most| most.max(0).unsigned_abs());
        let least = net().min().map_or(0, |least| least.min(0).unsigned_abs());
        let all = most.saturating_add(least).max(1);
        // Whatever is not nothing can be seen.
        let height = |tokens: u64| tokens.saturating_mul(CHART_HEIGHT).div_ceil(all);
        let ground = if least == 0 { CHART_HEIGHT } else { height(most) };
        let bar = |(place, day): &(usize, &Day)| {
            let height = height(day.net_tokens.unsigned_abs());
            let (y, class) = if day.net_tokens < 0 {
                (ground + GROUND_HEIGHT, "below")
            } else {
                (ground - height, "above")
            };
            let told = format!("{}: {} net", day.day, signed(day.net_tokens, grouped));
            Bar { x: place * 12, y, height, class, told }
        };
        Self { ground, bars: drawn.iter().map(bar).collect() }
    }
}

impl Day {
    fn of(day: Date, saved: Saved) -> Self {
        let kept_out_tokens = saved.counts.tokens_kept_out();
        let (cost_tokens, net_tokens) = (saved.cost_tokens(), saved.net_tokens());
        Self { day, kept_out_tokens, cost_tokens, net_tokens }
    }

    fn figures(&self) -> [String; 3] {
        let net = signed(self.net_tokens, grouped);
        [signed(self.kept_out_tokens, grouped), grouped(self.cost_tokens), net]
    }
}

impl Of {
    fn figures(&self) -> [String; 5] {
        let [results, captured, all, given] =
            [self.results, self.captured, self.captured_tokens, self.summary_tokens].map(grouped);
        [results, captured, all, given, signed(self.kept_out_tokens, grouped)]
    }
}

/// The price of a million tokens, as somebody has written it, with a point or a comma.
fn price(written: &str) -> Result<f64, Problem> {
    if let Some((whole, part)) = written.trim().split_once(',')
        && part.len() == 3
    {
        return Err(Problem::refused(format!(
            "The price {written} may be meant as {whole}{part} or as {whole}.{part}: write one of these."
        )));
    }
    let price = written.trim().replace(',', ".").parse::<f64>();
    let price = price.ok().filter(|price| price.is_finite() && *price >= 0.0);
    price.ok_or_else(|| {
        Problem::refused(format!("The price is a number, such as 3.00; it cannot be {written}."))
    })
}

fn grouped_by(usage: &[Usage], name: impl Fn(&Usage) -> String) -> Vec<Of> {
    let mut all: Vec<(String, Counts)> = Vec::new();
    for usage in usage {
        let name = name(usage);
        match all.iter_mut().find(|(known, _)| *known == name) {
            Some((_, counts)) => *counts += usage.counts,
            None => all.push((name, usage.counts)),
        }
    }
    all.sort_by_key(|(_, counts)| std::cmp::Reverse((counts.tokens_kept_out(), counts.bytes)));
    let most = all.first().map_or(1, |(_, counts)| counts.tokens_kept_out().max(1));
    let of = |(name, counts): (String, Counts)| Of {
        name,
        results: counts.results,
        captured: counts.captured,
        captured_tokens: counts.captured_tokens,
        summary_tokens: counts.given_tokens,
        kept_out_tokens: counts.tokens_kept_out(),
        percent: counts.tokens_kept_out().max(0) * 100 / most,
    };
    all.into_iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_net_and_hang_below_the_ground_on_days_that_cost_more_than_they_kept_out() {
        let drawn = |net: &[i64]| {
            let day = |net_tokens: &i64| Day {
                day: Date::constant(2026, 11, 18),
                // What is drawn is the net, and nothing else.
                kept_out_tokens: 1_000,
                cost_tokens: 0,
                net_tokens: *net_tokens,
            };
            let days: Vec<Day> = net.iter().map(day).collect();
            let chart = Chart::of(&days.iter().enumerate().collect::<Vec<_>>());
            let bar = |bar: Bar| (bar.class, bar.y, bar.height);
            (chart.ground, chart.bars.into_iter().map(bar).collect::<Vec<_>>())
        };
        assert_eq!(
            drawn(&[400, 800, 0]),
            (80, vec![("above", 40, 40), ("above", 0, 80), ("above", 80, 0)])
        );
        assert_eq!(
            drawn(&[600, -200, -1]),
            (60, vec![("above", 0, 60), ("below", 61, 20), ("below", 61, 1)])
        );
        assert_eq!(drawn(&[-50]), (0, vec![("below", 1, 80)]));
        assert_eq!(drawn(&[]), (80, Vec::new()));
        let (_, bars) = drawn(&[i64::MAX, i64::MIN]);
        assert!(bars.iter().all(|(_, y, height)| y + height <= 82 && *height > 0), "{bars:?}");
    }

    #[test]
    fn what_was_given_beyond_what_was_kept_is_taken_off_everywhere() {
        let day = "2026-11-18".parse::<Date>().unwrap();
        let of = |server: &str, captured_tokens, given_tokens| Usage {
            server: server.to_owned(),
            tool: "list".to_owned(),
            since: day,
            counts: Counts { captured_tokens, given_tokens, ..Counts::default() },
        };
        let usage = [of("a", 1_000, 0), of("b", 100, 600)];
        let servers = grouped_by(&usage, |usage| usage.server.clone());
        let told: Vec<_> = servers.iter().map(|it| (it.kept_out_tokens, it.percent)).collect();
        assert_eq!(told, [(1_000, 100), (-500, 0)]);
        let saved = Saved { counts: usage[1].counts, reply_tokens: 50, definition_tokens: 0 };
        let day = Day::of(day, saved);
        assert_eq!((day.kept_out_tokens, day.cost_tokens, day.net_tokens), (-500, 50, -550));
    }

    #[test]
    fn a_price_is_read_if_it_can_mean_one_thing_only() {
        let read = |written| price(written).map_err(|problem| problem.what().to_owned());
        assert_eq!((read("3,50"), read(" 2.500 "), read("0,5")), (Ok(3.5), Ok(2.5), Ok(0.5)));
        let told = "The price 1,000 may be meant as 1000 or as 1.000: write one of these.";
        assert_eq!(read("1,000"), Err(told.to_owned()));
        assert!(read("1,000.50").is_err() && read("1,000,000").is_err() && read("-1").is_err());
    }
}
