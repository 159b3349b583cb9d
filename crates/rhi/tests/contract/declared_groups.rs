//! Passes that declare whole groups (C1): what that covers, and what it refuses.

use purlin_rhi::null::Null;
use purlin_rhi::plan::{BufferUse, ResourceUse};
use purlin_rhi::types::{BufferUsages, ShaderStages};
use purlin_rhi::*;

use crate::support::*;

const CS: ShaderStages = ShaderStages::COMPUTE;

fn named_group(
    gpu: &mut Gpu,
    label: &str,
    layout: BindGroupLayout,
    buffer: Buffer,
) -> Owned<kind::BindGroup> {
    let entries = [BindGroupEntry::buffer(0, buffer)];
    gpu.create_bind_group(&BindGroupDesc { label, layout, entries: &entries }).unwrap()
}

fn computed(
    gpu: &mut Gpu,
    uses: &[ResourceUse],
    groups: &[BindGroup],
    body: impl FnOnce(&mut ComputePass<'_, Null>),
) -> Result<()> {
    gpu.checked(|gpu| {
        let mut recorder = gpu.record("frame")?;
        recorder
            .compute_pass(&ComputePassDesc { label: "compute", uses, groups, ..Default::default() }, body)?;
        recorder.submit().map(|_| ())
    })
}

#[test]
fn a_declared_group_is_bound_without_its_uses_and_others_are_not() {
    let (mut gpu, control) = executing();
    let shape = group_layout(&mut gpu, &[entry(0, CS, storage(false))]);
    let kernel = kernel(&mut gpu, &STORES, &[*shape]);
    let buffers = ["p", "q", "r"].map(|label| buffer(&mut gpu, label, 64, BufferUsages::STORAGE));
    let groups: Vec<_> =
        buffers.iter().map(|buffer| named_group(&mut gpu, "group", *shape, **buffer)).collect();
    let handles: Vec<_> = groups.iter().map(Owned::handle).collect();
    let dispatch = |pass: &mut ComputePass<'_, Null>, order: &[usize]| {
        pass.set_pipeline(*kernel);
        for index in order {
            pass.set_bind_group(0, handles[*index], &[]);
            pass.dispatch([1, 1, 1]);
        }
    };
    // In any order, again and again, and frame after frame.
    for order in [[0, 1, 2], [2, 1, 0], [1, 1, 0], [2, 0, 1]] {
        computed(&mut gpu, &[], &handles, |pass| dispatch(pass, &order)).unwrap();
    }
    assert_eq!(draws(&control).len(), 12);
    assert_eq!(gpu.ledger().buffer_ordinal(buffers[2].slot()), 4);
    let texts = ["set_bind_group of \"group\"", "the group among the pass's groups", "no such declaration"];
    invalid(computed(&mut gpu, &[], &handles[..2], |pass| dispatch(pass, &[0, 1, 2])), "uses", &texts);
    invalid(computed(&mut gpu, &[], &[], |pass| dispatch(pass, &[0])), "uses", &texts);
    // What a group reaches may be declared use by use as well.
    let uses = [buffer_use(*buffers[2], 64, BufferUse::StorageWrite(CS))];
    assert_eq!(computed(&mut gpu, &uses, &handles[..2], |pass| dispatch(pass, &[0, 2, 1])), Ok(()));
    assert_eq!(gpu.ledger().buffer_ordinal(buffers[2].slot()), 5, "refused recordings are not submissions");
}

#[test]
fn stale_groups_are_refused_where_they_are_declared() {
    let (mut gpu, _control) = executing();
    let shape = group_layout(&mut gpu, &[entry(0, CS, storage(false))]);
    let data = buffer(&mut gpu, "data", 64, BufferUsages::STORAGE);
    let (kept, dropped) =
        (named_group(&mut gpu, "kept", *shape, *data), named_group(&mut gpu, "dropped", *shape, *data));
    let handles = [*kept, *dropped];
    assert_eq!(computed(&mut gpu, &[], &handles, |_| {}), Ok(()));
    drop(dropped);
    let refused = computed(&mut gpu, &[], &handles, |_| {});
    assert!(err(refused.clone()).to_string().contains("pass \"compute\", groups"), "{refused:?}");
    bad_handle(refused, HandleProblem::Stale);
    // A group keeps what it is made of, whoever destroys it.
    drop(data);
    assert_eq!(computed(&mut gpu, &[], &handles[..1], |_| {}), Ok(()));
}

#[test]
fn groups_of_one_pass_may_conflict() {
    let (mut gpu, _control) = executing();
    let written = group_layout(&mut gpu, &[entry(0, CS, storage(false))]);
    let read = group_layout(&mut gpu, &[entry(0, CS, storage(true))]);
    let data = buffer(&mut gpu, "data", 64, BufferUsages::STORAGE | BufferUsages::VERTEX);
    let writer = named_group(&mut gpu, "writer", *written, *data);
    let reader = named_group(&mut gpu, "reader", *read, *data);
    let before = gpu.ledger().buffer_revision(data.slot());
    let undefined = computed(&mut gpu, &[], &[*reader], |_| {});
    wrong_state(undefined, &["defined contents", "buffer \"data\" by bind group \"reader\""]);
    for _ in 0..3 {
        assert_eq!(computed(&mut gpu, &[], &[*writer, *writer], |_| {}), Ok(()));
    }
    let texts = ["StorageWrite", "by bind group \"writer\"", "StorageRead", "by bind group \"reader\""];
    invalid(computed(&mut gpu, &[], &[*writer, *reader], |_| {}), "uses", &texts);
    let vertex = [buffer_use(*data, 64, BufferUse::Vertex)];
    let texts = ["Vertex of bytes 0..64 of buffer \"data\" and", "by bind group \"writer\""];
    invalid(computed(&mut gpu, &vertex, &[*writer], |_| {}), "uses", &texts);
    assert_eq!(computed(&mut gpu, &vertex, &[*reader], |_| {}), Ok(()));
    assert_eq!(gpu.ledger().buffer_revision(data.slot()), before + 6);
}

#[test]
fn a_dynamic_offset_reaches_to_the_end() {
    let (mut gpu, _control) = executing();
    let ty = types::BindingType::Buffer {
        ty: types::BufferBindingType::Storage { read_only: true },
        has_dynamic_offset: true,
        min_binding_size: None,
    };
    let shape = group_layout(&mut gpu, &[entry(0, CS, ty)]);
    let usage = BufferUsages::STORAGE | BufferUsages::COPY_DST;
    let data = buffer(&mut gpu, "data", 1024, usage);
    gpu.write_buffer(*data, 0, &[0; 512]).unwrap();
    let bound = group(&mut gpu, *shape, &[BindGroupEntry::buffer_range(0, *data, 0, 256)]);
    let with = |gpu: &mut Gpu, uses: &[ResourceUse], groups: &[BindGroup], offset: u32| {
        computed(gpu, uses, groups, |pass| pass.set_bind_group(0, *bound, &[offset]))
    };
    // Half of what an offset can reach has no contents: then only a use can say which half is meant.
    wrong_state(with(&mut gpu, &[], &[*bound], 0), &["StorageRead", "bytes 0..1024", "512"]);
    let half =
        [ResourceUse::Buffer { buffer: *data, offset: 256, size: 256, usage: BufferUse::StorageRead(CS) }];
    assert_eq!(with(&mut gpu, &half, &[], 256), Ok(()));
    gpu.write_buffer(*data, 512, &[0; 512]).unwrap();
    assert_eq!(with(&mut gpu, &[], &[*bound], 768), Ok(()));
}
