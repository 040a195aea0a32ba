//! Processes that go wrong. Those that go right are in `tests/workers.rs`.

use std::{
    fs,
    sync::atomic::{AtomicU32, Ordering},
};

use super::*;

/// A lane whose process is a script of the shell's, and the file that the script finds in `$0`.
fn lane(script: &str, patience: Duration) -> (Lane, PathBuf) {
    static LAST: AtomicU32 = AtomicU32::new(0);
    let number = LAST.fetch_add(1, Ordering::Relaxed);
    let file = std::env::temp_dir().join(format!("forebay-embed-{}-{number}", std::process::id()));
    let _ = fs::remove_file(&file);
    let arguments = vec!["-c".into(), script.into(), file.clone().into_os_string()];
    let setup = Setup { threads: 1, priority: Priority::Normal, idle: Duration::from_secs(60) };
    let program = PathBuf::from("/bin/sh");
    (Lane { program, arguments, setup, patience, slot: Arc::default() }, file)
}

/// Answers each request of one text with a vector of zeros.
const ANSWERS: &str = "printf '\\002\\000\\006\\000\\000'; head -c 1536 /dev/zero; cat > /dev/null";

const LONG: Duration = Duration::from_secs(60);

#[test]
fn a_process_that_ends_costs_a_second_one() {
    let (lane, file) =
        lane(&format!("echo >> $0; test $(wc -l < $0) = 2 || exit 1; {ANSWERS}"), LONG);
    assert_eq!(lane.embed_at_once(&["one"]).unwrap(), [vec![0.0; crate::DIMENSIONS]]);
    assert_eq!(fs::read_to_string(&file).unwrap(), "\n\n");
    fs::remove_file(file).unwrap();
}

#[test]
fn a_process_that_always_ends_is_an_error_and_not_started_again_and_again() {
    let (lane, file) = lane("echo >> $0; exit 1", LONG);
    let error = lane.embed_at_once(&["one"]).unwrap_err();
    assert!(matches!(error, EmbedError::Ended), "{error}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "\n\n");
    fs::remove_file(file).unwrap();
}

#[test]
fn a_process_that_does_not_answer_is_ended() {
    let (lane, file) = lane("echo $$ > $0; exec sleep 1000", Duration::from_secs(1));
    // Until the shell has begun in time.
    let error = loop {
        let error = lane.embed_at_once(&["one"]).unwrap_err();
        if fs::read_to_string(&file).is_ok_and(|written| written.ends_with('\n')) {
            break error;
        }
    };
    assert!(matches!(error, EmbedError::Late(_)), "{error}");
    let id = fs::read_to_string(&file).unwrap();
    assert!(!PathBuf::from(format!("/proc/{}", id.trim())).exists());
    fs::remove_file(file).unwrap();
}

#[test]
fn a_process_that_is_stopped_is_as_good_as_ended() {
    let (lane, file) = lane("echo >> $0; kill -STOP $$", LONG);
    let error = lane.embed_at_once(&["one"]).unwrap_err();
    assert!(matches!(error, EmbedError::Ended), "{error}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "\n\n");
    fs::remove_file(file).unwrap();
}

#[test]
fn what_no_process_of_ours_says_is_an_error_and_ends_it() {
    for (said, expected) in [
        ("printf 'what is this?'", "a frame of no known kind"),
        ("printf '\\002\\377\\377\\377\\377'", "a frame that is too long"),
        ("printf '\\002\\000\\000\\000\\000'", "vectors of another number or length"),
        ("printf '\\001\\000\\000\\000\\000'", "a frame that is not a worker's to send"),
    ] {
        let (lane, _) = lane(&format!("{said}; cat > /dev/null"), LONG);
        let error = lane.embed_at_once(&["one"]).unwrap_err();
        let EmbedError::Pipe(why) = &error else { panic!("{said}: {error}") };
        assert_eq!(why.to_string(), expected);
        assert!(lane.slot.lock().is_none());
    }
}

#[test]
fn what_the_model_cannot_do_is_told_and_the_process_goes_on() {
    let (lane, _) = lane("printf '\\003\\004\\000\\000\\000why?'; cat > /dev/null", LONG);
    let error = lane.embed_at_once(&["one"]).unwrap_err();
    assert_eq!(error.to_string(), "the embedding model failed: why?");
    assert!(lane.slot.lock().is_some());
}

#[test]
fn a_process_that_cannot_be_started_is_an_error() {
    let (mut lane, _) = lane("", LONG);
    lane.program = PathBuf::from("/nowhere");
    let error = lane.embed_at_once(&["one"]).unwrap_err();
    assert!(matches!(error, EmbedError::NotStarted(_)), "{error}");
}
