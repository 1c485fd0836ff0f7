//! The NVIDIA device. Where there is no GPU each test says why it is skipped. `tests/runtime` runs on a GPU too, if there is
//! one; here is what only a GPU can show.
#![cfg(feature = "cuda")]

use std::env;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use half::{bf16, f16};
use tilewise_ir::FaultKind;
use tilewise_layout::row_major;
use tilewise_runtime::*;
use tilewise_stage::Element;

#[path = "runtime/kernels.rs"]
#[expect(dead_code, reason = "not all kernels of the other suite are used here")]
mod kernels;

use kernels::*;

/// The first GPU; `None`, and a word about it, if there is none.
fn gpu() -> Option<DeviceContext> {
    match DeviceContext::open("nvidia") {
        Ok(ctx) => Some(ctx),
        Err(error) => {
            println!("skipped: {error}");
            None
        }
    }
}

macro_rules! gpu {
    () => {
        match gpu() {
            Some(ctx) => ctx,
            None => return Ok(()),
        }
    };
}

/// Runs one test of this program in a process of its own, with environment variables; gives what it printed.
fn run_alone(test: &str, variables: &[(&str, &str)]) -> (bool, String) {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "--nocapture", test]).env("TILEWISE_TEST_CHILD", "1");
    for (name, value) in variables {
        command.env(name, value);
    }
    let output = command.output().unwrap();
    let text =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    (output.status.success(), text)
}

fn is_child() -> bool {
    env::var_os("TILEWISE_TEST_CHILD").is_some()
}

#[test]
fn names_are_numbers_of_gpus() -> Result<()> {
    let ctx = gpu!();
    assert_eq!(ctx.device_name(), "nvidia");
    println!("{}", ctx.device_info().description);
    assert!(ctx.device_info().description.contains("compute capability"));
    for name in ["cuda", "CUDA:0", " nvidia:0 ", "gpu"] {
        assert_eq!(DeviceContext::open(name)?.device_info(), ctx.device_info());
    }
    let error = DeviceContext::open("nvidia:99").unwrap_err();
    assert!(matches!(error, Error::NoSuchDevice { .. }), "{error}");
    assert!(error.to_string().contains("`nvidia`"), "{error}");
    assert_eq!(DeviceContext::devices()[0].name, "nvidia");
    Ok(())
}

#[test]
fn limits_are_the_devices() -> Result<()> {
    let ctx = gpu!();
    assert!(ctx.device_info().multiprocessors.is_some_and(|count| count > 0));
    let limits = ctx.device_info().limits.clone();
    assert!(limits.max_threads_per_block >= 1024);
    assert!(limits.max_shared_memory_per_block >= 48 * 1024);
    let mut x = ctx.zeros::<i32, 1>(row_major([4]))?;
    let threads = ctx.enqueue_function(fill(&mut x, 1), grid_dim(1), block_dim((1024, 2))).unwrap_err();
    assert!(matches!(threads, Error::Launch(LaunchError::BlockThreads { limit: 1024, .. })), "{threads}");
    let grid = ctx.enqueue_function(fill(&mut x, 1), grid_dim((1, 70_000)), block_dim(1)).unwrap_err();
    assert!(matches!(grid, Error::Launch(LaunchError::GridAxis { limit: 65_535, .. })), "{grid}");
    let most = limits.max_shared_memory_per_block as usize;
    ctx.enqueue_function(shared_memory(most), grid_dim(2), block_dim(32))?;
    let shared = ctx.enqueue_function(shared_memory(most + 1), grid_dim(1), block_dim(32)).unwrap_err();
    assert!(matches!(shared, Error::Launch(LaunchError::SharedMemory { .. })), "{shared}");
    ctx.synchronize()
}

