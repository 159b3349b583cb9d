//! P8 on Vulkan: requests compile on the worker, draw what they should, and leave nothing whatever is dropped when.

use crate::support::*;

#[test]
fn requests_compile_on_the_worker_and_draw() {
    let Some((mut device, messages)) = vulkan("requests") else { return };
    let parts = Parts::new(&mut device, &shader(&paint("0.0, 0.0, 1.0, 1.0")));
    let tickets: Vec<_> = (0..8).map(|variant| parts.request(&mut device, variant).unwrap()).collect();
    assert!(parts.request(&mut device, 3).unwrap().is_same(&tickets[3]));
    // Their owners may go while they are compiled.
    drop(parts);
    assert!(device.wait_for_pipelines(LONG).unwrap());
    let counts = device.pipeline_counts();
    assert_eq!((counts.in_background, counts.on_thread, counts.created, counts.ready), (8, 0, 0, 8));
    let pipeline = device.pipeline(&tickets[0]).unwrap();
    assert_eq!(painted(&mut device, pipeline), [0, 0, 255, 255]);
    drop(tickets);
    close(device, &messages);
}

#[test]
fn a_device_goes_with_requests_in_flight() {
    for keep in [false, true] {
        let Some((mut device, messages)) = vulkan("requests in flight") else { return };
        let parts = Parts::new(&mut device, &shader(&paint("0.0, 1.0, 1.0, 1.0")));
        let tickets: Vec<_> = (0..30).map(|variant| parts.request(&mut device, variant).unwrap()).collect();
        let kept = keep.then_some((tickets, parts));
        if !keep {
            device.maintain().unwrap();
        }
        close(device, &messages);
        drop(kept);
    }
}
