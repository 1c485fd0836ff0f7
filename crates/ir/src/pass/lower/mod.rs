//! Lowerings: rewrites of operations that a device has not into operations that it has.
//!
//! They stand in none of the lists of [`pass`](crate::pass). A backend runs those that its device needs, after
//! [`prepare`](crate::pass::prepare) and [`optimize`](crate::pass::optimize), and verifies the kernel afterwards. It may
//! then optimise again.

pub mod math;
