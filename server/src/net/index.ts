/**
 * net: everything on a socket. HTTP/1.1 (a server and a client over one syntax), calls to URLs of customers (egress),
 * listeners and their ports, WebSocket sessions, the gRPC server, certificates. Fed by bytes of clients and nodes;
 * feeds the gateway, the services' endpoints and upstreams. What a request means is decided elsewhere: no file here
 * knows a method, a key or a store.
 */
export { type CertificateSource, fixedCertificate } from "./certificate-source.ts";
export { type AddressRules, createAddressRules } from "./egress/address-rules.ts";
export { EgressEndpoint, type EgressOutcome } from "./egress/egress-endpoint.ts";
export { type EgressUrl, type EgressUrlFault, readEgressUrl } from "./egress/egress-url.ts";
export { type NameResolver, systemResolver } from "./egress/name-resolver.ts";
export {
  createCertificateEvents,
  createConnectionEvents,
  createProxyEvents,
  netMetrics,
  type ProxyEvents,
} from "./events.ts";
export { FrontedPeers, frontHost } from "./fronted-peers.ts";
export {
  type CallContext,
  type DuplexSession,
  duplex,
  type GrpcContext,
  GrpcServer,
  type GrpcService,
  type RequestStream,
  serverStream,
  unary,
} from "./grpc/grpc.ts";
export { type PackedResponses, packedDuplex } from "./grpc/packed/grpc.ts";
export { PackedMessage, PieceCutter } from "./grpc/packed/packed-message.ts";
export { ResponseStream } from "./grpc/response-stream.ts";
export { loadService, packedMethod } from "./grpc/service.ts";
export { type GrpcErrorStatus, GrpcStatusError } from "./grpc/status.ts";
export { BodyBuffer, free } from "./http1/body-buffer.ts";
export { CutBody, type CutKind } from "./http1/client/body-source.ts";
export type { PooledOutcome } from "./http1/client/connection.ts";
export { ConnectionPool } from "./http1/client/connection-pool.ts";
export { decodeBody } from "./http1/client/content-coding.ts";
export { type LargeBody, type LargeBodyOptions, readLargeBody } from "./http1/client/large-body.ts";
export { requestTarget } from "./http1/client/request-target.ts";
export type { Handled } from "./http1/server/connection.ts";
export { ConnectionLimit } from "./http1/server/connection-limit.ts";
export type { HeadFault, HttpRequest, ReadableBody } from "./http1/server/request.ts";
export {
  type AnswerBody,
  fieldLines,
  type HttpAnswer,
  problemAnswer,
  type StreamEnding,
} from "./http1/server/response-writer.ts";
export { HttpServer } from "./http1/server/server.ts";
export { type AppMount, webAnswer, webRequest } from "./http1/server/web.ts";
export { AppListener } from "./listener/app-listener.ts";
export { freePortRange, freePorts, ListenError, listening } from "./listener/listen-error.ts";
export { PlainListener } from "./listener/plain-listener.ts";
export { ProxyFront } from "./proxy/proxy-front.ts";
export { CertificateFault, CertificateFiles } from "./tls/certificate-files.ts";
export { devTls } from "./tls/dev-authority.ts";
export { TlsFront } from "./tls/tls-front.ts";
export { WebSocketClient } from "./websocket/client.ts";
export { FanOut, type FrameGroup } from "./websocket/fan-out.ts";
export type { FrameBatch } from "./websocket/frame-batch.ts";
export { WebSocketServer } from "./websocket/server.ts";
export {
  ClientSession,
  closedAbnormally,
  InboundBounds,
  RefusedSession,
  type Socket,
  type SocketMount,
  type SocketPeer,
  type SocketSession,
} from "./websocket/session.ts";
