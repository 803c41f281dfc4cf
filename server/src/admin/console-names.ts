import { SluiceError } from "@sluice/contract/errors";
import type { ConsoleName } from "@sluice/contract/schemas";
import * as schemas from "@sluice/contract/schemas";
import { isAddress } from "@sluice/wire/identifiers";
import type { Hono } from "hono";
import { parseInput, type RestEnvironment } from "../http/index.ts";
import type { ConsoleSessions } from "./console-session.ts";

/** What the console needs of the resolver; names has this shape. */
export interface ConsoleResolver {
  resolve(name: string): Promise<
    | {
        readonly kind: "resolved";
        readonly resolution: {
          readonly name: string;
          readonly namespace: string;
          readonly owner: string;
          readonly ownerOnCurve: boolean;
        };
      }
    | { readonly kind: "refused"; readonly error: string }
    | { readonly kind: "absent"; readonly of: string }
    | { readonly kind: "failed"; readonly error: string }
  >;
  reverse(
    address: string,
  ): Promise<{ readonly kind: "named"; readonly name: string } | { readonly kind: "unnamed" | "failed" }>;
}

const nothing = { name: null, namespace: null, owner: null, ownerOnCurve: null, error: null } as const;

/** Adds the look-up of names and addresses for people who are signed in. */
export function addNamesRoute(
  app: Hono<RestEnvironment>,
  { names, sessions }: { names: ConsoleResolver | null; sessions: Pick<ConsoleSessions, "admit"> },
): void {
  app.get("/api/v1/console/names", async (context) => {
    await sessions.admit(context);
    const { input } = parseInput(schemas.consoleNameQuery, context.req.query());
    if (names === null) throw new SluiceError("NOT_FOUND", { message: "This server runs no name resolver" });
    const found = isAddress(input) ? await ofAddress(names, input) : await ofName(names, input);
    return context.json({ ...nothing, input, ...found } satisfies ConsoleName);
  });
}

type Found = Partial<ConsoleName> & Pick<ConsoleName, "finding">;

async function ofAddress(names: ConsoleResolver, address: string): Promise<Found> {
  const outcome = await names.reverse(address);
  if (outcome.kind === "named") return { finding: "domain", owner: address, name: outcome.name };
  return outcome.kind === "unnamed"
    ? { finding: "absent", owner: address, error: "no domain leads to this address" }
    : { finding: "unavailable", error: "the chain did not answer" };
}

async function ofName(names: ConsoleResolver, name: string): Promise<Found> {
  const outcome = await names.resolve(name);
  switch (outcome.kind) {
    case "resolved":
      return { finding: "owner", ...outcome.resolution };
    case "refused":
      return { finding: "refused", error: outcome.error };
    case "absent":
      return { finding: "absent", error: `${outcome.of} not registered` };
    case "failed":
      return { finding: "unavailable", error: outcome.error };
  }
}
