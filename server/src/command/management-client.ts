import { existsSync } from "node:fs";
import { type Config, managementSocketPath } from "../config/index.ts";
import { CommandFailure } from "./terminal.ts";

export type ManagementMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** The management API: of the running server, or over the stores that this command opens. */
export interface ManagementClient extends AsyncDisposable {
  /** Throws CommandFailure with the server's own words when the answer is not a success. */
  call(method: ManagementMethod, path: string, body?: unknown): Promise<unknown>;
}

export interface ManagementOptions {
  /** Whether an empty PostgreSQL database gets its tables; otherwise no command makes a store. */
  readonly migrates?: boolean;
  /** The option by which the operator gave a member of a body or of a query, for the server's refusals. */
  readonly flagOf?: (member: string) => string;
  /** Told of the moment from which records are kept, where an answer begins before it. */
  readonly dataSince?: (since: string) => void;
}

type Send = (path: string, init: RequestInit) => Promise<Response>;

/** @throws {CommandFailure} when no server runs and there is no store, or the stores cannot be opened */
export async function openManagement(config: Config, options: ManagementOptions = {}): Promise<ManagementClient> {
  const { migrates = false, flagOf = (member) => member, dataSince = () => undefined } = options;
  const socket = managementSocketPath(config);
  const client = (send: Send, close: () => Promise<void>): ManagementClient => ({
    call: (method, path, body) => call(send, { method, path, body }, { flagOf, dataSince }),
    [Symbol.asyncDispose]: close,
  });
  if (await serverIsAt(socket)) {
    return client(
      (path, init) => fetch(`http://sluice${path}`, { ...init, unix: socket }),
      async () => {},
    );
  }
  const { openOwnStores } = await import("./own-stores.ts");
  const management = await openOwnStores(config, { migrates });
  return client(
    async (path, init) => await management.fetch(new Request(`http://sluice${path}`, init)),
    async () => await management[Symbol.asyncDispose](),
  );
}

/** After kill -9 a socket file stays without a server; it counts as no server. */
export async function serverIsAt(socket: string): Promise<boolean> {
  if (!existsSync(socket)) return false;
  return await fetch("http://sluice/health", { unix: socket, signal: AbortSignal.timeout(5_000) }).then(
    (response) => response.ok,
    () => false,
  );
}

interface Call {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

type Told = Required<Pick<ManagementOptions, "flagOf" | "dataSince">>;

async function call(send: Send, { method, path, body }: Call, { flagOf, dataSince }: Told): Promise<unknown> {
  const response = await send(path, {
    method,
    headers: { "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const since = response.headers.get("x-data-since");
  if (since !== null) dataSince(since);
  if (response.ok) return text === "" ? null : JSON.parse(text);
  throw new CommandFailure(explain(response.status, text, flagOf));
}

function explain(status: number, text: string, flagOf: (member: string) => string): string {
  let problem: { detail?: string; title?: string; errors?: { path: string; message: string }[] };
  try {
    problem = JSON.parse(text);
  } catch {
    return `the server answered with status ${status}`;
  }
  const errors = (problem.errors ?? []).map(({ path, message }) => `${flagOf(path)}: ${message}`.replace(/^: /, ""));
  // With a list of faults the sentence above it says no more.
  return errors.length > 0 ? errors.join("; ") : (problem.detail ?? problem.title ?? `status ${status}`);
}
