//! Checked launches: finding the race, the missing barrier and the wrong index without a GPU.
//!
//! [`DeviceContext::checked`](crate::DeviceContext::checked) gives a context whose launches are checked; `TILEWISE_CHECK=1`
//! makes every launch of a program one, on the CPU; [`check`](crate::check) is for a test that asserts that a kernel is
//! clean. The kernel runs as it was described, before the optimiser, on the CPU device, with shadow memory beside its own.
//!
//! # An example: the dot product without its barrier
//!
//! ```
//! use tilewise::prelude::*;
//! use tilewise::report::{Datum, Kind};
//!
//! #[kernel]
//! fn dot_product(output: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 1>, b: &TileTensor<f32, 1>) {
//!     let shared = stack_allocation::<f32, 1>(AddressSpace::Shared, row_major([8]));
//!     let i = thread_idx().x;
//!     shared[i] = a[i] * b[i];
//!     barrier();
//!     let mut stride = 4;
//!     while stride > 0 {
//!         if i < stride {
//!             shared[i] += shared[i + stride];
//!         }
//!         // Here a barrier is missing.
//!         stride /= 2;
//!     }
//!     if i == 0 {
//!         output[0] = shared[0];
//!     }
//! }
//!
//! let ctx = DeviceContext::open("cpu")?.checked();
//! let a = ctx.tensor_from_fn(row_major([8]), |[i]| i as f32)?;
//! let mut output = ctx.zeros::<f32, 1>(row_major([1]))?;
//! ctx.enqueue_function(dot_product(&mut output, &a, &a), grid_dim(1), block_dim(8))?;
//!
//! // The numbers happen to be right here. They need not be elsewhere, and the next read says so.
//! let Err(tilewise::Error::Check(report)) = output.to_host() else { panic!("a race") };
//! let race = report.first_error().expect("a race");
//! assert_eq!(race.element.as_ref().map(|e| e.to_string()).as_deref(), Some("shared[2]"));
//!
//! // Thread 2 writes the sum that thread 0 reads, in the same interval between two barriers.
//! assert_eq!((race.parties[0].thread, race.parties[1].thread), ([2, 0, 0], [0, 0, 0]));
//! assert_eq!((race.parties[0].interval, race.parties[1].interval), (1, 1));
//!
//! // It should read 2 * 2 + 6 * 6. If it comes first, it reads 2 * 2.
//! let Kind::Race { right: Datum::Value(right), wrong: Datum::Value(wrong), .. } = race.kind else { panic!("a race") };
//! assert_eq!((right.to_string(), wrong.to_string()), ("40.0".to_owned(), "4.0".to_owned()));
//! assert_eq!(race.steps.iter().map(|step| step.party).collect::<Vec<_>>(), [1, 0]);
//! # Ok::<(), tilewise::Error>(())
//! ```
//!
//! The report as text ([`report::render`](crate::report::render), and what the error reads as) underlines both lines, says
//! what each thread did, and what to do about it; `docs/checker.md` of the repository shows such a report for every kind of
//! finding.
//!
//! # What is found
//!
//! - **Races** in shared and global memory, also between blocks. Two accesses of different threads to one element are a
//!   race if at least one writes, not both are atomic, and nothing orders them: no barrier of their block, no atomic that
//!   acquires what another has released, no fence, each with a scope that includes both threads. What counts is the
//!   order that is guaranteed, not the one that happened, so a race is found in every run. Threads of a warp are not in
//!   step, and blocks of a launch are in no order. A race that leaves the same values either way is a warning.
//! - **Reads of shared or local memory that nobody has written.** Only the read is told, not what is computed from it.
//! - **Accesses outside a tensor or view**, dimension by dimension, also where the address is inside the allocation, and
//!   claims of alignment that do not hold.
//! - **Barriers that not all threads reach**, threads that wait for what nobody will do, loops that do not end within
//!   [a limit](crate::DeviceContext::with_max_rounds), divisions by zero, ranges whose step is not positive, failed
//!   assertions. As a warning: index arithmetic that goes below zero and comes out inside, as `(i - 1) % n` does.
//! - As advice: **barriers that order nothing** in this launch. Where threads are ordered by atomics or fences, too, some
//!   that order nothing are not told: one before a release or after an acquire always counts as needed.
//!
//! Nothing is said of a right kernel; a false alarm is a bug. What is found is found for this launch: for these sizes and
//! these numbers.
//!
//! # Reports
//!
//! [`report::Report`](crate::report::Report) is plain data, and serialises. Equal findings are one with a count, and the
//! first of them in full; of a race the first that changes a value. It is the same in every run and for every number of
//! host threads. An error is returned by the next `synchronize` or read;
//! [`take_reports`](crate::DeviceContext::take_reports) gives everything, warnings and advice, too.
//!
//! # Counts
//!
//! The same engine counts what otherwise needs a profiler: [`DeviceContext::profiled`](crate::DeviceContext::profiled) gives
//! for each line the sectors of global memory and the conflicts of banks of shared memory that a warp's request takes, and for
//! the launch redundancy, arithmetic intensity and occupancy. `docs/profile.md` of the repository has an example.
//!
//! # What it costs
//!
//! A checked launch takes about two to five times as long as an optimised one on the CPU. Memory grows with what the
//! kernel writes: about as much again as the written tensors, and more where several blocks touch the same elements.
//! Kernels that order threads by more than barriers, or whose blocks wait for each other, run on one host thread and take
//! longer.
