//! What the commands that stand in front of a server have in common: what is kept of its results.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use forebay_intercept::Glob;

use crate::{
    cli::SettingsArguments,
    config::{Config, Given, Sources},
};

/// Which results are kept, and which tools are added.
#[derive(Debug, Clone, Args)]
pub(crate) struct KeepingArguments {
    #[command(flatten)]
    settings: SettingsArguments,

    /// How many tokens a result may have before it is kept [default: 8192, or what the client is
    /// known to take]
    #[arg(long, value_name = "TOKENS")]
    threshold: Option<String>,

    /// Let all results of this tool pass; `*` stands for any characters (may be repeated)
    #[arg(long, value_name = "TOOL")]
    exclude: Vec<String>,

    /// Which tools are added to the server's: `core` (query, list, read), `full` (export and charts,
    /// too), `none`, or names with commas between them [default: core]
    #[arg(long, value_name = "TOOLS")]
    tools: Option<String>,

    /// Keep no results: every message passes as it came
    #[arg(long, conflicts_with_all = ["threshold", "exclude", "tools"])]
    no_capture: bool,
}

impl KeepingArguments {
    /// The file that settings come from.
    pub(crate) fn file(&self) -> Result<PathBuf> {
        self.settings.file()
    }

    /// Where all settings come from, with what the flags say.
    pub(crate) fn sources(&self) -> Sources {
        self.settings.clone().sources(self.flags())
    }

    /// The settings that flags stand for.
    fn flags(&self) -> Vec<(&'static str, &'static str, Given)> {
        let word = |word: &Option<String>| word.clone().map(Given::Word);
        let threshold = word(&self.threshold).map(|it| ("--threshold", "threshold", it));
        let tools = word(&self.tools).map(|it| ("--tools", "injected_tools", it));
        let no_capture =
            self.no_capture.then_some(("--no-capture", "enabled", Given::Switch(false)));
        threshold.into_iter().chain(tools).chain(no_capture).collect()
    }

    /// All settings, with what the flags say.
    pub(crate) fn load(self) -> Result<Config> {
        let flags = self.flags();
        let mut config = self.settings.load(flags)?;
        config.policy.excluded_tools.extend(self.exclude.into_iter().map(Glob::new));
        Ok(config)
    }
}
