//! Vectors at a service that does not always answer.

use std::collections::BTreeMap;

use parking_lot::Mutex;

use super::*;
use crate::{Among, ChromaError, Document, Near, PassageVector, Vectors};

/// A service with what has been put there.
#[derive(Default)]
struct Service {
    is_down: AtomicBool,
    /// How many passages lie nearer to everything that are of no dataset of ours.
    others: usize,
    /// How many passages were asked for, each time.
    asked: Mutex<Vec<usize>>,
    kept: Mutex<BTreeMap<DatasetId, Vec<PassageVector>>>,
}

impl Service {
    fn answer(&self) -> Result<(), SearchError> {
        let refused = ChromaError::Refused { status: 503, said: "it is down".to_owned() };
        if self.is_down.load(Ordering::SeqCst) { Err(refused.into()) } else { Ok(()) }
    }

    fn holds(&self, dataset: &DatasetId) -> bool {
        self.kept.lock().contains_key(dataset)
    }
}

impl Vectors for Service {
    fn place(&self) -> String {
        "http://service".to_owned()
    }

    fn put(&self, document: &Document, vectors: &[PassageVector]) -> Result<(), SearchError> {
        self.answer()?;
        self.kept.lock().insert(document.dataset.clone(), vectors.to_vec());
        Ok(())
    }

    fn remove(&self, datasets: &[DatasetId]) -> Result<(), SearchError> {
        self.answer()?;
        self.kept.lock().retain(|dataset, _| !datasets.contains(dataset));
        Ok(())
    }

    fn make_room(&self, _sample: &dyn Fn() -> Option<Vec<f32>>) -> Result<(), SearchError> {
        self.answer()
    }

    fn nearest(&self, _: &[f32], among: &Among, limit: usize) -> Result<Vec<Near>, SearchError> {
        self.answer()?;
        self.asked.lock().push(limit);
        let other = DatasetId::parse("dataset_zzzzzzzz").unwrap();
        let others = std::iter::repeat_n(other, self.others).map(|dataset| Near {
            dataset,
            passage: 0,
            similarity: 0.9,
        });
        let kept = self.kept.lock();
        let ours =
            kept.keys().cloned().map(|dataset| Near { dataset, passage: 0, similarity: 0.3 });
        let is_among =
            |near: &Near| among.within.as_ref().is_none_or(|it| it.contains(&near.dataset));
        Ok(others.chain(ours).filter(is_among).take(limit).collect())
    }

    fn of(&self, _: &DatasetId, _: usize) -> Result<Option<Vec<f32>>, SearchError> {
        self.answer()?;
        Ok(None)
    }
}

fn search_at(home: &Path, service: &Arc<Service>) -> Arc<Search> {
    let embedder: Arc<Known> = Arc::default();
    let embedders = Some(Embedders { queries: embedder.clone(), indexing: embedder });
    let parts = Parts { embedders, vectors: Some(service.clone()) };
    let settings = Settings { retry: Duration::from_millis(1), ..quick() };
    Search::new(shelf(home), parts, settings)
}

#[test]
fn what_could_not_be_removed_is_removed_when_the_service_answers_again() {
    let home = tempfile::tempdir().unwrap();
    let service = Arc::<Service>::default();
    let search = search_at(home.path(), &service);
    let (auth, fish) = (keep(&search.shelf, AUTH), keep(&search.shelf, FISH));
    catch_up(&search);
    service.is_down.store(true, Ordering::SeqCst);
    search.shelf.store().unwrap().remove(&fish).unwrap();
    let indexed = catch_up(&search);
    assert_eq!((indexed.removed, indexed.is_held_up), (1, true));
    assert!(service.holds(&fish));
    // An index that is made anew, as one of another version is, still knows of it.
    search.writer.make_anew().unwrap();
    service.is_down.store(false, Ordering::SeqCst);
    assert!(!catch_up(&search).is_held_up);
    assert!(!service.holds(&fish) && service.holds(&auth));
}

