//! A page as it is answered with: in the form that is asked for, or why it cannot be written.

use askama::Template;
use bytes::Bytes;
use http::{Response, StatusCode};
use serde::Serialize;

use crate::{
    problem::Problem,
    reply::{Twin, written},
};

/// A page in one of its forms.
pub(crate) fn shown<P: Template + Serialize>(
    page: &P,
    twin: Twin,
) -> Result<Response<Bytes>, Problem> {
    Ok(written(StatusCode::OK, page, twin)?)
}
