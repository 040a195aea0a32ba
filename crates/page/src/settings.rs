//! Settings: those in force, and where each comes from.

use askama::Template;
use serde::Serialize;

use crate::{
    HeldSetting, Pages, SettingsInForce,
    frame::{Frame, Section},
};

/// The settings in force.
#[derive(Template, Serialize)]
#[template(path = "settings.html")]
pub(crate) struct Settings {
    #[serde(skip)]
    frame: Frame,
    file: String,
    settings: Vec<HeldSetting>,
}

impl Settings {
    pub(crate) fn of(pages: &Pages) -> Self {
        let SettingsInForce { file, mut settings } = pages.around.settings();
        // Those that somebody has set come first.
        settings.sort_by_key(|setting| !setting.is_set());
        Self { frame: Frame::new(Section::Settings, "Settings"), file, settings }
    }
}

impl HeldSetting {
    /// Whether somebody has said so.
    fn is_set(&self) -> bool {
        self.from != "default"
    }
}
