//! The barrier oracle, row by row. Where the row is broad, the plan is the tighter one.

use super::*;
use BufferUse as B;
use TextureUse as T;

#[test]
fn oracle_row_01_storage_write_storage_read() {
    let mut world = World::buffers(1);
    world.pass([b(0, B::StorageWrite(CS))]).pass([b(0, B::StorageRead(CS))]);
    assert_plan!(world, 1 => ["M CS/SW -> CS/SR"]);
}

#[test]
fn oracle_row_02_storage_read_storage_write() {
    let mut world = World::buffers(1);
    world.pass([b(0, B::CopyDst)]).pass([b(0, B::StorageRead(CS))]).pass([b(0, B::StorageWrite(CS))]);
    assert_plan!(world, 1 => ["M X/TW -> CS/SR"], 2 => ["M CS/0 -> CS/0"]);
}

#[test]
fn oracle_row_03_storage_image_write_storage_image_read() {
    let mut world = World::texture(Aspects::COLOR, 1, 1);
    world.pass([t(0, T::StorageWrite(CS))]).pass([t(0, T::StorageRead(CS))]);
    assert_plan!(world, 0 => ["I t0 : 0/0 -> CS/SR,SW : U>G"], 1 => ["M CS/SW -> CS/SR"]);
}

#[test]
fn oracle_row_04_disjoint_writes_read_of_both() {
    let mut world = World::buffers(1);
    world.pass([bytes(0, 0, 64, B::StorageWrite(CS))]);
    world.pass([bytes(0, 64, 64, B::StorageWrite(CS))]);
    world.pass([bytes(0, 0, 128, B::StorageRead(CS))]);
    assert_plan!(world, 2 => ["M CS/SW -> CS/SR"]);
}

#[test]
fn oracle_row_05_two_buffers_one_barrier() {
    let mut world = World::buffers(2);
    world.pass([b(0, B::StorageWrite(CS))]).pass([b(1, B::StorageWrite(CS))]);
    world.pass([b(0, B::StorageRead(CS)), b(1, B::StorageRead(CS))]);
    assert_plan!(world, 2 => ["M CS/SW -> CS/SR"]);
}

#[test]
fn oracle_row_06_storage_write_index_fetch() {
    let mut world = World::buffers(1);
    world.pass([b(0, B::StorageWrite(CS))]).pass([b(0, B::Index)]);
    assert_plan!(world, 1 => ["M CS/SW -> IDX/IXR"]);
}

#[test]
fn oracle_row_07_storage_write_index_and_uniform() {
    let mut world = World::buffers(1);
    world.pass([b(0, B::StorageWrite(CS))]).pass([b(0, B::Index)]).pass([b(0, B::Uniform(CS))]);
    assert_plan!(world, 1 => ["M CS/SW -> IDX,CS/IXR,UR"]);
}

#[test]
fn oracle_row_08_storage_write_indirect() {
    let mut world = World::buffers(1);
    world.pass([b(0, B::StorageWrite(CS))]).pass([b(0, B::Indirect)]);
    assert_plan!(world, 1 => ["M CS/SW -> DI/ICR"]);
}

#[test]
fn oracle_row_09_storage_image_write_fragment_sample() {
    let mut world = World::texture(Aspects::COLOR, 1, 1);
    world.pass([t(0, T::StorageWrite(CS))]).pass([t(0, T::Sampled(FS))]);
    assert_plan!(world,
        0 => ["I t0 : 0/0 -> CS/SR,SW : U>G"],
        1 => ["I t0 : CS/SW -> FS/SS : G>RO"],
    );
}

#[test]
fn oracle_row_10_storage_write_indirect_and_fragment_uniform() {
    let mut world = World::buffers(1);
    world.pass([b(0, B::StorageWrite(CS))]).pass([b(0, B::Indirect), b(0, B::Uniform(FS))]);
    assert_plan!(world, 1 => ["M CS/SW -> DI,FS/ICR,UR"]);
}

fn sampled_after_color(stages: ShaderStages, expected: &str) {
    let mut world = World::texture(Aspects::COLOR, 1, 1);
    world.pass([t(0, T::Color { load: false })]).pass([t(0, T::Sampled(stages))]);
    assert_eq!(world.planned(), [["I t0 : 0/0 -> CAO/CR,CW : U>CA"], [expected]]);
}

#[test]
fn oracle_row_11_color_write_compute_sample() {
    sampled_after_color(CS, "I t0 : CAO/CW -> CS/SS : CA>RO");
}

