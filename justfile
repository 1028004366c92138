# Everything CI checks.
ci:
    bash .ci/run

# All tests.
test:
    cargo test --workspace

# The speed ratios, measured in one run.
bench:
    cargo bench -p bethe-bench --features peers

# A short tour on built-in problems.
demo out="demo":
    cargo run --release -p bethe -- demo --out {{out}}

# The API documentation, in a browser.
doc:
    cargo doc --workspace --no-deps --open

# What a maintainer publishes: crates, Python distributions, and an archive of the binary.
release out="dist":
    release/packages {{out}}
    release/build {{out}}