#[test]
fn work_happens_in_order() -> Result<()> {
    let ctx = gpu!();
    let n = 1 << 20;
    let (grid, block) = (grid_dim(n / 256), block_dim(256));
    let mut a = ctx.full::<f32, 1>(row_major([n]), 0.0)?;
    let mut b = ctx.zeros::<f32, 1>(row_major([n]))?;
    for _ in 0..100 {
        ctx.enqueue_function(affine(&mut b, &a, 1.0, 1.0), grid, block)?;
        ctx.enqueue_function(affine(&mut a, &b, 1.0, 1.0), grid, block)?;
    }
    assert!(a.to_host()?.iter().all(|&x| x == 200.0));
    a.enqueue_fill(3.0)?;
    ctx.enqueue_function(affine(&mut b, &a, 2.0, 0.0), grid, block)?;
    a.enqueue_fill(4.0)?;
    assert!(b.to_host()?.iter().all(|&x| x == 6.0));
    Ok(())
}

#[test]
fn memory_may_be_dropped_while_it_is_in_use() -> Result<()> {
    let ctx = gpu!();
    let other = ctx.create_stream()?;
    let n = 1 << 22;
    let (grid, block) = (grid_dim(n / 256), block_dim(256));
    let mut results = Vec::new();
    for round in 0..40 {
        let on = if round % 2 == 0 { &ctx } else { &other };
        let a = ctx.full::<f32, 1>(row_major([n]), round as f32)?;
        let b = other.full::<f32, 1>(row_major([n]), 0.5)?;
        let mut sum = on.zeros::<f32, 1>(row_major([n]))?;
        on.enqueue_function(add(&mut sum, &a, &b), grid, block)?;
        drop((a, b));
        results.push(sum);
    }
    for (round, sum) in results.iter().enumerate() {
        assert!(sum.to_host()?.iter().all(|&x| x == round as f32 + 0.5), "round {round}");
    }
    Ok(())
}

#[test]
fn a_context_may_be_dropped_while_kernels_run() -> Result<()> {
    drop(gpu!());
    let n = 1 << 24;
    for _ in 0..10 {
        let ctx = gpu!();
        let mut x = ctx.zeros::<i32, 1>(row_major([n]))?;
        for value in 0..20 {
            ctx.enqueue_function(fill(&mut x, value), grid_dim(n / 256), block_dim(256))?;
        }
    }
    gpu!().synchronize()
}

#[test]
fn every_element_type_is_the_same_on_both_sides() -> Result<()> {
    fn check<T: Element + std::fmt::Debug>(ctx: &DeviceContext, values: [T; 3]) -> Result<()> {
        let mut x = ctx.tensor_from_slice(row_major([3]), &values)?;
        assert_eq!(x.to_host()?, values);
        ctx.enqueue_function(fill(&mut x, values[1]), grid_dim(1), block_dim(2))?;
        assert_eq!(x.to_host()?, [values[1], values[1], values[2]]);
        x.enqueue_fill(values[2])?;
        assert_eq!(x.to_host()?, [values[2]; 3]);
        Ok(())
    }
    let ctx = gpu!();
    check(&ctx, [true, false, true])?;
    check(&ctx, [false, true, false])?;
    check(&ctx, [i8::MIN, -1, 7])?;
    check(&ctx, [i16::MIN, -1, 7])?;
    check(&ctx, [i32::MIN, -1, 7])?;
    check(&ctx, [i64::MIN, -1, 7])?;
    check(&ctx, [u8::MAX, 1, 7])?;
    check(&ctx, [u16::MAX, 1, 7])?;
    check(&ctx, [u32::MAX, 1, 7])?;
    check(&ctx, [u64::MAX, 1, 7])?;
    check(&ctx, [usize::MAX, 1, 7])?;
    check(&ctx, [isize::MIN, -1, 7])?;
    check(&ctx, [f16::MIN, f16::from_f32(0.5), f16::INFINITY])?;
    check(&ctx, [bf16::MIN, bf16::from_f32(0.5), bf16::INFINITY])?;
    check(&ctx, [f32::MIN, -0.0, 0.5])?;
    check(&ctx, [f64::MIN, -0.0, 0.1])
}

