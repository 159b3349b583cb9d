use super::*;

/// Answers bytes, or fails.
struct Fake {
    name: &'static str,
    result: Outcome<Vec<u8>>,
}

struct FakeCase(Outcome<Vec<u8>>);

impl Case for FakeCase {
    fn frame(&mut self) -> Outcome<FrameTimes> {
        let now = Instant::now();
        Ok(FrameTimes::recorded(now, now, now))
    }

    fn maintain(&mut self) -> Outcome<()> {
        Ok(())
    }

    fn result(&mut self) -> Outcome<Vec<u8>> {
        self.0.clone()
    }
}

impl Contender for Fake {
    fn name(&self) -> &'static str {
        self.name
    }

    fn prepare<'c>(&'c mut self, _: Workload) -> Outcome<Box<dyn Case + 'c>> {
        Ok(Box::new(FakeCase(self.result.clone())))
    }
}

fn fakes(results: [Outcome<Vec<u8>>; 3]) -> Vec<Box<dyn Contender>> {
    let mut names = ["purlin", "wgpu", "ash"].into_iter();
    results
        .map(|result| -> Box<dyn Contender> { Box::new(Fake { name: names.next().unwrap_or(""), result }) })
        .into()
}

const WORKLOAD: Workload = Workload::Draws { switching: true };

fn outcome(
    results: [Outcome<Vec<u8>>; 3],
    compare: bool,
) -> (Vec<&'static str>, Vec<(&'static str, NoteKind)>) {
    let mut found = Found::default();
    run(WORKLOAD, &mut fakes(results), Plan { frames: 7, compare }, &mut found);
    let sums = found.measured.iter().filter(|one| one.metric == "record+submit");
    let timed = sums.inspect(|one| assert_eq!(one.summary.samples, 7)).map(|one| one.contender).collect();
    (timed, found.notes.iter().map(|note| (note.contender, note.kind)).collect())
}

#[test]
fn equal_results_are_timed() {
    let (timed, notes) = outcome([Ok(vec![1]), Ok(vec![1]), Ok(vec![1])], true);
    assert_eq!((timed, notes), (vec!["purlin", "wgpu", "ash"], vec![]));
}

#[test]
fn the_odd_one_is_reported_and_not_timed() {
    let (timed, notes) = outcome([Ok(vec![1]), Ok(vec![1]), Ok(vec![2])], true);
    assert_eq!((timed, notes), (vec!["purlin", "wgpu"], vec![("ash", NoteKind::Differs)]));
}

#[test]
fn when_all_differ_the_hand_written_one_is_right() {
    let (timed, notes) = outcome([Ok(vec![1]), Ok(vec![3]), Ok(vec![2])], true);
    assert_eq!(timed, ["ash"]);
    assert_eq!(notes, [("purlin", NoteKind::Differs), ("wgpu", NoteKind::Differs)]);
}

#[test]
fn a_failure_leaves_the_others() {
    let failed = Err(Failure::Failed("out of memory".into()));
    let (timed, notes) = outcome([failed, Ok(vec![1]), Ok(vec![1])], true);
    assert_eq!((timed, notes), (vec!["wgpu", "ash"], vec![("purlin", NoteKind::Failed)]));
}

/// Fails in the frame of this number: by an answer, or by a panic.
struct Breaking {
    at: u32,
    panics: bool,
}

struct BreakingCase {
    left: u32,
    panics: bool,
}

impl Case for BreakingCase {
    fn frame(&mut self) -> Outcome<FrameTimes> {
        let now = Instant::now();
        match (self.left.checked_sub(1), self.panics) {
            (Some(left), _) => self.left = left,
            (None, false) => return Err(Failure::Failed("device lost".into())),
            (None, true) => panic!("the library's\nmistake"),
        }
        Ok(FrameTimes::recorded(now, now, now))
    }

    fn maintain(&mut self) -> Outcome<()> {
        Ok(())
    }

    fn result(&mut self) -> Outcome<Vec<u8>> {
        Ok(vec![1])
    }
}

impl Contender for Breaking {
    fn name(&self) -> &'static str {
        "wgpu"
    }

    fn prepare<'c>(&'c mut self, _: Workload) -> Outcome<Box<dyn Case + 'c>> {
        Ok(Box::new(BreakingCase { left: self.at, panics: self.panics }))
    }
}

#[test]
fn a_failure_or_panic_in_any_frame_leaves_the_others() {
    // The comparison takes one frame, the warm-up seven of them, then come the timed ones.
    for at in [0, 3, 10] {
        for panics in [false, true] {
            let mut contenders = fakes([Ok(vec![1]), Ok(vec![1]), Ok(vec![1])]);
            contenders[1] = Box::new(Breaking { at, panics });
            let mut found = Found::default();
            run(WORKLOAD, &mut contenders, Plan { frames: 7, compare: true }, &mut found);
            let text = if panics { "panicked: the library's mistake" } else { "device lost" };
            assert_eq!(found.notes.iter().map(|note| note.text.as_str()).collect::<Vec<_>>(), [text]);
            let of = |name| found.measured.iter().filter(|one| one.contender == name).count();
            assert_eq!((of("purlin") > 0, of("wgpu"), of("ash") > 0), (true, 0, true), "frame {at}");
        }
    }
}

#[test]
fn a_graph_is_timed_by_phase_and_as_a_whole() {
    let begin = Instant::now();
    let us = Duration::from_micros;
    let stats = purlin_graph::FrameStats {
        declare_ns: 1000,
        compile_ns: 2000,
        submit_ns: 4000,
        ..Default::default()
    };
    let times = FrameTimes::graph(begin, begin + us(20), &stats);
    let parts = [times.declare, times.compile, times.record, times.submit].map(Option::unwrap_or_default);
    assert_eq!(parts, [us(1), us(2), us(13), us(4)]);
    assert_eq!(times.frame(), Some(us(20)));
}

#[test]
fn the_mock_compares_nothing() {
    let (timed, notes) = outcome([Ok(vec![1]), Ok(vec![2]), Ok(vec![3])], false);
    assert_eq!((timed, notes), (vec!["purlin", "wgpu", "ash"], vec![]));
}
