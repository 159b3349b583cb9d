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

#[test]
fn the_mock_compares_nothing() {
    let (timed, notes) = outcome([Ok(vec![1]), Ok(vec![2]), Ok(vec![3])], false);
    assert_eq!((timed, notes), (vec!["purlin", "wgpu", "ash"], vec![]));
}
