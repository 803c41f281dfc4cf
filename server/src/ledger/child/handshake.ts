/** What parent and child say to each other before HTTP: one JSON line each way over the standard streams. */

import type { Confinement } from "./confinement/confine.ts";

/** First line on the child's standard input. It carries the password, so that no other process can see it. */
export interface ChildOrders {
  readonly user: string;
  readonly password: string;
  /** Whether the process confines itself as far as the operating system can. */
  readonly isConfined: boolean;
}

/** First line on the child's standard output. */
export type ChildReport =
  | {
      readonly ready: true;
      readonly port: number;
      readonly version: string;
      /** Null for a process that was not to confine itself. */
      readonly confinement: Confinement | null;
    }
  | { readonly ready: false; readonly error: string };

function member(value: object, name: string): unknown {
  return Reflect.get(value, name);
}

/** Parses the parent's line; throws a plain Error when it is malformed. */
export function parseOrders(line: string): ChildOrders {
  const value: unknown = JSON.parse(line);
  if (typeof value !== "object" || value === null) throw new Error("the orders are no object");
  const [user, password, isConfined] = ["user", "password", "isConfined"].map((name) => member(value, name));
  if (typeof user !== "string" || typeof password !== "string" || typeof isConfined !== "boolean") {
    throw new Error("the orders lack a member");
  }
  return { user, password, isConfined };
}

/** Parses a line of the child; null for anything that is not a report. */
export function parseReport(line: string): ChildReport | null {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return null;
  }
  if (typeof value !== "object" || value === null) return null;
  const [ready, port, version, error] = ["ready", "port", "version", "error"].map((name) => member(value, name));
  if (ready === true && typeof port === "number" && typeof version === "string") {
    return { ready, port, version, confinement: confinementOf(member(value, "confinement")) };
  }
  if (ready === false && typeof error === "string") return { ready, error };
  return null;
}

function confinementOf(value: unknown): Confinement | null {
  if (typeof value !== "object" || value === null) return null;
  return { files: member(value, "files") === true, calls: member(value, "calls") === true };
}
