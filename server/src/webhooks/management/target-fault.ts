import { type AddressRules, type EgressUrlFault, readEgressUrl } from "../../net/index.ts";

/** Where webhooks may send. */
export interface TargetRules {
  readonly allowHttp: boolean;
  readonly addresses: AddressRules;
}

const texts: Readonly<Record<Exclude<EgressUrlFault, "scheme">, string>> = {
  malformed: "must be an absolute address such as https://example.com/events, without white space",
  credentials: "must hold no user name and no password",
  port: "must have a port from 1 to 65535",
  host: "must name a host",
};

const notPublic = "must be a public address";

/** What is wrong with the address of a receiver, or null. Each attempt checks again what its host resolves to. */
export function targetFault(text: string, { allowHttp, addresses }: TargetRules): string | null {
  const read = readEgressUrl(text, { allowHttp });
  if (!read.ok) {
    if (read.fault !== "scheme") return texts[read.fault];
    return allowHttp ? "must begin with https:// or http://" : "must begin with https://";
  }
  if (text.includes("#")) return "must have no fragment";
  const { hostname, isAddress } = read.url;
  if (isAddress) return addresses.admit(hostname) === null ? notPublic : null;
  const isOwnHost = hostname === "localhost" || hostname.endsWith(".localhost");
  return isOwnHost && addresses.admit("127.0.0.1") === null ? notPublic : null;
}
