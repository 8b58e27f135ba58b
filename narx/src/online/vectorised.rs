//! Functions compiled for several kinds of processors.

/// Makes a function that calls another one, compiled for the best vector instructions there are. Both
/// take the number of lanes L as their only parameter, the other one must be inlined always. Results
/// do not depend on the processor: no sum changes its order, and every fused product is written so.
macro_rules! vectorised {
    (fn $name:ident = $body:ident($($argument:ident: $kind:ty),*) $(-> $result:ty)?) => {
        fn $name<const L: usize>($($argument: $kind),*) $(-> $result)? {
            #[cfg(target_arch = "x86_64")]
            {
                use std::arch::is_x86_feature_detected as has;
                #[target_feature(enable = "avx512f")]
                fn avx512<const L: usize>($($argument: $kind),*) $(-> $result)? {
                    $body($($argument),*)
                }
                #[target_feature(enable = "avx2,fma")]
                fn avx2<const L: usize>($($argument: $kind),*) $(-> $result)? {
                    $body($($argument),*)
                }
                if has!("avx512f") {
                    // SAFETY: the processor has just been found to have it.
                    #[allow(unsafe_code)]
                    return unsafe { avx512($($argument),*) };
                }
                if has!("avx2") && has!("fma") {
                    // SAFETY: the processor has just been found to have both.
                    #[allow(unsafe_code)]
                    return unsafe { avx2($($argument),*) };
                }
            }
            $body($($argument),*)
        }
    };
}

pub(super) use vectorised;
