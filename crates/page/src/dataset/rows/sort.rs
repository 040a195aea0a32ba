//! In which order rows stand, as it is in an address.

use forebay_tools::Order;
use percent_encoding::percent_decode_str;

use super::filter::encoded;

/// By which field rows are sorted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sort {
    field: String,
    is_descending: bool,
}

impl Sort {
    pub(super) fn by(field: &str, is_descending: bool) -> Self {
        Self { field: field.to_owned(), is_descending }
    }

    /// Reads `stars`, `+stars` or `-stars`.
    pub(super) fn read(text: &str) -> Self {
        let (field, is_descending) = match text.strip_prefix('-') {
            Some(field) => (field, true),
            None => (text.strip_prefix('+').unwrap_or(text), false),
        };
        Self::by(&percent_decode_str(field).decode_utf8_lossy(), is_descending)
    }

    pub(super) fn written(&self) -> String {
        let field = encoded(&self.field);
        // A name that is empty, or begins as a direction does, needs one before it.
        let needs_sign = self.field.is_empty() || self.field.starts_with(['+', '-']);
        match (self.is_descending, needs_sign) {
            (true, _) => format!("-{field}"),
            (false, true) => format!("+{field}"),
            (false, false) => field,
        }
    }

    pub(super) fn order(&self) -> Order {
        Order::by(self.field.clone(), self.is_descending)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_reads_as_it_is_written() {
        for field in ["stars", "-1", "+1", "", " a", "x desc", "100%", "a%2Bb"] {
            for is_descending in [false, true] {
                let sort = Sort::by(field, is_descending);
                assert_eq!(Sort::read(&sort.written()), sort, "{}", sort.written());
                assert!(!sort.written().is_empty());
            }
        }
        assert_eq!(Sort::by("stars", false).written(), "stars");
        assert_eq!(Sort::read("+stars"), Sort::by("stars", false));
    }
}
