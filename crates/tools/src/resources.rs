//! What was kept, as resources: listed behind those of the upstream, and read by their addresses.
//!
//! The upstream is asked as if nobody stood here, and what it answers stays as it is; ours are added to its
//! last page. An upstream that has no resources is not asked.

mod announcements;
mod capability;
mod listing;
mod reading;

use std::{collections::HashSet, sync::Arc};

use forebay_intercept::Policy;
use forebay_proxy::{
    body::Payload,
    chain::{CallFailure, CallVerdict, Caller, HookError, Interceptor, Moment, Refusal, Verdict},
    router::UpstreamName,
    session::{Call, Era, Purpose, ResourceRequest, SubjectKind},
};
use forebay_store::{Address, Shelf, pairs};
use forebay_wire::{
    reply::{INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND},
    scan,
};
use parking_lot::Mutex;
use serde_json::{Value, json};

use self::{announcements::Announcements, listing::Place};
use crate::{Desk, ToolError};

/// The legacy era's code for a resource that is not there.
const NOT_FOUND: i32 = -32002;

/// What is said of a place in a list that nobody has named.
const UNKNOWN_CURSOR: &str = "That cursor is not known: leave it out to begin with the first page.";

/// How every address of ours begins.
const SCHEME: &str = "forebay://";

/// What is said of a URL of ours whose key is not.
const LEADS_NOWHERE: &str = "That URL of Forebay's leads to nothing: its key is wrong. Write it as it was given, or \
     forebay://dataset/ID?block=N.";

/// What is said of an address that names no dataset, or goes on in no way that is known.
const MISWRITTEN: &str = "That names no payload: write forebay://dataset/ID?block=N, with one block, counted from 0, \
     and bytes=FROM-TO for a part of it.";

/// Whether what was kept is listed. It can be read in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listing {
    /// After what the upstream has.
    Listed,
    /// Not here: another server of the client's lists it, and this one says nothing of resources.
    Unlisted,
}

/// Adds what was kept to the resources of an upstream.
pub struct Resources {
    desk: Desk,
    policy: Policy,
    listing: Listing,
    /// How much is read at once.
    max_bytes: u64,
    announcements: Arc<Announcements>,
    /// The upstreams that have no resources of their own.
    without: Mutex<HashSet<UpstreamName>>,
}

impl Resources {
    /// What is kept on `shelf`, which is the desk's.
    pub fn new(
        desk: Desk,
        policy: Policy,
        listing: Listing,
        max_bytes: u64,
        shelf: &Shelf,
    ) -> Self {
        let announcements = Arc::new(Announcements::default());
        let told = announcements.clone();
        shelf.when_kept(move || told.list_has_changed());
        Self { desk, policy, listing, max_bytes, announcements, without: Mutex::default() }
    }

    /// The answer to a request for a list: the upstream's, with ours behind its last page.
    fn list(&self, call: &Call, params: &Payload, caller: &Caller, of: &Of<'_>) -> CallVerdict {
        let cursor = cursor(params);
        if let Some(place) = cursor.as_deref().and_then(Place::parse) {
            return match (of.page)(Some(place)) {
                Ok(page) => CallVerdict::Answer(alone(call.era, of.key, &page)),
                Err(error) => self.refuse(&error),
            };
        }
        let wrapped = cursor.as_deref().and_then(listing::unwrapped);
        let unwrapped = wrapped.and_then(|theirs| with_cursor(params, theirs));
        let pass_on = |unwrapped: Option<Vec<u8>>| {
            unwrapped.map_or(CallVerdict::Forward, CallVerdict::Rewrite)
        };
        let has_none = self.without.lock().contains(&call.upstream);
        // Whoever goes on somewhere else than it was told to would otherwise begin anew.
        if has_none && cursor.is_some() {
            return refused(UNKNOWN_CURSOR.to_owned());
        }
        let theirs = if has_none {
            None
        } else {
            let asked = unwrapped.clone().map_or_else(|| params.clone(), Payload::from);
            match caller.ask_upstream_and_wait(&asked) {
                Ok(list) => Some(list),
                Err(CallFailure::Refused(Refusal { code, .. })) if code == METHOD_NOT_FOUND => {
                    if cursor.is_some() {
                        return refused(UNKNOWN_CURSOR.to_owned());
                    }
                    None
                }
                // Whatever it has to say, it says to the client.
                Err(_) => return pass_on(unwrapped),
            }
        };
        // What the upstream has is not lost because ours cannot be listed.
        let page = (of.page)(None).unwrap_or_default();
        match theirs {
            None => CallVerdict::Answer(alone(call.era, of.key, &page)),
            Some(theirs) => match theirs.to_vec() {
                Ok(theirs) => CallVerdict::Answer(listing::joined(theirs, of.key, &page)),
                Err(_) => pass_on(unwrapped),
            },
        }
    }

