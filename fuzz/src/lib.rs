//! Nothing but fuzz targets lives here; see tests/fuzz.rs.
