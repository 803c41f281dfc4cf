import { readFileSync } from "node:fs";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import type { LogAddress } from "../../config/index.ts";
import { LogError } from "../errors.ts";

/**
 * Connects to the servers of the address. The library would take only the last of several servers of one text, cannot
 * decode credentials, and connects to `tls://` in plain text unless it is given TLS options: so it is given no text.
 *
 * @throws {LogError} UNAVAILABLE
 */
export async function connectToNats(address: LogAddress): Promise<NatsConnection> {
  const { servers, username, password, token, tls } = address;
  try {
    return await connect({
      servers: servers.map(({ host, port }) => `${host.includes(":") ? `[${host}]` : host}:${port}`),
      name: "sluice",
      ...(username === null ? {} : { user: username }),
      ...(password === null ? {} : { pass: password }),
      ...(token === null ? {} : { token }),
      ...(tls === null ? {} : { tls: tls.caFile === null ? {} : { ca: readFileSync(tls.caFile, "utf8") } }),
      maxReconnectAttempts: -1,
      reconnectTimeWait: 500,
      pingInterval: 5_000,
      maxPingOut: 2,
      timeout: 5_000,
    });
  } catch (error) {
    throw new LogError("UNAVAILABLE", `The servers of LOG_URL cannot be reached: ${String(error)}`, error);
  }
}
