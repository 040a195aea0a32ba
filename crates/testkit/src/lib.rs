//! What Forebay's tests share. Nothing here is part of the program.

pub mod playbook;
