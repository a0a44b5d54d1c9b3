//! Transports: WebSocket frames, HTTP, TLS, limits.
