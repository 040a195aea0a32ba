//! Text that others have written: how its names stand in SQL, which of its characters deceive, and what
//! its times mean. Does no I/O.

mod deceptive;
mod identifier;
mod time;

pub use deceptive::is_deceptive;
pub use identifier::identifier;
pub use time::Time;
