import { createHash, createPublicKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import ipaddr from "ipaddr.js";

/** A key of the curve P-256, and the certificate for it, PEM texts. */
export interface Certified {
  readonly certificate: string;
  readonly privateKey: string;
}

export interface CertificateParts {
  /** The common name. */
  readonly name: string;
  /** Unix milliseconds. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** 16 random bytes: no two certificates of an issuer have the same. */
  readonly serial: Uint8Array;
}

/** Who signs: the common name of an authority, and its key. */
export interface Issuer {
  readonly name: string;
  readonly privateKey: KeyObject;
}

/** A certificate of a new authority, signed by itself, which may sign certificates of servers and no further authorities. */
export function certifyAuthority(parts: CertificateParts): Certified {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const extensions = [
    extension(oids.basicConstraints, sequence(boolean(true), integer(Uint8Array.of(0))), "critical"),
    extension(oids.keyUsage, keyUsages.certificateSigning, "critical"),
    extension(oids.subjectKey, octets(keyIdOf(publicKey))),
  ];
  return certified(parts, { name: parts.name, privateKey }, { publicKey, privateKey, extensions });
}

/** A certificate for a server that is called by the names and addresses of `hosts`. */
export function certifyServer(parts: CertificateParts, hosts: readonly string[], issuer: Issuer): Certified {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const issuerKey = keyIdOf(createPublicKey(issuer.privateKey));
  const extensions = [
    extension(oids.basicConstraints, sequence(), "critical"),
    extension(oids.keyUsage, keyUsages.digitalSignature, "critical"),
    extension(oids.extendedKeyUsage, sequence(oid(oids.serverAuthentication))),
    extension(oids.alternativeNames, sequence(...hosts.map(hostName))),
    extension(oids.subjectKey, octets(keyIdOf(publicKey))),
    extension(oids.authorityKey, sequence(tagged(0x80, issuerKey))),
  ];
  return certified(parts, issuer, { publicKey, privateKey, extensions });
}

interface Subject {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
  readonly extensions: readonly Uint8Array[];
}

/** RFC 5280, section 4.1: what is certified, the algorithm, the signature. */
function certified(parts: CertificateParts, issuer: Issuer, subject: Subject): Certified {
  const algorithm = sequence(oid(oids.ecdsaWithSha256));
  const content = sequence(
    tagged(0xa0, integer(Uint8Array.of(2))),
    integer(parts.serial),
    algorithm,
    nameOf(issuer.name),
    sequence(time(parts.notBefore), time(parts.notAfter)),
    nameOf(parts.name),
    subject.publicKey.export({ type: "spki", format: "der" }),
    tagged(0xa3, sequence(...subject.extensions)),
  );
  const signature = sign("sha256", content, issuer.privateKey);
  return {
    certificate: pem("CERTIFICATE", sequence(content, algorithm, bits(signature))),
    privateKey: subject.privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

const oids = {
  ecdsaWithSha256: [1, 2, 840, 10_045, 4, 3, 2],
  commonName: [2, 5, 4, 3],
  subjectKey: [2, 5, 29, 14],
  keyUsage: [2, 5, 29, 15],
  alternativeNames: [2, 5, 29, 17],
  basicConstraints: [2, 5, 29, 19],
  authorityKey: [2, 5, 29, 35],
  extendedKeyUsage: [2, 5, 29, 37],
  serverAuthentication: [1, 3, 6, 1, 5, 5, 7, 3, 1],
} as const;

/** DER (X.690): a tag, the length of what follows, and that. */
function tagged(tag: number, ...contents: readonly Uint8Array[]): Uint8Array {
  const content = Buffer.concat(contents);
  const { length } = content;
  const head = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Uint8Array.of(tag, ...head), content]);
}

const sequence = (...contents: readonly Uint8Array[]): Uint8Array => tagged(0x30, ...contents);
const octets = (content: Uint8Array): Uint8Array => tagged(0x04, content);
const boolean = (value: boolean): Uint8Array => tagged(0x01, Uint8Array.of(value ? 0xff : 0));
const bits = (content: Uint8Array, unused = 0): Uint8Array => tagged(0x03, Uint8Array.of(unused), content);

const keyUsages = { digitalSignature: bits(Uint8Array.of(0x80), 7), certificateSigning: bits(Uint8Array.of(0x04), 2) };

/** A number of at least 0, most significant byte first: in as few bytes as it needs, the first bit 0. */
function integer(bytes: Uint8Array): Uint8Array {
  const first = bytes.findIndex((byte) => byte !== 0);
  const shortest = first < 0 ? Uint8Array.of(0) : bytes.subarray(first);
  return (shortest[0] ?? 0) < 128 ? tagged(0x02, shortest) : tagged(0x02, Uint8Array.of(0), shortest);
}

function oid([first = 0, second = 0, ...rest]: readonly number[]): Uint8Array {
  const base128 = (value: number): number[] => {
    const groups = [value % 128];
    for (let left = Math.floor(value / 128); left > 0; left = Math.floor(left / 128))
      groups.unshift((left % 128) + 128);
    return groups;
  };
  return tagged(0x06, Uint8Array.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function extension(id: readonly number[], value: Uint8Array, weight: "critical" | "ordinary" = "ordinary"): Uint8Array {
  return weight === "critical" ? sequence(oid(id), boolean(true), octets(value)) : sequence(oid(id), octets(value));
}

const nameOf = (commonName: string): Uint8Array =>
  sequence(tagged(0x31, sequence(oid(oids.commonName), tagged(0x0c, Buffer.from(commonName, "utf8")))));

/** RFC 5280, section 4.1.2.5: with two digits of the year until 2049, with four from then on; whole seconds. */
function time(unixMs: number): Uint8Array {
  const digits = `${new Date(unixMs).toISOString().slice(0, 19).replace(/\D/g, "")}Z`;
  return digits < "2050" ? tagged(0x17, Buffer.from(digits.slice(2))) : tagged(0x18, Buffer.from(digits));
}

const hostName = (host: string): Uint8Array =>
  ipaddr.isValid(host)
    ? tagged(0x87, Uint8Array.from(ipaddr.parse(host).toByteArray()))
    : tagged(0x82, Buffer.from(host, "ascii"));

/** RFC 7093, section 2: the leftmost 160 bits of the SHA-256 of the key. */
const keyIdOf = (publicKey: KeyObject): Uint8Array =>
  createHash("sha256")
    .update(publicKey.export({ type: "spki", format: "der" }))
    .digest()
    .subarray(0, 20);

function pem(label: string, der: Uint8Array): string {
  const lines =
    Buffer.from(der)
      .toString("base64")
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}
