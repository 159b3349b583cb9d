//! Dispatches (C2): bounds, indirect arguments, immediates.

use purlin_rhi::backend::Dispatch;
use purlin_rhi::null::{Null, NullCommand};
use purlin_rhi::plan::BufferUse;
use purlin_rhi::types::BufferUsages;
use purlin_rhi::*;

use crate::support::*;

fn computed(
    gpu: &mut Gpu,
    uses: &[plan::ResourceUse],
    body: impl FnOnce(&mut ComputePass<'_, Null>),
) -> Result<()> {
    gpu.checked(|gpu| {
        let mut recorder = gpu.record("frame")?;
        recorder.compute_pass(&ComputePassDesc { label: "compute", uses, ..Default::default() }, body)?;
        recorder.submit().map(|_| ())
    })
}

/// C039, direct: the limit is inclusive, one more is refused, zero does nothing.
#[test]
fn c039_direct_dispatches_at_the_limit() {
    let (mut gpu, control) = executing();
    let kernel = kernel(&mut gpu, &SIMPLE, &[]);
    let mut dispatch = |groups| {
        computed(&mut gpu, &[], |pass| {
            pass.set_pipeline(*kernel);
            pass.dispatch(groups);
        })
    };
    assert_eq!(dispatch([65535, 1, 1]), Ok(()));
    assert_eq!(dispatch([0, 1, 1]), Ok(()));
    assert_eq!(dispatch([2, 0, 3]), Ok(()));
    for groups in [[65536, 1, 1], [2, 65536, 3], [0, 0, u32::MAX]] {
        unsupported(
            dispatch(groups),
            "limit max_workgroups_per_dimension",
            &["pass \"compute\", dispatch", "65535 available"],
        );
    }
    let all: Vec<_> = draws(&control)
        .into_iter()
        .map(|command| match command {
            NullCommand::Dispatch { dispatch, .. } => dispatch,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(all, [Dispatch::Direct([65535, 1, 1])]);
}

#[test]
fn indirect_dispatches_read_twelve_declared_bytes() {
    let (mut gpu, _control) = executing();
    let kernel = kernel(&mut gpu, &SIMPLE, &[]);
    let arguments = buffer(&mut gpu, "arguments", 16, BufferUsages::INDIRECT);
    gpu.write_buffer(*arguments, 0, &[0; 16]).unwrap();
    let uses = [buffer_use(*arguments, 16, BufferUse::Indirect)];
    let mut dispatch = |uses: &[plan::ResourceUse], offset| {
        computed(&mut gpu, uses, |pass| {
            pass.set_pipeline(*kernel);
            pass.dispatch_indirect(*arguments, offset);
        })
    };
    assert_eq!(dispatch(&uses, 4), Ok(()));
    invalid(dispatch(&uses, 8), "offset", &["12 bytes from 8", "within the 16 bytes"]);
    invalid(dispatch(&uses, u64::MAX - 3), "offset", &["within the 16 bytes"]);
    invalid(dispatch(&[], 0), "uses", &["\"arguments\" declared by the pass as"]);
    wrong_state(computed(&mut gpu, &[], |pass| pass.dispatch([1, 1, 1])), &["a pipeline", "none"]);
}

#[test]
fn immediates_reach_the_dispatch_with_their_gaps() {
    let (mut gpu, control) = executing();
    let kernel = kernel(&mut gpu, &PUSHES, &[]);
    computed(&mut gpu, &[], |pass| {
        pass.set_pipeline(*kernel);
        pass.set_immediates(12, &[5, 6, 7, 8]);
        pass.dispatch([1, 1, 1]);
        pass.dispatch([1, 1, 1]);
        pass.set_immediates(4, &[1; 4]);
        pass.set_immediates(8, &[2; 4]);
        pass.set_immediates(200, &[3; 4]);
        pass.dispatch([1, 1, 1]);
    })
    .unwrap();
    let pushed: Vec<_> = draws(&control)
        .into_iter()
        .map(|command| match command {
            NullCommand::Dispatch { changed, .. } => changed.immediates,
            other => panic!("{other:?}"),
        })
        .collect();
    // Bytes before the first ones are sent as zeros; those beyond the layout's 16 never.
    let first = (0, vec![0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 6, 7, 8]);
    let last = (4, vec![1, 1, 1, 1, 2, 2, 2, 2, 5, 6, 7, 8]);
    assert_eq!(pushed, [Some(first), None, Some(last)]);
}

#[test]
fn immediates_are_whole_words_and_all_set() {
    let (mut gpu, _control) = executing();
    let kernel = kernel(&mut gpu, &PUSHES, &[]);
    let mut push = |offset, data: &[u8]| {
        computed(&mut gpu, &[], |pass| {
            pass.set_pipeline(*kernel);
            pass.set_immediates(offset, data);
            pass.dispatch([1, 1, 1]);
        })
    };
    assert_eq!(push(0, &[0; 16]), Ok(()));
    wrong_state(push(0, &[0; 12]), &["16 bytes of immediates, which the shader reads", "12 set"]);
    wrong_state(push(0, &[]), &["0 set"]);
    for (offset, size) in [(2, 4), (0, 6), (256, 4), (u32::MAX - 3, 8)] {
        invalid(push(offset, &vec![0; size]), "data", &["set_immediates", "within 256 bytes"]);
    }
}
