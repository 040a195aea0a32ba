//! The operating system, where it is spoken to in ways that only Unix knows.
//!
//! Each file is one thing that the rest of Forebay wants of the system, in the words of those who want it. A
//! port to another system gives these functions; `docs/porting.md` says what each would be there, and names the
//! few files elsewhere that speak to the system themselves.

pub mod access;
pub mod disk;
pub mod exit;
pub mod group;
pub mod identity;
pub mod limits;
pub mod memory;
pub mod open;
pub mod open_files;
pub mod ownership;
pub mod pipes;
pub mod positioned;
pub mod priority;
pub mod private;
pub mod process;
pub mod rename;
pub mod signals;
pub mod terminal;
