//! A chart of a table or of what a query gives, as a picture.

use bytes::Bytes;
use forebay_tools::{ChartKind, Plot, Subject, drawn};
use http::{HeaderValue, Response, StatusCode, header};

use crate::{Pages, asker::Asker, given::Given, problem::Problem, reply::with};

/// A chart has a style of its own, and shows nothing from elsewhere.
const POLICY: HeaderValue =
    HeaderValue::from_static("sandbox; default-src 'none'; style-src 'unsafe-inline'");

pub(crate) fn answer(
    pages: &Pages,
    id: &str,
    given: &Given,
    asker: &Asker,
) -> Result<Response<Bytes>, Problem> {
    let given = given.only(&["sql", "table", "chart", "x", "y", "series"])?;
    let (svg, _) = drawing(pages, id, &given, asker)?;
    let mut answer = with(StatusCode::OK, "image/svg+xml", svg.into());
    answer.headers_mut().insert(header::CONTENT_SECURITY_POLICY, POLICY);
    Ok(answer)
}

/// The chart that is asked for, and what it does not show.
pub(super) fn drawing(
    pages: &Pages,
    id: &str,
    given: &Given,
    asker: &Asker,
) -> Result<(String, Vec<String>), Problem> {
    let dataset = pages.dataset(id)?;
    let kind: ChartKind =
        given.get("chart").unwrap_or("bar").parse().map_err(forebay_tools::ToolError::from)?;
    let x = given.get("x").ok_or_else(|| Problem::refused("A chart needs x, a column."))?;
    let text = |name| given.get(name).map(str::to_owned);
    let plot = Plot { kind, x: x.to_owned(), y: text("y"), series: text("series"), title: None };
    let table = given.get("table").unwrap_or_default().to_owned();
    let subject = Subject::new(&pages.desk, text("sql"), Some((dataset.id().clone(), table)))?;
    Ok(drawn(&pages.desk, &subject, &plot, asker)?)
}
