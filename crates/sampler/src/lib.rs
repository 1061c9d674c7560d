//! What the whole system did during a measured window.
