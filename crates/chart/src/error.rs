//! Why a chart cannot be drawn, and what to do about it.

use crate::ChartKind;

/// Why a chart cannot be drawn. The text says what to try next.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChartError {
    /// The name of a kind is not known.
    #[error(
        "there is no chart `{0}`: choose one of {known}",
        known = ChartKind::ALL.map(ChartKind::name).join(", ")
    )]
    UnknownKind(String),
    /// There is no row at all.
    #[error("there are no rows to draw: choose other data, or loosen the query's filter")]
    NoRows,
    /// There are rows, but none has a value in every column that is drawn.
    #[error("no row has {needed}: choose other columns, or fill the missing values in the query")]
    NoValues {
        /// The columns, quoted.
        needed: String,
    },
    /// A column is missing.
    #[error("a {kind} chart needs `{role}`: name a column that holds {needs}")]
    Missing {
        /// The kind that needs it.
        kind: ChartKind,
        /// What it is needed for.
        role: &'static str,
        /// What it must hold.
        needs: &'static str,
    },
    /// A column has no place in this kind of chart.
    #[error("a {kind} chart takes no `{role}`: leave it out, or choose another kind of chart")]
    NotTaken {
        /// The kind that does not take it.
        kind: ChartKind,
        /// What it was given for.
        role: &'static str,
    },
    /// A column holds something else than its role needs.
    #[error(
        "`{name}` holds {holds}, but `{role}` of a {kind} chart must hold {needs}: \
         choose another column, or cast it in the query"
    )]
    WrongType {
        /// The column.
        name: String,
        /// What it holds.
        holds: &'static str,
        /// What it was given for.
        role: &'static str,
        /// The kind of chart.
        kind: ChartKind,
        /// What it must hold.
        needs: &'static str,
    },
    /// Columns differ in their number of rows.
    #[error("`{name}` has {rows} rows and `{x}` has {x_rows}: take all columns from one query")]
    UnequalColumns {
        /// The column.
        name: String,
        /// Its number of rows.
        rows: usize,
        /// The column of `x`.
        x: String,
        /// Its number of rows.
        x_rows: usize,
    },
    /// Even the smallest picture is too large.
    #[error(
        "the picture does not fit in {max_bytes} bytes: draw fewer rows, raise the limit, or take \
         the SVG"
    )]
    TooLarge {
        /// The limit.
        max_bytes: usize,
    },
    /// The embedded font cannot be read.
    #[error("cannot read the embedded font")]
    Font(#[source] ttf_parser::FaceParsingError),
    /// The picture could not be written as PNG.
    #[error("cannot encode the picture")]
    Encoding(#[source] png::EncodingError),
}
