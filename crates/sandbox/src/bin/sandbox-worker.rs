//! A worker by itself, for the tests of this crate. The program has one of its own.

use std::process::ExitCode;

fn main() -> ExitCode {
    match forebay_sandbox::serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
