import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Clock, Random } from "@sluice/lib";
import ipaddr from "ipaddr.js";
import type { TlsCertificate } from "../certificate-source.ts";
import { type CertificateTerms, type Certified, certifyAuthority, certifyServer } from "./certificate.ts";

export interface DevTls extends TlsCertificate {
  /** The file that clients name as a root they trust. */
  readonly authorityPath: string;
}

export interface DevAuthorityOptions {
  /** The data directory. */
  readonly directory: string;
  /** Names and addresses beside those of this machine under which the server is called. */
  readonly hosts?: readonly string[];
}

interface Dependencies {
  readonly clock: Clock;
  readonly random: Random;
}

/** The content of `dev-tls.json`; PEM texts. */
interface Stored extends Certified {
  readonly authority: string;
  readonly authorityKey: string;
}

const authorityName = "Sluice development authority";
const ownHosts = ["localhost", "127.0.0.1", "::1"] as const;
const dayMs = 86_400_000;
const authorityDays = 3_650;
/** Some clients refuse certificates of servers that are good for longer than 825 days. */
const certificateDays = 365;
/** A certificate that ends sooner than this is created anew. */
const renewDays = 30;

/**
 * TLS for development: an authority of this data directory's own, and a certificate for this machine that it has
 * signed. Both are stored and used again while they are valid; a certificate that is about to end, or lacks a host, is
 * created anew by the same authority, which clients trust already. `dev-tls.json` holds the keys, `dev-ca.pem` the
 * authority's certificate for clients; both have mode 0600.
 */
export async function devTls(options: DevAuthorityOptions, dependencies: Dependencies): Promise<DevTls> {
  const hosts = [...new Set([...ownHosts, ...(options.hosts ?? [])])];
  const storedPath = join(options.directory, "dev-tls.json");
  const authorityPath = join(options.directory, "dev-ca.pem");
  const before = readStored(storedPath);
  const stored = await renewed(before, hosts, dependencies);
  mkdirSync(options.directory, { recursive: true, mode: 0o700 });
  if (stored !== before) replaceFile(storedPath, `${JSON.stringify(stored, null, 2)}\n`);
  replaceFile(authorityPath, stored.authority);
  return { authorityPath, certificateChain: stored.certificate + stored.authority, privateKey: stored.privateKey };
}

/** What is stored, as far as it can be used again. */
async function renewed(before: Stored | null, hosts: readonly string[], dependencies: Dependencies): Promise<Stored> {
  const nowMs = dependencies.clock.now();
  const isKept = before !== null && isUsable(before, nowMs);
  if (isKept && isServing(before, hosts, nowMs)) return before;
  const authority: Certified = isKept
    ? { certificate: before.authority, privateKey: before.authorityKey }
    : await certifyAuthority(termsOf(authorityName, authorityDays, dependencies));
  const terms = termsOf("Sluice development server", certificateDays, dependencies);
  const server = await certifyServer(terms, hosts, authority);
  return { authority: authority.certificate, authorityKey: authority.privateKey, ...server };
}

function termsOf(name: string, days: number, { clock, random }: Dependencies): CertificateTerms {
  const nowMs = clock.now();
  // It begins a day ago, since a client's clock may be behind.
  return { name, notBefore: nowMs - dayMs, notAfter: nowMs + days * dayMs, serial: random.bytes(16) };
}

/** Whether the authority is whole, and has its time before it. */
function isUsable({ authority, authorityKey }: Stored, nowMs: number): boolean {
  return isSo(() => {
    const certificate = new X509Certificate(authority);
    return isValid(certificate, nowMs) && certificate.checkPrivateKey(createPrivateKey(authorityKey));
  });
}

/** Whether the certificate is the authority's, valid, and for all of the hosts. */
function isServing({ authority, certificate, privateKey }: Stored, hosts: readonly string[], nowMs: number): boolean {
  return isSo(() => {
    const found = new X509Certificate(certificate);
    const key: KeyObject = createPrivateKey(privateKey);
    const isFor = hosts.every(
      (host) => (ipaddr.isValid(host) ? found.checkIP(host) : found.checkHost(host)) !== undefined,
    );
    const isSigned = found.verify(new X509Certificate(authority).publicKey);
    return isFor && isSigned && isValid(found, nowMs) && found.checkPrivateKey(key);
  });
}

/** False for what cannot be read. */
function isSo(check: () => boolean): boolean {
  try {
    return check();
  } catch {
    return false;
  }
}

const isValid = ({ validFrom, validTo }: X509Certificate, nowMs: number): boolean =>
  Date.parse(validFrom) <= nowMs && Date.parse(validTo) > nowMs + renewDays * dayMs;

function readStored(path: string): Stored | null {
  try {
    const file: unknown = JSON.parse(readFileSync(path, "utf8"));
    const text = (name: keyof Stored): string => {
      const value: unknown = typeof file === "object" && file !== null ? Reflect.get(file, name) : undefined;
      if (typeof value !== "string") throw new TypeError(`${name} is missing`);
      return value;
    };
    return {
      authority: text("authority"),
      authorityKey: text("authorityKey"),
      certificate: text("certificate"),
      privateKey: text("privateKey"),
    };
  } catch {
    return null;
  }
}

/** Written aside and renamed, so that a reader never sees half of it. */
function replaceFile(path: string, text: string): void {
  const aside = `${path}.${process.pid}`;
  writeFileSync(aside, text, { mode: 0o600 });
  renameSync(aside, path);
}