#[test]
fn copies_of_any_size_are_exact() -> Result<()> {
    let ctx = gpu!();
    for len in [0, 1, 3, 131_071, 131_072, 131_073, 262_145, 1_000_003] {
        let values: Vec<u64> = (0..len as u64).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
        let mut buffer = ctx.enqueue_create_buffer::<u64>(len)?;
        assert!(buffer.to_host()?.iter().all(|&x| x == 0), "new memory is zero");
        buffer.copy_from_host(&values)?;
        assert_eq!(buffer.to_host()?, values);
        let mut copy = ctx.enqueue_create_buffer::<u64>(len)?;
        copy.enqueue_copy_from(&buffer)?;
        drop(buffer);
        assert_eq!(copy.to_host()?, values);
        // A pattern that no `memset` of the driver has, and one that it has.
        for pattern in [0x0123_4567_89AB_CDEF, 0x0123_4567_0123_4567] {
            copy.enqueue_fill(pattern)?;
            assert!(copy.to_host()?.iter().all(|&x| x == pattern));
        }
    }
    Ok(())
}

#[test]
fn a_host_closure_may_use_the_device() -> Result<()> {
    let ctx = gpu!();
    let a = ctx.tensor_from_fn(row_major([300_000]), |[i]| i as u32)?;
    let b = ctx.tensor_from_fn(row_major([10]), |[i]| a.get([i * 1000]).unwrap_or(0))?;
    assert_eq!(b.to_host()?, [0, 1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000]);
    Ok(())
}

#[test]
fn threads_may_share_a_context() -> Result<()> {
    let ctx = gpu!();
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..8)
            .map(|worker| {
                let ctx = if worker % 2 == 0 { Ok(ctx.clone()) } else { ctx.create_stream() };
                scope.spawn(move || -> Result<()> {
                    let ctx = ctx?;
                    for round in 0..50 {
                        let n = 1000 + 37 * worker + round;
                        let mut x = ctx.zeros::<i32, 1>(row_major([n]))?;
                        let grid = grid_dim(n.div_ceil(128));
                        let value = (100 * worker + round) as i32;
                        let mut y = ctx.zeros::<i32, 1>(row_major([grid.to_array()[0] * 128]))?;
                        ctx.enqueue_function(fill(&mut y, value), grid, block_dim(128))?;
                        x.enqueue_fill(value)?;
                        assert!(x.to_host()?.iter().chain(&y.to_host()?).all(|&x| x == value));
                    }
                    Ok(())
                })
            })
            .collect();
        workers.into_iter().try_for_each(|worker| worker.join().unwrap())
    })
}

#[test]
fn events_measure_the_gpu() -> Result<()> {
    let ctx = gpu!();
    let n = 1 << 28;
    let mut x = ctx.zeros::<i32, 1>(row_major([n]))?;
    ctx.enqueue_function(fill(&mut x, 0), grid_dim(n / 256), block_dim(256))?;
    let start = ctx.record_event()?;
    for value in 0..10 {
        ctx.enqueue_function(fill(&mut x, value), grid_dim(n / 256), block_dim(256))?;
    }
    let end = ctx.record_event()?;
    assert!(!end.is_done()?, "10 GiB are not written before the host is here");
    let time = end.elapsed_since(&start)?;
    println!("10 fills of 1 GiB: {time:?}");
    assert!(time > Duration::from_millis(1) && time < Duration::from_secs(5), "{time:?}");
    assert!(end.is_done()?);
    Ok(())
}

#[test]
fn pinned_copies_are_asynchronous() -> Result<()> {
    let ctx = gpu!();
    let len = 64 << 20;
    let mut host = ctx.enqueue_create_pinned_buffer::<u8>(len)?;
    host.as_mut_slice()?.iter_mut().enumerate().for_each(|(i, x)| *x = i as u8);
    let mut device = ctx.enqueue_create_buffer::<u8>(len)?;
    ctx.synchronize()?;
    let start = Instant::now();
    device.enqueue_copy_from_pinned(&host)?;
    let enqueued = start.elapsed();
    ctx.synchronize()?;
    let copied = start.elapsed();
    println!("64 MiB: enqueued in {enqueued:?}, copied in {copied:?}");
    assert!(enqueued < copied);
    let mut back = ctx.enqueue_create_pinned_buffer::<u8>(len)?;
    let other = ctx.create_stream()?;
    let mut twice = other.enqueue_create_buffer::<u8>(len)?;
    twice.enqueue_copy_from_pinned(&host)?;
    back.enqueue_copy_from(&twice)?;
    assert_eq!(back.as_slice()?, host.as_slice()?);
    Ok(())
}

