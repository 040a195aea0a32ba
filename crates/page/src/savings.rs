//! Savings: tokens kept out of models' contexts, net of what that cost, by tool, server and day.

use askama::Template;
use forebay_store::{Counts, Usage};
use forebay_text::{counted, grouped, short, signed};
use forebay_tools::{DEFINITION_TOKENS, REPLY_TOKENS};
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

/// A bar of the chart of days.
pub(crate) struct Bar {
    pub(crate) x: usize,
    pub(crate) y: u64,
    pub(crate) height: u64,
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
        let mut total = Counts::default();
        for usage in &usage {
            total += usage.counts;
        }
        let replies = store.tallies_by_day(REPLY_TOKENS, days)?;
        let definitions = store.tallies_by_day(DEFINITION_TOKENS, days)?;
        let sum = |all: &[(Date, u64)]| all.iter().map(|(_, count)| count).sum::<u64>();
        let (reply_tokens, definition_tokens) = (sum(&replies), sum(&definitions));
        let net_tokens = net(total.tokens_kept_out(), reply_tokens + definition_tokens);
        let by_day = by_day(&store.usage_by_day(days)?, &[replies, definitions].concat());
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
            reply_tokens,
            definition_tokens,
            net_tokens,
            price,
            money,
            by_day,
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

    fn bars(&self) -> Vec<Bar> {
        const HEIGHT: u64 = 80;
        let drawn = self.drawn();
        let kept_out = |day: &Day| u64::try_from(day.kept_out_tokens).unwrap_or_default();
        let most = drawn.iter().map(|(_, day)| kept_out(day)).max().unwrap_or_default().max(1);
        let bar = |(place, day): (usize, &Day)| {
            let height = (kept_out(day) * HEIGHT).div_ceil(most);
            let told = format!("{}: {} net", day.day, signed(day.net_tokens, grouped));
            Bar { x: place * 12, y: HEIGHT - height, height, told }
        };
        drawn.into_iter().map(bar).collect()
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

impl Day {
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

fn net(gained: i64, spent: u64) -> i64 {
    gained.saturating_sub(spent.cast_signed())
}

fn by_day(usage: &[(Date, Counts)], costs: &[(Date, u64)]) -> Vec<Day> {
    let mut days: Vec<Date> =
        usage.iter().map(|(day, _)| *day).chain(costs.iter().map(|(day, _)| *day)).collect();
    days.sort_by(|one, other| other.cmp(one));
    days.dedup();
    let day = |day: Date| {
        let counts = usage.iter().find(|(known, _)| *known == day);
        let kept_out_tokens = counts.map(|(_, it)| it.tokens_kept_out()).unwrap_or_default();
        let costs = costs.iter().filter(|(known, _)| *known == day);
        let cost_tokens = costs.map(|(_, count)| count).sum();
        let net_tokens = net(kept_out_tokens, cost_tokens);
        Day { day, kept_out_tokens, cost_tokens, net_tokens }
    };
    days.into_iter().map(day).collect()
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
    fn a_day_is_net_of_its_costs_and_may_be_negative() {
        let day = |text: &str| text.parse::<Date>().unwrap();
        let counts = Counts { captured_tokens: 900, given_tokens: 100, ..Counts::default() };
        let usage = [(day("2026-11-18"), counts)];
        let costs = [(day("2026-11-18"), 50), (day("2026-11-17"), 30), (day("2026-11-18"), 7)];
        let days = by_day(&usage, &costs);
        let told: Vec<_> = days.iter().map(|it| (it.day.to_string(), it.net_tokens)).collect();
        assert_eq!(told, [("2026-11-18".to_owned(), 743), ("2026-11-17".to_owned(), -30)]);
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
        let mut total = usage[0].counts;
        total += usage[1].counts;
        let days = by_day(&[(day, total)], &[(day, 50)]);
        assert_eq!((days[0].kept_out_tokens, days[0].net_tokens), (500, 450));
        assert_eq!(by_day(&[(day, usage[1].counts)], &[(day, 50)])[0].net_tokens, -550);
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
