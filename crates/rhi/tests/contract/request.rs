//! Negotiation (D1, D2): what a request needs is checked against the adapter before anything exists.

use purlin_rhi::null::{Null, NullConfig};
use purlin_rhi::request::{negotiate, select};
use purlin_rhi::types::*;
use purlin_rhi::*;

use crate::support::*;

fn adapter(name: &str, device_type: DeviceType) -> AdapterInfo {
    AdapterInfo { name: name.into(), device_type, ..NullConfig::default().adapter() }
}

fn open(config: NullConfig, request: &DeviceRequest<'_>) -> Result<Gpu> {
    Device::from_backend(Null::open(config, request)?, request)
}

/// A request in which one limit is set.
fn limited(set: impl Fn(&mut Limits)) -> DeviceRequest<'static> {
    let mut required_limits = Limits::default();
    set(&mut required_limits);
    DeviceRequest { label: "app", required_limits, ..DeviceRequest::default() }
}

#[test]
fn exactly_the_adapters_limits_are_accepted() {
    let config = NullConfig::default();
    let request = DeviceRequest { required_limits: config.limits.clone(), ..DeviceRequest::default() };
    assert_eq!(*open(config.clone(), &request).unwrap().limits(), config.limits);
}

#[test]
fn one_over_a_limit_is_refused_with_both_values() {
    let config = NullConfig::default();
    let have = config.limits.clone();
    let most = have.max_texture_dimension_2d;
    assert!(open(config.clone(), &limited(|l| l.max_texture_dimension_2d = most)).is_ok());
    let over = limited(|l| l.max_texture_dimension_2d = most + 1);
    let texts = ["\"app\"", "\"Null\"", "16385 required, 16384 available"];
    unsupported(open(config.clone(), &over), "limit max_texture_dimension_2d", &texts);
    let over = limited(|l| l.max_buffer_size = have.max_buffer_size + 1);
    unsupported(
        open(config, &over),
        "limit max_buffer_size",
        &["17179869185 required, 17179869184 available"],
    );
}

#[test]
fn a_smaller_alignment_is_more_to_ask_for() {
    let config = NullConfig::default();
    assert!(open(config.clone(), &limited(|l| l.min_uniform_offset_alignment = 512)).is_ok());
    let finer = limited(|l| l.min_uniform_offset_alignment = 128);
    unsupported(open(config, &finer), "limit min_uniform_offset_alignment", &["128 required, 256 available"]);
}

#[test]
fn the_first_unmet_need_is_the_error() {
    let poor = NullConfig { features: Features::ANISOTROPY, ..NullConfig::default() };
    let mut request = limited(|l| l.max_bind_groups = 99);
    request.required_features =
        Features::ANISOTROPY | Features::POLYGON_MODE_LINE | Features::INDEPENDENT_BLEND;
    unsupported(open(poor.clone(), &request), "feature POLYGON_MODE_LINE", &["the adapter has ANISOTROPY"]);
    request.required_features = Features::empty();
    unsupported(open(poor, &request), "limit max_bind_groups", &["99 required, 4 available"]);
}

#[test]
fn a_format_use_is_refused_with_the_format_and_all_uses() {
    let needed = FormatRequirement {
        format: TextureFormat::Rgba32Float,
        uses: FormatUses::SAMPLED | FormatUses::BLENDABLE,
    };
    let formats = [needed];
    let request = DeviceRequest { required_formats: &formats, ..DeviceRequest::default() };
    let texts = ["SAMPLED, BLENDABLE required", "available"];
    unsupported(open(NullConfig::default(), &request), "BLENDABLE use of Rgba32Float", &texts);
    let met = [FormatRequirement { uses: FormatUses::SAMPLED | FormatUses::STORAGE, ..needed }];
    assert!(open(NullConfig::default(), &DeviceRequest { required_formats: &met, ..request }).is_ok());
}

#[test]
fn a_required_feature_counts_for_the_formats_it_brings() {
    let uses = FormatUses::SAMPLED;
    let formats = [FormatRequirement { format: TextureFormat::Bc7RgbaUnorm, uses }];
    let without = DeviceRequest { required_formats: &formats, ..DeviceRequest::default() };
    unsupported(open(NullConfig::default(), &without), "SAMPLED use of Bc7RgbaUnorm", &["none available"]);
    let with = DeviceRequest { required_features: Features::TEXTURE_COMPRESSION_BC, ..without };
    assert!(open(NullConfig::default(), &with).is_ok());
}

#[test]
fn preferences_never_fail_and_are_reported() {
    let poor = NullConfig { features: Features::ANISOTROPY, ..NullConfig::default() };
    let preferred = Features::ANISOTROPY | Features::TIMESTAMP_QUERY;
    let request = DeviceRequest { preferred_features: preferred, ..DeviceRequest::default() };
    let answer = negotiate(&request, &poor.adapter(), |_| FormatUses::empty()).unwrap();
    assert_eq!(
        (answer.features, answer.missing_preferred),
        (Features::ANISOTROPY, Features::TIMESTAMP_QUERY)
    );
    let gpu = open(poor, &request).unwrap();
    assert_eq!(gpu.missing_preferred(), Features::TIMESTAMP_QUERY);
    assert_eq!(gpu.capabilities().features, Features::ANISOTROPY);
    assert!(gpu.capability::<TimestampQuery>().is_none());
}

#[test]
fn only_what_was_asked_for_is_enabled() {
    let request = DeviceRequest { required_features: Features::TIMESTAMP_QUERY, ..DeviceRequest::default() };
    let gpu = open(NullConfig::default(), &request).unwrap();
    assert_eq!(gpu.capabilities().features, Features::TIMESTAMP_QUERY | Features::CORE);
    assert!(gpu.capability::<TimestampQuery>().is_some());
    assert!(gpu.capability::<MultiDrawIndirect>().is_none());
}

