//! After which event a client can resume a stream without missing anything. Without I/O.
//!
//! Events overtake one that is held up while its result is being captured. A client resumes after the last
//! id that it has seen, so an id is passed on only if everything up to it has been: what overtakes goes
//! without its id, and what was overtaken carries the newest one.

use forebay_wire::sse::Fields;

/// Where a stream can be resumed.
#[derive(Debug, Default)]
pub(super) struct Resumption {
    /// The id of the last event that came.
    newest: Option<String>,
    /// How many events are held up.
    held: usize,
}

impl Resumption {
    /// An event has come.
    pub(super) fn came(&mut self, fields: &Fields) {
        if fields.id.is_some() {
            self.newest.clone_from(&fields.id);
        }
    }

    /// The event that came last is held up.
    pub(super) fn hold(&mut self) {
        self.held += 1;
    }

    /// An event that was held up is about to be said.
    pub(super) fn release(&mut self) {
        self.held = self.held.saturating_sub(1);
    }

    /// What an event is said with: an id after which nothing is missing, if there is one.
    pub(super) fn safe(&self, fields: Fields) -> Fields {
        let id = fields.id.and(self.newest.clone()).filter(|_| self.held == 0);
        Fields { id, ..fields }
    }

    /// True if the upstream has given a place to come back to.
    pub(super) fn is_possible(&self) -> bool {
        self.newest.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(id: &str) -> Fields {
        Fields { id: (!id.is_empty()).then(|| id.to_owned()), ..Fields::default() }
    }

    /// Plays events (`id` comes, `_` comes without one, `+id` comes and is held, `-id` that was held is
    /// said), and returns the ids that the client sees.
    fn play(script: &str) -> String {
        let mut resumption = Resumption::default();
        let mut seen = Vec::new();
        for step in script.split(' ') {
            let id = step.trim_start_matches(['+', '-', '_']);
            if step.starts_with('-') {
                resumption.release();
            } else {
                resumption.came(&fields(id));
            }
            if step.starts_with('+') {
                resumption.hold();
                continue;
            }
            seen.push(resumption.safe(fields(id)).id.unwrap_or_else(|| "_".to_owned()));
        }
        seen.join(" ")
    }

    #[test]
    fn an_id_is_passed_on_once_everything_up_to_it_has_been() {
        assert_eq!(play("1 2 3"), "1 2 3");
        assert_eq!(play("1 +2 3 -2"), "1 _ 3", "what was overtaken carries the newest");
        assert_eq!(play("+1 +2 3 -2 4 -1 5"), "_ _ _ 4 5", "while any is held nothing is safe");
        assert_eq!(play("1 +2 -2 3"), "1 2 3");
        assert_eq!(play("1 _ 2"), "1 _ 2", "what has no id gets none");
        assert_eq!(play("+1 _ -1"), "_ 1", "and is no place to come back to");
    }

    #[test]
    fn a_stream_without_ids_cannot_be_resumed() {
        let mut resumption = Resumption::default();
        resumption.came(&fields(""));
        assert!(!resumption.is_possible());
        resumption.came(&fields("1"));
        resumption.hold();
        assert!(resumption.is_possible());
    }
}
