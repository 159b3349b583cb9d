//! What goes wrong on demand, and when the GPU gets on.

use crate::handle::ResourceKind;

/// Failures that tests have planned, each counted down by the calls that it can meet.
#[derive(Debug, Default)]
pub(super) struct Faults {
    /// Creations: of which kind, or of any.
    creations: Vec<(Option<ResourceKind>, u64)>,
    recording: Option<u64>,
    section: Option<u64>,
    submission: Option<u64>,
    loss: Option<u64>,
    /// The state of the numbers by which submissions complete; none while they do so only as told.
    pace: Option<u64>,
}

/// Counts a failure down, and says whether it has come.
fn comes(planned: &mut Option<u64>) -> bool {
    let left = planned.map(|left| left.saturating_sub(1));
    *planned = left.filter(|left| *left > 0);
    left == Some(0)
}

impl Faults {
    /// Whether fallible calls as such are counted.
    #[inline]
    pub fn counts_steps(&self) -> bool {
        self.loss.is_some() || self.pace.is_some()
    }

    #[inline]
    pub fn creation(&mut self, kind: ResourceKind) -> bool {
        !self.creations.is_empty() && self.counted(kind)
    }

    #[cold]
    fn counted(&mut self, kind: ResourceKind) -> bool {
        let mut fails = false;
        self.creations.retain_mut(|(only, left)| {
            if only.is_none_or(|only| only == kind) {
                *left = left.saturating_sub(1);
            }
            fails |= *left == 0;
            *left > 0
        });
        fails
    }

    pub fn recording(&mut self) -> bool {
        comes(&mut self.recording)
    }

    pub fn section(&mut self) -> bool {
        comes(&mut self.section)
    }

    pub fn submission(&mut self) -> bool {
        comes(&mut self.submission)
    }

    pub fn loss(&mut self) -> bool {
        comes(&mut self.loss)
    }

    pub fn plan_creation(&mut self, kind: Option<ResourceKind>, n: u64) {
        self.creations.push((kind, n.max(1)));
    }

    pub fn plan_recording(&mut self, n: u64) {
        self.recording = Some(n.max(1));
    }

    pub fn plan_section(&mut self, n: u64) {
        self.section = Some(n.max(1));
    }

    pub fn plan_submission(&mut self, n: u64) {
        self.submission = Some(n.max(1));
    }

    pub fn plan_loss(&mut self, n: u64) {
        self.loss = Some(n.max(1));
    }

    /// How many failures are planned and have not come yet.
    pub fn planned(&self) -> usize {
        let single = [self.recording, self.section, self.submission, self.loss];
        self.creations.len() + single.iter().flatten().count()
    }

    /// Forgets all but a planned loss and the pace.
    pub fn clear(&mut self) {
        *self = Self { loss: self.loss, pace: self.pace, ..Self::default() };
    }

    pub fn set_pace(&mut self, seed: Option<u64>) {
        // Zero is the one state that a xorshift never leaves.
        self.pace = seed.map(|seed| seed.wrapping_mul(2) + 1);
    }

    /// How many more submissions are complete at this call: mostly none, now and then several.
    pub fn step(&mut self) -> u64 {
        let Some(state) = &mut self.pace else { return 0 };
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        [0, 0, 0, 0, 0, 1, 1, 3][(*state >> 32) as usize % 8]
    }
}