#[test]
fn what_is_removed_while_the_service_is_down_is_removed_there_in_the_background() {
    let home = tempfile::tempdir().unwrap();
    let service = Arc::<Service>::default();
    let search = search_at(home.path(), &service);
    search.follow();
    let fish = keep(&search.shelf, FISH);
    eventually("it is there", || service.holds(&fish));
    service.is_down.store(true, Ordering::SeqCst);
    search.shelf.store().unwrap().remove(&fish).unwrap();
    eventually("it has failed", || search.counts().unwrap().failures > 0);
    service.is_down.store(false, Ordering::SeqCst);
    eventually("it is gone", || !service.holds(&fish));
    eventually("the thread is gone", || !search.waiting.is_running());
}

#[test]
fn what_is_removed_by_who_knows_of_no_service_is_removed_there_by_who_does() {
    let home = tempfile::tempdir().unwrap();
    let service = Arc::<Service>::default();
    let search = search_at(home.path(), &service);
    let fish = keep(&search.shelf, FISH);
    catch_up(&search);
    let other = super::search(home.path());
    other.shelf.store().unwrap().remove(&fish).unwrap();
    assert_eq!(other.forget_gone().unwrap(), 1);
    assert!(service.holds(&fish));
    catch_up(&search);
    assert!(!service.holds(&fish));
}

#[test]
fn what_could_not_be_removed_is_removed_after_a_question_that_the_service_has_answered() {
    for is_followed in [false, true] {
        let home = tempfile::tempdir().unwrap();
        let service = Arc::<Service>::default();
        let search = search_at(home.path(), &service);
        let (auth, fish) = (keep(&search.shelf, AUTH), keep(&search.shelf, FISH));
        catch_up(&search);
        if is_followed {
            search.follow();
            eventually("all is looked through", || !search.waiting.is_running());
        }
        service.is_down.store(true, Ordering::SeqCst);
        // By another process, which this one does not hear of.
        let other = search_at(home.path(), &service);
        other.shelf.store().unwrap().remove(&fish).unwrap();
        assert!(other.forget_gone().is_err());
        find(&search, "login");
        assert!(service.holds(&fish), "it is down");
        assert_eq!(failures(&search, OF_CHROMA), 1);
        service.is_down.store(false, Ordering::SeqCst);
        find(&search, "login");
        eventually("it is gone", || !service.holds(&fish));
        assert!(service.holds(&auth));
    }
}

#[test]
fn an_index_is_not_emptied_where_there_is_no_room_for_a_new_one() {
    let home = tempfile::tempdir().unwrap();
    let service = Arc::<Service>::default();
    let search = search_at(home.path(), &service);
    let fish = keep(&search.shelf, FISH);
    catch_up(&search);
    service.is_down.store(true, Ordering::SeqCst);
    assert!(search.rebuild(&mut |_, _| true).is_err());
    assert_eq!(search.counts().unwrap().documents, 1);
    assert_eq!(find(&search, "herring"), [fish]);
}

#[test]
fn ours_are_found_among_many_of_others_with_few_requests() {
    let home = tempfile::tempdir().unwrap();
    let service = Arc::new(Service { others: 100_000, ..Service::default() });
    let search = search_at(home.path(), &service);
    let (auth, fish) = (keep(&search.shelf, AUTH), keep(&search.shelf, FISH));
    catch_up(&search);
    let found = search.find_by(Way::Meaning, &ask("anything"), &Viewer::default()).unwrap();
    let mut found = ids(&found);
    found.sort();
    let mut ours = vec![auth, fish];
    ours.sort();
    assert_eq!(found, ours);
    let asked = service.asked.lock().clone();
    assert_eq!(asked.len(), 2, "{asked:?}");
    assert!(asked.iter().all(|limit| *limit <= 2_400), "{asked:?}");
}
