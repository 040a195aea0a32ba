//! `forebay demo`: a server's results with and without Forebay, side by side.
//!
//! Nothing is staged: a server is started on its own and once more behind `forebay wrap`, both are
//! asked the same, and what differs is shown.

mod show;

use std::{
    env,
    path::Path,
    process::{Command, ExitCode},
};

use anyhow::{Context, Result, ensure};
use clap::Args;
use forebay_store::{Durability, Filter, Store};
use forebay_system::private;
use forebay_tools::Tool;
use serde_json::{Value, json};

use crate::{cli::screen::Screen, demo::client::Client};

/// See what Forebay does, with made-up data
///
/// Asks a small server for large results, once on its own and once behind `forebay wrap`, shows what
/// a model would get, and answers its next question. Takes a second, needs no network and leaves your own datasets alone.
#[derive(Debug, Args)]
pub(crate) struct DemoArguments {
    /// Leave what was captured in the temporary folder, and say where it is
    #[arg(long)]
    keep: bool,
}

/// What stands before the server's command for its results to be captured.
const WRAP: [&str; 4] = ["wrap", "--name", "shop", "--"];
/// The hidden command that is the demo's server.
const SERVER: &str = "demo-server";

/// What a server was asked, and what came of it.
struct Exchange {
    request: String,
    tool: &'static str,
    on_its_own: Value,
    with_forebay: Value,
}

/// The next question, over two of the results at once.
const QUERY: &str = "\
SELECT c.country, count(*) AS orders, sum(o.total)::int AS revenue
FROM list_orders o JOIN export_customers c ON c.id = o.customer_id
WHERE o.status = 'delivered'
GROUP BY c.country ORDER BY revenue DESC LIMIT 5";

pub(crate) fn run(arguments: &DemoArguments, screen: &mut Screen) -> Result<ExitCode> {
    // What is kept of it stands among files that everybody may list.
    let for_us_alone = private::of_a_folder();
    let mut home =
        tempfile::Builder::new().prefix("forebay-demo-").permissions(for_us_alone).tempdir()?;
    home.disable_cleanup(arguments.keep);
    let (exchanges, answer) = ask_twice(home.path()).context("the demo did not get its answers")?;
    let store = Store::open(home.path(), Durability::default())?;
    for exchange in &exchanges {
        ensure!(
            exchange.passed() || exchange.is_kept_in(&store)?,
            "the result of `{}` could not be had back",
            exchange.request
        );
    }
    show::introduction(screen)?;
    for (index, exchange) in exchanges.iter().enumerate() {
        show::exchange(index + 1, exchange, screen)?;
    }
    show::total(&exchanges, screen)?;
    show::question(exchanges.len() + 1, QUERY, &answer, screen)?;
    show::what_next(arguments.keep.then_some(home.path()), screen)?;
    Ok(ExitCode::SUCCESS)
}

/// Asks a server on its own, and one behind Forebay, for the same; then asks Forebay about what it
/// has kept.
fn ask_twice(home: &Path) -> Result<(Vec<Exchange>, Value)> {
    let program = env::current_exe()?;
    let mut server = Client::start(Command::new(&program).arg(SERVER))?;
    let mut wrapped = Client::start(&mut behind_forebay(&program, home))?;
    let (tools, with_ours) = (server.tools()?, wrapped.tools()?);
    ensure!(with_ours.starts_with(&tools), "the server's tools are not the same");
    let calls = [
        ("list_orders", json!({})),
        ("read_log", json!({})),
        ("export_customers", json!({})),
        ("list_orders", json!({"limit": 2})),
    ];
    let mut exchanges = Vec::new();
    for (tool, arguments) in calls {
        exchanges.push(Exchange {
            request: format!("{tool} {arguments}"),
            tool,
            on_its_own: server.call(tool, &arguments)?,
            with_forebay: wrapped.call(tool, &arguments)?,
        });
    }
    let answer = wrapped.call(Tool::Analyze.name(), &json!({"query": QUERY}))?;
    ensure!(answer.get("isError").is_none(), "the query failed: {answer}");
    server.end()?;
    wrapped.end()?;
    Ok((exchanges, answer))
}

/// `forebay wrap` with the demo's server, and with no settings of whoever runs it.
fn behind_forebay(program: &Path, home: &Path) -> Command {
    let mut command = Command::new(program);
    command.args(WRAP).arg(program).arg(SERVER).current_dir(home).env_remove("RUST_LOG");
    for (name, _) in env::vars_os() {
        if name.as_encoded_bytes().starts_with(b"FOREBAY_") {
            command.env_remove(name);
        }
    }
    command.env("FOREBAY_HOME", home);
    command
}

impl Exchange {
    /// True if Forebay left the result as it was.
    fn passed(&self) -> bool {
        self.on_its_own == self.with_forebay
    }

    /// True if the result can be had back as the server gave it, from what `store` holds.
    fn is_kept_in(&self, store: &Store) -> Result<bool> {
        let filter = Filter { tool: Some(self.tool.to_owned()), ..Filter::default() };
        for entry in store.list(&filter)? {
            let mut result = Vec::new();
            forebay_intercept::restore(&store.dataset(&entry.id)?, &mut result)?;
            if serde_json::from_slice::<Value>(&result)? == self.on_its_own {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
