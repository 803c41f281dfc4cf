import { SluiceError } from "@sluice/contract/errors";
import { limits } from "@sluice/contract/limits";
import { isAddress } from "@sluice/wire/identifiers";
import type { Context } from "hono";
import type { RestEnvironment } from "../../http/index.ts";
import type { WalletAsking } from "../wallets/wallet-ledger.ts";

export type EnhancedContext = Context<RestEnvironment>;

/** What is answered with: JSON text, and whether all of it was kept. */
export interface EnhancedAnswer {
  readonly text: string;
  readonly kept: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Reads the input of a request, which costs nothing where it is refused, and says the price and the work. */
export type Read = (
  caller: WalletAsking,
) => Promise<{ readonly price: number; readonly work: () => Promise<EnhancedAnswer> }>;

/** A route of this API. */
export interface EnhancedRoute {
  readonly method: "get" | "post";
  readonly path: string;
  /** Whether it answers in the envelope of this API. */
  readonly isEnveloped: boolean;
  readonly read: (context: EnhancedContext) => Read;
}

/** Of all bodies of this API. */
export const bodyBounds = { limitBytes: limits.restBodyBytes, timeoutMs: 10_000 };

/** A failure that names the member that is wrong. */
export const invalid = (path: string, message: string): SluiceError =>
  new SluiceError("INVALID_INPUT", { message: `${path} ${message}`, details: { errors: [{ path, message }] } });

/** A parameter of the path that must be an address. @throws {SluiceError} INVALID_INPUT */
export function addressParameter(context: EnhancedContext, name: string): string {
  return requireAddress(name, context.req.param(name));
}

/** @throws {SluiceError} INVALID_INPUT */
export function requireAddress(path: string, value: string | undefined): string {
  if (value === undefined || !isAddress(value)) throw invalid(path, "must be an address: 32 bytes in base58");
  return value;
}
