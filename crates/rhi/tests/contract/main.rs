//! Contract tests of the RHI on the null backend, by topic. Tests that begin with `cNNN_` are the cases of
//! `conformance/CASES.md`.

mod support;

mod batch_replay;
mod batches;
mod bindings;
mod budgets;
mod create_binding;
mod create_pipeline;
mod create_resource;
mod declared_groups;
mod dispatches;
mod draws;
mod faults;
mod handles;
mod heaps;
mod kept;
mod lifetime;
mod model;
mod multisample;
mod parallel;
mod passes;
mod pipelines;
mod plans;
mod queries;
mod readback;
mod request;
mod residency;
mod scenarios;
mod sequences;
mod strange;
mod surfaces;
mod timings;
mod transfer;
mod upload;
mod upload_ring;
