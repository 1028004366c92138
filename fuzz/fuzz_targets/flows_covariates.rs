#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    (bethe_fuzz::target("flows_covariates").run)(bytes);
});