#[test]
fn too_much_memory_says_what_and_how_much() -> Result<()> {
    let ctx = gpu!();
    let error = ctx.enqueue_create_buffer::<f64>(1 << 40).unwrap_err();
    let Error::OutOfMemory { bytes, free, .. } = &error else { panic!("{error}") };
    assert_eq!(*bytes, 8 << 40);
    assert!(free.is_some_and(|free| free > 0), "{error}");
    assert!(error.to_string().contains("a buffer of 1099511627776 f64 on the GPU takes 8796093022208 bytes"));
    assert!(matches!(ctx.enqueue_create_buffer::<f64>(usize::MAX), Err(Error::OutOfMemory { .. })));
    // The context lives on.
    let mut x = ctx.zeros::<i32, 1>(row_major([4]))?;
    ctx.enqueue_function(fill(&mut x, 1), grid_dim(1), block_dim(4))?;
    assert_eq!(x.to_host()?, [1; 4]);
    Ok(())
}

#[test]
fn freed_memory_is_used_again() -> Result<()> {
    let ctx = gpu!();
    // In all many times what a GPU has; also in sizes that do not fit in the gaps of others.
    for round in 0..2000 {
        let mut x = ctx.enqueue_create_buffer::<u8>((256 << 20) + (round % 7) * (32 << 20))?;
        x.enqueue_fill(round as u8)?;
    }
    ctx.synchronize()
}

#[test]
fn faults_are_told_once_and_the_context_lives_on() -> Result<()> {
    let ctx = gpu!();
    let mut x = ctx.zeros::<i32, 1>(row_major([8]))?;
    let y = ctx.full::<i32, 1>(row_major([4]), 5)?;
    for _ in 0..3 {
        ctx.enqueue_function(fill(&mut x, 1), grid_dim(1), block_dim(20))?;
        let error = ctx.synchronize().unwrap_err();
        let Error::Fault(report) = &error else { panic!("{error}") };
        assert_eq!((report.kernel.as_str(), report.more), ("fill", 11));
        assert_eq!((report.fault.block, report.fault.thread), ([0, 0, 0], [8, 0, 0]));
        let FaultKind::OutOfBounds { tensor, index, extent, .. } = &report.fault.kind else {
            panic!("{error}")
        };
        assert_eq!((tensor.as_str(), *index, *extent), ("output", 8, 8));
        assert!(report.fault.location.as_ref().unwrap().file.ends_with("kernels.rs"));
        ctx.synchronize()?;
        assert_eq!(x.to_host()?, [1; 8]);
        assert_eq!(y.to_host()?, [5; 4], "nothing outside was touched");
    }
    // Faults are of a context, not of the GPU.
    let other = gpu!();
    ctx.enqueue_function(fill(&mut x, 1), grid_dim(1), block_dim(20))?;
    other.synchronize()?;
    assert!(matches!(x.to_host(), Err(Error::Fault(_))));
    ctx.synchronize()
}

#[test]
fn the_first_fault_is_that_of_the_first_launch() -> Result<()> {
    let ctx = gpu!();
    let mut q = ctx.full::<i32, 1>(row_major([1]), 9)?;
    let mut x = ctx.zeros::<i32, 1>(row_major([1000]))?;
    ctx.enqueue_function(quotient(&mut q, 1, 0), grid_dim(1), block_dim(1))?;
    ctx.enqueue_function(fill(&mut x, 1), grid_dim(100), block_dim(64))?;
    let Err(Error::Fault(report)) = ctx.synchronize() else { panic!("no fault") };
    assert_eq!(report.kernel, "quotient");
    assert_eq!(report.more, 5400);
    // Of a launch it is that of the lowest block and thread.
    ctx.enqueue_function(fill(&mut x, 1), grid_dim(100), block_dim(64))?;
    let Err(Error::Fault(report)) = ctx.synchronize() else { panic!("no fault") };
    assert_eq!((report.fault.block, report.fault.thread), ([15, 0, 0], [40, 0, 0]));
    Ok(())
}

