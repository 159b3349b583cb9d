//! Questions: readbacks and tokens, stale and foreign handles, and what a lost device answers.

use purlin_rhi::*;

use super::create::destroy;
use super::objects::{Progress, State, What};
use super::{Reason, World, judged, open};
use crate::support::*;

/// Uses a handle in a call of its kind that would otherwise be accepted or refused for another reason.
fn name(gpu: &mut Gpu, what: What) -> Result<()> {
    match what {
        What::Buffer(handle) => gpu.write_buffer(handle, 0, &[0; 4]).map(|_| ()),
        What::Texture(handle) => gpu.create_texture_view(handle, &TextureViewDesc::default()).map(|_| ()),
        What::Shape(layout) => {
            gpu.create_bind_group(&BindGroupDesc { label: "g", layout, entries: &[] }).map(|_| ())
        }
        What::Group(group) => {
            let mut recorder = gpu.record("frame")?;
            let groups = [group];
            recorder.compute_pass(&ComputePassDesc { groups: &groups, ..Default::default() }, |_| {})
        }
        What::View(view) => {
            let mut recorder = gpu.record("frame")?;
            recorder.render_pass(&pass(&[cleared(view)], &[]), |_| {})
        }
        What::Compute(pipeline) => {
            let mut recorder = gpu.record("frame")?;
            recorder.compute_pass(&ComputePassDesc::default(), |pass| pass.set_pipeline(pipeline))
        }
        other => destroy(gpu, other),
    }
}

impl World {
    /// Names a stale handle, and one of a lost device.
    pub fn ask(&mut self, a: u8, b: u8) {
        let gone: Vec<What> =
            self.state.objects.iter().filter(|object| object.is_gone()).map(|object| object.what).collect();
        if let Some(&what) = pick(&gone, a) {
            self.state.note_drops();
            self.check_named(what, HandleProblem::Stale);
            self.state.note_drops();
            assert_eq!(problem(destroy(&mut self.gpu, what)), HandleProblem::Stale, "{what:?}");
        }
        if let Some(&what) = pick(&self.foreign, b) {
            self.state.note_drops();
            self.check_named(what, HandleProblem::Foreign);
            self.state.note_drops();
            assert_eq!(problem(destroy(&mut self.gpu, what)), HandleProblem::Foreign, "{what:?}");
        }
        if let Some(ticket) = pick(&self.foreign_reads, b) {
            assert_eq!(problem(self.gpu.read_vec(ticket).map(|_| ())), HandleProblem::Foreign);
        }
    }

    fn check_named(&mut self, what: What, expected: HandleProblem) {
        match err(name(&mut self.gpu, what)) {
            Error::InvalidHandle { problem, .. } => assert_eq!(problem, expected, "{what:?}"),
            // There is no slot for what the handle would be a part of.
            Error::CapacityExceeded { .. } if self.setup.tight => {}
            other => panic!("{what:?}: not an invalid handle: {other:?}"),
        }
    }

    pub fn wait(&mut self, n: u8) {
        let Some(&token) = pick(&self.state.tokens, n) else { return };
        let is_complete = self.gpu.is_complete(token).unwrap();
        assert!(is_complete <= (token.ordinal() <= self.state.control.completed()));
        assert_eq!(self.gpu.wait(token, SECOND), Ok(true));
        assert!(token.ordinal() <= self.state.control.completed());
        assert_eq!(self.gpu.is_complete(token), Ok(true));
    }

    pub fn read(&mut self, n: u8) {
        let count = self.state.reads.len();
        let Some(nth) = usize::from(n).checked_rem(count) else { return };
        let before = self.state.control.completed();
        let read = &mut self.state.reads[nth];
        let answer = self.gpu.read_vec(&read.ticket);
        let after = self.state.control.completed();
        match read.progress {
            // With a pace, completion may have come in between.
            Progress::Submitted(ordinal) if ordinal > before && answer.is_err() => {
                judged(answer, &[Reason::Pending]);
            }
            Progress::Submitted(ordinal) => {
                assert!(ordinal <= after);
                assert_eq!(answer.as_deref(), Ok(&read.expected[..]));
                read.progress = Progress::Over;
            }
            Progress::Over => assert!(judged(answer, &[Reason::State]).is_none()),
            Progress::Recorded => unreachable!("no recording is open"),
        }
    }

    pub fn cancel(&mut self, n: u8) {
        if let Some(nth) = usize::from(n).checked_rem(self.state.reads.len()) {
            self.state.reads.swap_remove(nth);
        }
    }

    /// Data for a submission that may never use it.
    pub fn push_frame_data(&mut self, n: u8) {
        let before = self.gpu.frame_arena().pages();
        match self.gpu.push_frame_data(&[n; 100], 16) {
            Ok(data) => assert_eq!((data.size, data.offset % 256), (100, 0)),
            Err(error) => {
                assert!(self.setup.tight, "{error:?}");
                assert!(matches!(Reason::of(&error), Reason::Budget | Reason::Capacity), "{error:?}");
                assert_eq!(self.gpu.frame_arena().pages(), before);
            }
        }
    }

    /// The device is lost and another one takes its place; what the lost one gave out means nothing to it.
    pub fn replace(&mut self) {
        let lost = |answer: Result<()>| judged(answer, &[Reason::Lost]);
        lost(self.gpu.maintain());
        assert!(self.gpu.lost().is_some());
        for object in &self.state.objects {
            lost(destroy(&mut self.gpu, object.what));
        }
        for token in &self.state.tokens {
            lost(self.gpu.wait(*token, SECOND).map(|_| ()));
        }
        for read in &self.state.reads {
            lost(self.gpu.read_vec(&read.ticket).map(|_| ()));
        }
        lost(self.gpu.record("frame").map(|_| ()));
        let (gpu, control) = open(&self.setup);
        let state = std::mem::replace(&mut self.state, State::new(control));
        self.foreign.extend(state.objects.iter().map(|object| object.what));
        drop(std::mem::replace(&mut self.gpu, gpu));
        assert_eq!((state.control.live_total(), state.control.held()), (0, 0));
        for token in &state.tokens {
            assert_eq!(problem(self.gpu.is_complete(*token).map(|_| ())), HandleProblem::Foreign);
        }
        self.foreign_reads.extend(state.reads.into_iter().map(|read| read.ticket));
        // The owners end after their device.
        drop(state.objects);
    }
}

fn pick<T>(all: &[T], n: u8) -> Option<&T> {
    all.get(usize::from(n).checked_rem(all.len())?)
}

#[track_caller]
fn problem(answer: Result<()>) -> HandleProblem {
    match err(answer) {
        Error::InvalidHandle { problem, .. } => problem,
        other => panic!("not an invalid handle: {other:?}"),
    }
}
