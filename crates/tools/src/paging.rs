//! Pages in front of the tools of upstreams, whatever these have for their own.
//!
//! A [`Pager`] stands in the chain. It adds `page`, `limit`, `offset`, `fields`, `refresh` and
//! `fetch_all` to the tools that the policy names, and answers the calls that use them; all others pass
//! unseen. What it fetches from the upstream it keeps as one dataset, which grows.
//!
//! ```text
//! definition ─▶ asked            what a tool is offered with, what a call wants
//! style ─▶ book ─▶ fetch ─▶ found    which page is missing, how it is asked for, what it says
//! keep, shelf                    where the records are, for how long
//! fields ─▶ answer               what is shown of them
//! ```

mod answer;
mod asked;
mod book;
mod definition;
mod fetch;
mod fields;
mod found;
mod keep;
mod next_url;
mod raw;
mod settings;
mod shelf;
mod style;

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
    sync::Arc,
    time::{Duration, Instant},
};

use forebay_intercept::Policy;
use forebay_proxy::{
    arguments::Arguments,
    body::{Payload, Source},
    chain::{CallVerdict, Caller, HookError, Interceptor, Moment, Params, Verdict},
    router::{Router, UpstreamName},
    session::{Call, SubjectKind},
};
use forebay_store::{Shelf, Store, Viewer};
use forebay_wire::{scan, walk};
use parking_lot::{Mutex, MutexGuard};
use serde_json::Value;

pub use self::settings::{Paging, PagingRule, PagingSettings, PagingStyle};
use self::{
    answer::Standing,
    asked::{Asked, OURS, REFRESH},
    book::Book,
    fetch::{Fetching, Progress, Trouble, Upstream},
    fields::Fields,
    found::Layout,
    keep::{Kept, Origin},
    raw::RawArguments,
    shelf::{Books, Key, Open},
    style::Style,
};
use crate::{events, parameters, reply::Reply};

/// What is said of a dataset that has an upstream's pages.
pub const SO_FAR: &str =
    "the pages that were fetched so far; fetch_all: true fetches those that are missing, if any";

/// What is left for all that is not fetching, when that has taken as long as it may.
const REST: Duration = Duration::from_secs(60);

/// Our parameters as they are written, in the order of [`OURS`].
const WRITTEN: [&[u8]; 6] =
    [b"\"page\"", b"\"limit\"", b"\"offset\"", b"\"fields\"", b"\"refresh\"", b"\"fetch_all\""];

/// Puts pages in front of tools.
pub struct Pager {
    paging: Paging,
    policy: Policy,
    router: Router,
    shelf: Arc<Shelf>,
    books: Books,
    /// What the upstreams' lists have said of tools.
    listed: Mutex<HashMap<ToolOf, Listed>>,
    /// The tools that have written each record as a text block of its own.
    in_blocks: Mutex<HashSet<ToolOf>>,
}

/// A tool, by its own name, and the upstream that has it.
type ToolOf = (UpstreamName, Arc<str>);

/// A tool that has been in a list.
#[derive(Clone)]
enum Listed {
    /// It gets pages.
    Paged {
        /// Its input schema.
        schema: Arc<Value>,
        /// Whether it is marked as only reading.
        only_reads: bool,
    },
    Unpaged,
}

/// A call that is for us.
struct Paged<'p> {
    settings: &'p PagingSettings,
    style: Style,
    server: UpstreamName,
    tool: Arc<str>,
    /// What is for the upstream.
    arguments: RawArguments,
    asked: Asked,
    viewer: Viewer,
}

impl Pager {
    /// A pager for the tools that `paging` names; what it fetches is kept on `shelf` as `policy` says.
    pub fn new(paging: Paging, policy: Policy, router: Router, shelf: Arc<Shelf>) -> Self {
        let (books, listed, in_blocks) = (Books::default(), Mutex::default(), Mutex::default());
        Self { paging, policy, router, shelf, books, listed, in_blocks }
    }