#[test]
fn lines_come_with_the_next_wait_in_order() -> Result<()> {
    let text = Arc::new(Mutex::new(String::new()));
    let other_text = Arc::new(Mutex::new(String::new()));
    let ctx = gpu!().with_output(text.clone());
    let other = ctx.clone().with_output(other_text.clone());
    ctx.enqueue_function(say("one"), grid_dim(3), block_dim(2))?;
    other.enqueue_function(say("two"), grid_dim(1), block_dim(1))?;
    ctx.enqueue_function(say("three"), grid_dim(1), block_dim(1))?;
    other.synchronize()?;
    let expected: String = (0..6).map(|i| format!("thread {i} of one\n")).collect();
    assert_eq!(*text.lock().unwrap(), expected + "thread 0 of three\n");
    assert_eq!(*other_text.lock().unwrap(), "thread 0 of two\n");
    Ok(())
}

#[test]
fn lines_that_have_no_room_are_counted() -> Result<()> {
    let text = Arc::new(Mutex::new(String::new()));
    let ctx = gpu!().with_output(text.clone());
    for _ in 0..2 {
        ctx.enqueue_function(say("many"), grid_dim(1000), block_dim(256))?;
        ctx.synchronize()?;
        let printed = std::mem::take(&mut *text.lock().unwrap());
        let lines: Vec<_> = printed.lines().collect();
        let (last, shown) = lines.split_last().unwrap();
        assert!(shown.len() > 10_000, "{}", shown.len());
        assert!(shown.iter().all(|line| line.starts_with("thread ") && line.ends_with(" of many")));
        let lost: usize = last.split_whitespace().nth(2).unwrap().parse().unwrap();
        assert_eq!(lost + shown.len(), 256_000, "{last}");
    }
    Ok(())
}

#[test]
fn numbers_of_a_launch_make_variants_but_no_new_kernel() -> Result<()> {
    let ctx = gpu!();
    for round in 0..3 {
        // More sizes than are remembered; some in bounds, some not, some of odd alignment.
        for n in (1..200).chain([1 << 20, (1 << 20) + 1]) {
            let a = ctx.tensor_from_fn(row_major([n + 3]), |[i]| i as f32)?;
            let mut out = ctx.full::<f32, 1>(row_major([n]), -1.0)?;
            let shifted = a.view_at::<1>(round, row_major([n]))?;
            ctx.enqueue_function(
                affine(&mut out, shifted, 2.0, 1.0),
                grid_dim(n.div_ceil(64)),
                block_dim(64),
            )?;
            let host = out.to_host()?;
            assert!(host.iter().enumerate().all(|(i, &x)| x == 2.0 * (i + round) as f32 + 1.0), "{n}");
        }
    }
    assert_eq!(ctx.compilations(), 1);
    Ok(())
}

#[test]
fn shared_memory_and_barriers_work() -> Result<()> {
    let ctx = gpu!();
    let mut output = ctx.zeros::<f32, 1>(row_major([1]))?;
    let a = ctx.tensor_from_fn(row_major([8]), |[i]| i as f32)?;
    ctx.enqueue_function(dot_product(&mut output, &a, &a, 8), grid_dim(1), block_dim(8))?;
    assert_eq!(output.to_host()?, [140.0]);
    Ok(())
}

/// Resident memory of this process in bytes, where it is known.
fn resident() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    Some(text.split_whitespace().nth(1)?.parse::<usize>().ok()? * 4096)
}

