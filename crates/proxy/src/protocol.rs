//! The protocol as far as a proxy must know it. Without I/O.
//!
//! [`methods`] is the one place that knows what a message means in each revision; [`call`] says what a
//! request is for, [`pending`] which requests await an answer, [`tasks`] which calls go on
//! as tasks, and [`multiplex`] tells apart what many clients ask on one connection.

mod call;
mod cancellation;
mod era;
pub(crate) mod methods;
mod multiplex;
mod notes;
mod pending;
mod principal;
pub(crate) mod roots;
mod tasks;

pub(crate) use self::{
    call::LastProgress,
    cancellation::Cancellation,
    multiplex::{Concerns, Edits, Multiplex},
    notes::Notes,
    tasks::Tasks,
};
pub use self::{
    call::{Call, Purpose, ResourceRequest},
    era::{Era, REVISIONS},
    pending::Pending,
    principal::Principal,
};
