//! The command line as it is typed. What a command does is in the file of its name.

mod address;
pub(crate) mod ask;
pub(crate) mod auth;
pub(crate) mod code_worker;
pub(crate) mod completions;
pub(crate) mod config;
mod confirm;
pub(crate) mod datasets;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod embed_worker;
mod entry;
pub(crate) mod exit;
pub(crate) mod export;
pub(crate) mod gateway;
pub(crate) mod index;
pub(crate) mod init;
pub(crate) mod install;
pub(crate) mod keeping;
pub(crate) mod man;
pub(crate) mod outputs;
pub(crate) mod page;
pub(crate) mod plot;
mod progress;
pub(crate) mod query;
pub(crate) mod query_worker;
pub(crate) mod read;
#[cfg(test)]
mod recipes;
pub(crate) mod screen;
pub(crate) mod search;
pub(crate) mod serve;
pub(crate) mod servers;
pub(crate) mod session;
mod sheet;
pub(crate) mod stats;
mod subject;
mod table;
pub(crate) mod uninstall;
pub(crate) mod upstream;
pub(crate) mod wrap;

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, Parser, Subcommand};

use crate::{
    config::{Config, Given, Problems, Sources},
    figures,
    observe::{self, LogArguments, Purpose},
    version,
};

/// Stands between a model's client and its MCP servers.
///
/// Forebay runs an MCP server for you and passes every message on, byte for byte, except for tool
/// results that are too large for a model: these are kept on disk, and the model gets a summary. Put
/// it in front of a server's own command in your client's configuration; neither side needs to
/// change.
#[derive(Debug, Parser)]
#[command(name = "forebay", version, long_version = version::long(), after_help = EXAMPLES, term_width = screen::help_width())]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) log: LogArguments,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Install(install::InstallArguments),
    Uninstall(uninstall::UninstallArguments),
    Wrap(wrap::WrapArguments),
    Gateway(gateway::GatewayArguments),
    Serve(serve::ServeArguments),
    Servers(servers::ServersArguments),
    Datasets(datasets::DatasetsArguments),
    Query(query::QueryArguments),
    Read(read::ReadArguments),
    Search(search::SearchArguments),
    Export(export::ExportArguments),
    Plot(plot::PlotArguments),
    Stats(stats::StatsArguments),
    Page(page::PageArguments),
    Index(index::IndexArguments),
    Demo(demo::DemoArguments),
    Auth(auth::AuthArguments),
    Init(init::InitArguments),
    Config(config::ConfigArguments),
    Doctor(doctor::DoctorArguments),
    Completions(completions::CompletionsArguments),
    Man(man::ManArguments),
    /// The demo's MCP server
    #[command(hide = true)]
    DemoServer,
    /// The process that queries run in
    #[command(hide = true)]
    QueryWorker(query_worker::WorkerArguments),
    /// The process that programs run in
    #[command(hide = true)]
    CodeWorker,
    /// The process that the embedding model runs in
    #[command(hide = true)]
    EmbedWorker,
}

impl Command {
    /// What logs call it, and what its process is for.
    pub(crate) fn purpose(&self) -> (&'static str, Purpose) {
        match self {
            Self::Install(_) => ("install", Purpose::Person),
            Self::Uninstall(_) => ("uninstall", Purpose::Person),
            Self::Wrap(_) => ("wrap", Purpose::Clients),
            Self::Gateway(_) => ("gateway", Purpose::Clients),
            Self::Serve(_) => ("serve", Purpose::Clients),
            Self::Servers(_) => ("servers", Purpose::Person),
            Self::Datasets(_) => ("datasets", Purpose::Person),
            Self::Query(_) => ("query", Purpose::Person),
            Self::Read(_) => ("read", Purpose::Person),
            Self::Search(_) => ("search", Purpose::Person),
            Self::Export(_) => ("export", Purpose::Person),
            Self::Plot(_) => ("plot", Purpose::Person),
            Self::Stats(_) => ("stats", Purpose::Person),
            Self::Page(_) => ("page", Purpose::Person),
            Self::Index(_) => ("index", Purpose::Person),
            Self::Demo(_) => ("demo", Purpose::Person),
            Self::Auth(_) => ("auth", Purpose::Person),
            Self::Init(_) => ("init", Purpose::Person),
            Self::Config(_) => ("config", Purpose::Person),
            Self::Doctor(_) => ("doctor", Purpose::Person),
            Self::Completions(_) => ("completions", Purpose::Person),
            Self::Man(_) => ("man", Purpose::Person),
            Self::DemoServer => ("demo-server", Purpose::Part),
            Self::QueryWorker(_) => ("query-worker", Purpose::Part),
            Self::CodeWorker => ("code-worker", Purpose::Part),
            Self::EmbedWorker => ("embed-worker", Purpose::Part),
        }
    }
}

