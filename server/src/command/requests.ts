import type { Page, RequestFoundBody, RequestRecordBody } from "@sluice/contract/schemas";
import { parseDuration, systemClock } from "@sluice/lib";
import { type Command, InvalidArgumentError } from "commander";
import type { CommandContext } from "./context.ts";
import { moreLine, type PageOptions, pageQuery, withPages } from "./paging.ts";
import { table } from "./terminal.ts";

const head = ["AT", "REQUEST", "KEY", "NETWORK", "METHOD", "STATUS", "CODE", "MS", "CREDITS", "NODE"];
const row = (record: RequestRecordBody) => [
  record.at,
  record.request_id,
  record.key_id,
  record.network,
  record.method,
  record.status,
  record.error ?? record.code,
  Math.round(record.latency_ms * 10) / 10,
  record.credits,
  record.upstream,
];

/** Requests that were answered: one by its id, or those that match. */
export function addRequestCommands(program: Command, context: CommandContext): void {
  const requests = program.command("requests").description("requests that were answered, from the ledger");
  context
    .command(requests, "show", "what is known of a request")
    .argument("<id>", "its id, as the header X-Request-Id or an error carries it")
    .action(async (id, options) => {
      const path = `/api/v1/requests/${encodeURIComponent(id)}`;
      const found = (await context.manage(options, { path })) as RequestFoundBody;
      context.print(options, found, () => found.items.map(described).join("\n\n"));
    });
  withPages(context.command(requests, "list", "list requests, newest first; of the last day by default"))
    .option("--account <id>", "of this account only")
    .option("--key <id>", "with this key only")
    .option("--status <n>", "answered with this HTTP status, or closed with this code")
    .option("--code <code>", "a JSON-RPC code, or a code such as RATE_LIMIT_EXCEEDED")
    .option("--method <method>", "calls of this method only")
    .option("--network <network>", "on this network only")
    .option("--since <when>", "from this moment on: a time, or how long ago such as 90m, 12h, 7d", moment)
    .option("--until <when>", "before this moment", moment)
    .action(async (options: ListOptions) => {
      const { account, key, status, code, method, network, since, until } = options;
      const filters = { account_id: account, key, status, code, method, network, since, until };
      const path = `/api/v1/requests?${pageQuery(options, filters)}`;
      const page = (await context.manage({ ...options }, { path })) as Page<RequestRecordBody>;
      context.print({ ...options }, page, () => table(head, page.items.map(row)) + moreLine(page.next_cursor));
    });
}

interface ListOptions extends PageOptions {
  readonly account?: string;
  readonly key?: string;
  readonly status?: string;
  readonly code?: string;
  readonly method?: string;
  readonly network?: string;
  readonly since?: string;
  readonly until?: string;
}

/** A time, or a time that lies so long before the present. */
export function moment(text: string, _before?: unknown, nowMs: number = systemClock.now()): string {
  const ago = parseDuration(text);
  const atMs = ago === null ? Date.parse(text) : nowMs - ago;
  if (Number.isNaN(atMs))
    throw new InvalidArgumentError("It must be a time such as 2026-11-20T12:00:00Z, or 90m, 12h, 7d.");
  return new Date(atMs).toISOString();
}

/** One record as lines of names and values. */
function described(record: RequestRecordBody): string {
  const lines = Object.entries(record).map(([name, value]) => [name, value ?? "-"] as const);
  const width = Math.max(...lines.map(([name]) => name.length));
  return lines.map(([name, value]) => `${name.padEnd(width)}  ${value}`).join("\n");
}
