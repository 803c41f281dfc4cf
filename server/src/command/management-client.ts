import { existsSync } from "node:fs";
import { composeManagement, managementSocketPath } from "../compose.ts";
import type { Config } from "../config/index.ts";
import { explainStartFault } from "./start-fault.ts";
import { CommandFailure } from "./terminal.ts";

export type ManagementMethod = "GET" | "POST" | "PUT" | "DELETE";

/** The management API: of the running server, or over the stores that this command opens. */
export interface ManagementClient extends AsyncDisposable {
  /** Throws CommandFailure with the server's own words when the answer is not a success. */
  call(method: ManagementMethod, path: string, body?: unknown): Promise<unknown>;
}

type Send = (path: string, init: RequestInit) => Promise<Response>;

export async function openManagement(config: Config): Promise<ManagementClient> {
  const socket = managementSocketPath(config);
  if (await serverIsAt(socket)) {
    const send: Send = (path, init) => fetch(`http://sluice${path}`, { ...init, unix: socket });
    return { call: (method, path, body) => call(send, method, path, body), [Symbol.asyncDispose]: async () => {} };
  }
  const management = await composeManagement(config).catch(explainStartFault);
  const send: Send = async (path, init) => await management.fetch(new Request(`http://sluice${path}`, init));
  return {
    call: (method, path, body) => call(send, method, path, body),
    [Symbol.asyncDispose]: () => management[Symbol.asyncDispose](),
  };
}

/** After kill -9 a socket file stays without a server; it counts as no server. */
export async function serverIsAt(socket: string): Promise<boolean> {
  if (!existsSync(socket)) return false;
  return await fetch("http://sluice/health", { unix: socket, signal: AbortSignal.timeout(5_000) }).then(
    (response) => response.ok,
    () => false,
  );
}

async function call(send: Send, method: string, path: string, body: unknown): Promise<unknown> {
  const response = await send(path, {
    method,
    headers: { "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (response.ok) return text === "" ? null : JSON.parse(text);
  throw new CommandFailure(explain(response.status, text));
}

function explain(status: number, text: string): string {
  try {
    const problem: { detail?: string; title?: string; errors?: { path: string; message: string }[] } = JSON.parse(text);
    const errors = (problem.errors ?? []).map((error) => `${error.path}: ${error.message}`);
    return [problem.detail ?? problem.title ?? `status ${status}`, ...errors].join("; ");
  } catch {
    return `the server answered with status ${status}`;
  }
}
