import type { AssetFillRecord } from "@sluice/contract/schemas";
import { networks } from "@sluice/contract/tiers";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { CommandContext } from "./context.ts";
import { table } from "./terminal.ts";

/** The index of digital assets. */
export function addAssetCommands(program: Command, context: CommandContext): void {
  const assets = program.command("assets").description("the index of digital assets");
  context
    .command(assets, "fill", "read assets that nodes list into the index: what was there before it began")
    .addOption(new Option("--network <network>", networks.join(", ")).choices([...networks]))
    .option("--authority <address>", "only those that this address may update")
    .option("--creator <address>", "only those whose first creator this is")
    .option("--collection <address>", "only those of this collection of MPL Core")
    .option("--per-second <assets>", "how many are read a second; 50 unless given", countText)
    .action(async (options) => {
      const { network, authority, creator, collection, perSecond } = options;
      if (network === undefined) throw new InvalidArgumentError("--network is needed.");
      const body = { network, authority, creator, collection, per_second: perSecond };
      const call = { method: "POST", path: "/assets/fills", body } as const;
      const record = (await context.manage(options, call)) as AssetFillRecord;
      context.print(options, record, () => describe([record]));
    });
  context.command(assets, "status", "the last fill of each network: how far it is").action(async (options) => {
    const report = (await context.manage(options, { path: "/assets/fills" })) as Report;
    context.print(options, report, () => describe(report.items));
  });
  context
    .command(assets, "cancel", "end a fill; what was read stays")
    .argument("<id>", "of the fill, as `status` shows it")
    .action(async (id, options) => {
      const call = { method: "DELETE", path: `/assets/fills/${encodeURIComponent(id)}` } as const;
      const report = (await context.manage(options, call)) as Report;
      context.print(options, report, () => describe(report.items));
    });
}

interface Report {
  readonly items: readonly AssetFillRecord[];
}

function countText(text: string): number {
  if (!/^[1-9]\d{0,4}$/.test(text)) throw new InvalidArgumentError("It must be a whole number from 1 to 10000.");
  return Number(text);
}

function describe(records: readonly AssetFillRecord[]): string {
  const rows = records.map(({ id, network, of, state, assets, read, per_second }) => {
    const named = Object.entries(of).find(([, value]) => value !== null);
    const what = named === undefined ? "everything" : named.join(" ");
    return [id, network, what, state, `${read} of ${assets ?? "?"}`, String(per_second)];
  });
  const faults = records.flatMap(({ id, fault }) => (fault === null ? [] : [`${id}: ${fault}`]));
  return [table(["ID", "NETWORK", "OF", "STATE", "READ", "A SECOND"], rows), ...faults].join("\n");
}
