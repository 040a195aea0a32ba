//! `forebay auth`: logs in at servers that ask for it, and out again.

use std::{
    future::Future,
    io::Write,
    path::PathBuf,
    process::{Command, ExitCode, Stdio},
    time::Duration,
};

use anyhow::{Context, Result, anyhow, bail};
use clap::{Args, Subcommand};
use forebay_system::group;
use http::StatusCode;
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::{
    auth::{self, Address, Attempt, Door, Keep, Login, Revoked, Web, Wish},
    cli::{
        SettingsArguments,
        ask::Interrupted,
        exit::Exit,
        screen::Screen,
        table::{Column, Table, cut, harmless},
    },
    config,
    trust::{self, Authority},
};

/// Log in at servers that ask for it, and out again
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AuthArguments {
    #[command(subcommand)]
    action: Action,

    /// Trust the certificates in this file, too (PEM)
    #[arg(long, value_name = "FILE", global = true)]
    ca_file: Option<PathBuf>,

    #[command(flatten)]
    settings: SettingsArguments,
}

#[derive(Debug, Subcommand)]
enum Action {
    Login(LoginArguments),
    /// List the logins: where, as whom, for what, until when
    List {
        /// One JSON array, for programs; it has no tokens
        #[arg(long)]
        json: bool,
    },
    /// Ask a server whether it lets us in, and renew the login if that is due
    Check {
        /// The server's URL
        url: String,
    },
    /// Remove a login, and have its tokens revoked if the server offers that
    Logout {
        /// The server's URL
        url: String,
    },
}

/// Log in at a server, in the browser
///
/// The tokens are kept in `auth` under `FOREBAY_HOME` or `~/.forebay`, in a file that only you can
/// read, and are sent to that server alone. They are renewed by themselves as long as the server
/// allows it. Sessions that run already take up a new login with their next request.
#[derive(Debug, Args)]
struct LoginArguments {
    /// The server's URL
    url: String,

    /// The id under which Forebay is known there [default: Forebay registers itself]
    #[arg(long, value_name = "ID")]
    client_id: Option<String>,

    /// What the login is to allow (may be repeated) [default: what the server asks for]
    #[arg(long = "scope", value_name = "SCOPE")]
    scopes: Vec<String>,

    /// The port on this machine that the browser brings the answer to [default: any]
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,

    /// Print the page to log in at, and open no browser
    #[arg(long)]
    no_browser: bool,
}

const EXAMPLES: &str = "\
Examples:
  forebay auth login https://mcp.example.com/mcp
  forebay auth check https://mcp.example.com/mcp
  forebay auth logout https://mcp.example.com/mcp";

/// How long a logout may take to tell the server.
const REVOCATION: Duration = Duration::from_secs(10);
/// How much of what a server says is passed on.
const MAX_ERROR_CHARS: usize = 500;

