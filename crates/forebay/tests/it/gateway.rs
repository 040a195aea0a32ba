//! Many servers behind one entry: `forebay gateway` on stdio, `forebay serve` without a command over HTTP.

mod broken;
pub(crate) mod client;
mod eight;
mod endpoint;
mod eras;
mod joining;
mod life;
mod names;
mod on_demand;
mod questions;
mod rust_client;
mod sharing;
mod starting;

use std::{fs, path::Path, process::Command};

use forebay_testkit::programs;

use crate::forebay;

/// `forebay gateway` with these settings, in a home of its own.
pub(crate) fn gateway(home: &Path, settings: &str) -> Command {
    write_settings(home, settings);
    let mut command = forebay(["gateway"]);
    command.env("FOREBAY_HOME", home);
    command
}

fn write_settings(home: &Path, settings: &str) {
    // By rename, as editors do it: who watches the file sees it whole.
    let fresh = home.join("forebay.toml.new");
    fs::write(&fresh, settings).unwrap();
    fs::rename(fresh, home.join("forebay.toml")).unwrap();
}

/// A server's table in the settings.
pub(crate) fn server(name: &str, words: &[String], more: &str) -> String {
    let (program, arguments) = (&words[0], &words[1..]);
    format!("[servers.{name}]\ncommand = {program:?}\nargs = {arguments:?}\n{more}\n")
}

/// The words that run the fixture upstream.
pub(crate) fn fixture(options: &[&str]) -> Vec<String> {
    let program = programs::fixture_upstream().to_str().unwrap().to_owned();
    std::iter::once(program).chain(options.iter().map(|&option| option.to_owned())).collect()
}

/// The dataset that a summary names.
pub(crate) fn dataset_in(text: &str) -> &str {
    let start = text.find("dataset_").unwrap_or_else(|| panic!("{text}"));
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text[start..].split(|c| !is_part(c)).next().unwrap()
}
