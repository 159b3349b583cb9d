//! P10: an edit session, with what each edit must do.

use purlin::reload::{Package, ShaderReload};
use purlin::rhi::backend::Backend;
use purlin::rhi::{Device, LivePipeline, LiveUpdate};
use purlin::{Error, PipelineLayoutDesc};

use crate::support::*;

/// Edits, in order. `pixels`: whether the device draws.
fn session<B: Backend>(device: &mut Device<B>, name: &str, pixels: bool) {
    let folder = Folder::new(name);
    let file = folder.path("paint.wgsl");
    let edit = |text: String| std::fs::write(&file, text).unwrap();
    let check =
        |device: &mut Device<B>, live: &LivePipeline<purlin::kind::RenderPipeline>, color: [u8; 4]| {
            let pipeline = live.get(device).unwrap();
            let texel = painted(device, pipeline);
            assert!(!pixels || texel == color, "{texel:?} instead of {color:?}");
            pipeline
        };
    let layout = PipelineLayoutDesc { label: "layout", groups: &[], immediate_size: 0 };
    let layout = device.create_pipeline_layout(&layout).unwrap();
    edit(paint("1.0, 0.0, 0.0, 1.0"));
    let mut reload = ShaderReload::new(Package::new("session").source(&file));

    // The first look compiles.
    let first = reload.poll().unwrap().unwrap();
    assert_eq!(first.changed(), ["paint"]);
    let module = device.create_shader_module(first.shader("paint").unwrap()).unwrap();
    let mut live = LivePipeline::new(request(device, *layout, *module, 0).unwrap());
    drop(module);
    assert!(device.wait_for_pipelines(LONG).unwrap());
    let red = check(device, &live, [255, 0, 0, 255]);
    assert!(reload.poll().is_none(), "nothing has changed");

    // A good edit takes over at a frame boundary.
    edit(paint("0.0, 1.0, 0.0, 1.0"));
    let source = *reload.poll().unwrap().unwrap().shader("paint").unwrap();
    let module = device.create_shader_module(&source).unwrap();
    live.replace(request(device, *layout, *module, 0).unwrap());
    assert_eq!(live.get(device), Ok(red));
    assert!(device.wait_for_pipelines(LONG).unwrap());
    assert_eq!(live.update(device), Ok(LiveUpdate::Replaced));
    let green = check(device, &live, [0, 255, 0, 255]);
    assert_ne!(red, green);

    // A broken one says where, once, and nothing else happens.
    edit(paint("0.0, 1.0, 0.0, 1.0").replace("    return vec4<f32>(0.0", "    retrun vec4<f32>(0.0"));
    let error = reload.poll().unwrap().unwrap_err();
    let at = error.location().unwrap();
    assert!(at.file.ends_with("paint.wgsl"), "{at}");
    assert_eq!((at.line, at.text.trim_start().starts_with("retrun")), (7, true), "{}", error.report());
    assert!(at.column >= 5, "{}", error.report());
    assert!(error.report().contains("paint.wgsl:7:"), "{}", error.report());
    assert!(reload.poll().is_none(), "said once");
    assert_eq!(check(device, &live, [0, 255, 0, 255]), green);

    // One that compiles and asks for what the layout lacks is refused by name, and the old one stays.
    let tint = "@group(0) @binding(0) var<uniform> tint: vec4<f32>;\n";
    edit(format!("{tint}{}", paint("tint")));
    let source = *reload.poll().unwrap().unwrap().shader("paint").unwrap();
    let module = device.create_shader_module(&source).unwrap();
    let error = request(device, *layout, *module, 0).unwrap_err();
    assert!(matches!(error, Error::InvalidDescription { field: "layout", .. }), "{error}");
    for part in ["\"paint\"", "@group(0) @binding(0) tint", "\"fs\"", "\"layout\""] {
        assert!(error.to_string().contains(part), "{error}");
    }
    assert_eq!(live.update(device), Ok(LiveUpdate::Unchanged));
    assert_eq!(check(device, &live, [0, 255, 0, 255]), green);

    // An import that is not there yet, which no watched file will tell of.
    edit(format!("#import \"blue.wgsl\"\n{}", paint("BLUE")));
    let error = reload.poll().unwrap().unwrap_err();
    assert_eq!(error.location().map(|at| at.line), Some(1), "{error}");
    assert!(reload.poll().is_none());
    std::fs::write(folder.path("blue.wgsl"), "const BLUE = vec4<f32>(0.0, 0.0, 1.0, 1.0);\n").unwrap();
    let source = *reload.poll().unwrap().unwrap().shader("paint").unwrap();
    let module = device.create_shader_module(&source).unwrap();
    live.replace(request(device, *layout, *module, 0).unwrap());
    assert!(device.wait_for_pipelines(LONG).unwrap());
    assert_eq!(live.update(device), Ok(LiveUpdate::Replaced));
    check(device, &live, [0, 0, 255, 255]);

    // What is imported is watched too, and a mistake in it is placed in it. Taking it back is news, if not new code.
    let good = std::fs::read_to_string(folder.path("blue.wgsl")).unwrap();
    std::fs::write(folder.path("blue.wgsl"), "\nconst BLUE = vec4<f32>(0.0, 0.0, 1.0, 1.0;\n").unwrap();
    let error = reload.poll().unwrap().unwrap_err();
    let at = error.location().unwrap();
    assert!(at.file.ends_with("blue.wgsl") && at.line == 2, "{at}");
    std::fs::write(folder.path("blue.wgsl"), good).unwrap();
    assert!(reload.poll().unwrap().unwrap().changed().is_empty());

    // The code from the beginning is the pipeline from the beginning, if somebody holds it still.
    let held = request(device, *layout, *module, 0).unwrap();
    let again = device.create_shader_module(&shader(&paint("0.25, 0.0, 0.0, 1.0"))).unwrap();
    assert!(!request(device, *layout, *again, 0).unwrap().is_same(&held));
}

#[test]
fn an_edit_session_on_the_null_device() {
    for jobs in [false, true] {
        session(&mut null(jobs), &format!("session-null-{jobs}"), false);
    }
}

#[test]
fn an_edit_session_on_vulkan_shows_each_edit() {
    let Some((mut device, messages)) = vulkan("edit session") else { return };
    session(&mut device, "session-vulkan", true);
    close(device, &messages);
}