/// Where settings come from.
#[derive(Debug, Clone, Args)]
pub(crate) struct SettingsArguments {
    /// Read the settings from this file [default: `forebay.toml` in `FOREBAY_HOME` or `~/.forebay`]
    #[arg(long, value_name = "FILE", global = true)]
    config: Option<PathBuf>,
}

impl SettingsArguments {
    /// Where all settings come from, with those that `flags` stand for.
    pub(crate) fn sources(self, flags: Vec<(&'static str, &'static str, Given)>) -> Sources {
        Sources { file: self.config, variables: std::env::vars_os().collect(), flags }
    }

    /// The file that they come from, whether or not it is there.
    pub(crate) fn file(&self) -> Result<PathBuf> {
        Ok(Config::file(&self.clone().sources(Vec::new()))?)
    }

    /// All settings, with those that `flags` stand for.
    pub(crate) fn load(self, flags: Vec<(&'static str, &'static str, Given)>) -> Result<Config> {
        let (config, problems) = Config::read(&self.sources(flags))?;
        // First: it says whether the problems are written down.
        observe::write_from(config.log_file_level);
        for warning in Problems::unless_refused(problems)? {
            tracing::warn!("{warning}; passed over");
        }
        Ok(config)
    }
}

const EXAMPLES: &str = "\
Examples:
  In a client's configuration, before the command of a server:
      forebay wrap -- npx -y @modelcontextprotocol/server-everything

  `forebay demo` shows what it does; `forebay help wrap` tells its options.

Exit status: 0 if all went well, 1 if something failed, 2 if the command line or the settings cannot be \
understood, 3 if what is named is not there, 4 if what is asked for cannot be, 130 after Ctrl-C.";

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    /// A command and all below it, with the help of each at 80 columns.
    fn helps(command: &mut clap::Command, found: &mut Vec<(clap::Command, String)>) {
        let help = command.render_long_help().to_string();
        found.push((command.clone(), help));
        command.get_subcommands_mut().for_each(|below| helps(below, found));
    }

    #[test]
    fn help_fits_the_terminal_and_breaks_no_example() {
        let mut all = Vec::new();
        let mut command = Cli::command().term_width(80);
        command.build();
        helps(&mut command, &mut all);
        assert!(all.len() > 20, "{}", all.len());
        for (command, help) in all {
            let wide = help.lines().filter(|line| line.chars().count() > 80);
            assert_eq!(wide.collect::<Vec<_>>(), Vec::<&str>::new(), "{}", command.get_name());
            let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            for example in after.lines().filter(|line| line.starts_with("  ")) {
                assert!(help.lines().any(|line| line == example), "{example}");
            }
        }
    }

    #[test]
    fn a_paragraph_of_the_help_is_filled() {
        let help = Cli::command().term_width(80).render_help().to_string();
        let lines: Vec<&str> = help.lines().skip_while(|it| !it.starts_with("Exit")).collect();
        let [filled @ .., _] = lines.as_slice() else { panic!("{help}") };
        assert!(filled.iter().all(|line| line.len() > 65), "{filled:#?}");
    }
}
