//! `forebay page`: what was kept, in a browser.

use std::{io::Write, net::SocketAddr, process::ExitCode, sync::Arc};

use anyhow::{Context, Result};
use clap::Args;
use forebay_page::{Gate, Pages};
use forebay_proxy::client::http;
use forebay_system::signals::{SIGINT, SIGTERM, Signals};

use crate::{
    assemble,
    cli::{SettingsArguments, address::address, entry, screen::Screen},
    page::Program,
};

/// Look at what was kept, and what it saved, in a browser
///
/// Tells an address with a token in it: whoever opens it sees everything that was kept, and may pin, tag and
/// delete it. The page is there until Ctrl-C. It asks nothing of the network.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PageArguments {
    /// Where to listen, at an address of this machine alone
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0", value_parser = address)]
    listen: SocketAddr,
    #[command(flatten)]
    settings: SettingsArguments,
}

const EXAMPLES: &str = "\
Examples:
  forebay page
  forebay page --listen :9090

Every page has a twin for programs, with `Authorization: Bearer TOKEN`:
  curl -H \"Authorization: Bearer $TOKEN\" http://127.0.0.1:9090/shelf.json";

pub(crate) fn run(arguments: PageArguments, screen: &mut Screen) -> Result<ExitCode> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    let config = arguments.settings.clone().load(Vec::new())?;
    let shelf = assemble::shelf(&config);
    let search = assemble::search(&config, &shelf)?;
    if let Some(search) = &search {
        search.follow();
    }
    let desk = assemble::desk(&config, shelf.clone(), search.clone())?;
    let sources = arguments.settings.sources(Vec::new());
    let gate = Gate::with_new_token().context("there is no randomness for a token")?;
    let program = Program::new(config, sources, shelf, search, entry::read);
    let pages = Arc::new(Pages::new(desk, gate, Box::new(program)));
    let local = http::serve_alone(pages.clone(), arguments.listen)
        .context("the page cannot be offered as --listen says")?;
    pages.gate().listen_on(local.port());
    let told = format!(
        "listening on http://{local}{}\nOpen that address in a browser; Ctrl-C ends it.\n",
        pages.gate().opening()
    );
    // That nobody reads it is no reason to end.
    let _ = screen.write_all(told.as_bytes()).and_then(|()| screen.flush());
    signals.forever().next();
    Ok(ExitCode::SUCCESS)
}
