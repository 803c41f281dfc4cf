import type { Secrecy } from "./masking.ts";
import type { Parser } from "./parsers.ts";

export const modes = ["dev", "serve"] as const;
/** `dev` brings its own chain and its own stores and listens on loopback; `serve` is production. */
export type Mode = (typeof modes)[number];

/** One key: its name in each source, its accepted values and its default. */
export interface KeyDefinition<T> {
  readonly section: string;
  /** The path in the TOML file; null for a key that a file cannot hold. */
  readonly toml: string | null;
  readonly parser: Parser<T>;
  /** As an operator would type it; null when there is none. Read by the same parser as what is typed. */
  readonly defaults: { readonly [M in Mode]: string | null };
  /** Whether and how a given value may be shown. `nodes` shows a list of upstreams without addresses' secrets. */
  readonly secrecy: Secrecy | "nodes";
  /** Whether it may be given on the command line, where other users of the machine can read it. */
  readonly flag: boolean;
  readonly description: string;
}

export interface Always<T> extends KeyDefinition<T> {
  readonly always: true;
}
export interface Sometimes<T> extends KeyDefinition<T> {
  readonly always: false;
}

interface Extra {
  readonly secrecy?: KeyDefinition<unknown>["secrecy"];
  readonly defaults?: string | { readonly dev: string | null; readonly serve: string | null };
}

function define<T>(section: string, toml: string | null, parser: Parser<T>, description: string, extra: Extra) {
  const { secrecy = "open", defaults = null } = extra;
  const both = typeof defaults === "string" || defaults === null ? { dev: defaults, serve: defaults } : defaults;
  return { section, toml, parser, defaults: both, secrecy, flag: secrecy === "open", description };
}

/** A key that has a value in both modes. */
export function always<T>(
  section: string,
  toml: string,
  defaults: string | { readonly dev: string; readonly serve: string },
  parser: Parser<T>,
  description: string,
): Always<T> {
  return { ...define(section, toml, parser, description, { defaults }), always: true };
}

/** A key that may be left out, which is then null. */
export function optional<T>(
  section: string,
  toml: string | null,
  parser: Parser<T>,
  description: string,
  extra: Extra = {},
): Sometimes<T> {
  return { ...define(section, toml, parser, description, extra), always: false };
}
