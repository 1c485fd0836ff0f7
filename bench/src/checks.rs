//! Bounds checks on and off.

use tilewise::Launch;

/// Whether a kernel compares its indices with the extents of its tensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Checks {
    /// As every launch does.
    On,
    /// `unsafe { launch.unchecked() }`.
    Off,
}

impl Checks {
    /// The launch with or without checks. Without is for a launch that has run with checks before, with the same
    /// arguments, and without a fault.
    #[expect(unsafe_code, reason = "the time without bounds checks is measured, too")]
    pub(crate) fn apply(self, launch: Launch<'_>) -> Launch<'_> {
        match self {
            Checks::On => launch,
            // SAFETY: indices depend on sizes and on inputs alone, and with these the launch has had no access out of
            // bounds.
            Checks::Off => unsafe { launch.unchecked() },
        }
    }

    /// Who wrote the kernel, in a record.
    pub(crate) fn by(self) -> &'static str {
        match self {
            Checks::On => "tilewise",
            Checks::Off => "tilewise unchecked",
        }
    }
}
