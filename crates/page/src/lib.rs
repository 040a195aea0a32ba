//! The page on which people look at what was kept: every page is rendered here, and has a JSON twin.
//!
//! A request passes the [`gate`], finds its page by the path, and is answered whole. Each page is a file
//! and one type, which its template shows and its twin serialises, so that both say the same. What was kept
//! stands in it as text alone: templates escape all that they are given, and the policy that each answer is
//! sent with runs no script and shows no style but our own. All works as links and forms; the script that is
//! sent along only spares a reload.

#![expect(
    clippy::struct_field_names,
    reason = "a page has the name of what it shows, and so has the member of its JSON twin"
)]

mod actions;
mod answer;
mod around;
mod asker;
mod assets;
mod dataset;
mod doctor;
mod frame;
mod gate;
mod given;
mod now;
mod percent;
mod problem;
mod reply;
mod savings;
mod servers;
mod settings;
mod shelf;
mod visible;

use std::net::SocketAddr;

use bytes::Bytes;
use forebay_proxy::client::http::Site;
use forebay_tools::Desk;
use http::{HeaderValue, Method, Request, Response};

pub use around::{
    Around, Examination, Finding, HeldSetting, KnownServer, KnownTool, Live, SeenServer,
    SettingsInForce, Weight,
};
pub use gate::Gate;

use crate::{
    answer::shown,
    asker::Asker,
    gate::Entry,
    given::Given,
    problem::Problem,
    reply::{Twin, bad_method, moved},
};

/// How long a form may be: a query is the longest of what people write.
const MAX_FORM_BYTES: usize = 256 * 1024;

/// All pages, and who may see them.
pub struct Pages {
    desk: Desk,
    gate: Gate,
    around: Box<dyn Around>,
    examined: doctor::Last,
}

impl Pages {
    /// The pages of what is seen at `desk`, for those whom `gate` lets in.
    pub fn new(desk: Desk, gate: Gate, around: Box<dyn Around>) -> Self {
        Self { desk, gate, around, examined: doctor::Last::default() }
    }

    /// Who may come in.
    pub fn gate(&self) -> &Gate {
        &self.gate
    }

    fn let_in(&self, request: &Request<Bytes>) -> Response<Bytes> {
        let (path, twin) = Twin::of(request.uri().path());
        let given = Given::of(request.uri().query().unwrap_or_default());
        let answered = match *request.method() {
            Method::GET | Method::HEAD => self.page(path, twin, &given, &Asker::of(request)),
            Method::POST => {
                let form = Given::of(&String::from_utf8_lossy(request.body()));
                actions::act(self, path, &form).map_err(Problem::unchanged)
            }
            _ => return bad_method(),
        };
        answered.unwrap_or_else(|problem| problem.answer(twin))
    }

    fn page(
        &self,
        path: &str,
        twin: Twin,
        given: &Given,
        asker: &Asker,
    ) -> Result<Response<Bytes>, Problem> {
        let steps: Vec<&str> = path.split('/').filter(|step| !step.is_empty()).collect();
        match steps.as_slice() {
            // The token may stand in it, though it is not asked for here.
            [] | ["now"] => {
                given.only(&["token"])?;
                shown(&now::Now::of(self)?, twin)
            }
            ["now", "calls"] => {
                given.nothing()?;
                shown(&now::Calls::of(self)?, twin)
            }
            ["shelf"] => shelf::answer(self, given, twin),
            ["dataset", id] => {
                given.nothing()?;
                dataset::damaged::answer(self, id, twin)
            }
            ["dataset", id, "rows"] => dataset::rows::answer(self, id, given, twin, asker),
            ["dataset", id, "fields"] => {
                shown(&dataset::fields::Fields::of(self, id, given, asker)?, twin)
            }
            ["dataset", id, "sql"] => dataset::sql::answer(self, id, given, twin, asker),
            ["dataset", id, "original"] => {
                shown(&dataset::original::Original::of(self, id, given)?, twin)
            }
            ["dataset", id, "chart.svg"] => dataset::chart::answer(self, id, given, asker),
            ["dataset", id, "file", block] => {
                given.nothing()?;
                dataset::file::answer(self, id, block)
            }
            ["dataset", id, "export"] => dataset::export::answer(self, id, given, asker),
            ["dataset", id, "delete"] => {
                given.nothing()?;
                shown(&dataset::remove::Confirmation::of(self, id)?, twin)
            }
            ["savings"] => shown(&savings::Savings::of(self, given)?, twin),
            ["servers"] => {
                given.nothing()?;
                shown(&servers::Servers::of(self)?, twin)
            }
            ["settings"] => {
                given.nothing()?;
                shown(&settings::Settings::of(self), twin)
            }
            ["doctor"] => shown(&doctor::Doctor::of(self, given)?, twin),
            _ => Err(Problem::missing("There is no such page.")),
        }
    }
}

impl Site for Pages {
    fn owns(&self, path: &str) -> bool {
        const OURS: [&str; 10] = [
            "assets", "dataset", "doctor", "login", "now", "savings", "servers", "settings",
            "shelf", "",
        ];
        let first = path.trim_start_matches('/').split('/').next().unwrap_or_default();
        OURS.contains(&first.strip_suffix(".json").unwrap_or(first))
    }

    fn max_body_bytes(&self) -> usize {
        MAX_FORM_BYTES
    }

    fn answer(&self, request: &Request<Bytes>, _client: SocketAddr) -> Response<Bytes> {
        // What is the same for everybody says nothing of what was kept.
        if let Some(asset) = assets::answer(request) {
            return asset;
        }
        match self.gate.check(request) {
            Entry::Granted => self.let_in(request),
            Entry::Opened { cookie } => gate::opened(&cookie),
            Entry::LoggedIn { cookie, to } => moved(&to, Some(&cookie)),
            Entry::Refused(refusal) => {
                let mut answer = refusal.answer(Twin::of(request.uri().path()).1);
                if request.headers().contains_key("hx-request") {
                    // A part of a page is not the place for the gate: the whole is asked for anew.
                    answer.headers_mut().insert("hx-refresh", HeaderValue::from_static("true"));
                }
                answer
            }
        }
    }
}
