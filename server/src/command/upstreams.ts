import type { UpstreamBody } from "@sluice/contract/schemas";
import { networks } from "@sluice/contract/tiers";
import { Argument, type Command } from "commander";
import { listOf, oneOf, wholeNumber } from "./arguments.ts";
import type { CommandContext } from "./context.ts";
import { CommandFailure, table } from "./terminal.ts";

const root = "/api/v1/admin/upstreams";
const head = ["NETWORK", "NODE", "SERVING", "SLOT", "BEHIND", "MS", "IN FLIGHT", "ORIGIN", "ADDRESS"];

const row = (node: UpstreamBody) => [
  node.network,
  node.label,
  node.serving
    ? "yes"
    : `no: ${node.out ?? node.order}${node.rests_until === null ? "" : ` until ${node.rests_until}`}`,
  node.slot,
  node.slot_lag,
  node.latency_ms === null ? null : Math.round(node.latency_ms * 10) / 10,
  node.in_flight,
  node.origin,
  node.url,
];

/** The nodes of a running server, and what operators order for them. */
export function addUpstreamCommands(program: Command, context: CommandContext): void {
  const upstreams = program.command("upstreams").description("the nodes that calls are forwarded to");
  const networkArgument = () => new Argument("<network>", networks.join(", ")).choices(networks);
  context.command(upstreams, "list", "list the nodes and how they do").action(async (options) => {
    const { items } = (await context.manage(options, { path: root })) as { readonly items: readonly UpstreamBody[] };
    context.print(options, { items }, () => table(head, items.map(row)));
  });
  addAdd(upstreams, context);
  for (const [name, meaning] of [
    ["cordon", "give a node no further calls"],
    ["uncordon", "give a cordoned or drained node calls again"],
    ["drain", "give a node no further calls before it is removed"],
  ] as const) {
    context
      .command(upstreams, name, `${meaning}, on every gateway`)
      .addArgument(networkArgument())
      .argument("<label>", "the node's label")
      .action(async (network, label, options) => {
        const path = `${root}/${network}/${encodeURIComponent(label)}/${name}`;
        const node = (await context.manage(options, { method: "POST", path })) as UpstreamBody;
        context.print(options, node, () => table(head, [row(node)]));
      });
  }
  context
    .command(upstreams, "remove", "remove a drained node")
    .addArgument(networkArgument())
    .argument("<label>", "the node's label")
    .option("--force", "although it is not drained, or calls are in flight; those are cut")
    .action(async (network, label, options) => {
      const force = options.force === true ? "?force=true" : "";
      await context.manage(options, {
        method: "DELETE",
        path: `${root}/${network}/${encodeURIComponent(label)}${force}`,
      });
      context.print(options, { removed: `${network}/${label}` }, () => `${network}/${label} is removed`);
    });
}

function addAdd(upstreams: Command, context: CommandContext): void {
  const groups = ["read", "archive", "send"] as const;
  context
    .command(upstreams, "add", "add a node that every gateway of this state has from now on")
    .addArgument(new Argument("<network>", networks.join(", ")).choices(networks))
    .argument("<label>", "the node's name, unique on its network; the only one that outsiders see")
    .argument("<url>", "its RPC address, such as https://node.example")
    .option("--ws <url>", "its PubSub address, when it is not on the next port")
    .option("--grpc <url>", "where it offers Yellowstone gRPC")
    .option("--grpc-token <text>", "sent there as x-token")
    .option("--groups <group>", `${groups.join(", ")} (may be repeated)`, listOf(oneOf(groups)))
    .option("--weight <n>", "its share of the calls, 1 to 1000", wholeNumber)
    .option("--rps <n>", "the most calls a second that it gets", wholeNumber)
    .option("--header <name: value>", "sent with each call (may be repeated)", listOf(headerOf))
    .action(async (network, label, url, options) => {
      const { ws, grpc, grpcToken, weight, rps, header }: AddOptions = options;
      const body = {
        network,
        label,
        url,
        ...(ws !== undefined && { ws }),
        ...(grpc !== undefined && { grpc }),
        ...(grpcToken !== undefined && { grpc_token: grpcToken }),
        ...(options.groups !== undefined && { groups: options.groups }),
        ...(weight !== undefined && { weight }),
        ...(rps !== undefined && { requests_per_second: rps }),
        ...(header !== undefined && { headers: Object.fromEntries(header) }),
      };
      const node = (await context.manage(options, { method: "POST", path: root, body })) as UpstreamBody;
      context.print(options, node, () => table(head, [row(node)]));
    });
}

interface AddOptions {
  readonly ws?: string;
  readonly grpc?: string;
  readonly grpcToken?: string;
  readonly weight?: number;
  readonly rps?: number;
  readonly header?: readonly [string, string][];
}

function headerOf(text: string): [string, string] {
  const colon = text.indexOf(":");
  if (colon < 1) throw new CommandFailure("--header must be a name and a value, such as 'X-Token: abc'");
  return [text.slice(0, colon).trim(), text.slice(colon + 1).trim()];
}
