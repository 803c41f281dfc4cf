/**
 * door: where requests come in. Listens on the gateway's ports, takes JSON-RPC through the pipeline (pipeline.ts is the
 * list of its stages), passes PubSub sockets to a node under the same checks, and hands other paths to the applications
 * that compose mounts. Fed by clients; asks keys, limits, credits and rpc; feeds the ledger with a fact for each call.
 */
export { AppDoor, type AppDoorDependencies } from "./app-door.ts";
export { type AppAddress, AppListener, type AppListenerDependencies } from "./app-listener.ts";
export { type DevAuthorityOptions, type DevTls, devTls } from "./dev-authority.ts";
export {
  type AppBindings,
  type AppMount,
  GatewayDoor,
  type GatewayDoorDependencies,
  type GatewayDoorOptions,
} from "./gateway.ts";
export { GrpcDoor, type GrpcDoorDependencies, type GrpcDoorOptions, type GrpcService, type GrpcTls } from "./grpc.ts";
export {
  type DoorCredits,
  type DoorEvents,
  type DoorGrant,
  type DoorKeys,
  type DoorLimits,
  type DoorTracing,
  type HealthSource,
  type RequestFact,
  statusStillOpen,
} from "./interfaces.ts";
export { freePortRange, freePorts, ListenError, listening } from "./listen-error.ts";
export { type DoorServer, Listener, type ListenerOptions } from "./listener.ts";
export { PubSubDoor, type PubSubDoorOptions } from "./pubsub/pubsub-door.ts";
export type { PubSubDoorDependencies } from "./pubsub/services.ts";
export { closeCodes, type DoorSocket, type SocketMount, type SocketSession } from "./socket.ts";
