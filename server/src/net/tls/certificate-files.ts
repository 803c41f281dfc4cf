import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import { CodedError } from "@sluice/contract/errors";
import type { Clock, Timer } from "@sluice/lib";
import type { CertificateFilePaths } from "../../config/index.ts";
import type { CertificateSource, TlsCertificate } from "../certificate-source.ts";
import type { CertificateEvents } from "../events.ts";

/** The files that an endpoint's certificate comes from cannot be used. */
export class CertificateFault extends CodedError<"CERTIFICATE_UNUSABLE", { readonly file: string }> {
  constructor(file: string, cause: string) {
    super("CERTIFICATE_UNUSABLE", {
      message: `The certificate of ${file} cannot be used: ${cause}`,
      details: { file },
    });
  }
}

/** How often the files are read. Watching would miss a replaced link, which is how secrets are mounted. */
const lookMs = 10_000;

/**
 * A certificate from two files that are read again. A pair that cannot be used is looked at once more before it is
 * reported, since the files may be replaced one after the other.
 */
export class CertificateFiles implements CertificateSource, Disposable {
  readonly #paths: CertificateFilePaths;
  readonly #events: CertificateEvents;
  readonly #listeners: ((certificate: TlsCertificate) => void)[] = [];
  readonly #timer: Timer;
  #present: TlsCertificate;
  /** The last pair that could not be used: as text, and whether it is reported. */
  #refused: { readonly text: string; readonly isReported: boolean } | null = null;

  /** @throws {CertificateFault} when the files cannot be read, or hold no certificate with its key. */
  constructor(
    paths: CertificateFilePaths,
    { clock, events }: { readonly clock: Pick<Clock, "every">; readonly events: CertificateEvents },
  ) {
    this.#paths = paths;
    this.#events = events;
    const read = readPair(paths);
    const cause = faultOf(read);
    if (cause !== null) throw new CertificateFault(paths.certificate, cause);
    this.#present = read;
    events.certificateTaken(paths.certificate, endOf(read));
    this.#timer = clock.every(lookMs, () => this.look());
  }

  get present(): TlsCertificate {
    return this.#present;
  }

  onReplaced(listener: (certificate: TlsCertificate) => void): void {
    this.#listeners.push(listener);
  }

  /** Reads the files; runs by itself. */
  look(): void {
    const read = readPair(this.#paths);
    if (isSame(read, this.#present)) {
      this.#refused = null;
      return;
    }
    const cause = faultOf(read);
    if (cause !== null) {
      this.#refuse(`${cause}\n${read.certificateChain}\n${read.privateKey}`, cause);
      return;
    }
    this.#refused = null;
    this.#present = read;
    this.#events.certificateTaken(this.#paths.certificate, endOf(read));
    for (const listener of this.#listeners) listener(read);
  }

  #refuse(text: string, cause: string): void {
    const wasSeen = this.#refused?.text === text;
    const isReported = wasSeen && this.#refused?.isReported === true;
    if (wasSeen && !isReported) this.#events.certificateRefused(this.#paths.certificate, cause);
    this.#refused = { text, isReported: wasSeen };
  }

  [Symbol.dispose](): void {
    this.#timer.cancel();
  }
}

/** What the files hold; a file that cannot be read is empty. */
function readPair({ certificate, key }: CertificateFilePaths): TlsCertificate {
  return { certificateChain: readOrNothing(certificate), privateKey: readOrNothing(key) };
}

function readOrNothing(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

const isSame = (one: TlsCertificate, other: TlsCertificate): boolean =>
  one.certificateChain === other.certificateChain && one.privateKey === other.privateKey;

const endOf = ({ certificateChain }: TlsCertificate): number =>
  Date.parse(new X509Certificate(certificateChain).validTo);

/** Why a pair cannot be used, in words that show nothing of the key; null for one that can. */
function faultOf({ certificateChain, privateKey }: TlsCertificate): string | null {
  if (certificateChain === "") return "the file of the certificate cannot be read, or is empty";
  if (privateKey === "") return "the file of its key cannot be read, or is empty";
  const certificate = attempt(() => new X509Certificate(certificateChain));
  if (certificate === null) return "it is no certificate in PEM form";
  const key = attempt(() => createPrivateKey(privateKey));
  if (key === null) return "its key is no private key in PEM form without a passphrase";
  if (!certificate.checkPrivateKey(key)) return "the key belongs to another certificate";
  const context = attempt(() => createSecureContext({ cert: certificateChain, key: privateKey }));
  return context === null ? "a certificate of its chain is malformed" : null;
}

function attempt<T>(make: () => T): T | null {
  try {
    return make();
  } catch {
    return null;
  }
}