    /// Remembers the tools of a list, and gives their definitions with where they stand in it.
    fn learn<'l>(&self, list: &'l [u8]) -> Vec<(Range<usize>, &'l [u8], bool)> {
        let [tools] = scan::members(list, ["tools"]);
        let mut found = Vec::new();
        for definition in tools.and_then(walk::elements).into_iter().flatten() {
            let Some(called) = parameters::name(definition) else { continue };
            let (server, tool) = self.router.tool(&called);
            let only_reads = definition::only_reads(definition);
            let is_meant = self.paging.names(server.as_str(), &tool) || only_reads;
            let is_paged = is_meant && self.paging.of(server.as_str(), &tool).is_some();
            let listed = if is_paged {
                Listed::Paged { schema: Arc::new(parameters::schema(definition)), only_reads }
            } else {
                Listed::Unpaged
            };
            self.listed.lock().insert((server, tool), listed);
            let start = definition.as_ptr().addr() - list.as_ptr().addr();
            found.push((start..start + definition.len(), definition, is_paged));
        }
        found
    }

    /// What the lists have said of a tool; `None` if it has not been in one.
    fn listed(&self, server: &UpstreamName, tool: &str) -> Option<Listed> {
        self.listed.lock().get(&(server.clone(), tool.into())).cloned()
    }

    /// The input schema of a tool; `None` if it gets no pages. A client may call it that has got the list from
    /// another process. Without a list nobody knows whose the parameters of a call are.
    fn schema(
        &self,
        server: &UpstreamName,
        tool: &str,
        caller: &Caller,
    ) -> Result<Option<Arc<Value>>, HookError> {
        const MOST_PAGES: usize = 100;
        let mut cursor: Option<String> = None;
        for _ in 0..MOST_PAGES {
            if self.listed(server, tool).is_some() {
                break;
            }
            let list = caller.list_tools_and_wait(cursor.as_deref());
            let list = list.map_err(|failure| {
                format!("its definition is not known, and the list of tools failed: {failure}")
            })?;
            let list = list.to_vec()?;
            // Those of ours are not in it.
            self.learn(&list);
            let [next] = scan::members(&list, ["nextCursor"]);
            cursor = next.and_then(scan::string).map(Into::into);
            if cursor.is_none() {
                break;
            }
        }
        Ok(match self.listed(server, tool) {
            Some(Listed::Paged { schema, .. }) => Some(schema),
            Some(Listed::Unpaged) => None,
            None => self.paging.names(server.as_str(), tool).then(Arc::default),
        })
    }

    /// True if the cache answers calls of a tool that has been in a list.
    fn is_cached(&self, server: &UpstreamName, tool: &str) -> bool {
        let only_reads =
            || matches!(self.listed(server, tool), Some(Listed::Paged { only_reads: true, .. }));
        let caching = self.policy.caching(server.as_str(), tool);
        caching.is_some_and(|caching| caching.is_for_unmarked || only_reads())
    }

    /// True if a call may have a parameter that only we have.
    fn may_be_meant(&self, call: &Call, params: &Params<'_>) -> bool {
        let (Some(_), Some(tool)) = (call.called(), call.tool()) else { return false };
        let may_have = |name: &str| {
            OURS.iter().zip(WRITTEN).any(|(own, json)| *own == name && params.contains(json))
        };
        if self.paging.of(call.upstream.as_str(), tool).is_none() || !OURS.into_iter().any(may_have)
        {
            return false;
        }
        match self.listed(&call.upstream, tool) {
            Some(Listed::Paged { schema, .. }) => {
                definition::offered(&schema).into_iter().any(may_have)
            }
            Some(Listed::Unpaged) => false,
            None => true,
        }
    }

    fn answer(&self, paged: &Paged<'_>, upstream: &dyn Upstream) -> Reply {
        let key = Key::new(&paged.viewer, paged.server.as_str(), &paged.tool, &paged.arguments);
        let open = self.books.of(&key);
        let Some(mut open) = wait_for(&open, upstream) else {
            return Reply::error("Nobody waits for the answer.");
        };
        let Open { book, kept } = &mut *open;
        // What is never kept is not kept as pages either: it is in memory while it holds.
        let may_keep = self.policy.may_keep(paged.server.as_str(), &paged.tool);
        let store = self.shelf.store().ok().filter(|_| may_keep);
        let store: Option<&Store> = store.as_deref();
        let is_gone =
            kept.as_ref().is_some_and(|kept| store.is_none_or(|store| kept.text(store).is_none()));
        if is_gone {
            *kept = None;
            if let Some(book) = book {
                book.forget_kept();
            }
        }
        let old = if paged.asked.refreshes { book.take() } else { None };
        let book = book.get_or_insert_with(|| self.book(paged));
        let fetched = paged.fetch(book, upstream);
        if book.layout == Layout::Blocks {
            self.in_blocks.lock().insert((paged.server.clone(), paged.tool.clone()));
        }
        let mut before = None;
        match old {
            Some(old) if fetched.is_err() && book.records() == 0 => *book = old,
            // Records of two times are not mixed, and those of before do not go unless they came again.
            Some(old) if !book.replaces(&old) => before = kept.take(),
            Some(_) | None => {}
        }
        if let Some(store) = store.filter(|_| book.has_unkept()) {
            let origin = paged.origin(&self.policy);
            match keep::keep(store, book, kept.as_ref(), &origin) {
                Ok(now) => *kept = Some(now),
                Err(error) => events::pages_not_kept(&paged.tool, &error),
            }
        }
        let text = kept.as_ref().and_then(|kept| kept.text(store?));
        let named = |kept: &Kept| kept.id().to_string();
        let (dataset, before) = (kept.as_ref().map(named), before.as_ref().map(named));
        let text = text.as_deref().unwrap_or_default();
        let progress = match fetched {
            Ok(progress) => progress,
            Err(Trouble::Page { which, why }) if paged.has_some(book, text) => {
                Progress { failure: Some((which, why)), ..Progress::default() }
            }
            Err(trouble) => return answer::trouble(&trouble, book, dataset.as_deref()),
        };
        let (asked, progress) = (&paged.asked, &progress);
        paged.page(&Standing { asked, book, progress, kept: text, dataset, before })
    }

    /// A book for a call, with nothing in it.
    fn book(&self, paged: &Paged<'_>) -> Book {
        let mut book = Book::new(paged.style.clone(), paged.settings);
        if self.in_blocks.lock().contains(&(paged.server.clone(), paged.tool.clone())) {
            book.layout = Layout::Blocks;
        }
        book
    }
}

