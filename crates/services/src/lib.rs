//! Services elsewhere that are asked in JSON and answer in JSON: embedders, indexes, models.
//!
//! Every request has a deadline, and every answer a size that it may have. No redirect is followed: what is
//! sent goes where the settings say. Whoever asks waits on its own thread.

mod client;
mod error;

pub use client::{Answer, Client, Method, Request, keeps_secrets};
pub use error::ServiceError;
pub use reqwest::Url;
