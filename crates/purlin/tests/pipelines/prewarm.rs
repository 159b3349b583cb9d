//! P11: what the last run needed is there before the first frame.

use purlin::prewarm::{AnyTicket, Prewarm, VariantManifest};
use purlin::rhi::backend::Backend;
use purlin::rhi::{Device, LivePipeline, ResourceKind};
use purlin::{ComputePipelineDesc, Error, Result, ShaderStageDesc};

use crate::support::*;

/// What the program's names mean.
fn named<B: Backend>(parts: &Parts, device: &mut Device<B>, name: &str) -> Option<Result<AnyTicket>> {
    Some(match name {
        "scene" => parts.request(device, 0).map(Into::into),
        "scene, mirrored" => parts.request(device, 1).map(Into::into),
        "scene, red" => parts.request(device, 14 << 1).map(Into::into),
        "cull" => {
            let compute = ShaderStageDesc { module: *parts.module, entry: "cs" };
            let desc = ComputePipelineDesc { label: "cull", layout: *parts.layout, compute };
            device.request_compute_pipeline(&desc).map(Into::into)
        }
        "broken" => {
            let compute = ShaderStageDesc { module: *parts.module, entry: "no such entry" };
            let desc = ComputePipelineDesc { label: "broken", layout: *parts.layout, compute };
            device.request_compute_pipeline(&desc).map(Into::into)
        }
        _ => return None,
    })
}

/// The program's frames: it asks for its pipelines by name, notes them, and draws with what is there.
fn frames<B: Backend>(device: &mut Device<B>, parts: &Parts) -> (VariantManifest, u64) {
    let mut used = VariantManifest::new();
    let before = device.pipeline_counts().compiled();
    let (mut scenes, mut others) = (Vec::new(), Vec::new());
    for name in ["scene", "scene, mirrored", "scene, red", "cull"] {
        used.record(name);
        match named(parts, device, name).unwrap().unwrap() {
            AnyTicket::Render(ticket) => scenes.push(LivePipeline::new(ticket)),
            AnyTicket::Compute(ticket) => others.push(ticket),
        }
    }
    for frame in 0..6 {
        if let Ok(pipeline) = scenes[frame % 3].get(device) {
            painted(device, pipeline);
        } else {
            device.record("nothing to draw with").unwrap().submit().unwrap();
        }
    }
    assert!(device.wait_for_pipelines(LONG).unwrap());
    (used, device.pipeline_counts().compiled() - before)
}

fn cold_and_warm<B: Backend>(mut open: impl FnMut() -> Device<B>) -> Vec<Device<B>> {
    let source = shader(&paint("1.0, 1.0, 1.0, 1.0"));
    let mut cold = open();
    let parts = Parts::new(&mut cold, &source);
    let (manifest, compiled) = frames(&mut cold, &parts);
    assert_eq!(compiled, 4, "a cold run compiles what it uses, by and by");

    let mut warm = open();
    let parts = Parts::new(&mut warm, &source);
    let manifest = VariantManifest::from_json(&manifest.to_json()).unwrap();
    let mut prewarm = Prewarm::new(&manifest);
    let mut last = 0;
    while !prewarm.is_done() {
        let progress = prewarm.advance(&mut warm, |device, name| named(&parts, device, name)).unwrap();
        assert!(progress.done >= last && progress.total == 4, "{progress:?}");
        last = progress.done;
        std::thread::yield_now();
    }
    let report = prewarm.finish();
    assert_eq!((report.ready.len(), report.failed.len(), report.missing.len()), (4, 0, 0), "{report:?}");
    let before = warm.pipeline_counts();
    let (used, compiled) = frames(&mut warm, &parts);
    let after = warm.pipeline_counts();
    assert_eq!(compiled, 0, "a warm run compiles nothing on the frame path");
    assert_eq!((after.created, after.shared - before.shared), (0, 4));
    assert!(used.beyond(&manifest).is_empty());
    vec![cold, warm]
}

#[test]
fn a_warm_start_compiles_nothing_on_the_frame_path() {
    for jobs in [false, true] {
        for mut device in cold_and_warm(|| null(jobs)) {
            device.maintain().unwrap();
            assert_eq!(device.object_count(ResourceKind::RenderPipeline), 0, "the tickets are gone");
        }
    }
}

#[test]
fn a_warm_start_on_vulkan_compiles_nothing_on_the_frame_path() {
    let mut logs = Vec::new();
    if vulkan("prewarm").is_none() {
        return;
    }
    let devices = cold_and_warm(|| {
        let (device, messages) = vulkan("prewarm").unwrap();
        logs.push(messages);
        device
    });
    for (device, messages) in devices.into_iter().zip(&logs) {
        assert_eq!(device.pipeline_counts().on_thread, 0, "the worker compiles");
        close(device, messages);
    }
}

#[test]
fn failures_and_names_that_are_gone_are_listed() {
    let mut device = null(false);
    let parts = Parts::new(&mut device, &shader(&paint("1.0, 1.0, 1.0, 1.0")));
    let manifest = VariantManifest::from_json(r#"["scene", "broken", "of last year", "cull"]"#).unwrap();
    let mut prewarm = Prewarm::new(&manifest);
    let progress = prewarm.run(&mut device, LONG, |device, name| named(&parts, device, name)).unwrap();
    assert_eq!((progress.done, progress.total), (4, 4));
    let report = prewarm.finish();
    assert_eq!(report.missing, ["of last year"]);
    let names: Vec<_> = report.ready.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["cull", "scene"]);
    assert!(matches!(&report.failed[..], [(name, Error::InvalidDescription { .. })] if name == "broken"));
    let mut used = VariantManifest::new();
    assert!(used.record("scene") && !used.record("scene") && used.record("new"));
    assert_eq!(used.beyond(&manifest), ["new"]);
}

#[test]
fn manifests_on_disk() {
    let folder = Folder::new("manifest");
    let path = folder.path("variants.json");
    assert_eq!(VariantManifest::load(&path).unwrap(), VariantManifest::new());
    let mut manifest = VariantManifest::new();
    manifest.record("b \"quoted\"");
    manifest.record("a");
    manifest.save(&path).unwrap();
    assert_eq!(VariantManifest::load(&path).unwrap(), manifest);
    assert_eq!(manifest.names().collect::<Vec<_>>(), ["a", "b \"quoted\""]);
    for text in ["", "{}", "[1]", "[\"a\""] {
        std::fs::write(&path, text).unwrap();
        let error = VariantManifest::load(&path).unwrap_err();
        assert!(error.to_string().contains("a JSON list of names"), "{error}");
    }
    assert!(VariantManifest::load(&folder).is_err());
}
