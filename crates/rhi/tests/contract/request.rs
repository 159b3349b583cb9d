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

/// A table without rows.
fn no_formats(format: TextureFormat) -> FormatCapabilities {
    FormatCapabilities::new(format, FormatUses::empty(), Features::empty(), |_| None)
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
    let needed =
        FormatRequirement::new(TextureFormat::Rgba32Float, FormatUses::SAMPLED | FormatUses::BLENDABLE);
    let formats = [needed];
    let request = DeviceRequest { required_formats: &formats, ..DeviceRequest::default() };
    let texts = ["SAMPLED, BLENDABLE required", "available"];
    unsupported(open(NullConfig::default(), &request), "BLENDABLE use of Rgba32Float", &texts);
    let met = [FormatRequirement { uses: FormatUses::SAMPLED | FormatUses::STORAGE, ..needed }];
    assert!(open(NullConfig::default(), &DeviceRequest { required_formats: &met, ..request }).is_ok());
}

/// D2: the first unmet need is data: field or format, axis, requested and available.
#[test]
fn unmet_needs_are_data() {
    let poor = NullConfig { features: Features::ANISOTROPY, ..NullConfig::default() };
    let unmet = |config: &NullConfig, request: &DeviceRequest<'_>| {
        let error = err(open(config.clone(), request));
        *error.unmet().unwrap_or_else(|| panic!("{error}"))
    };
    let mut request = limited(|l| l.max_texture_array_layers = 2049);
    assert_eq!(
        unmet(&poor, &request),
        Unmet::Limit(UnmetLimit { field: "max_texture_array_layers", requested: 2049, available: 2048 })
    );
    // Features come first, the lowest before others.
    request.required_features = Features::TIMESTAMP_QUERY | Features::POLYGON_MODE_LINE;
    assert_eq!(unmet(&poor, &request), Unmet::Feature(Features::TIMESTAMP_QUERY));

    let format = TextureFormat::Rgba32Float;
    let needed = FormatRequirement::new(format, FormatUses::SAMPLED);
    let with = |need: FormatRequirement| {
        let list = [need];
        unmet(&NullConfig::default(), &DeviceRequest { required_formats: &list, ..DeviceRequest::default() })
    };
    let uses = FormatUses::SAMPLED | FormatUses::FILTERABLE;
    assert!(matches!(
        with(FormatRequirement { uses, ..needed }),
        Unmet::FormatUse { format: TextureFormat::Rgba32Float, requested, available }
            if requested == uses && !available.contains(FormatUses::FILTERABLE)
    ));
    use TextureDimension::{D1, D2, D3};
    for (need, dimension, axis, requested, available) in [
        (needed.with_extent(D2, [16384, 16385, 1]), D2, Axis::Height, 16385, 16384),
        (needed.with_extent(D3, [2048, 2048, 2049]), D3, Axis::Depth, 2049, 2048),
        (needed.with_extent(D2, [1, 1, 2]), D2, Axis::Depth, 2, 1),
        (FormatRequirement { mips: 16, ..needed }, D2, Axis::Mips, 16, 15),
        (FormatRequirement { layers: 2049, ..needed }, D2, Axis::Layers, 2049, 2048),
        (needed.with_extent(D1, [4, 1, 1]), D1, Axis::Width, 4, 0),
    ] {
        assert_eq!(with(need), Unmet::FormatShape { format, dimension, axis, requested, available });
    }
    // Exactly what is there.
    let exact = [
        FormatRequirement { mips: 15, layers: 2048, ..needed.with_extent(D2, [16384, 16384, 1]) },
        needed.with_extent(D3, [2048, 2048, 2048]),
    ];
    let request = DeviceRequest { required_formats: &exact, ..DeviceRequest::default() };
    assert!(open(NullConfig::default(), &request).is_ok());
    let volume =
        [FormatRequirement::new(TextureFormat::Bc1RgbaUnorm, FormatUses::SAMPLED).with_extent(D3, [4; 3])];
    let request = DeviceRequest {
        required_features: Features::TEXTURE_COMPRESSION_BC_SLICED_3D,
        required_formats: &volume,
        ..DeviceRequest::default()
    };
    let gpu = open(NullConfig::default(), &request).unwrap();
    assert!(gpu.capabilities().features.contains(Features::TEXTURE_COMPRESSION_BC));
}

