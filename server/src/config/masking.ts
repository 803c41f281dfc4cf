/** How a value may be shown: as it is, only as its address without path, query or user, or not at all. */
export type Secrecy = "open" | "address" | "hidden";

/**
 * A URL as it may be shown: scheme, host and port. Nodes and stores are often reached with a token in the path, the
 * query or the user part, so all of these are left out. Text that is no URL is not shown at all.
 */
export function maskUrl(text: string): string {
  if (!URL.canParse(text)) return hide(text);
  const url = new URL(text);
  if (url.host === "") return hide(text);
  const hidden = (url.pathname !== "/" && url.pathname !== "") || url.search !== "" || url.hash !== "";
  const user = url.username !== "" || url.password !== "" ? "…@" : "";
  return `${url.protocol}//${user}${url.host}${hidden ? "/…" : ""}`;
}

/** A store's URL with several hosts, which is no URL to the platform; text with an `@` further on may be mistyped. */
const severalHosts = /^([a-z][a-z+]*:\/\/)([^@/?#]*@)?([\w.:[\]-]+(?:,[\w.:[\]-]+)+)([/?][^@]*)?$/;
const oneHost = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:\d{1,5})?$/;

function maskSeveral(text: string): string | null {
  const [, scheme = "", user, hosts = "", rest = ""] = severalHosts.exec(text) ?? [];
  if (scheme === "" || !hosts.split(",").every((host) => oneHost.test(host))) return null;
  return `${scheme}${user === undefined ? "" : "…@"}${hosts}${rest === "" || rest === "/" ? "" : "/…"}`;
}

/** Shows only that there is a value, and its length. */
export function hide(text: string): string {
  return `(hidden, ${text.length} characters)`;
}

/** What may be shown of `text`, at most 200 characters of it and without control characters. */
export function show(text: string, secrecy: Secrecy): string {
  if (secrecy === "hidden") return hide(text);
  if (secrecy === "address") return maskSeveral(text.trim()) ?? maskUrl(text.trim());
  const printable = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "�");
  return printable.length > 200 ? `${printable.slice(0, 200)}…` : printable;
}