pub(crate) fn run(arguments: AuthArguments, screen: &mut Screen) -> Result<ExitCode> {
    let keep = Keep::new(&config::home()?);
    let trusted = |settings: SettingsArguments| match &arguments.ca_file {
        Some(file) => trust::authorities(Some(file)),
        None => trust::authorities(settings.load(Vec::new())?.ca_file.as_deref()),
    };
    match arguments.action {
        Action::Login(login) => {
            let upstream = Address::parse(&login.url)?;
            let trusted = trusted(arguments.settings)?;
            wait_for(log_in(&upstream, login, &keep, &trusted, screen))
                .with_context(|| format!("cannot log in to {upstream}"))?;
        }
        Action::List { json } => list(&keep.all()?, json, screen)?,
        Action::Check { url } => {
            let (upstream, trusted) = (Address::parse(&url)?, trusted(arguments.settings)?);
            wait_for(check(&upstream, &keep, &trusted, screen))?;
        }
        Action::Logout { url } => {
            let (upstream, trusted) = (Address::parse(&url)?, trusted(arguments.settings)?);
            wait_for(log_out(&upstream, &keep, &trusted, screen))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn log_in(
    upstream: &Address,
    arguments: LoginArguments,
    keep: &Keep,
    trusted: &[Authority],
    screen: &mut Screen,
) -> Result<()> {
    let door = Door::open(arguments.port.unwrap_or_default()).await?;
    let wish = Wish { client_id: arguments.client_id, scopes: arguments.scopes };
    let Some(attempt) = Attempt::prepare(upstream, &wish, door, trusted).await? else {
        writeln!(screen, "{upstream} does not ask for a login.")?;
        return Ok(());
    };
    writeln!(
        screen,
        "Open this page to log in to {upstream}:\n\n  {}\n",
        harmless(attempt.page())
    )?;
    if !arguments.no_browser {
        open_browser(attempt.page());
    }
    let login = attempt.finish().await?;
    let turn = keep.turn(upstream).await?;
    keep.write(upstream, &login, &turn)?;
    let (validity, file) = (validity(&login), keep.file(upstream));
    writeln!(screen, "Logged in. The login is {validity}.\nIts tokens are in {}.", file.display())?;
    Ok(())
}

async fn check(
    upstream: &Address,
    keep: &Keep,
    trusted: &[Authority],
    screen: &mut Screen,
) -> Result<()> {
    let credentials = auth::stored(&config::home()?, &upstream.to_string(), trusted)?;
    let web = Web::new(upstream, trusted)?;
    let mut said = credentials.authorization().await?;
    let mut reception = web.knock(said.as_ref()).await?;
    if reception.status == StatusCode::UNAUTHORIZED {
        said = credentials.renewed(said.as_ref()).await?;
        if said.is_some() {
            reception = web.knock(said.as_ref()).await?;
        }
    }
    if reception.status == StatusCode::UNAUTHORIZED {
        bail!("{upstream} asks for a login; {}", credentials.advice());
    }
    if reception.is_no_answer() {
        bail!("{upstream} answers {}", reception.status);
    }
    match keep.read(upstream)?.filter(|_| said.is_some()) {
        Some(login) => {
            writeln!(screen, "{upstream} accepts the login, which is {}.", validity(&login))?;
        }
        None => writeln!(screen, "{upstream} does not ask for a login.")?,
    }
    Ok(())
}

async fn log_out(
    upstream: &Address,
    keep: &Keep,
    trusted: &[Authority],
    screen: &mut Screen,
) -> Result<()> {
    let turn = keep.turn(upstream).await?;
    let Some(login) = keep.read(upstream)? else {
        return Err(Exit::NotFound.told(format!(
            "there is no login for {upstream}; `forebay auth list` shows those that there are"
        )));
    };
    keep.remove(upstream, &turn)?;
    drop(turn);
    let late = |_| Err(anyhow!("the server does not answer"));
    let revoked = timeout(REVOCATION, auth::revoked(upstream, &login, trusted)).await;
    let tokens = match revoked.unwrap_or_else(late) {
        Ok(Revoked::Now) => "Its tokens are revoked.".to_owned(),
        Ok(Revoked::Never) => "The server does not offer to revoke its tokens.".to_owned(),
        Err(error) => format!("Its tokens could not be revoked: {}.", one_line(&error)),
    };
    writeln!(screen, "Logged out of {upstream}. {tokens}")?;
    Ok(())
}

fn list(logins: &[Login], as_json: bool, screen: &mut Screen) -> Result<()> {
    if as_json {
        let logins: Vec<Value> = logins.iter().map(without_secrets).collect();
        writeln!(screen, "{}", serde_json::to_string_pretty(&logins)?)?;
        return Ok(());
    }
    if logins.is_empty() {
        writeln!(screen, "There are no logins.")?;
        return Ok(());
    }
    let mut table = Table::new([
        Column::Flexible("SERVER"),
        Column::Flexible("CLIENT"),
        Column::Flexible("SCOPES"),
        Column::Left("EXPIRES (UTC)"),
        Column::Left("RENEWED"),
    ]);
    for login in logins {
        let renewed = if login.refresh_token.is_some() { "by itself" } else { "no" };
        table.push([
            login.url.clone(),
            login.client.id.clone(),
            login.scopes.join(" "),
            login.expires_at.map_or_else(|| "-".to_owned(), minute),
            renewed.to_owned(),
        ]);
    }
    table.print(screen)?;
    Ok(())
}

fn without_secrets(login: &Login) -> Value {
    json!({
        "url": login.url, "issuer": login.issuer, "client_id": login.client.id,
        "scopes": login.scopes, "received_at": login.received_at, "expires_at": login.expires_at,
        "renewable": login.refresh_token.is_some(),
    })
}

/// How long a login holds.
fn validity(login: &Login) -> String {
    match (login.expires_at.map(minute), login.refresh_token.is_some()) {
        (Some(end), true) => format!("good until {end} UTC, and renewed by itself"),
        (Some(end), false) => format!("good until {end} UTC"),
        (None, true) => "renewed by itself".to_owned(),
        (None, false) => "good until it is revoked".to_owned(),
    }
}

fn minute(time: Timestamp) -> String {
    time.strftime("%Y-%m-%d %H:%M").to_string()
}

/// Shows a page, if there is a way to; whoever runs us can open it, too.
fn open_browser(page: &str) {
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut command = Command::new(opener);
    command.arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Ctrl-C ends the login, not the browser.
    let _ = group::lead(&mut command).spawn();
}

/// Runs something that asks servers; Ctrl-C ends it.
fn wait_for<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let outcome = runtime.block_on(async {
        tokio::select! {
            outcome = work => outcome,
            _ = tokio::signal::ctrl_c() => Err(Interrupted.into()),
        }
    });
    match outcome {
        Err(error) if error.is::<Interrupted>() || error.is::<std::io::Error>() => Err(error),
        Err(error) => Err(Exit::of(&error).told(one_line(&error))),
        done => done,
    }
}

/// An error that may have a server's words in it.
fn one_line(error: &anyhow::Error) -> String {
    let text = format!("{error:#}");
    let words: Vec<&str> = text.split_whitespace().collect();
    cut(&harmless(&words.join(" ")), MAX_ERROR_CHARS)
}