#[test]
fn unmet_preferences_are_reported_and_do_not_fail() {
    let mut limits = NullConfig::default().limits;
    limits.max_anisotropy = 17;
    let format = [FormatRequirement::new(TextureFormat::NV12, FormatUses::SAMPLED)];
    let request = DeviceRequest { preferred_formats: &format, ..DeviceRequest::default() };
    let gpu = open(NullConfig::default(), &request).unwrap();
    let available = FormatUses::empty();
    let requested = FormatUses::SAMPLED;
    assert_eq!(
        gpu.unmet_preference(),
        Some(&Unmet::FormatUse { format: TextureFormat::NV12, requested, available })
    );
    let request = DeviceRequest { preferred_limits: Some(limits), ..request };
    let gpu = open(NullConfig::default(), &request).unwrap();
    let limit = UnmetLimit { field: "max_anisotropy", requested: 17, available: 16 };
    assert_eq!(gpu.unmet_preference(), Some(&Unmet::Limit(limit)));
    let gpu = open(NullConfig::default(), &DeviceRequest::default()).unwrap();
    assert_eq!(gpu.unmet_preference(), None);
}

#[test]
fn a_required_feature_counts_for_the_formats_it_brings() {
    let uses = FormatUses::SAMPLED;
    let formats = [FormatRequirement::new(TextureFormat::Bc7RgbaUnorm, uses)];
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
    let answer = negotiate(&request, &poor.adapter(), no_formats).unwrap();
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
    let cases: [(Spoil, &str); 13] = [
        (|r| r.storage.objects = ObjectCeilings::each(0), "storage.objects"),
        (|r| r.storage.objects = ObjectCeilings::each(9).with(ResourceKind::Heap, 0), "storage.objects"),
        (|r| r.storage.objects = ObjectCeilings::each(u32::MAX), "storage.objects"),
        (|r| r.storage.upload_ring = 0, "storage.upload_ring"),
        (|r| r.storage.frame_arena_page = 0, "storage.frame_arena_page"),
        (|r| r.storage.readback = 0, "storage.readback"),
        (|r| r.storage.batch_commands = 0, "storage.batch_commands"),
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
                r.required_formats =
                    const { &[FormatRequirement::new(TextureFormat::R8Unorm, FormatUses::empty())] };
            },
            "required_formats",
        ),
        (
            |r| {
                const ONE: FormatRequirement =
                    FormatRequirement::new(TextureFormat::R8Unorm, FormatUses::SAMPLED);
                r.required_formats = &[ONE, ONE];
            },
            "required_formats",
        ),
        (
            |r| {
                r.preferred_formats =
                    const { &[FormatRequirement::new(TextureFormat::R8Unorm, FormatUses::empty())] };
            },
            "preferred_formats",
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

/// D4: each token is there with its feature and not without it, under the feature's own name.
#[test]
fn tokens_come_with_their_features() {
    fn check<C: Capability>() -> Features {
        let feature = Features::from_name(C::NAME).expect(C::NAME);
        let has = |features| {
            let request = DeviceRequest { preferred_features: features, ..DeviceRequest::default() };
            open(NullConfig::default(), &request).unwrap().capability::<C>().is_some()
        };
        assert!(has(feature), "{} with its feature", C::NAME);
        // What brings it along is left out too.
        let others = Features::all() - feature;
        let without = others.iter().filter(|other| !other.with_needs().contains(feature)).collect();
        assert!(!has(without), "{} without its feature", C::NAME);
        feature
    }
    let tier = [
        check::<IndirectFirstInstance>(),
        check::<MultiDrawIndirect>(),
        check::<MultiDrawIndirectCount>(),
        check::<TimestampQuery>(),
        check::<PipelineStatisticsQuery>(),
        check::<PolygonModeLine>(),
        check::<DepthClipControl>(),
        check::<Anisotropy>(),
        check::<VertexStorage>(),
        check::<TextureCompressionBc>(),
        check::<TextureCompressionEtc2>(),
        check::<TextureCompressionAstc>(),
        check::<TextureCompressionBcSliced3d>(),
        check::<TextureCompressionAstcSliced3d>(),
        check::<UnalignedBlockExtents>(),
        check::<IndependentBlend>(),
        check::<DepthUploads>(),
        check::<AddressModeClampToBorder>(),
    ];
    assert!(tier.iter().all(|feature| !Features::CORE.contains(*feature)));
}
