//! Memory of atomics that survives `fork`: what one process writes there the others see.

use crate::error::EngineError;
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;

/// What may lie there.
///
/// # Safety
/// Zeros are a value of the type, and all of its fields are atomics.
pub(crate) unsafe trait Shareable: Sync {}

// SAFETY: an atomic, and 0 is a number.
unsafe impl Shareable for AtomicU64 {}

/// So many values, all zeros at first.
#[derive(Debug)]
pub(crate) struct SharedMemory<T: Shareable> {
    start: NonNull<T>,
    count: usize,
}

// SAFETY: the mapping holds atomics only, and lives until its one owner drops it.
unsafe impl<T: Shareable> Send for SharedMemory<T> {}
// SAFETY: as above; all access is atomic.
unsafe impl<T: Shareable> Sync for SharedMemory<T> {}

impl<T: Shareable> SharedMemory<T> {
    /// Zeros, of which the kernel promises the memory.
    pub(crate) fn new(count: u64) -> Result<Self, EngineError> {
        Self::map(count, MapFlags::empty())
    }

    /// Zeros, of which most are never touched: the kernel promises no memory.
    pub(crate) fn sparse(count: u64) -> Result<Self, EngineError> {
        Self::map(count, MapFlags::NORESERVE)
    }

    fn map(count: u64, more: MapFlags) -> Result<Self, EngineError> {
        let bytes = count.max(1).saturating_mul(size_of::<T>() as u64);
        let error = |errno: Errno| EngineError::Memory { bytes, errno: errno.raw_os_error() };
        let length = usize::try_from(bytes).map_err(|_| error(Errno::NOMEM))?;
        let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED | more);
        // SAFETY: a new anonymous mapping at an address of the kernel's choice touches no memory that anyone holds.
        let start = unsafe { mmap_anonymous(std::ptr::null_mut(), length, access, flags) };
        let start = NonNull::new(start.map_err(error)?.cast()).ok_or_else(|| error(Errno::NOMEM))?;
        Ok(SharedMemory { start, count: count as usize })
    }
}

impl<T: Shareable> Deref for SharedMemory<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: the mapping is page-aligned, as long as this, holds zeros or what the atomics wrote, and lives as long
        // as `self`.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.count) }
    }
}

impl<T: Shareable> Drop for SharedMemory<T> {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, of this length, and no reference outlives `self`.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.count.max(1) * size_of::<T>()) };
    }
}