#[test]
fn oracle_row_12_depth_write_compute_sample() {
    let mut world = World::texture(Aspects::DEPTH, 1, 1);
    world.pass([d(0, T::DepthStencil { load: false })]).pass([d(0, T::Sampled(CS))]);
    assert_plan!(world,
        0 => ["I t0 depth : 0/0 -> E,L/DR,DW : U>DA"],
        1 => ["I t0 depth : E,L/DW -> CS/SS : DA>DRO"],
    );
}

#[test]
fn oracle_row_13_depth_write_fragment_sample() {
    let mut world = World::texture(Aspects::DEPTH, 1, 1);
    world.pass([d(0, T::DepthStencil { load: false })]).pass([d(0, T::Sampled(FS))]);
    assert_plan!(world,
        0 => ["I t0 depth : 0/0 -> E,L/DR,DW : U>DA"],
        1 => ["I t0 depth : E,L/DW -> FS/SS : DA>DRO"],
    );
}

#[test]
fn oracle_row_14_color_write_fragment_sample() {
    sampled_after_color(FS, "I t0 : CAO/CW -> FS/SS : CA>RO");
}

#[test]
fn oracle_row_15_color_write_vertex_sample() {
    sampled_after_color(VS, "I t0 : CAO/CW -> VS/SS : CA>RO");
}

#[test]
fn oracle_row_16_fragment_sample_color_write() {
    for (load, old) in [(true, "RO"), (false, "U")] {
        let mut world = World::texture(Aspects::COLOR, 1, 1);
        world.pass([t(0, T::Color { load: false })]).pass([t(0, T::Sampled(FS))]);
        world.run();
        world.pass([t(0, T::Color { load })]);
        assert_eq!(world.planned(), [[format!("I t0 : FS/0 -> CAO/CR,CW : {old}>CA")]]);
    }
}

#[test]
fn oracle_row_17_depth_write_depth_write() {
    let mut world = World::texture(Aspects::DEPTH, 1, 1);
    world.pass([d(0, T::DepthStencil { load: false })]);
    world.run();
    world.pass([d(0, T::DepthStencil { load: false })]);
    // Tighter than the row: the layout stays, so there is nothing to transition.
    assert_plan!(world, 0 => ["M E,L/DW -> E,L/DR,DW"]);
}

#[test]
fn oracle_row_18_staging_copy_vertex_fetch() {
    let mut world = World::buffers(2);
    world.pass([b(0, B::CopySrc), b(1, B::CopyDst)]).pass([b(1, B::Vertex)]);
    assert_plan!(world, 1 => ["M X/TW -> VAI/VR"]);
}

#[test]
fn oracle_row_21_before_an_image_copy() {
    let mut world = World::texture(Aspects::COLOR, 1, 1);
    world.pass([t(0, T::CopyDst { whole: true })]);
    assert_plan!(world, 0 => ["I t0 : 0/0 -> X/TW : U>TD"]);
}

#[test]
fn oracle_row_22_image_copy_fragment_sample() {
    let mut world = World::texture(Aspects::COLOR, 1, 1);
    world.pass([t(0, T::CopyDst { whole: true })]);
    world.run();
    world.pass([t(0, T::Sampled(FS))]);
    assert_plan!(world, 0 => ["I t0 : X/TW -> FS/SS : TD>RO"]);
}

#[test]
fn oracle_row_25_compute_write_host_read() {
    let mut world = World::buffers(1);
    world.pass([b(0, B::StorageWrite(CS))]).pass([b(0, B::HostRead)]).pass([b(0, B::StorageWrite(CS))]);
    // The next write waits for the write: no barrier can wait for the CPU.
    assert_plan!(world, 1 => ["M CS/SW -> HOST/HR"], 2 => ["M CS/SW -> CS/SR,SW"]);
}

#[test]
fn oracle_rows_27_28_acquire_draw_present() {
    let mut world = World::texture(Aspects::COLOR, 1, 1);
    let after = Scope::new(Stages::COLOR_OUTPUT, Access::empty());
    for ordinal in 1..3 {
        let acquired = TextureState { layout: Layout::Undefined, after, defined: false };
        assert!(world.ledger.set_texture_state(0, &color(0..1, 0..1), acquired));
        world.pass([t(0, T::Color { load: false })]).pass([t(0, T::Present)]);
        assert_plan!(world,
            0 => ["I t0 : CAO/0 -> CAO/CR,CW : U>CA"],
            1 => ["I t0 : CAO/CW -> CAO/0 : CA>PS"],
        );
        world.commit(ordinal);
    }
}

#[test]
fn a_row_29_host_write_needs_nothing() {
    let mut world = World::buffers(1);
    world.pass([b(0, B::Uniform(VS))]).pass([b(0, B::Vertex)]);
    assert_plan!(world);
}
