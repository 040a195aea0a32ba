//! Rows as a file to be saved: all of a table, or what a query gives.

use std::io::Read;

use bytes::Bytes;
use forebay_tools::{ExportForm, Subject, export_nameless};
use http::{Response, StatusCode, header};

use super::file::attachment;
use crate::{Pages, asker::Asker, given::Given, problem::Problem, reply::with};

/// How long a file may be that is sent; it is in memory meanwhile.
const MAX_BYTES: u64 = 256 << 20;

pub(crate) fn answer(
    pages: &Pages,
    id: &str,
    given: &Given,
    asker: &Asker,
) -> Result<Response<Bytes>, Problem> {
    let given = given.only(&["form", "table", "sql"])?;
    let dataset = pages.dataset(id)?;
    let name = given.get("form").unwrap_or("csv");
    let form = ExportForm::named(name).ok_or_else(|| {
        let known = ExportForm::NAMED.map(|(name, _)| name).join(", ");
        Problem::refused(format!("There is no form {name}: write one of {known}."))
    })?;
    let table = given.get("table").unwrap_or_default().to_owned();
    let (sql, of) = (given.get("sql").map(str::to_owned), (dataset.id().clone(), table));
    let subject = Subject::new(&pages.desk, sql, Some(of))?;
    let (file, _) = export_nameless(&pages.desk, &subject, form, asker)?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(forebay_tools::ToolError::from)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(Problem::refused(format!(
            "The file is longer than {} MiB; `forebay export {} --format {name}` writes it to the disk.",
            MAX_BYTES >> 20,
            dataset.id()
        )));
    }
    let mut answer = with(StatusCode::OK, form.media_type(), bytes.into());
    let file_name = format!("{}.{name}", subject.name);
    answer.headers_mut().insert(header::CONTENT_DISPOSITION, attachment(&file_name));
    Ok(answer)
}
