import type { Command } from "commander";
import type { CommandContext } from "./context.ts";
import { table } from "./terminal.ts";

interface Migrations {
  readonly stores: readonly {
    readonly store: string;
    readonly driver: string;
    readonly migrations: readonly {
      readonly number: number;
      readonly name: string;
      readonly appliedAt: number | null;
      readonly waits: boolean;
    }[];
  }[];
}

const shownTime = ({ appliedAt, waits }: { readonly appliedAt: number | null; readonly waits: boolean }): string => {
  if (appliedAt !== null) return new Date(appliedAt).toISOString();
  return waits ? "waits: sluice migrate --contract" : "no";
};

/**
 * Applies missing migrations, as a server does when it starts, and lists all of them. An empty PostgreSQL database gets
 * its tables; an embedded store is made by a server alone. What earlier versions cannot go on after waits for
 * `--contract`.
 */
export function addMigrateCommand(program: Command, context: CommandContext): void {
  context
    .command(program, "migrate", "apply missing migrations of the stores and list them")
    .option("--contract", "apply also what waits until no earlier version runs on the database")
    .action(async (options) => {
      const contracting = { method: "POST", path: "/migrations/contract", body: {}, migrates: true } as const;
      const call = options["contract"] === true ? contracting : { path: "/migrations", migrates: true };
      const found = (await context.manage(options, call)) as Migrations;
      context.print(options, found, () =>
        table(
          ["STORE", "DRIVER", "MIGRATION", "NAME", "APPLIED"],
          found.stores.flatMap(({ store, driver, migrations }) =>
            migrations.map((each) => [store, driver, each.number, each.name, shownTime(each)]),
          ),
        ),
      );
    });
}
