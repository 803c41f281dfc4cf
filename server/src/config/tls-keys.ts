import { optional } from "./key-definition.ts";
import { filePath } from "./parsers.ts";

const certificateOf = (what: string) => `The certificate chain, PEM, of ${what}, in place of \`TLS_CERT_FILE\`.`;
const keyText = "The private key, PEM without a passphrase, of that certificate.";

/** TLS of the endpoints, by the names that operators set. The block engine's own are with its other keys. */
export const tlsKeys = {
  TLS_CERT_FILE: optional(
    "TLS",
    "tls.cert_file",
    filePath,
    "The certificate chain, PEM. With it every endpoint of customers speaks TLS: the gateway's ports, the oracle, the resolver, Yellowstone gRPC, the block engine's REST; its gRPC with TLS opens beside the one without. The files are read again every ten seconds.",
  ),
  TLS_KEY_FILE: optional("TLS", "tls.key_file", filePath, keyText),
  GATEWAY_TLS_CERT_FILE: optional("TLS", "tls.gateway_cert_file", filePath, certificateOf("the gateway's two ports")),
  GATEWAY_TLS_KEY_FILE: optional("TLS", "tls.gateway_key_file", filePath, keyText),
  ORACLE_TLS_CERT_FILE: optional("TLS", "tls.oracle_cert_file", filePath, certificateOf("the oracle")),
  ORACLE_TLS_KEY_FILE: optional("TLS", "tls.oracle_key_file", filePath, keyText),
  RESOLVER_TLS_CERT_FILE: optional("TLS", "tls.resolver_cert_file", filePath, certificateOf("the resolver")),
  RESOLVER_TLS_KEY_FILE: optional("TLS", "tls.resolver_key_file", filePath, keyText),
  YELLOWSTONE_TLS_CERT_FILE: optional("TLS", "tls.yellowstone_cert_file", filePath, certificateOf("Yellowstone gRPC")),
  YELLOWSTONE_TLS_KEY_FILE: optional("TLS", "tls.yellowstone_key_file", filePath, keyText),
} as const;

/** The keys of each certificate: its own and that of its key. */
export const certificateKeys = [
  ["TLS_CERT_FILE", "TLS_KEY_FILE"],
  ["GATEWAY_TLS_CERT_FILE", "GATEWAY_TLS_KEY_FILE"],
  ["ORACLE_TLS_CERT_FILE", "ORACLE_TLS_KEY_FILE"],
  ["RESOLVER_TLS_CERT_FILE", "RESOLVER_TLS_KEY_FILE"],
  ["YELLOWSTONE_TLS_CERT_FILE", "YELLOWSTONE_TLS_KEY_FILE"],
  ["ENGINE_TLS_CERT", "ENGINE_TLS_KEY"],
] as const;

type CertificateKey = (typeof certificateKeys)[number][number];

/** Paths of the two files of a certificate. */
export interface CertificateFilePaths {
  readonly certificate: string;
  readonly key: string;
}

export interface TlsConfig {
  readonly gateway: CertificateFilePaths | null;
  readonly oracle: CertificateFilePaths | null;
  readonly resolver: CertificateFilePaths | null;
  readonly yellowstone: CertificateFilePaths | null;
  readonly engineRest: CertificateFilePaths | null;
  /** Null under `dev` leaves it to the development authority. */
  readonly engineGrpc: CertificateFilePaths | null;
}

/** Which files serve which endpoint: its own, else those of all. */
export function tlsOf(values: Readonly<Record<CertificateKey, string | null>>): TlsConfig {
  const [shared, gateway, oracle, resolver, yellowstone, engine] = certificateKeys.map(([certificateKey, keyKey]) => {
    const [certificate, key] = [values[certificateKey], values[keyKey]];
    return certificate === null || key === null ? null : { certificate, key };
  });
  const all = shared ?? null;
  return {
    gateway: gateway ?? all,
    oracle: oracle ?? all,
    resolver: resolver ?? all,
    yellowstone: yellowstone ?? all,
    // A certificate of its gRPC alone has never changed what its REST speaks.
    engineRest: all === null ? null : (engine ?? all),
    engineGrpc: engine ?? all,
  };
}
