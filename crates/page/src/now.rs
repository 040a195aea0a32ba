//! Now: what deserves attention, and the calls that are going on, in all processes of this home.

use askama::Template;
use forebay_store::{Event, Outcome};
use forebay_text::{counted, grouped, short, signed, size};
use jiff::{Timestamp, tz::TimeZone};
use serde::Serialize;

use crate::{
    Finding, Pages, Weight,
    frame::{Frame, Section},
    percent::percent,
    problem::Problem,
    visible::named,
};

/// How many calls are shown.
const SHOWN: u64 = 100;
/// From so many percent of what may be kept on, it is worth knowing.
const NEARLY_FULL_PERCENT: u64 = 90;

/// What is going on.
#[derive(Template, Serialize)]
#[template(path = "now.html")]
pub(crate) struct Now {
    #[serde(skip)]
    frame: Frame,
    attention: Vec<Finding>,
    today: Today,
    /// How many calls are remembered.
    remembered: u64,
    calls: Vec<CallLine>,
}

/// What moves, as it is fetched again and again.
#[derive(Template, Serialize)]
#[template(path = "calls.html")]
pub(crate) struct Calls {
    as_of: Timestamp,
    attention: Vec<Finding>,
    today: Today,
    remembered: u64,
    calls: Vec<CallLine>,
}

/// What has passed since midnight, UTC.
#[derive(Serialize)]
pub(crate) struct Today {
    results: u64,
    captured: u64,
    net_tokens: i64,
    datasets: u64,
    stored_bytes: u64,
}

/// A call that was answered.
#[derive(Serialize)]
pub(crate) struct CallLine {
    at: Timestamp,
    server: String,
    tool: String,
    client: String,
    bytes: u64,
    millis: u64,
    outcome: &'static str,
    why: String,
    dataset: Option<String>,
}

impl Now {
    pub(crate) fn of(pages: &Pages) -> Result<Self, Problem> {
        let frame = Frame::new(Section::Now, "Now");
        let Calls { attention, today, remembered, calls, .. } = Calls::of(pages)?;
        Ok(Self { frame, attention, today, remembered, calls })
    }

    fn told(&self) -> String {
        told(self.calls.len(), self.remembered)
    }

    fn as_of(&self) -> String {
        self.frame.as_of()
    }
}

impl Calls {
    pub(crate) fn of(pages: &Pages) -> Result<Self, Problem> {
        let (today, as_of) = (Today::of(pages)?, Timestamp::now());
        let store = pages.desk.store()?;
        let (events, remembered) = (store.recent(SHOWN)?, store.remembered()?);
        let attention = attention(pages, &today, &events);
        let calls = events.into_iter().map(CallLine::of).collect();
        Ok(Self { as_of, attention, today, remembered, calls })
    }

    fn told(&self) -> String {
        told(self.calls.len(), self.remembered)
    }

    fn as_of(&self) -> String {
        self.as_of.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
    }
}

impl Today {
    fn of(pages: &Pages) -> Result<Self, Problem> {
        let store = pages.desk.store()?;
        let savings = store.savings(Some(1))?;
        Ok(Self {
            results: savings.counts.results,
            captured: savings.counts.captured,
            net_tokens: savings.net_tokens(),
            datasets: store.total()?,
            stored_bytes: store.stored_bytes_at_most()?,
        })
    }

    /// Each figure with what it counts.
    fn figures(&self) -> [(String, &'static str); 4] {
        let results = if self.results == 1 { "result today" } else { "results today" };
        [
            (grouped(self.results), results),
            (grouped(self.captured), "of them kept"),
            (signed(self.net_tokens, short), "net tokens kept out today"),
            (format!("≤ {}", size(self.stored_bytes)), "on disk"),
        ]
    }
}

impl CallLine {
    fn of(event: Event) -> Self {
        let Event { at, server, tool, client, bytes, millis, outcome, why, dataset } = event;
        let dataset = dataset.map(|id| id.to_string());
        Self { at, server, tool, client, bytes, millis, outcome: outcome.name(), why, dataset }
    }

    fn day(&self) -> String {
        self.at.strftime("%Y-%m-%d").to_string()
    }

    fn time(&self) -> String {
        self.at.strftime("%H:%M:%S").to_string()
    }

    fn is_of_today(&self) -> bool {
        let day = |time: Timestamp| time.to_zoned(TimeZone::UTC).date();
        day(self.at) == day(Timestamp::now())
    }

    fn size(&self) -> String {
        if self.bytes == 0 { String::new() } else { size(self.bytes) }
    }

    fn took(&self) -> String {
        format!("{} ms", grouped(self.millis))
    }
}

/// Which calls are shown.
fn told(shown: usize, remembered: u64) -> String {
    if shown as u64 == remembered {
        return counted(remembered, "call");
    }
    format!("The last {shown} of {} that are remembered", counted(remembered, "call"))
}

/// What deserves attention, the gravest first.
fn attention(pages: &Pages, today: &Today, calls: &[Event]) -> Vec<Finding> {
    let mut all = pages.around.attention();
    let known: Vec<String> = all.iter().map(|finding| finding.text.clone()).collect();
    all.extend(pages.examined.wrong().into_iter().filter(|it| !known.contains(&it.text)));
    if let Some(most) = pages.around.retention().max_stored_bytes {
        let share = |bytes: u64| bytes.saturating_mul(100).checked_div(most).unwrap_or_default();
        // What it is exactly takes a while, and matters only then.
        let exactly = || pages.desk.store().and_then(|store| Ok(store.stored_bytes()?));
        let bytes = match share(today.stored_bytes) {
            ..NEARLY_FULL_PERCENT => today.stored_bytes,
            NEARLY_FULL_PERCENT.. => exactly().unwrap_or(today.stored_bytes),
        };
        if share(bytes) >= NEARLY_FULL_PERCENT {
            all.push(Finding {
                area: "Store",
                weight: Weight::Warning,
                text: format!(
                    "It has {} of {} ({}): the oldest datasets that are not pinned go first.",
                    size(bytes),
                    size(most),
                    percent(bytes, most)
                ),
                mend: None,
                advice: Some(
                    "Raise `max_store_bytes` in the settings, or keep what should stay: `forebay datasets pin ID`."
                        .to_owned(),
                ),
            });
        }
    }
    let failed: Vec<&Event> =
        calls.iter().filter(|event| event.outcome == Outcome::Failed).collect();
    if let Some(last) = failed.first() {
        let what = format!("{} of {}", named(&last.tool), named(&last.server));
        all.push(Finding {
            area: "Calls",
            weight: Weight::Warning,
            text: format!(
                "{} of the last {} failed; last {what}: {}",
                grouped(failed.len() as u64),
                counted(calls.len() as u64, "call"),
                last.why
            ),
            mend: None,
            advice: Some(pages.around.check_command(&last.server).map_or_else(
                || "The calls below say why each failed.".to_owned(),
                |check| format!("`{check}` tells whether the server works."),
            )),
        });
    }
    all.sort_by_key(|finding| finding.weight);
    all
}
