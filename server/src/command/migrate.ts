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
    }[];
  }[];
}

/**
 * Applies missing migrations, as a server does when it starts, and lists all of them. An empty PostgreSQL database gets
 * its tables; an embedded store is made by a server alone.
 */
export function addMigrateCommand(program: Command, context: CommandContext): void {
  context
    .command(program, "migrate", "apply missing migrations of the stores and list them")
    .action(async (options) => {
      const found = (await context.manage(options, { path: "/migrations", migrates: true })) as Migrations;
      context.print(options, found, () =>
        table(
          ["STORE", "DRIVER", "MIGRATION", "NAME", "APPLIED"],
          found.stores.flatMap(({ store, driver, migrations }) =>
            migrations.map((each) => [
              store,
              driver,
              each.number,
              each.name,
              each.appliedAt === null ? "no" : new Date(each.appliedAt).toISOString(),
            ]),
          ),
        ),
      );
    });
}
