import type { IngestRecord } from "@sluice/contract/schemas";
import { networks } from "@sluice/contract/tiers";
import { Argument, type Command, InvalidArgumentError } from "commander";
import type { CommandContext } from "./context.ts";
import { table } from "./terminal.ts";

interface IngestReport {
  readonly networks: readonly IngestRecord[];
}

/** How the logs of the chains are filled, and what to do about blocks that no node has. */
export function addIngestCommands(program: Command, context: CommandContext): void {
  const ingest = program.command("ingest").description("how blocks of the chains reach their logs");
  context.command(ingest, "status", "each network: its state, its slots, its sources").action(async (options) => {
    const report = (await context.manage(options, { path: "/ingest" })) as IngestReport;
    context.print(options, report, () => describe(report));
  });
  context
    .command(ingest, "skip", "give slots up that no node has: followers are told of a gap and go on")
    .addArgument(new Argument("<network>", networks.join(", ")).choices([...networks]))
    .argument("<from>", "the first slot", slotText)
    .argument("<to>", "the last slot", slotText)
    .action(async (network, from, ...[to, options]) => {
      const call = { method: "POST", path: "/ingest/skip", body: { network, from, to } } as const;
      const report = (await context.manage(options, call)) as IngestReport;
      context.print(options, report, () => describe(report));
    });
}

/** A slot, as decimal text. */
function slotText(text: string): string {
  if (!/^(0|[1-9]\d{0,18})$/.test(text)) throw new InvalidArgumentError("It must be a slot, such as 250000000.");
  return text;
}

function describe({ networks: records }: IngestReport): string {
  const rows = records.map((each) => [
    each.network,
    each.state,
    each.head,
    each.confirmed,
    each.finalized,
    each.lag_slots,
    each.unavailable_slots,
  ]);
  const sources = records.flatMap(({ network, sources: of }) =>
    of.map(({ name, kind, up, trusted }) => [network, name, kind, !trusted ? "contradicted" : up ? "up" : "down"]),
  );
  const faults = records.flatMap(({ network, fault }) => (fault === null ? [] : [`${network}: ${fault}`]));
  const head = ["NETWORK", "STATE", "HEAD", "CONFIRMED", "FINALIZED", "LAG", "UNAVAILABLE"];
  return [table(head, rows), "", table(["NETWORK", "SOURCE", "KIND", "IS"], sources), ...faults].join("\n");
}
