//! Runs programs that a model wrote, in processes of their own that reach nothing but the host's
//! functions.
//!
//! A [`Sandbox`] runs a program in a worker, which is a process of its own that calls [`serve`]. There
//! the program, TypeScript or JavaScript, is made into an async function ([`compile`]) and run by an
//! engine that is made for it and thrown away after it ([`engine`]). What the program sees besides the
//! language is in `prelude.js`; whatever it calls goes over the pipe to the [`Host`].

mod compile;
mod confine;
mod engine;
mod error;
mod failure;
mod frame;
#[cfg(any(fuzzing, test))]
pub mod fuzzing;
mod hints;
mod host;
mod input;
mod limits;
mod sandbox;
mod worker;

pub use error::SandboxError;
pub use failure::{Failure, Place};
pub use host::{Answer, Host, HostCall};
pub use limits::Limits;
pub use sandbox::{Run, Sandbox};
pub use worker::serve;
