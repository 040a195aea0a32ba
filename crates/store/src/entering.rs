//! How what has been captured gets into the catalog: after it exists, and all that is due at once.
//!
//! Until then its [`Claim`] says so to everybody else; see [`reconcile::take_in`](crate::reconcile).

use std::{sync::Arc, thread};

use parking_lot::MutexGuard;

use jiff::Timestamp;

use crate::{
    Dataset, Durability, Noted, Passed, Store, StoreError,
    catalog::{Catalog, usage},
    claim::Claim,
    events, layout,
};

/// A dataset that exists and has yet to be entered in the catalog.
#[derive(Debug)]
pub(crate) struct New {
    pub(crate) dataset: Dataset,
    pub(crate) claim: Option<Claim>,
}

/// More than this many claims are not held open while the catalog cannot be written.
const MAX_NEW: usize = 200;

impl Store {
    /// Enters what has been captured lately in the catalog, and adds to what tools have given today.
    /// All of it is written at once, or nothing. Then what was captured is made
    /// safe against a loss of power.
    pub fn enter_new(&self, passed: &[Passed<'_>]) -> Result<(), StoreError> {
        self.enter_new_and_note(passed, &Noted::default())
    }

    /// [`Self::enter_new`], with what else has happened.
    pub fn enter_new_and_note(
        &self,
        passed: &[Passed<'_>],
        noted: &Noted,
    ) -> Result<(), StoreError> {
        make_durable(&self.enter_all(passed, noted)?);
        Ok(())
    }

    /// Enters what is new, and has it made safe on a thread of its own. If the catalog cannot be written,
    /// that is left to whoever looks next: the dataset exists without it.
    pub(crate) fn enter_new_at_once(&self) {
        match self.enter_all(&[], &Noted::default()) {
            Ok(entered) if entered.is_empty() => {}
            Ok(entered) => make_durable_soon(entered),
            Err(error) => events::catalog_behind(&error),
        }
    }

    /// Enters what is new; returns what has yet to be made safe.
    fn enter_all(&self, passed: &[Passed<'_>], noted: &Noted) -> Result<Vec<Dataset>, StoreError> {
        self.follow_catalog();
        let new = std::mem::take(&mut *self.to_enter());
        for New { dataset, .. } in &new {
            self.share_equal_content(dataset);
        }
        if let Err(error) = self.enter(&new, passed, noted) {
            let mut again = self.to_enter();
            again.extend(new);
            // Without their claims they are for whoever looks next.
            let too_many = again.len().saturating_sub(MAX_NEW);
            again.drain(..too_many);
            return Err(error);
        }
        let mut entered = Vec::new();
        for New { dataset, claim } in new {
            // It is entered, whoever may come upon its claim.
            let ended = claim.map_or(Ok(()), |claim| self.end_or_spare(claim));
            ended.unwrap_or_else(|error| events::catalog_behind(&error));
            entered.push(dataset);
        }
        Ok(if self.durability == Durability::RightAfter { entered } else { Vec::new() })
    }

    fn enter(&self, new: &[New], passed: &[Passed<'_>], noted: &Noted) -> Result<(), StoreError> {
        let today = usage::day(Timestamp::now());
        let enter = |catalog: &Catalog| {
            catalog.at_once(|catalog| {
                for New { dataset, .. } in new {
                    catalog.settle(dataset)?;
                    catalog.count_in(dataset.metadata(), true)?;
                    // It may have been removed meanwhile, and counts all the same.
                    let metadata = self.layout.metadata(dataset.folder(), dataset.id());
                    if !layout::is_there(&metadata) {
                        catalog.forget(dataset.id())?;
                    }
                }
                for passed in passed {
                    catalog.add_usage(today, *passed)?;
                }
                if !noted.is_empty() {
                    catalog.add_tallies_with_others(today, &noted.tallies)?;
                    catalog.note(noted)?;
                }
                Ok(())
            })
        };
        self.ask_as_it_is(enter)
    }

    /// If a dataset with the same payloads exists, their files become one. Where that cannot be
    /// done there are two, which costs space and nothing else. A compressed one is not shared: the
    /// path that is given out is to be read by anything.
    /// One that is no longer what was kept is not shared either.
    fn share_equal_content(&self, dataset: &Dataset) {
        let content = dataset.metadata().content();
        let Ok(Some(twin)) = self.catalog().find_content(&content) else { return };
        if twin == *dataset.id() {
            return;
        }
        let Ok(twin) = self.dataset(&twin) else { return };
        for (index, part) in dataset.metadata().parts.iter().enumerate() {
            let (ours, theirs) = (dataset.plain_path(index), twin.plain_path(index));
            let is_equal =
                twin.metadata().parts.get(index).is_some_and(|it| it.blake3 == part.blake3);
            if is_equal
                && layout::is_there(&theirs)
                && layout::is_there(&ours)
                && self.sound.check(&theirs, || twin.verify(index)).is_ok()
            {
                let _ = layout::link_over(&theirs, &ours);
            }
        }
    }

    pub(crate) fn to_enter(&self) -> MutexGuard<'_, Vec<New>> {
        // A list of what is whole in itself.
        self.to_enter.lock()
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.drop_spare_claim();
        if !self.to_enter().is_empty() {
            self.enter_new_at_once();
        }
    }
}

/// [`make_durable`] on a thread of its own.
pub(crate) fn make_durable_soon(datasets: Vec<Dataset>) {
    let datasets = Arc::new(datasets);
    let on_its_own = datasets.clone();
    let thread = thread::Builder::new().name("sync".to_owned());
    // Without a thread it is done here.
    if thread.spawn(move || make_durable(&on_its_own)).is_err() {
        make_durable(&datasets);
    }
}

fn make_durable(datasets: &[Dataset]) {
    for dataset in datasets {
        dataset.sync().unwrap_or_else(|error| events::sync_failed(dataset.id(), &error));
    }
}

#[cfg(test)]
mod tests;