#[test]
fn malformed_requests_are_refused_without_a_backend() {
    type Spoil = fn(&mut DeviceRequest<'_>);
    let cases: [(Spoil, &str); 10] = [
        (|r| r.storage.objects = ObjectCeilings::each(0), "storage.objects"),
        (|r| r.storage.objects = ObjectCeilings::each(9).with(ResourceKind::Heap, 0), "storage.objects"),
        (|r| r.storage.objects = ObjectCeilings::each(u32::MAX), "storage.objects"),
        (|r| r.storage.upload_ring = 0, "storage.upload_ring"),
        (|r| r.storage.frame_arena_page = 0, "storage.frame_arena_page"),
        (|r| r.storage.readback = 0, "storage.readback"),
        (
            |r| r.required_limits.min_uniform_offset_alignment = 0,
            "required_limits.min_uniform_offset_alignment",
        ),
        (
            |r| r.required_limits.min_storage_offset_alignment = 48,
            "required_limits.min_storage_offset_alignment",
        ),
        (|r| r.adapter = AdapterSelector::Name(""), "adapter"),
        (
            |r| {
                r.required_formats = const {
                    &[FormatRequirement { format: TextureFormat::R8Unorm, uses: FormatUses::empty() }]
                };
            },
            "required_formats",
        ),
    ];
    for (spoil, field) in cases {
        let mut request = DeviceRequest { label: "app", ..DeviceRequest::default() };
        spoil(&mut request);
        // `check` has no backend at hand, and `request` is the same check first.
        invalid(request.check(), field, &["device request \"app\""]);
        invalid(pollster::block_on(Gpu::request(&request)), field, &[]);
    }
}

#[test]
fn rings_beyond_the_largest_buffer_are_refused_before_any_resource() {
    let spoils: [fn(&mut StorageCeilings); 2] =
        [|s| s.upload_ring = u64::MAX, |s| s.frame_arena_page = u64::MAX];
    for spoil in spoils {
        let mut storage = StorageCeilings::default();
        spoil(&mut storage);
        let request = DeviceRequest { storage, ..DeviceRequest::default() };
        let texts = ["18446744073709551615 bytes requested, 17179869184 available"];
        unsupported(open(NullConfig::default(), &request), "limit max_buffer_size", &texts);
    }
}

#[test]
fn auto_takes_the_best_usable_kind() {
    let mut catalog = vec![
        adapter("software", DeviceType::Cpu),
        adapter("discrete", DeviceType::DiscreteGpu),
        adapter("second discrete", DeviceType::DiscreteGpu),
        adapter("integrated", DeviceType::IntegratedGpu),
    ];
    let pick = |catalog: &[AdapterInfo]| select(catalog, AdapterSelector::Auto).unwrap();
    assert_eq!(pick(&catalog), 1);
    catalog[1].usable = Err("too old".into());
    assert_eq!(pick(&catalog), 2);
    catalog[2].usable = Err("too old".into());
    assert_eq!(pick(&catalog), 3);
    catalog[3].usable = Err("too old".into());
    assert_eq!(pick(&catalog), 0);
    catalog[0].usable = Err("broken".into());
    let text = err(select(&catalog, AdapterSelector::Auto)).to_string();
    assert!(
        text.contains("\"discrete\" (unusable: too old)") && text.contains("\"software\" (unusable: broken)")
    );
}

#[test]
fn adapters_are_found_by_name_and_by_place() {
    let mut catalog =
        vec![adapter("NVIDIA H200", DeviceType::DiscreteGpu), adapter("llvmpipe", DeviceType::Cpu)];
    assert_eq!(select(&catalog, AdapterSelector::Name("LLVM")), Ok(1));
    assert_eq!(select(&catalog, AdapterSelector::Name("h2")), Ok(0));
    assert_eq!(select(&catalog, AdapterSelector::Index(1)), Ok(1));
    refused(
        select(&catalog, AdapterSelector::Name("radeon")),
        &["contains \"radeon\"", "\"NVIDIA H200\", \"llvmpipe\""],
    );
    refused(select(&catalog, AdapterSelector::Index(2)), &["there is no adapter 2", "has 2"]);
    catalog[1].usable = Err("no Vulkan 1.3".into());
    refused(select(&catalog, AdapterSelector::Index(1)), &["adapter 1 is unusable: no Vulkan 1.3"]);
    refused(select(&catalog, AdapterSelector::Name("llvm")), &["\"llvmpipe\" (unusable: no Vulkan 1.3)"]);
}

#[test]
fn an_empty_catalog_says_so() {
    for selector in [AdapterSelector::Auto, AdapterSelector::Name("x")] {
        assert!(
            matches!(select(&[], selector), Err(Error::NoAdapter { detail }) if detail.contains("found none"))
        );
    }
    refused(select(&[], AdapterSelector::Index(0)), &["no adapter 0", "the catalog has 0"]);
}

#[test]
fn the_catalog_is_apart_from_the_device() {
    let request = DeviceRequest::default();
    let catalog = Gpu::adapters(&request).unwrap();
    assert_eq!(catalog[0].features, Features::all());
    let gpu = pollster::block_on(Gpu::request(&request)).unwrap();
    assert_eq!(gpu.adapter(), &catalog[0]);
    let enabled = gpu.capabilities().features;
    assert_eq!(enabled, Features::CORE, "an adapter's features are not the device's");
}
