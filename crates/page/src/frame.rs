//! What stands around every page: its title, and the way to the others.

use jiff::Timestamp;

use crate::assets;

/// The parts of the page, as the navigation has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    Now,
    Shelf,
    Savings,
    Servers,
    Settings,
    Doctor,
    /// None of these.
    None,
}

/// What a template needs besides what its page is about.
#[derive(Debug)]
pub(crate) struct Frame {
    section: Section,
    title: String,
    now: Timestamp,
}

/// A way to another part.
pub(crate) struct Way {
    pub(crate) name: &'static str,
    pub(crate) path: &'static str,
    pub(crate) is_here: bool,
}

impl Frame {
    pub(crate) fn new(section: Section, title: impl Into<String>) -> Self {
        Self { section, title: title.into(), now: Timestamp::now() }
    }

    pub(crate) fn title(&self) -> &str {
        &self.title
    }

    pub(crate) fn ways(&self) -> Vec<Way> {
        const WAYS: [(Section, &str, &str); 6] = [
            (Section::Now, "Now", "/"),
            (Section::Shelf, "Shelf", "/shelf"),
            (Section::Savings, "Savings", "/savings"),
            (Section::Servers, "Servers", "/servers"),
            (Section::Settings, "Settings", "/settings"),
            (Section::Doctor, "Doctor", "/doctor"),
        ];
        WAYS.map(|(section, name, path)| Way { name, path, is_here: section == self.section })
            .into()
    }

    /// When the page was made.
    pub(crate) fn as_of(&self) -> String {
        self.now.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
    }

    #[expect(clippy::unused_self, reason = "templates call methods")]
    pub(crate) fn style(&self) -> String {
        assets::address("style.css")
    }

    #[expect(clippy::unused_self, reason = "templates call methods")]
    pub(crate) fn script(&self) -> String {
        assets::address("htmx.js")
    }

    #[expect(clippy::unused_self, reason = "templates call methods")]
    pub(crate) fn live(&self) -> String {
        assets::address("live.js")
    }

    #[expect(clippy::unused_self, reason = "templates call methods")]
    pub(crate) fn icon(&self) -> String {
        assets::address("icon.svg")
    }

    #[expect(clippy::unused_self, reason = "templates call methods")]
    pub(crate) fn version(&self) -> &'static str {
        env!("CARGO_PKG_VERSION")
    }
}
