//! Jobs through their states, in memory and on disk.

use std::{fs, os::unix::fs::PermissionsExt};

use super::*;
use crate::{DatasetId, Principal, Scope, Viewer};

const HOUR: Duration = Duration::from_secs(3_600);

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + seconds).unwrap()
}

fn job() -> Job {
    Job {
        id: JobId::random(),
        server: "s".to_owned(),
        tool: "slow".to_owned(),
        work: "hash".to_owned(),
        principal: Principal::default(),
        session: Some("1".to_owned()),
        project: Some("/p".to_owned()),
        started: at(0),
        updated: at(0),
        progress: None,
        state: JobState::Running,
    }
}

fn short(result: &str) -> JobEnd {
    let result = Some(result.to_owned());
    JobEnd::Completed(JobOutcome { result, dataset: None, summary: None })
}

#[test]
fn a_job_ends_once_and_hears_nothing_afterwards() {
    let ends = [short("{}"), JobEnd::Failed("why".to_owned()), JobEnd::Cancelled];
    for end in ends {
        let mut ended = job();
        ended.end(end, at(5));
        let (state, progress) = (ended.state.clone(), ended.progress.clone());
        assert!(!ended.is_running() && ended.updated == at(5));
        ended.end(JobEnd::Failed("later".to_owned()), at(6));
        let late = JobProgress { done: 1.0, total: None, message: String::new() };
        ended.note_progress(late, at(7));
        assert_eq!((ended.state, ended.progress, ended.updated), (state, progress, at(5)));
    }
}

#[test]
fn what_has_ended_is_told_for_its_lifetime_then_as_expired_and_then_not_at_all() {
    let mut ended = job();
    ended.end(short("{}"), at(100));
    let state = |seconds| ended.clone().as_of(at(seconds), HOUR).map(|job| job.state);
    assert_eq!(state(100 + 3_599), Some(ended.state.clone()));
    assert_eq!(state(100 + 3_600), Some(JobState::Expired { dataset: None }));
    assert_eq!(state(100 + 3_600 + 86_399), Some(JobState::Expired { dataset: None }));
    assert_eq!(state(100 + 3_600 + 86_400), None);
    let running = job().as_of(at(1_000_000), HOUR).map(|job| job.state);
    assert_eq!(running, Some(JobState::Running), "what runs does not expire");
}

#[test]
fn a_job_is_read_as_it_was_written_and_by_its_owner_alone() {
    let home = tempfile::tempdir().unwrap();
    let folder = JobFolder::of(home.path());
    let mut written = job();
    assert_eq!(folder.read(&written.id), None);
    assert!(!home.path().join("jobs").exists(), "who only looks makes nothing");
    let held = folder.begin(&written).unwrap();
    assert_eq!(folder.read(&written.id), Some(written.clone()));
    written.note_progress(
        JobProgress { done: 0.5, total: Some(3.0), message: "ü\n\"".to_owned() },
        at(1),
    );
    folder.write(&written).unwrap();
    assert_eq!(folder.read(&written.id), Some(written.clone()));
    let dataset = DatasetId::parse("k3v9x2ma");
    let outcome = JobOutcome { result: None, dataset, summary: Some("much".to_owned()) };
    written.end(JobEnd::Completed(outcome), at(2));
    folder.write(&written).unwrap();
    drop(held);
    assert_eq!(folder.read(&written.id), Some(written));
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let jobs = home.path().join("jobs");
    let files: Vec<_> = fs::read_dir(&jobs).unwrap().map(|it| it.unwrap().path()).collect();
    assert_eq!((mode(&jobs), files.len(), mode(&files[0])), (0o700, 1, 0o600));
}

#[test]
fn a_job_whose_process_is_gone_has_failed() {
    let home = tempfile::tempdir().unwrap();
    let folder = JobFolder::of(home.path());
    let lost = job();
    // As after `kill -9`: the lock is free, and its file is there.
    let held = folder.begin(&lost).unwrap();
    let lock = held.path.clone();
    drop(held);
    fs::write(&lock, b"").unwrap();
    let found = folder.read(&lost.id).unwrap();
    assert_eq!(found.state, JobState::Failed { error: LOST.to_owned() });
    assert!(!lock.exists());
    assert_eq!(folder.read(&lost.id), Some(found), "it stays so");
}

#[test]
fn what_has_expired_loses_its_result_and_what_is_forgotten_its_file() {
    let home = tempfile::tempdir().unwrap();
    let folder = JobFolder::of(home.path());
    let (mut ended, running) = (job(), job());
    let _running = folder.begin(&running).unwrap();
    drop(folder.begin(&ended).unwrap());
    ended.end(short("{\"secret\":1}"), at(0));
    folder.write(&ended).unwrap();
    // As of a process that has died after it had written that.
    let lock = folder.path(&ended.id, LOCK);
    fs::write(&lock, b"").unwrap();
    folder.tidy(at(3_599), HOUR);
    assert!(!lock.exists());
    assert_eq!(folder.read(&ended.id), Some(ended.clone()));
    folder.tidy(at(3_600), HOUR);
    assert_eq!(folder.read(&ended.id).unwrap().state, JobState::Expired { dataset: None });
    let text = fs::read_to_string(folder.path(&ended.id, RECORD)).unwrap();
    assert!(!text.contains("secret"), "{text}");
    folder.tidy(at(3_600 + 86_400), HOUR);
    assert_eq!(folder.read(&ended.id), None);
    assert_eq!(folder.all(), [running], "what runs stays");
}

#[test]
fn nothing_but_a_name_is_looked_for() {
    let names = ["../x", "job_../../a", "job_", "", "job_k3v9x2m", "job_K3V9X2MA", "job_k3v9x2ma/"];
    for name in names {
        assert_eq!(JobId::parse(name), None, "{name}");
    }
    let home = tempfile::tempdir().unwrap();
    let folder = JobFolder::of(home.path());
    let (job, other) = (job(), job());
    drop(folder.begin(&job).unwrap());
    // A record under another's name, a link and a text that is no record tell nothing.
    let (from, to) = (folder.path(&job.id, RECORD), folder.path(&other.id, RECORD));
    fs::copy(&from, &to).unwrap();
    assert_eq!(folder.read(&other.id), None);
    fs::remove_file(&to).unwrap();
    std::os::unix::fs::symlink(&from, &to).unwrap();
    assert_eq!(folder.read(&other.id), None);
    fs::remove_file(&to).unwrap();
    fs::write(&to, b"{\"id\":").unwrap();
    assert_eq!(folder.read(&other.id), None);
}

#[test]
fn a_job_is_seen_by_those_who_see_its_datasets() {
    let job = job();
    let viewer = |principal: &str, session: &str, project: &str, scope| Viewer {
        principal: Principal::new(principal),
        session: Some(session.to_owned()),
        project: Some(project.to_owned()),
        scope,
    };
    assert!(job.is_seen_by(&viewer("local", "1", "/q", Scope::Session)));
    assert!(job.is_seen_by(&viewer("local", "2", "/p", Scope::Project)));
    assert!(!job.is_seen_by(&viewer("local", "2", "/p", Scope::Session)));
    assert!(!job.is_seen_by(&viewer("local", "2", "/q", Scope::Project)));
    assert!(!job.is_seen_by(&viewer("other", "1", "/p", Scope::All)));
}
