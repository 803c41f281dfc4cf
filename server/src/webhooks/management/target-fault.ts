/** Whether events may be sent to plain HTTP, and what else is wrong with a host; null where nothing is. */
export interface TargetRules {
  readonly allowHttp: boolean;
  readonly hostFault: (hostname: string) => string | null;
}

/** What is wrong with the address of a receiver, or null. Each attempt checks again what its host resolves to. */
export function targetFault(text: string, { allowHttp, hostFault }: TargetRules): string | null {
  if (/[\s\p{Cc}\\]/u.test(text)) return "must be an address without white space, control characters and backslashes";
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null) return "must be an absolute address such as https://example.com/events";
  const schemes = allowHttp ? ["https:", "http:"] : ["https:"];
  if (!schemes.includes(url.protocol))
    return allowHttp ? "must begin with https:// or http://" : "must begin with https://";
  if (url.username !== "" || url.password !== "") return "must hold no user name and no password";
  if (url.hash !== "" || text.includes("#")) return "must have no fragment";
  if (url.hostname === "") return "must name a host";
  return hostFault(url.hostname);
}
