//! One call, on whatever transport: hooks, encoding, the answer.
//!
//! Depends on codecs and flows. Invariant: a call that a hook stops ends with
//! an error; published clients never settle it.

use std::{sync::Arc, time::Duration};

use polywire_runtime::{BoxError, Request, ValueCodec, run_or_spawn};
use polywire_tsrpc::{ApiError, DataType, ErrorKind};

use crate::{
    Calling, Running,
    core::{Callee, Core},
    flows::{ApiReturn, log_failure},
    transport::Transport,
};

/// How one call is made.
///
/// ```
/// use std::time::Duration;
/// use polywire_client::CallOptions;
///
/// let options = CallOptions { timeout: Some(Duration::from_secs(2)), ..CallOptions::default() };
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallOptions {
    /// How long to wait for the answer, instead of the client's own timeout.
    pub timeout: Option<Duration>,
    /// A key to abort several calls by. A hook cannot change it.
    pub abort_key: Option<String>,
}

/// A call that has not begun. `callee` may say why it cannot be made.
pub(crate) fn call<A: Request, T: Transport>(
    transport: &T,
    callee: Result<Callee<A>, ApiError>,
    request: A,
    options: CallOptions,
) -> Running<A::Response> {
    let key = options.abort_key.clone();
    let aborts = &transport.core().aborts;
    match callee {
        Ok(callee) => Running::new(aborts, key, make(transport.clone(), callee, request, options)),
        Err(error) => Running::new(aborts, key, std::future::ready(Err(error))),
    }
}

async fn make<A: Request, T: Transport>(
    transport: T,
    callee: Callee<A>,
    request: A,
    options: CallOptions,
) -> Result<A::Response, ApiError> {
    let core = transport.core();
    let result = if core.flows.pre_call_api.is_active() {
        through_pre_call(&transport, &callee, &request, options).await
    } else {
        let codec = &callee.codecs.request;
        let encode = |data_type: DataType, out: &mut Vec<u8>| codec.encode(&request, data_type, out);
        transport.exchange(&callee, encode, timeout(core, &options)).await
    };
    if !core.flows.pre_api_return.is_active() && !core.flows.post_api_return.is_active() {
        return result;
    }
    through_return(core, &callee, result).await
}

fn timeout(core: &Core, options: &CallOptions) -> Option<Duration> {
    options.timeout.or(core.options.timeout)
}

async fn through_pre_call<A: Request, T: Transport>(
    transport: &T,
    callee: &Callee<A>,
    request: &A,
    options: CallOptions,
) -> Result<A::Response, ApiError> {
    let core = transport.core();
    let codecs = &callee.codecs;
    let api = Arc::clone(&callee.service.name);
    let calling = Calling { api, request: codecs.request.to_value(request), options, reply: None };
    let Calling { request, options, reply, .. } = unless_stopped(core.flows.pre_call_api.run(calling).await)?;
    if let Some(reply) = reply {
        return reply.and_then(|value| codecs.response.read_value(value).map_err(ApiError::invalid_request));
    }
    let codec = codecs.request.dynamic();
    let encode = |data_type: DataType, out: &mut Vec<u8>| codec.encode_value(&request, data_type, out);
    transport.exchange(callee, encode, timeout(core, &options)).await
}

async fn through_return<A: Request>(
    core: &Arc<Core>,
    callee: &Callee<A>,
    result: Result<A::Response, ApiError>,
) -> Result<A::Response, ApiError> {
    let codec = &callee.codecs.response;
    let api = Arc::clone(&callee.service.name);
    let returned = ApiReturn { api, result: result.map(|response| codec.to_value(&response)) };
    let returned = unless_stopped(core.flows.pre_api_return.run(returned).await)?;
    let result = match &returned.result {
        Ok(value) => codec.read_value(value.clone()).map_err(ApiError::invalid_request),
        Err(error) => Err(error.clone()),
    };
    if core.flows.post_api_return.is_active() {
        let core = Arc::clone(core);
        run_or_spawn(async move {
            if let Err(error) = core.flows.post_api_return.run(returned).await {
                log_failure("post_api_return", &*error);
            }
        });
    }
    result
}

/// What a flow of hooks made of its input, or why what it is about does not go on.
pub(crate) fn unless_stopped<T>(outcome: Result<Option<T>, BoxError>) -> Result<T, ApiError> {
    match outcome {
        Ok(Some(value)) => Ok(value),
        Ok(None) => Err(ApiError::cancelled()),
        Err(error) => Err(match error.downcast::<ApiError>() {
            Ok(error) => *error,
            Err(error) => ApiError::new(error.to_string()).kind(ErrorKind::Client),
        }),
    }
}
