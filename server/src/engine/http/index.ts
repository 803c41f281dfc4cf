/**
 * http: the engine's REST endpoint. Bundles and status by the engine's own paths, Jito's JSON-RPC on the same paths,
 * and the WebSocket stream of the tip floor; `standby` answers while another process runs the engine. Fed by clients
 * whom an API key identifies; speaks to the engine through `BlockEngineService`.
 */
export { Admit } from "./admit.ts";
export { createEngineHttp } from "./http.ts";
export { createStandbyHttp, standbyRetrySeconds, standbyText } from "./standby.ts";
export { TipStream, tipStreamPath } from "./tip-stream.ts";
