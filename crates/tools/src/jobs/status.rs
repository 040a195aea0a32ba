//! `get_run_status`: how a job is, now or when it has ended; and its end, if that is wished.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use forebay_proxy::chain::Caller;
use forebay_store::JobId;

use super::{board::Board, told};
use crate::{Desk, ToolError, arguments::Arguments, reply::Reply};

/// How long a job that is ended may take to end.
const ENDS_WITHIN: Duration = Duration::from_secs(5);

/// Answers a call.
pub(crate) fn answer(
    board: &Arc<Board>,
    desk: &Desk,
    arguments: &Arguments,
    caller: &Caller,
) -> Result<Reply, ToolError> {
    board.tidy_if_due();
    let given = arguments.text("job_id", "job_k3v9x2ma")?;
    let wait = arguments.number("wait_seconds", 0, u64::MAX)?.unwrap_or(0);
    let wait = Duration::from_secs(wait).min(board.settings().max_wait);
    let is_to_end = arguments.flag("cancel")?;
    let viewer = desk.viewer();
    let found = JobId::parse(given.trim()).and_then(|id| board.job(&id, viewer));
    let Some(job) = found else { return told::unknown(&given, &board.running_for(viewer)) };
    if is_to_end && job.is_running() && !board.cancel(&job.id) {
        let elsewhere = "It runs in another process of Forebay's, and only its clients can end it.";
        return Ok(told::status(&job, desk, elsewhere));
    }
    let wait = if is_to_end { ENDS_WITHIN } else { wait };
    caller.on_cancel({
        let board = board.clone();
        move || board.wake()
    });
    let until = Instant::now() + wait;
    let job = board.wait(&job.id, viewer, until, || caller.is_cancelled());
    match job {
        Some(job) => Ok(told::status(&job, desk, "")),
        None => told::unknown(&given, &board.running_for(viewer)),
    }
}

/// How long an answer may take.
pub(crate) fn patience(board: &Board) -> Duration {
    board.settings().max_wait.max(ENDS_WITHIN) + Duration::from_secs(10)
}
