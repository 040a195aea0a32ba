//! How much a summary tells of each kind of fact, and what is left out first where room is short.

/// How much of each kind of fact is told.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shares {
    /// Fields, or headings; and how many of them with their facts.
    pub(super) items: usize,
    pub(super) full: usize,
    /// How many frequent values of each.
    pub(super) values: usize,
    pub(super) samples: usize,
    /// Values beside the table.
    pub(super) beside: usize,
    pub(super) examples: usize,
    pub(super) tables: usize,
}

impl Shares {
    /// Less: samples first, then facts of the least telling fields, then examples; names at the end.
    pub(super) fn fewer(self) -> Self {
        match self {
            Self { samples: 3, .. } => Self { samples: 2, ..self },
            Self { samples: 2, .. } => Self { samples: 1, ..self },
            Self { beside: 4.., .. } => Self { beside: 3, ..self },
            Self { values: 5, .. } => Self { values: 3, ..self },
            Self { full: full @ 13.., .. } => Self { full: full * 4 / 5, ..self },
            Self { examples: 3, .. } => Self { examples: 2, ..self },
            // A text without tables is told by its lines rather than by its headings.
            Self { samples: 1, tables: 1.., .. } => Self { samples: 0, ..self },
            Self { full: full @ 4.., tables: 1.., .. } => Self { full: full * 3 / 4, ..self },
            Self { examples: 2, .. } => Self { examples: 1, ..self },
            Self { beside: 2.., .. } => Self { beside: 1, ..self },
            Self { full: 1.., tables: 1.., .. } => Self { full: 0, ..self },
            Self { tables: 13.., .. } => Self { tables: 12, ..self },
            Self { items: items @ 9.., full, .. } => {
                // In small steps: names are worth the room that is left.
                let items = items - (items / 20).max(1);
                Self { items, full: full.min(items), ..self }
            }
            Self { samples: 1, .. } => Self { samples: 0, ..self },
            Self { tables: 4.., .. } => Self { tables: 3, ..self },
            Self { items: items @ 1.., .. } => {
                Self { items: items * 4 / 5, full: items * 4 / 5, ..self }
            }
            Self { .. } => Self { beside: 0, examples: 0, tables: 0, ..self },
        }
    }

    /// Much less, of what is many times too long.
    pub(super) fn fewer_by(self, times: usize) -> Self {
        match self {
            Self { full: full @ 13.., .. } => Self { full: (full / times).max(12), ..self },
            Self { items: items @ 33.., full, .. } => {
                let items = (items / times).max(32);
                Self { items, full: full.min(items), ..self }
            }
            Self { .. } => self.fewer(),
        }
    }

    /// How much of each line of a text is shown.
    pub(super) fn line_chars(self) -> usize {
        match self.samples {
            0 | 1 => 120,
            2 => 240,
            _ => 480,
        }
    }

    pub(super) fn is_least(self) -> bool {
        self.items == 0
            && self.samples == 0
            && self.beside == 0
            && self.examples == 0
            && self.tables == 0
    }
}
