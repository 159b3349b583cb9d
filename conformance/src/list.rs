//! The list of all fixtures.

use std::marker::PhantomData;

use purlin_rhi::backend::Backend;

use crate::Fixture;

/// The fixtures for one backend.
#[derive(Debug)]
pub struct Fixtures<B: Backend>(PhantomData<B>);

macro_rules! list {
    ($($topic:ident { $($name:ident)* })*) => {
        impl<B: Backend> Fixtures<B> {
            /// Every fixture.
            pub const ALL: &'static [Fixture<B>] = &[
                $($(Fixture { name: concat!(stringify!($topic), "::", stringify!($name)), run: crate::$topic::$name::<B> },)*)*
            ];

            /// The fixture of this topic and name.
            pub fn named(name: &str) -> Option<&'static Fixture<B>> {
                Self::ALL.iter().find(|fixture| fixture.name == name)
            }
        }

        /// Calls a macro with every topic and its fixtures: `topic { name name } topic { name }`.
        #[macro_export]
        macro_rules! for_each_fixture {
            ($callback:ident) => { $callback! { $($topic { $($name)* })* } };
        }
    };
}

list! {
    layouts {
        uniform_shapes
        storage_shapes
        c102_elements_of_20_bytes_lie_32_apart
        array_of_vec3
        c100_mat2x2_in_uniform
        c103_least_binding_sizes
        c104_names_that_other_languages_reserve
        c106_control_flow
    }
    coordinates {
        clip_space_y_is_up
        counterclockwise_is_front
        depth_zero_is_near
        texture_row_0_is_first
        a_rendered_texture_is_sampled_upright
        fragments_count_from_the_top_left
        viewport_and_scissor_count_from_the_top_left
        readback_rows_start_at_the_top
        c048_viewport_of_one_depth
        c049_empty_scissor
    }
    arrays {
        c108_draws_choose_an_element_each
        holes_show_the_first_element
        samplers_are_chosen_by_index
        an_index_out_of_range_is_the_last
        invocations_choose_an_element_each
        a_table_is_replaced_while_the_old_is_in_flight
    }
    draws {
        direct
        indexed
        index_buffer_at_an_offset
        builtin_indices_count_first_and_base
        out_of_range_draws_are_refused
        c009_odd_number_of_u16_indices
        c019_empty_buffers
        c035_bind_a_b_a
        c036_last_vertex_needs_no_full_stride
        points_and_lines
        c039_direct_dispatch_up_to_the_limit
    }
    batches {
        a_batch_paints_what_direct_draws_do
    }
    sections {
        sections_draw_in_order
        sections_begin_without_state
        passes_around_sections
        sections_share_depth
        c030_sections_of_many_submissions
    }
    states {
        lines_instead_of_faces
        unclipped_depth_is_clamped
        clears_outside_of_passes
    }
    graphs {
        direct_passes_draw_the_same
        mips_are_the_means_of_their_texels
        samples_are_averaged_by_the_graph
        merged_passes_draw_the_same
        textures_in_one_heap
    }
    indirect {
        direct_arguments
        indexed_arguments
        first_instance_in_arguments
        zero_work_in_arguments
        c037_multi_draw_counts
        counts_from_a_buffer
        arguments_outside_the_buffer_are_refused
        an_undeclared_tracked_buffer_is_refused
        dispatch_arguments
    }
    bounds {
        c039_dispatches_over_the_limit_do_nothing
        c039_dispatches_are_lowered_to_the_limit
        c039_many_arguments
        c039_draws_outside_draw_nothing
        c039_draws_are_lowered_to_what_is_inside
        c039_indexed_draws_are_held_to_their_indices
    }
    strips {
        c040_restart_in_strips
        c040_lists_do_not_restart
        c040_strip_format_on_a_list_is_refused
        winding_alternates_in_strips
    }
    attachments {
        four_colors_of_different_formats
        a_gap_between_colors
        c045_masked_first_target
        c046_target_without_an_output
        write_masks_by_channel
        c060_integer_clears
        loads_keep_and_discards_forget
        c064_mips_and_layers_as_attachments
        eight_colors_at_once
        blend_factors
        blend_operations
        usual_blend_states
        the_blend_constant_starts_at_zero
        c071_srgb_views_and_blending
        depth_comparisons
        depth_test_without_write
        depth_loads_and_discards
        depth_bias
        depth_from_the_fragment_shader
        c063_read_only_depth_is_sampled
        c063_depth_is_sampled_while_stencil_is_written
        c090_depth_written_after_it_was_sampled
        stencil_operations
        stencil_comparisons_and_masks
        stencil_by_face_and_by_depth
        c053_stencil_mask_and_test
        c057_each_aspect_stores_for_itself
        c058_one_aspect_loads_while_the_other_does_not
        read_only_stencil_refuses_writes
        edges_are_averaged
        sample_masks
        alpha_to_coverage
        samples_are_read_apart
        depth_by_sample
        c061_resolve_for_store_and_for_discard
        samples_are_resolved_outside_of_a_pass
        resolves_into_mips_and_layers
    }
    formats {
        what_every_device_has
        sampled
        filterable
        color_attachments
        blendable
        copied_bit_by_bit
        storage_writes
        depth_and_stencil_attachments
        c007_aspects_are_copied_apart
        aspects_are_written_from_buffers
        combined_formats_are_copied_whole
        storage_reads
        storage_reads_and_writes
        resolved_samples
        depth_samples
        shapes_hold_to_their_ends
        every_row_has_fixtures
        volumes
        partial_views
    }
    compressed {
        bc_sampled
        etc2_sampled
        astc_sampled
        tail_mips
        filtered_over_block_edges
        unaligned_edges
        layers_of_blocks
        cubes_of_blocks
        volumes_of_blocks
        block_pitches
        boxes_of_blocks
        blocks_are_whole
    }
    vertex_formats {
        unsigned_integers
        signed_integers
        normalized
        the_lowest_normalized_number_is_minus_one
        floats
        c041_unorm10_10_10_2
        unorm8x4_bgra
    }
    samplers {
        address_modes
        border_addressing
        filters
        mip_selection
        lod_clamp
        views_select_mips
        anisotropy
        comparison
        c066_arrays_of_any_length
        some_layers_of_a_texture
        cube_faces_in_order
        cube_arrays
        volume_slices
    }
    views {
        srgb_pairs
        one_texture_in_every_dimension
        parts_before_the_whole
    }
    buffers {
        uploads_of_any_length
        uploads_into_the_middle
        c016_written_then_read_with_no_work_between
        c017_two_readbacks_at_once
        a_readback_is_delivered_once
        c018_copies_within_one_buffer
        clears
        c090_copy_over_copy
        c090_upload_over_upload
        undefined_contents_are_not_read
        many_copies_in_one_recording
        planned_copies_share_barriers
    }
    textures {
        odd_sizes
        c011_tight_rows_of_one_byte_texels
        c073_bgra_is_refused_or_exact
        padded_rows_and_layers
        sub_rectangles
        c070_every_mip_of_odd_sizes
        volume_mips
        c004_volume_to_volume
        c004_layers_to_slices_and_back
        copies_between_mips_and_layers
        buffers_to_textures_and_back
        c001_aligned_rows_need_no_padding
        c002_pitch_is_aligned_after_multiplying
        c090_upload_over_upload
        undefined_texels_are_not_read
    }
    large {
        wide_uploads_of_many_bytes
        far_layers_and_slices
        the_last_element_of_a_large_range
    }
    bindings {
        c033_each_group_keeps_its_dynamic_offset
        dynamic_offsets_of_storage_and_uniform
        c032_dynamic_offsets_up_to_the_exact_end
        c020_a_reused_slot_is_another_resource
        c022_a_repointed_buffer_is_another_group
        groups_keep_what_they_bind
        a_group_that_no_shader_uses_need_not_be_set
        passes_start_with_nothing_bound
        undeclared_writes_are_refused
        immediates_in_raster
        immediates_in_compute
    }
    frames {
        t4_uploads_wait_for_earlier_submissions
        t4_uploads_into_tracked_contents
        frame_data_over_frames_in_flight
        frame_data_as_copy_source
        destruction_while_in_flight
        c024_destroyed_between_record_and_submit
        dropped_recordings_leave_nothing
        c013_the_upload_ring_full_and_wrapped
        c015_upload_memory_stays_what_it_was
        upload_tickets_advance
        textures_updated_while_in_use
    }
    timings {
        passes_are_timed
        frames_are_timed
    }
    queries {
        occlusion
        one_set_for_every_recording
        c078_slots_never_written
        statistics_of_draws
        statistics_of_dispatches
        c080_queries_of_merged_passes
        mistakes_are_refused
    }
    storage {
        eighty_objects_of_every_kind
        seventy_two_small_textures
        draws_over_forty_passes
        a_batch_of_eleven_hundred_draws
    }
}
