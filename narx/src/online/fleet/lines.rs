use std::ops::Range;

/// Workers side by side: eight numbers are one line of a processor's cache, and one register of the
/// widest ones.
pub(super) const LANES: usize = 8;

/// Bytes of a line.
const LINE: usize = 64;

/// The numbers of eight workers, each line at an address that is a multiple of its size.
#[derive(Debug, Default)]
pub(super) struct Lines {
    numbers: Vec<f64>,
    /// Where the first line starts.
    start: usize,
    lines: usize,
}

impl Lines {
    /// So many lines of 0.
    pub(super) fn new(lines: usize) -> Self {
        let numbers = vec![0.0; lines * LANES + LANES - 1];
        // An offset that cannot be told only costs time.
        let start = numbers.as_ptr().align_offset(LINE).min(LANES - 1);
        Self {
            numbers,
            start,
            lines,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines == 0
    }

    pub(super) fn get(&self) -> &[[f64; LANES]] {
        let numbers = self.numbers.get(self.start..).unwrap_or(&[]);
        &numbers.as_chunks().0[..self.lines]
    }

    /// Asks for these lines, which are to be read soon.
    #[inline]
    pub(super) fn fetch(&self, lines: Range<usize>) {
        #[cfg(target_arch = "x86_64")]
        for line in self.get().get(lines).unwrap_or(&[]) {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            // SAFETY: a prefetch reads nothing that the program could see, from whatever address.
            #[allow(unsafe_code)]
            unsafe {
                _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast());
            }
        }
    }

    pub(super) fn get_mut(&mut self) -> &mut [[f64; LANES]] {
        let numbers = self.numbers.get_mut(self.start..).unwrap_or(&mut []);
        &mut numbers.as_chunks_mut().0[..self.lines]
    }
}

impl Clone for Lines {
    fn clone(&self) -> Self {
        // Another allocation may start elsewhere in its line.
        let mut clone = match self.lines {
            0 => Self::default(),
            lines => Self::new(lines),
        };
        clone.get_mut().copy_from_slice(self.get());
        clone
    }
}