    /// What a URI names, if that was kept, and what else it says.
    fn ours<'u>(&self, uri: &'u str) -> Option<(Address, Vec<(&'u str, &'u str)>)> {
        let (url, query) = uri.split_once('?').unwrap_or((uri, ""));
        let by_url = || Some((self.desk.links().address(url)?, pairs(query).collect()));
        Address::parse(uri).or_else(by_url)
    }

    /// True if nobody else has what a URI names, or should see it, however the rest of it is written.
    fn is_ours(&self, uri: &str) -> bool {
        // A gateway tells resources of one URI apart by `forebay://SERVER/URI`.
        let is_of_a_server = |rest: &str| rest.contains("://");
        let has_our_form = uri.strip_prefix(SCHEME).is_some_and(|rest| !is_of_a_server(rest));
        has_our_form || self.desk.links().is_own(uri)
    }

    fn read(&self, call: &Call, uri: &str) -> CallVerdict {
        let Some((address, asked)) = self.ours(uri) else {
            let why = if uri.starts_with(SCHEME) { MISWRITTEN } else { LEADS_NOWHERE };
            return refused(why.to_owned());
        };
        let desk = self.desk.seen_by(self.policy.viewer(call));
        match reading::read(&desk, &address, &asked, uri, self.max_bytes) {
            Ok(contents) => {
                let result = with_lifetime(call.era, json!({ "contents": [contents] }));
                CallVerdict::Answer(result.to_string().into_bytes())
            }
            Err(ToolError::NotFound(message)) => {
                let code = match call.era {
                    Era::Modern => INVALID_PARAMS,
                    Era::Unknown | Era::Legacy => NOT_FOUND,
                };
                CallVerdict::Refuse(Refusal { code, message, data: None })
            }
            Err(error) => self.refuse(&error),
        }
    }

    fn refuse(&self, error: &ToolError) -> CallVerdict {
        let message = self.desk.without_paths(error.told());
        match error {
            ToolError::Refused(_) | ToolError::NotFound(_) => refused(message),
            _ => CallVerdict::Refuse(Refusal { code: INTERNAL_ERROR, message, data: None }),
        }
    }
}

/// A list: what it is called, and a page of ours in it.
struct Of<'p> {
    key: &'static str,
    page: &'p dyn Fn(Option<Place>) -> Result<listing::Page, ToolError>,
}

impl Interceptor for Resources {
    fn name(&self) -> &'static str {
        "resources"
    }

    fn watches(&self, moment: &Moment<'_>) -> bool {
        match moment {
            Moment::Call(call, _) => match &call.purpose {
                Purpose::Resources(ResourceRequest::Read { uri }) => self.is_ours(uri),
                Purpose::Resources(ResourceRequest::List | ResourceRequest::Templates) => {
                    self.listing == Listing::Listed
                }
                Purpose::Handshake
                | Purpose::ToolList { .. }
                | Purpose::ToolCall { .. }
                | Purpose::TaskResult { .. }
                | Purpose::TaskState { .. }
                | Purpose::Subscription
                | Purpose::Other => false,
            },
            Moment::Answer(SubjectKind::Handshake, ..) => self.listing == Listing::Listed,
            Moment::Answer(SubjectKind::Result | SubjectKind::ToolList, ..) => false,
        }
    }

    fn on_call(
        &self,
        call: &Call,
        params: &Payload,
        caller: &Caller,
    ) -> Result<CallVerdict, HookError> {
        let Purpose::Resources(request) = &call.purpose else { return Ok(CallVerdict::Forward) };
        Ok(match request {
            ResourceRequest::Read { uri } => self.read(call, uri),
            ResourceRequest::List => {
                let desk = self.desk.seen_by(self.policy.viewer(call));
                let page = |place| listing::page(&desk, place);
                let listed = self.list(call, params, caller, &Of { key: "resources", page: &page });
                if call.era != Era::Modern {
                    self.announcements.has_listed(&call.session, caller.session());
                }
                listed
            }
            ResourceRequest::Templates => {
                let page = |_| Ok(listing::templates());
                let of = Of { key: "resourceTemplates", page: &page };
                self.list(call, params, caller, &of)
            }
        })
    }

    fn on_handshake(&self, call: &Call, result: &Payload) -> Result<Verdict, HookError> {
        let told = capability::with_resources(&result.to_vec()?, call.era);
        let Some((changed, theirs)) = told else { return Ok(Verdict::Pass) };
        match theirs {
            capability::Theirs::Has => self.without.lock().remove(&call.upstream),
            capability::Theirs::HasNone => self.without.lock().insert(call.upstream.clone()),
        };
        Ok(Verdict::Replace(changed))
    }
}

/// Where a client goes on in a list.
fn cursor(params: &Payload) -> Option<String> {
    let params: Value = serde_json::from_reader(params.reader()).ok()?;
    params["cursor"].as_str().map(str::to_owned)
}

/// The request for a list with another cursor; all else stays as it is.
fn with_cursor(params: &Payload, cursor: &str) -> Option<Vec<u8>> {
    let params = params.to_vec().ok()?;
    let [written] = scan::members(&params, ["cursor"]);
    let written = written?;
    let start = written.as_ptr().addr() - params.as_ptr().addr();
    let (before, after) = (&params[..start], &params[start + written.len()..]);
    Some([before, Value::from(cursor).to_string().as_bytes(), after].concat())
}

/// A list in which only ours are.
fn alone(era: Era, key: &str, page: &listing::Page) -> Vec<u8> {
    let mut list = json!({ key: page.items });
    if let Some(next) = page.next {
        list["nextCursor"] = next.to_string().into();
    }
    with_lifetime(era, list).to_string().into_bytes()
}

/// Modern: how long an answer may be kept. Ours can change at any time, and is for whoever asked.
fn with_lifetime(era: Era, mut answer: Value) -> Value {
    if era == Era::Modern {
        answer["ttlMs"] = 0.into();
        answer["cacheScope"] = "private".into();
    }
    answer
}

fn refused(message: String) -> CallVerdict {
    CallVerdict::Refuse(Refusal { code: INVALID_PARAMS, message, data: None })
}
