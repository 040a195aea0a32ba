//! Doctor: what `forebay doctor` finds, each with the command that mends it. Servers are not started for it.

use std::sync::{Mutex, PoisonError};

use askama::Template;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use crate::{
    Examination, Finding, Pages, Weight,
    frame::{Frame, Section},
    given::Given,
    problem::Problem,
};

/// What was found is shown again for so long, unless somebody asks: to look starts processes and reads what was kept.
const GOOD_FOR: SignedDuration = SignedDuration::from_mins(1);

/// The last examination, if there was one.
#[derive(Default)]
pub(crate) struct Last(Mutex<Option<Examination>>);

impl Last {
    fn get(&self) -> Option<Examination> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, examination: Examination) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(examination);
    }

    /// What was wrong when somebody last looked.
    pub(crate) fn wrong(&self) -> Vec<Finding> {
        let mut findings = self.get().map(|last| last.findings).unwrap_or_default();
        findings.retain(|finding| matches!(finding.weight, Weight::Problem | Weight::Warning));
        findings
    }
}

/// All findings, the gravest first.
#[derive(Template, Serialize)]
#[template(path = "doctor.html")]
pub(crate) struct Doctor {
    #[serde(skip)]
    frame: Frame,
    home: String,
    looked_at: Timestamp,
    verdict: String,
    findings: Vec<Finding>,
}

impl Doctor {
    pub(crate) fn of(pages: &Pages, given: &Given) -> Result<Self, Problem> {
        let given = given.only(&["again"])?;
        let now = Timestamp::now();
        let is_good = |last: &Examination| now.duration_since(last.at) < GOOD_FOR;
        let known = pages.examined.get().filter(is_good).filter(|_| given.get("again").is_none());
        let Examination { at, verdict, findings } = known.unwrap_or_else(|| {
            let mut examination = pages.around.examination();
            examination.findings.sort_by_key(|finding| finding.weight);
            pages.examined.set(examination.clone());
            examination
        });
        let home = pages.around.home().display().to_string();
        let frame = Frame::new(Section::Doctor, "Doctor");
        Ok(Self { frame, home, looked_at: at, verdict, findings })
    }

    fn time(&self) -> String {
        self.looked_at.strftime("%H:%M:%S UTC").to_string()
    }
}
