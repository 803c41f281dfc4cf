import type { EngineAdmin } from "@sluice/contract/schemas";
import { Argument, type Command } from "commander";
import type { CommandContext } from "./context.ts";
import { table } from "./terminal.ts";

const root = "/api/v1/admin/engine";
const shownSlots = 4;

/** The block engine's switches. They stand in the store: a server that is started later follows them, too. */
export function addEngineCommands(program: Command, context: CommandContext): void {
  const engine = program.command("engine").description("the block engine: what it does, and its switches");
  context.command(engine, "status", "switches, leaders that take bundles, tip floor").action(async (options) => {
    const present = (await context.manage(options, { path: root })) as EngineAdmin;
    context.print(options, present, () => describe(present));
  });
  addSwitch("maintenance", "maintenance", "refuse submissions and go on with what is in flight");
  addSwitch("halt", "halted", "refuse submissions and hand nothing to leaders");

  function addSwitch(name: string, member: keyof EngineAdmin["switches"], meaning: string): void {
    context
      .command(engine, name, `${meaning}, until it is switched off`)
      .addArgument(new Argument("<switch>", "on or off").choices(["on", "off"]))
      .action(async (position, options) => {
        const call = { method: "PUT", path: `${root}/${member}`, body: { on: position === "on" } } as const;
        const present = (await context.manage(options, call)) as EngineAdmin;
        context.print(options, present, () => describe(present));
      });
  }
}

function describe({ switches, engine, standby }: EngineAdmin): string {
  const rows = (["maintenance", "halted"] as const).map((name) => {
    const { on, set_at } = switches[name];
    return [name, on ? "on" : "off", set_at ?? "never"];
  });
  const lines = [table(["SWITCH", "IS", "SET"], rows), ""];
  if (standby) return [...lines, "standby: another process runs the block engine"].join("\n");
  if (engine === null) return [...lines, "No block engine runs in the process that answers."].join("\n");
  const { floor, average_24h: average, utilization, bundle_share: share } = engine.tip_floor;
  const percent = (part: number): string => `${(part * 100).toFixed(1)}%`;
  lines.push(
    `${engine.status}; slot ${engine.slot ?? "unknown"}; ${engine.bundles_live} bundles in flight`,
    `tip floor ${floor} lamports (24 h average ${average})`,
    `${percent(utilization)} of the block space used; ${percent(share)} of the bundle compute used by bundles`,
  );
  if (engine.validators.length === 0) return [...lines, "no leader takes bundles"].join("\n");
  const leaders = engine.validators.map(({ identity, next_slots: slots }) => [
    identity,
    slots.slice(0, shownSlots).join(", "),
  ]);
  return [...lines, "", table(["LEADER", "COMING SLOTS"], leaders)].join("\n");
}
