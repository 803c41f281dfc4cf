import { createCipheriv, createDecipheriv, scryptSync } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Random } from "@sluice/lib";
import { BackupError } from "./manifest.ts";

/** Master keys under a passphrase: scrypt with fixed terms (32 MiB, some 0.1 s), then AES-256-GCM. */
const form = "sluice master keys 1";
const terms = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 } as const;

interface KeyFile {
  readonly form: string;
  readonly salt: string;
  readonly nonce: string;
  readonly sealed: string;
  readonly tag: string;
}

const keyOf = (passphrase: string, salt: Buffer): Buffer => scryptSync(passphrase.normalize("NFKC"), salt, 32, terms);

/** `keys` are 64 hexadecimal digits each, the present one first. */
export function sealKeys(keys: readonly string[], passphrase: string, random: Random): string {
  const [salt, nonce] = [Buffer.from(random.bytes(16)), Buffer.from(random.bytes(12))];
  const cipher = createCipheriv("aes-256-gcm", keyOf(passphrase, salt), nonce).setAAD(Buffer.from(form));
  const sealed = Buffer.concat([cipher.update(keys.join(","), "utf8"), cipher.final()]);
  const hex = (bytes: Buffer): string => bytes.toString("hex");
  const file: KeyFile = {
    form,
    salt: hex(salt),
    nonce: hex(nonce),
    sealed: hex(sealed),
    tag: hex(cipher.getAuthTag()),
  };
  return `${JSON.stringify(file)}\n`;
}

/** @throws {BackupError} OTHER_KEY for another passphrase */
export function openKeys(path: string, passphrase: string): readonly string[] {
  try {
    const file: Partial<KeyFile> = JSON.parse(readFileSync(path, "utf8"));
    const bytes = (text = ""): Buffer => Buffer.from(text, "hex");
    const key = keyOf(passphrase, bytes(file.salt));
    const decipher = createDecipheriv("aes-256-gcm", key, bytes(file.nonce)).setAAD(Buffer.from(form));
    decipher.setAuthTag(bytes(file.tag));
    const opened = Buffer.concat([decipher.update(bytes(file.sealed)), decipher.final()]).toString("utf8");
    return opened.split(",").filter((text) => /^[0-9a-f]{64}$/.test(text));
  } catch {
    throw new BackupError("OTHER_KEY", "The passphrase does not open the master key of the backup.");
  }
}
