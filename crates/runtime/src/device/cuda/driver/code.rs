//! Code: assembled, loaded, launched.

use std::ffi::{CStr, CString, c_int, c_uint, c_void};
use std::{ptr, slice};

use cudarc::driver::sys::{self, CUresult};
use smallvec::SmallVec;

use super::{Bound, Context, Failure, Result, Stream, check};

impl Bound {
    /// Machine code from PTX, that takes at most so many registers, if a number is given. If it fails, what the assembler
    /// said comes with the failure.
    pub(in crate::device::cuda) fn assemble(
        &self,
        text: &str,
        optimization: u32,
        registers: Option<u32>,
    ) -> Result<Vec<u8>, (Failure, String)> {
        let mut log = vec![0u8; 16 * 1024];
        let linked = self.link(text, optimization, registers, &mut log);
        linked.map_err(|failure| {
            let log = CStr::from_bytes_until_nul(&log).unwrap_or_default();
            (failure, log.to_string_lossy().trim().to_owned())
        })
    }

    fn link(&self, text: &str, optimization: u32, registers: Option<u32>, log: &mut [u8]) -> Result<Vec<u8>> {
        use sys::CUjit_option_enum::{
            CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_MAX_REGISTERS,
            CU_JIT_OPTIMIZATION_LEVEL,
        };
        let text = CString::new(text).map_err(|_| Failure::invalid("cuLinkAddData"))?;
        let mut options: SmallVec<[_; 4]> = SmallVec::from_slice(&[
            CU_JIT_ERROR_LOG_BUFFER,
            CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
            CU_JIT_OPTIMIZATION_LEVEL,
        ]);
        // Numbers are passed in place of pointers.
        let mut values: SmallVec<[*mut c_void; 4]> = SmallVec::from_slice(&[
            log.as_mut_ptr().cast(),
            ptr::without_provenance_mut(log.len() - 1),
            ptr::without_provenance_mut(optimization as usize),
        ]);
        if let Some(registers) = registers {
            options.push(CU_JIT_MAX_REGISTERS);
            values.push(ptr::without_provenance_mut(registers as usize));
        }
        let mut state = ptr::null_mut();
        let count = options.len() as c_uint;
        // SAFETY: there are `count` options, each with a value of its type. The log, options and values outlive the state,
        // which `Linker` destroys before this function returns.
        check("cuLinkCreate", unsafe {
            sys::cuLinkCreate_v2(count, options.as_mut_ptr(), values.as_mut_ptr(), &mut state)
        })?;
        let linker = Linker(state);
        let data = text.as_bytes_with_nul();
        // SAFETY: the text is only read, and ends with a zero that is counted; there are no options.
        check("cuLinkAddData", unsafe {
            sys::cuLinkAddData_v2(
                linker.0,
                sys::CUjitInputType::CU_JIT_INPUT_PTX,
                data.as_ptr().cast_mut().cast(),
                data.len(),
                c"kernel.ptx".as_ptr(),
                0,
                ptr::null_mut(),
                ptr::null_mut(),
            )
        })?;
        let (mut code, mut size) = (ptr::null_mut(), 0);
        // SAFETY: the pointers are valid for the call.
        check("cuLinkComplete", unsafe { sys::cuLinkComplete(linker.0, &mut code, &mut size) })?;
        // SAFETY: the linker owns `size` bytes at `code` and is alive.
        Ok(unsafe { slice::from_raw_parts(code.cast::<u8>(), size) }.to_vec())
    }

