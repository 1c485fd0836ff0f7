//! What backends cannot translate, as errors of the runtime.

use crate::error::Error;

#[cfg(any(feature = "cuda", feature = "inspect"))]
impl From<tilewise_ptx::Unsupported> for Error {
    fn from(unsupported: tilewise_ptx::Unsupported) -> Error {
        let tilewise_ptx::Unsupported { kernel, what, target, location } = unsupported;
        Error::Unsupported { kernel, what, target: target.to_string(), location }
    }
}

/// What a user is told whose kernel `target` cannot run: an adapter, or a language.
#[cfg(any(feature = "wgpu", feature = "inspect"))]
pub(crate) fn by_naga(unsupported: tilewise_naga::Unsupported, target: &str) -> Error {
    use tilewise_naga::Reason;

    let tilewise_naga::Unsupported { kernel, reason, location } = unsupported;
    let what = match reason {
        Reason::Lacks { what, feature } => format!("{what}, which needs {feature},"),
        Reason::WideIndex => {
            "index arithmetic that may exceed 32 bits (smaller extents or a smaller grid make it fit)"
                .to_owned()
        }
        Reason::Limit { what, amount, limit } => {
            format!("a kernel with {amount} {what} (the most is {limit})")
        }
        Reason::DivergentBarrier => {
            "a barrier that not all threads of the block come to together (its condition or loop depends on the thread or \
             on memory; move the barrier out of it)"
                .to_owned()
        }
        Reason::DivergentWarpOperation => {
            "an operation of a warp that not all threads of the block come to together (its condition or loop depends on \
             the thread or on memory; the device has no warps of 32 threads, so all of the block have to take part)"
                .to_owned()
        }
        Reason::UnknownBlock => reason.to_string(),
    };
    Error::Unsupported { kernel, what, target: target.to_owned(), location }
}

#[cfg(test)]
mod tests {
    #[cfg(any(feature = "wgpu", feature = "inspect"))]
    #[test]
    fn what_an_adapter_lacks_is_named_with_the_line() {
        let location = tilewise_ir::Location { file: "src/k.rs".to_owned(), line: 3, column: 5 };
        let (what, feature) = ("`add` of f64".to_owned(), tilewise_naga::Feature::Float64);
        let reason = tilewise_naga::Reason::Lacks { what, feature };
        let kernel = "sum".to_owned();
        let unsupported = tilewise_naga::Unsupported { kernel, reason, location: Some(location) };
        assert_eq!(
            super::by_naga(unsupported, "Mali-G78 by Vulkan").to_string(),
            "kernel `sum`: `add` of f64, which needs `f64`, cannot run on Mali-G78 by Vulkan (src/k.rs:3:5)"
        );
    }

    #[cfg(any(feature = "cuda", feature = "inspect"))]
    #[test]
    fn what_cannot_be_done_in_ptx_says_where() {
        let location = tilewise_ir::Location { file: "src/k.rs".to_owned(), line: 3, column: 5 };
        let error = crate::error::Error::from(tilewise_ptx::Unsupported {
            kernel: "sum".to_owned(),
            what: "an atomic addition of f64x2".to_owned(),
            target: tilewise_ptx::Target { capability: 90, ptx: (8, 0) },
            location: Some(location),
        });
        assert_eq!(
            error.to_string(),
            "kernel `sum`: an atomic addition of f64x2 cannot run on sm_90 (PTX 8.0) (src/k.rs:3:5)"
        );
    }
}