impl Paged<'_> {
    fn fetch(&self, book: &mut Book, upstream: &dyn Upstream) -> Result<Progress, Trouble> {
        let Self { settings, arguments, .. } = self;
        let fetching = Fetching { upstream, arguments, settings, started: Instant::now() };
        let wanted = if self.asked.wants_all { 0..u64::MAX } else { self.slice() };
        fetching.cover(book, &wanted)
    }

    /// True if some of the records are there that a page is to have.
    fn has_some(&self, book: &Book, kept: &[u8]) -> bool {
        !book.slice(&self.slice(), kept).is_empty()
    }

    fn slice(&self) -> Range<u64> {
        let part = self.asked.part;
        part.offset..part.offset.saturating_add(part.limit)
    }

    fn page(&self, standing: &Standing<'_>) -> Reply {
        let records = standing.book.slice(&self.slice(), standing.kept);
        let fields = Fields::new(self.asked.fields.clone());
        answer::page(&records, &fields, standing)
            .unwrap_or_else(|error| Reply::error(&error.told()))
    }

    fn origin(&self, policy: &Policy) -> Origin<'_> {
        let json = self.arguments.to_json();
        let arguments = Arguments::read(Source::Line(&json), &(0..json.len() as u64));
        Origin {
            server: self.server.as_str(),
            tool: &self.tool,
            arguments: arguments.filter(|_| policy.keep_arguments),
            viewer: &self.viewer,
            inference: policy.schema_inference,
        }
    }
}

impl Interceptor for Pager {
    fn name(&self) -> &'static str {
        "pager"
    }

    fn watches(&self, moment: &Moment<'_>) -> bool {
        match moment {
            Moment::Call(call, params) => self.may_be_meant(call, params),
            Moment::Answer(SubjectKind::ToolList, ..) => true,
            Moment::Answer(SubjectKind::Result | SubjectKind::Handshake, ..) => false,
        }
    }

    /// An upstream would take what is meant for us for nothing, and give its first page as any other.
    fn must_see(&self) -> bool {
        true
    }

    fn patience(&self, call: &Call) -> Option<Duration> {
        let settings = self.paging.of(call.upstream.as_str(), call.tool()?)?;
        Some(settings.max_time + REST)
    }

    fn on_call(
        &self,
        call: &Call,
        params: &Payload,
        caller: &Caller,
    ) -> Result<CallVerdict, HookError> {
        let params = params.to_vec()?;
        let [name, given, task] = scan::members(&params, ["name", "arguments", "task"]);
        // It may have been rewritten on the way.
        let Some(name) = name.and_then(scan::string) else { return Ok(CallVerdict::Forward) };
        let (server, tool) = self.router.tool(&name);
        let (Some(settings), Some(given), None) =
            (self.paging.of(server.as_str(), &tool), given, task)
        else {
            return Ok(CallVerdict::Forward);
        };
        let mut arguments = RawArguments::read(given);
        if !OURS.iter().any(|name| arguments.get(name).is_some()) {
            return Ok(CallVerdict::Forward);
        }
        let Some(schema) = self.schema(&server, &tool, caller)? else {
            return Ok(CallVerdict::Forward);
        };
        let is_refresh_alone =
            OURS.iter().all(|name| *name == REFRESH || arguments.get(name).is_none());
        if is_refresh_alone && self.is_cached(&server, &tool) {
            // It is the whole result that is to be new, which the cache sees to.
            return Ok(CallVerdict::Forward);
        }
        let offered = definition::offered(&schema);
        if !offered.iter().any(|name| arguments.get(name).is_some()) {
            return Ok(CallVerdict::Forward);
        }
        let style = Style::of(&schema, settings);
        let asked = match Asked::take(&mut arguments, &offered, &style) {
            Ok(Some(asked)) => asked,
            // None of ours is set; the upstream does not know them.
            Ok(None) => {
                let start = given.as_ptr().addr() - params.as_ptr().addr();
                let (before, after) = (&params[..start], &params[start + given.len()..]);
                return Ok(CallVerdict::Rewrite([before, &arguments.to_json(), after].concat()));
            }
            Err(error) => return Ok(CallVerdict::Answer(Reply::error(&error.told()).into_json())),
        };
        let viewer = self.policy.viewer(call);
        let paged = Paged { settings, style, server, tool, arguments, asked, viewer };
        let upstream = OfSession { caller, called: &name, max_bytes: settings.max_bytes };
        Ok(CallVerdict::Result(self.answer(&paged, &upstream).into_json()))
    }

    fn on_tool_list(&self, _call: &Call, list: &Payload) -> Result<Verdict, HookError> {
        let mut list = list.to_vec()?;
        let paged: Vec<(Range<usize>, Vec<u8>)> = self
            .learn(&list)
            .into_iter()
            .filter(|(_, _, is_paged)| *is_paged)
            .map(|(span, definition, _)| (span, definition::widened(definition)))
            .collect();
        if paged.is_empty() {
            return Ok(Verdict::Pass);
        }
        // From the end, so that what stands before keeps its place.
        for (span, widened) in paged.into_iter().rev() {
            list.splice(span, widened);
        }
        Ok(Verdict::Replace(list))
    }
}

