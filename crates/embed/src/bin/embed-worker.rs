//! A process of the model's by itself, for the tests of this crate. The program has one of its own.

use std::process::ExitCode;

fn main() -> ExitCode {
    match forebay_embed::serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