#[test]
fn a_hundred_thousand_launches_do_not_leak() -> Result<()> {
    if !is_child() {
        drop(gpu!());
        // Alone, for other tests need memory, too.
        let (passed, text) = run_alone("a_hundred_thousand_launches_do_not_leak", &[]);
        println!("{text}");
        assert!(passed, "{text}");
        return Ok(());
    }
    let ctx = gpu!();
    let mut x = ctx.zeros::<i32, 1>(row_major([1024]))?;
    let mut launch = |i: usize| ctx.enqueue_function(fill(&mut x, i as i32), grid_dim(8), block_dim(128));
    (0..1000).try_for_each(&mut launch)?;
    ctx.synchronize()?;
    let before = resident();
    let start = Instant::now();
    (0..100_000).try_for_each(&mut launch)?;
    println!("{:.2} us a launch with a new scalar each time", start.elapsed().as_secs_f64() * 1e6 / 1e5);
    ctx.synchronize()?;
    let start = Instant::now();
    (0..100_000).try_for_each(|_| launch(7))?;
    println!("{:.2} us a launch with the same numbers", start.elapsed().as_secs_f64() * 1e6 / 1e5);
    ctx.synchronize()?;
    let start = Instant::now();
    (0..100_000).try_for_each(|_| fill(&mut x, 7).into_kernel().map(drop))?;
    println!("{:.2} us of it to describe the kernel", start.elapsed().as_secs_f64() * 1e6 / 1e5);
    if let (Some(before), Some(after)) = (before, resident()) {
        println!("{before} bytes before, {after} after");
        assert!(after < before + (32 << 20), "{before} bytes before, {after} after");
    }
    Ok(())
}

#[test]
fn machine_code_is_kept_on_the_disk() -> Result<()> {
    if is_child() {
        let ctx = gpu!();
        let mut x = ctx.zeros::<i32, 1>(row_major([64]))?;
        let start = Instant::now();
        ctx.enqueue_function(fill(&mut x, 3), grid_dim(1), block_dim(64))?;
        println!("first launch: {:?}", start.elapsed());
        assert_eq!(x.to_host()?, [3; 64]);
        return Ok(());
    }
    drop(gpu!());
    let folder = env::temp_dir().join(format!("tilewise-cuda-cache-{}", std::process::id()));
    let run = || {
        let (passed, text) =
            run_alone("machine_code_is_kept_on_the_disk", &[("TILEWISE_CACHE", folder.to_str().unwrap())]);
        println!("{text}");
        assert!(passed, "{text}");
    };
    let files = || -> Vec<_> {
        let entries = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap());
        entries.map(|entry| (entry.path(), identity(&entry.metadata().unwrap()))).collect()
    };
    run();
    let first = files();
    assert_eq!(first.len(), 1, "{first:?}");
    run();
    assert_eq!(files(), first, "the second process has written nothing");
    // A damaged file is replaced.
    std::fs::write(&first[0].0, b"tilewise cubin 1 and then nonsense").unwrap();
    run();
    assert_eq!(files().len(), 1);
    assert!(std::fs::metadata(&first[0].0).unwrap().len() > 1000);
    std::fs::remove_dir_all(&folder).unwrap();
    // A folder that cannot be made is no error.
    std::fs::write(&folder, b"").unwrap();
    run();
    std::fs::remove_file(&folder).unwrap();
    Ok(())
}

/// What tells a file from one that has replaced it.
#[cfg(unix)]
fn identity(data: &std::fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(data)
}

#[cfg(not(unix))]
fn identity(data: &std::fs::Metadata) -> u64 {
    data.len()
}

#[test]
#[expect(unsafe_code, reason = "the test breaks the promise that is unsafe to give")]
fn an_unchecked_launch_that_goes_astray_loses_the_device_and_says_so() -> Result<()> {
    if !is_child() {
        drop(gpu!());
        let (passed, text) =
            run_alone("an_unchecked_launch_that_goes_astray_loses_the_device_and_says_so", &[]);
        assert!(passed, "{text}");
        return Ok(());
    }
    let ctx = gpu!();
    let mut x = ctx.zeros::<i64, 1>(row_major([4]))?;
    // SAFETY: there is none: it is what the test is about, and it is alone in its process.
    let launch = unsafe { fill(&mut x, 1).unchecked() };
    ctx.enqueue_function(launch, grid_dim(1 << 28), block_dim(256))?;
    let error = ctx.synchronize().unwrap_err();
    assert!(matches!(error, Error::DeviceLost { .. }), "{error}");
    assert!(error.to_string().contains("unchecked"), "{error}");
    assert!(matches!(x.to_host(), Err(Error::DeviceLost { .. })));
    assert!(matches!(ctx.enqueue_create_buffer::<u8>(1), Err(Error::DeviceLost { .. })));
    assert!(DeviceContext::open("nvidia").is_err());
    Ok(())
}
