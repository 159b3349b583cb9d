//! The thread that compiles: one a device, started by the first request that can use it.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::backend::PipelineJob;
use crate::error::BackendError;

/// Jobs that may wait for the thread. The others stay with the device, which can still forget them.
const ROOM: usize = 64;

/// A request's number, and what came of its job.
pub(super) type Done<C> = (u64, Result<C, BackendError>);

pub(super) struct Worker<C> {
    shared: Arc<Shared<C>>,
    thread: Option<JoinHandle<()>>,
}

struct Shared<C> {
    state: Mutex<State<C>>,
    /// There is a job, or it is time to stop.
    work: Condvar,
    /// A job has ended.
    ended: Condvar,
}

struct State<C> {
    jobs: VecDeque<(u64, PipelineJob<C>)>,
    done: VecDeque<Done<C>>,
    stop: bool,
}

impl<C> Shared<C> {
    /// The state. Jobs run without the lock, so nothing panics under it.
    fn lock(&self) -> MutexGuard<'_, State<C>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        let mut state = self.lock();
        loop {
            if state.stop {
                return;
            }
            let Some((id, job)) = state.jobs.pop_front() else {
                state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            drop(state);
            // A job is consumed by its call, so a panic leaves nothing of it behind that could be half done.
            let made = catch_unwind(AssertUnwindSafe(job)).unwrap_or_else(|_| {
                Err(BackendError::Failed { call: "pipeline job", detail: "the backend panicked".into() })
            });
            state = self.lock();
            state.done.push_back((id, made));
            self.ended.notify_all();
        }
    }
}

impl<C: Send + 'static> Worker<C> {
    /// Starts the thread; `None` where there are none.
    pub fn start() -> Option<Self> {
        let state = State { jobs: VecDeque::new(), done: VecDeque::new(), stop: false };
        let shared =
            Arc::new(Shared { state: Mutex::new(state), work: Condvar::new(), ended: Condvar::new() });
        let own = shared.clone();
        let thread = std::thread::Builder::new().name("purlin pipelines".into()).spawn(move || own.run());
        match thread {
            Ok(thread) => Some(Self { shared, thread: Some(thread) }),
            Err(error) => {
                tracing::warn!(%error, "no thread for pipelines: they compile on the device's own");
                None
            }
        }
    }

    /// Whether another job has room.
    pub fn has_room(&self) -> bool {
        self.shared.lock().jobs.len() < ROOM
    }

    pub fn send(&self, id: u64, job: PipelineJob<C>) {
        self.shared.lock().jobs.push_back((id, job));
        self.shared.work.notify_one();
    }

    /// What has ended, oldest first.
    pub fn take(&self) -> Option<Done<C>> {
        self.shared.lock().done.pop_front()
    }

    /// Waits until a job that was sent has ended, at most this long.
    pub fn wait(&self, timeout: Duration) {
        let state = self.shared.lock();
        let nothing = |state: &mut State<C>| state.done.is_empty();
        let waited = self.shared.ended.wait_timeout_while(state, timeout, nothing);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    /// Ends the thread: the job that runs is waited for, those that wait are dropped. What was made is answered.
    pub fn stop(mut self) -> VecDeque<Done<C>> {
        let waiting = {
            let mut state = self.shared.lock();
            state.stop = true;
            std::mem::take(&mut state.jobs)
        };
        self.shared.work.notify_all();
        drop(waiting);
        if let Some(thread) = self.thread.take() {
            // It catches what jobs do, so it ends by returning.
            let _ = thread.join();
        }
        std::mem::take(&mut self.shared.lock().done)
    }
}

impl<C> std::fmt::Debug for Worker<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Worker").finish_non_exhaustive()
    }
}