/// A tool in the session of whoever called it.
struct OfSession<'s> {
    caller: &'s Caller,
    called: &'s str,
    max_bytes: u64,
}

impl Upstream for OfSession<'_> {
    fn call(&self, arguments: &[u8]) -> Result<Vec<u8>, String> {
        let result = self.caller.call_tool_and_wait(self.called, arguments);
        let result = result.map_err(|failure| failure.to_string())?;
        if result.bytes() > self.max_bytes {
            let (bytes, most) = (result.bytes(), self.max_bytes);
            return Err(format!("it has {bytes} bytes, more than {most} (paging max_bytes)"));
        }
        result.to_vec().map_err(|error| error.to_string())
    }

    #[expect(clippy::cast_precision_loss, reason = "it is for a bar")]
    fn progress(&self, done: u64, total: Option<u64>) {
        let message = format!("{done} records fetched");
        self.caller.progress(done as f64, total.map(|total| total as f64), &message);
    }

    fn is_cancelled(&self) -> bool {
        self.caller.is_cancelled()
    }
}

/// Waits until nobody else uses a book; `None` if nobody waits for the answer any more.
fn wait_for<'o>(open: &'o Mutex<Open>, upstream: &dyn Upstream) -> Option<MutexGuard<'o, Open>> {
    const TICK: Duration = Duration::from_millis(50);
    loop {
        if let Some(open) = open.try_lock_for(TICK) {
            return Some(open);
        }
        if upstream.is_cancelled() {
            return None;
        }
    }
}

#[cfg(test)]
mod tests {
    use forebay_intercept::{Caching, Glob, ToolRule};
    use forebay_store::{Durability, Retention};

    use super::*;

    #[test]
    fn a_refresh_alone_is_the_caches_only_of_tools_that_it_caches() {
        let home = tempfile::tempdir().unwrap();
        let shelf = Shelf::new(home.path(), Durability::default(), Retention::default());
        let shelf = Arc::new(shelf);
        let settings = Some(PagingSettings::default());
        let named = PagingRule { pattern: Glob::new("*"), settings };
        let paging = Paging { tools: vec![named], ..Paging::default() };
        let server = UpstreamName::new("s");
        let list = br#"{"tools":[{"name":"marked","annotations":{"readOnlyHint":true}},{"name":"other"}]}"#;
        for (is_for_unmarked, expected) in
            [(false, [true, false, false]), (true, [true, true, true])]
        {
            let cache = Some(Caching { seconds: 60, is_for_unmarked });
            let tools = vec![ToolRule { cache, ..ToolRule::of("*") }];
            let policy = Policy { tools, ..Policy::default() };
            let router = Router::sole(server.clone());
            let pager = Pager::new(paging.clone(), policy, router, shelf.clone());
            pager.learn(list);
            let cached = ["marked", "other", "unlisted"].map(|tool| pager.is_cached(&server, tool));
            assert_eq!(cached, expected);
        }
    }
}
