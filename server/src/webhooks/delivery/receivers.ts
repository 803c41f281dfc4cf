import type { Clock } from "@sluice/lib";
import {
  createAddressRules,
  EgressEndpoint,
  type NameResolver,
  readEgressUrl,
  systemResolver,
} from "../../net/index.ts";
import type { OpenEndpoint } from "./interfaces.ts";

export interface ReceiverOptions {
  /** WEBHOOK_ALLOW_HTTP. */
  readonly allowHttp: boolean;
  /** WEBHOOK_ALLOW_PRIVATE_CIDRS: addresses that may be called though they are not public. */
  readonly allowedRanges: readonly string[];
  /** PEM; the roots that certificates are verified by in place of the runtime's. */
  readonly authorities?: readonly string[];
}

export interface ReceiverDependencies {
  readonly clock: Clock;
  readonly resolver?: NameResolver;
}

/** What is kept of an answer. */
const answerBytesMax = 16 * 1024;

/** Receivers of webhooks, at public addresses alone unless the options say otherwise. */
export function openReceivers(options: ReceiverOptions, dependencies: ReceiverDependencies): OpenEndpoint {
  const { clock, resolver = systemResolver({ clock }) } = dependencies;
  const rules = createAddressRules(options.allowedRanges);
  const { authorities } = options;
  return (url, connectionsMax) => {
    const read = readEgressUrl(url, { allowHttp: options.allowHttp });
    if (!read.ok) return null;
    return new EgressEndpoint(
      { url: read.url, connectionsMax, answerBytesMax, ...(authorities === undefined ? {} : { authorities }) },
      { clock, rules, resolver },
    );
  };
}
