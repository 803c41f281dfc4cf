import type { AuditEntry, Page, ServerStatus, UsageReport } from "@sluice/contract/schemas";
import { networks } from "@sluice/contract/tiers";
import type { Command } from "commander";
import { managementSocketPath } from "../config/index.ts";
import { day, oneOf } from "./arguments.ts";
import type { CommandContext } from "./context.ts";
import { serverIsAt } from "./management-client.ts";
import { moreLine, type PageOptions, pageQuery, withPages } from "./paging.ts";
import { CommandFailure, table } from "./terminal.ts";
import { describeWorkers } from "./workers.ts";

const groups = ["day", "method", "key"] as const;

/** What a server and its accounts do and did. */
export function addReportCommands(program: Command, context: CommandContext): void {
  context.command(program, "status", "show the running server: health, endpoints, nodes").action(async (options) => {
    const config = context.config(options);
    if (!(await serverIsAt(managementSocketPath(config)))) {
      throw new CommandFailure(`no server runs on ${config.stores.directory}`);
    }
    const status = (await context.manage(options, { path: "/status" })) as ServerStatus;
    context.print(options, status, () => describeStatus(status));
  });
  addUsage(program, context);
  withPages(context.command(program, "audit", "list what was changed and by whom, newest first"))
    .option("--subject <id>", "of this account, key, or network/node alone")
    .action(async (options: PageOptions & { readonly subject?: string }) => {
      const path = `/api/v1/admin/audit?${pageQuery(options, { subject: options.subject })}`;
      const page = (await context.manage({ ...options }, { path })) as Page<AuditEntry>;
      const rows = page.items.map(({ at, actor, action, subject, detail }) => {
        return [at, actor, action, subject, JSON.stringify(detail)];
      });
      const head = ["AT", "BY", "ACTION", "SUBJECT", "DETAIL"];
      context.print({ ...options }, page, () => table(head, rows) + moreLine(page.next_cursor));
    });
}

function describeStatus(server: ServerStatus): string {
  const { status, version, mode, pid, uptime_seconds: up, roles, parts, reasons, processes } = server;
  const { endpoints, nodes, ingest } = server;
  const rows = [
    ...Object.entries(parts).map(([name, state]) => [name, state]),
    ...nodes.map(({ network, serving, of }) => [network, `${serving} of ${of} nodes serve`]),
    ...ingest.map(({ network, state, confirmed }) => [`blocks of ${network}`, `${state}, at slot ${confirmed ?? "?"}`]),
    ...endpoints.map(({ name, url }) => [name, url]),
  ];
  const head = `${status}: sluice ${version} (${mode}), process ${pid}, up for ${up} s, roles ${roles.join(", ")}`;
  const why = reasons.map(({ role, message }) => `${role} does not serve: ${message}`);
  const others = processes.map((each) => [each.id, each.version, each.roles.join(", "), each.since]);
  return [
    head,
    ...(why.length === 0 ? [] : ["", ...why]),
    "",
    table(["PART", "IS"], rows),
    ...(server.workers === undefined ? [] : ["", describeWorkers(server.workers)]),
    ...(others.length === 0 ? [] : ["", table(["PROCESS", "VERSION", "ROLES", "SINCE"], others)]),
  ].join("\n");
}

interface UsageOptions extends PageOptions {
  readonly from?: string;
  readonly to?: string;
  readonly by: (typeof groups)[number];
  readonly network?: string;
}

function addUsage(program: Command, context: CommandContext): void {
  withPages(context.command(program, "usage", "what an account used, by day, method or key"))
    .argument("<account>", "the account's id")
    .option("--from <day>", "the first day, in UTC; the first of this month by default", day)
    .option("--to <day>", "the last day, included; today by default", day)
    .option("--by <group>", groups.join(", "), oneOf(groups), "day")
    .option("--network <network>", networks.join(", "), oneOf(networks))
    .action(async (id: string, options: UsageOptions) => {
      const { from, to, by, network } = options;
      const query = pageQuery(options, { account_id: id, from, to, group_by: by, network });
      const report = (await context.manage({ ...options }, { path: `/api/v1/usage?${query}` })) as UsageReport;
      context.print({ ...options }, report, () => describeUsage(report));
    });
}

function describeUsage({ group_by: by, items, total, missing, month, next_cursor: next }: UsageReport): string {
  const rows = [...items, { group: "all", ...total }].map((figures) => [
    figures.group === "" ? "(refused unread)" : figures.group,
    figures.requests,
    figures.errors,
    figures.credits,
    figures.cache_hits,
    figures.latency_ms?.p50 ?? null,
    figures.latency_ms?.p99 ?? null,
  ]);
  const head = [by.toUpperCase(), "REQUESTS", "ERRORS", "CREDITS", "CACHE HITS", "P50 MS", "P99 MS"];
  const allowance = `${month.month}: ${month.used} of ${month.allowance ?? "unlimited"} credits`;
  const lost = missing.map((each) => `\n${each.month}: ${each.requests} requests were served and have no record`);
  return `${table(head, rows)}\n\n${allowance}${lost.join("")}${moreLine(next)}`;
}