    /// Loads machine code that [`assemble`](Bound::assemble) has made. Its entry takes `params` parameters of at most 8
    /// bytes each, and is launched with `shared` bytes of dynamic shared memory.
    pub(in crate::device::cuda) fn load(
        &self,
        code: &[u8],
        entry: &str,
        params: usize,
        shared: u32,
    ) -> Result<Function> {
        let entry = CString::new(entry).map_err(|_| Failure::invalid("cuModuleGetFunction"))?;
        let mut module = ptr::null_mut();
        // SAFETY: the code is complete, as the assembler gave it; the driver copies what it needs.
        check("cuModuleLoadData", unsafe { sys::cuModuleLoadData(&mut module, code.as_ptr().cast()) })?;
        let mut function = Function {
            context: self.context,
            module,
            raw: ptr::null_mut(),
            params,
            shared,
            threads: 0,
            registers: 0,
            local_bytes: 0,
        };
        // SAFETY: the module is loaded, the name ends with a zero, the pointer is valid for the call.
        check("cuModuleGetFunction", unsafe {
            sys::cuModuleGetFunction(&mut function.raw, module, entry.as_ptr())
        })?;
        if shared > 0 {
            let attribute = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            let bytes = c_int::try_from(shared).map_err(|_| Failure::invalid("cuFuncSetAttribute"))?;
            // SAFETY: the function is loaded.
            check("cuFuncSetAttribute", unsafe { sys::cuFuncSetAttribute(function.raw, attribute, bytes) })?;
        }
        function.threads =
            function.attribute(sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?;
        function.registers = function.attribute(sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?;
        function.local_bytes =
            function.attribute(sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?;
        Ok(function)
    }

    /// Enqueues a kernel. Each parameter is in the low bytes of a word.
    pub(in crate::device::cuda) fn launch(
        &self,
        function: &Function,
        grid: [u32; 3],
        block: [u32; 3],
        params: &mut [u64],
        stream: &Stream,
    ) -> Result<()> {
        if params.len() != function.params {
            return Err(Failure::invalid("cuLaunchKernel"));
        }
        let mut pointers: SmallVec<[*mut c_void; 12]> =
            params.iter_mut().map(|param| (&raw mut *param).cast()).collect();
        let ([grid_x, grid_y, grid_z], [x, y, z]) = (grid, block);
        // SAFETY: the function is loaded and takes as many parameters as there are pointers, each of at most 8 bytes, which
        // the driver copies. What the code does to memory is the promise of the backend: accesses are inside the tensors,
        // or the user has promised that they are.
        check("cuLaunchKernel", unsafe {
            sys::cuLaunchKernel(
                function.raw,
                grid_x,
                grid_y,
                grid_z,
                x,
                y,
                z,
                function.shared,
                stream.raw,
                pointers.as_mut_ptr(),
                ptr::null_mut(),
            )
        })
    }
}

/// A linker of the driver, destroyed when it is dropped.
struct Linker(sys::CUlinkState);

impl Drop for Linker {
    fn drop(&mut self) {
        // SAFETY: the state is from `cuLinkCreate`, and nobody else has it. A failure leaves nothing to do.
        let _ = unsafe { sys::cuLinkDestroy(self.0) };
    }
}

/// The entry of a loaded module.
#[derive(Debug)]
pub(in crate::device::cuda) struct Function {
    context: &'static Context,
    module: sys::CUmodule,
    raw: sys::CUfunction,
    params: usize,
    /// Bytes of dynamic shared memory.
    shared: u32,
    /// The most threads of a block that it can be launched with.
    pub(in crate::device::cuda) threads: u32,
    /// Registers of a thread.
    pub(in crate::device::cuda) registers: u32,
    /// Bytes of local memory of a thread: arrays, and registers that there was no room for.
    pub(in crate::device::cuda) local_bytes: u32,
}

// SAFETY: the driver's modules and functions may be used by any thread, also by several at once.
unsafe impl Send for Function {}
// SAFETY: as above.
unsafe impl Sync for Function {}

impl Function {
    /// How many blocks of `threads` threads fit a multiprocessor at a time.
    pub(in crate::device::cuda) fn resident_blocks(&self, threads: u32) -> Result<u32> {
        let (mut blocks, threads) = (0, c_int::try_from(threads).unwrap_or(c_int::MAX));
        // SAFETY: the pointer is valid for the call, the function is loaded.
        check("cuOccupancyMaxActiveBlocksPerMultiprocessor", unsafe {
            sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(
                &mut blocks,
                self.raw,
                threads,
                self.shared as usize,
            )
        })?;
        Ok(u32::try_from(blocks).unwrap_or(0))
    }

    fn attribute(&self, attribute: sys::CUfunction_attribute) -> Result<u32> {
        let mut value = 0;
        // SAFETY: the pointer is valid for the call, the function is loaded.
        check("cuFuncGetAttribute", unsafe { sys::cuFuncGetAttribute(&mut value, attribute, self.raw) })?;
        Ok(u32::try_from(value).unwrap_or(0))
    }
}

impl Drop for Function {
    fn drop(&mut self) {
        if self.context.bind().is_ok() {
            // SAFETY: the context is bound. Launches of the function may still be going on, so they are waited for before
            // the module goes. A failure leaves nothing to do: the code then stays loaded.
            unsafe {
                if sys::cuCtxSynchronize() == CUresult::CUDA_SUCCESS {
                    let _ = sys::cuModuleUnload(self.module);
                }
            }
        }
    }
}
