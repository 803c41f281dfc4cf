/**
 * door/http1: an HTTP/1.1 server over the runtime's sockets, for the port on which every request's cost counts. Fed by
 * clients' bytes; hands each request to the gateway and writes what comes of it.
 */
export type { Handled } from "./connection-owner.ts";
export { HttpRequest } from "./request.ts";
export type { HeadFault } from "./request-head.ts";
export { HttpServer } from "./server.ts";
export { webAnswer, webRequest } from "./web.ts";
