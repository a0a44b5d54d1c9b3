//! Calls without a network: from the same process, or from a serverless host
//! (reference §12.7).
//!
//! Depends on the dispatcher. The same flows run and the same types are
//! checked as for calls from outside.

use std::time::Instant;

use polywire_schema::{Api, Value};
use polywire_tsbuffer::typed::Codec;
use polywire_tsrpc::{
    ApiError, Body, DataType, INVALID_REQUEST_BUFFER, Incoming, InputError, Service, Sn, decode_buffer,
    write_bare_error,
};

use crate::{
    Conn, Reply, Server,
    api::{self, Arrival},
    conn::Kind,
    dispatch,
    flows::{Data, RecvData},
    short::{Format, Short, ShortReply},
};

impl Server {
    /// Calls an API of this server.
    ///
    /// # Errors
    /// What the API answers, or why it was not called.
    pub async fn call<A>(&self, request: A) -> Reply<A::Response>
    where
        A: Api + Codec,
        A::Response: Codec,
    {
        let response = self.call_named(A::NAME, request.to_value()).await?;
        polywire_schema::Schema::from_value(response).map_err(|error| self.internal_error(&error.to_string()))
    }

    /// Calls the API of a name. The request is checked as one from outside is.
    ///
    /// # Errors
    /// What the API answers, or why it was not called.
    pub async fn call_named(&self, name: &str, request: Value) -> Reply<Value> {
        let contract = self.contract().map_err(|error| self.internal_error(&error.to_string()))?;
        let service = contract.services.api(name).ok_or_else(|| ApiError::service_not_found(name))?;
        let request = contract.dynamic(service.input()).check(&request).map_err(ApiError::input_data)?;
        let (short, reply) = Short::new(Format::Native);
        let conn = Conn::new(self.clone(), None, None, DataType::Text, Kind::Short(short));
        let arrival = Arrival { conn: &conn, sn: Sn::None, now: Instant::now() };
        let api = self.dispatch().apis.get(&service.id).cloned();
        match api {
            Some(api) => dispatch::run(&conn, api.start_value(arrival, request).map_err(ApiError::input_data)?),
            None => api::unhandled(arrival, service),
        }
        match reply.await {
            Ok(ShortReply::Native(result)) => result,
            Ok(ShortReply::Closed(reason)) => Err(ApiError::conn_closed(Some(&reason))),
            Ok(_) | Err(_) => Err(ApiError::conn_closed(None)),
        }
    }

    /// Answers a JSON request for the API of a name with the JSON text of an
    /// ApiReturn: what a serverless host needs. A leading `/` of the name is
    /// ignored, and JSON is accepted whatever the options say.
    pub async fn input_json(&self, name: &str, request: &str) -> String {
        let name = name.strip_prefix('/').unwrap_or(name);
        let bytes = match self.contract() {
            Err(error) => self.bare_error(DataType::Text, &self.internal_error(&error.to_string())),
            Ok(_) => self.input(DataType::Text, Data::Text(request.to_owned()), Some(name.to_owned())).await,
        };
        // Our own JSON writer writes UTF-8.
        String::from_utf8(bytes).unwrap_or_default()
    }

    /// Answers a binary request (`ServerInputData`) with a binary answer
    /// (`ServerOutputData`): what a serverless host needs. A message is answered with nothing.
    pub async fn input_buffer(&self, request: &[u8]) -> Vec<u8> {
        match self.contract() {
            Err(error) => self.bare_error(DataType::Buffer, &self.internal_error(&error.to_string())),
            Ok(_) => self.input(DataType::Buffer, Data::Buffer(request.to_vec()), None).await,
        }
    }

    fn bare_error(&self, data_type: DataType, error: &ApiError) -> Vec<u8> {
        let mut bytes = Vec::new();
        write_bare_error(&mut bytes, data_type, error);
        bytes
    }

    async fn input(&self, data_type: DataType, data: Data, service: Option<String>) -> Vec<u8> {
        let (short, reply) = Short::new(Format::Bytes);
        let conn = Conn::new(self.clone(), None, None, data_type, Kind::Short(short));
        let input = RecvData { conn: conn.clone(), data, service };
        let error = match RecvData::through_flows(input).await {
            None => Some(ApiError::conn_closed(None)),
            Some(received) => self.accept(&conn, received),
        };
        if let Some(error) = error {
            return self.bare_error(data_type, &error);
        }
        match reply.await {
            Ok(ShortReply::Bytes { body, .. }) => body,
            Ok(ShortReply::Accepted) => Vec::new(),
            Ok(ShortReply::Closed(reason)) => self.bare_error(data_type, &ApiError::conn_closed(Some(&reason))),
            Ok(_) | Err(_) => self.bare_error(data_type, &ApiError::conn_closed(None)),
        }
    }

    /// Starts what the data asks for; an error where it cannot be read.
    fn accept(&self, conn: &Conn, received: RecvData) -> Option<ApiError> {
        let services = &self.assembled()?.services;
        match &received.data {
            Data::Text(text) => {
                let name = received.service.unwrap_or_default();
                let Some(service) = services.api(&name) else { return Some(ApiError::invalid_service_name(&name)) };
                start(conn, service, Body::Json(text.as_bytes())).err()
            }
            Data::Buffer(bytes) => match decode_buffer(bytes, services, self.strictness()) {
                Incoming::Call { service, sn, body } => {
                    let started = dispatch::call(conn, service, sn, body, Instant::now());
                    started.err().map(|_| ApiError::input_data(INVALID_REQUEST_BUFFER))
                }
                Incoming::Message { service, body } => match crate::messages::receive(conn, service, body) {
                    Ok(()) => {
                        if let Kind::Short(short) = &conn.0.kind {
                            short.reply(ShortReply::Accepted);
                        }
                        None
                    }
                    Err(_) => Some(ApiError::input_data(INVALID_REQUEST_BUFFER)),
                },
                Incoming::Heartbeat => Some(ApiError::input_data(INVALID_REQUEST_BUFFER)),
                Incoming::Invalid(error) => Some(error.to_api_error()),
            },
        }
    }
}

fn start(conn: &Conn, service: &std::sync::Arc<Service>, body: Body<'_>) -> Result<(), ApiError> {
    dispatch::call(conn, service, Sn::None, body, Instant::now())
        .map_err(|error| InputError::body(DataType::Text, error).to_api_error())
}
