import { isAddress } from "@sluice/wire/identifiers";
import type { AccountFileRequest } from "./account-files.ts";
import type { CloneRequest } from "./clone.ts";
import type { GenesisSources, ProgramRequest } from "./load.ts";

/** Flags that take two arguments, or both in one with `=` between them. */
const twoPartFlags: ReadonlySet<string> = new Set(["--clone", "--program", "--account"]);

/** Makes `--flag one two` into `--flag one=two`, which the parser knows. */
export function joinTwoParts(argv: readonly string[]): string[] {
  const joined: string[] = [];
  for (let at = 0; at < argv.length; at += 1) {
    const [flag = "", first, second] = [argv[at], argv[at + 1], argv[at + 2]];
    // A second argument is another part only when the first is not whole already.
    const whole = first === undefined || endsInAddresses(first) || (flag !== "--clone" && first.includes("="));
    if (!twoPartFlags.has(flag) || whole || second === undefined || second.startsWith("--")) {
      joined.push(flag);
      continue;
    }
    // One argument, since a part may begin with a hyphen.
    joined.push(`${flag}=${first}=${second}`);
    at += 2;
  }
  return joined;
}

function endsInAddresses(text: string): boolean {
  const after = text.slice(text.lastIndexOf("=") + 1);
  return text.includes("=") && after.split(",").every(isAddress);
}

/** `<url>=<address>,...`: a URL may have equals signs, addresses have none. */
function readClone(text: string): CloneRequest | { readonly fault: string } {
  const at = text.lastIndexOf("=");
  const url = text.slice(0, Math.max(at, 0));
  const addresses = text.slice(at + 1).split(",");
  const http = URL.canParse(url) && ["http:", "https:"].includes(new URL(url).protocol);
  if (http && addresses.every(isAddress)) return { url, addresses };
  return { fault: "--clone must be <http url> <address>, or <http url>=<address>,<address>" };
}

/** `<address>=<file>` */
function readProgram(text: string): ProgramRequest | { readonly fault: string } {
  const at = text.indexOf("=");
  const [address, path] = [text.slice(0, Math.max(at, 0)), text.slice(at + 1)];
  return isAddress(address) && path !== "" ? { address, path } : { fault: "--program must be <address> <file.so>" };
}

/** `<address>=<file>`, or `-=<file>` for the address that the file names. */
function readAccount(text: string): AccountFileRequest | { readonly fault: string } {
  const at = text.indexOf("=");
  const [address, path] = [text.slice(0, Math.max(at, 0)), text.slice(at + 1)];
  if ((address === "-" || isAddress(address)) && path !== "")
    return { address: address === "-" ? null : address, path };
  return { fault: "--account must be <address> <file.json>, or - <file.json> for the address that the file names" };
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

/** Reads what the chain begins with; faults are added to `faults`. */
export function readSources(values: { readonly [flag: string]: unknown }, faults: string[]): GenesisSources {
  const sound = <T extends object>(parts: readonly (T | { readonly fault: string })[]): T[] =>
    parts.flatMap((part) => {
      if (!("fault" in part)) return [part];
      faults.push(part.fault);
      return [];
    });
  const genesis = values["genesis"];
  return {
    genesisPath: typeof genesis === "string" ? genesis : null,
    clones: sound<CloneRequest>(texts(values["clone"]).map(readClone)),
    programs: sound<ProgramRequest>(texts(values["program"]).map(readProgram)),
    accountFiles: sound<AccountFileRequest>(texts(values["account"]).map(readAccount)),
    accountDirectories: texts(values["account-dir"]),
  };
}
