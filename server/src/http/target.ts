import type { HeaderReader } from "./presented-key.ts";

/** Path and query of an absolute URL, as the runtime's server gives them whatever the client wrote. */
export function targetOf(url: string): string {
  const start = url.indexOf("/", 8);
  return start < 0 ? "/" : url.slice(start);
}

/** The path of a target without its query. */
export function pathOf(target: string): string {
  const query = target.indexOf("?");
  return query < 0 ? target : target.slice(0, query);
}

export function isUpgrade(headers: HeaderReader): boolean {
  return headers.get("upgrade")?.toLowerCase() === "websocket";
}
