//! Text that others have written: how its names stand in SQL, which of its characters deceive, what in it looks like
//! a secret, and what its times mean; and numbers as people read them. Does no I/O.

mod command;
mod deceptive;
mod identifier;
mod number;
mod secrets;
mod time;

pub use command::command_without_secrets;
pub use deceptive::is_deceptive;
pub use identifier::identifier;
pub use number::{counted, grouped, short, signed, size};
pub use secrets::{is_secret_name, without_secrets};
pub use time::Time;
