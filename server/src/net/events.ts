import { counter, gauge, type Observe } from "../observe/index.ts";

export const netMetrics = {
  connections: gauge("sluice_connections", "Open client connections of the gateway's port and the PubSub port"),
  connectionsRefused: counter(
    "sluice_connections_refused_total",
    "Client connections of these ports that were answered 503 and closed, since MAX_CONNECTIONS were open",
  ),
  certificateEnd: gauge("sluice_tls_certificate_end_seconds", "When the certificate of a file ends, in Unix seconds", [
    "file",
  ]),
  proxyHeadersRefused: counter(
    "sluice_proxy_headers_refused_total",
    "Connections of TRUSTED_PROXIES that were closed, since they began with no header of the PROXY protocol that can be read",
    ["fault"],
  ),
} as const;

/** What the transport reports beyond its results. */
export interface NetEvents {
  /** An error of this system, met while a connection or a request was handled. */
  internalError(where: string, error: unknown, fields: { readonly requestId?: string }): void;
}

/** Events of the bound on connections. */
export interface ConnectionEvents {
  /** Called once, with what counts the open connections. */
  connectionsBounded(open: () => number): void;
  connectionRefused(): void;
  /** So many were refused since the last report; at most once in ten seconds. */
  connectionsExhausted(fields: { readonly refused: number; readonly connectionsMax: number }): void;
}

export function createConnectionEvents({ log, metrics }: Observe): ConnectionEvents {
  const { connections, connectionsRefused } = metrics.register(netMetrics);
  return {
    connectionsBounded: (open) => connections.readFrom(open),
    connectionRefused: () => connectionsRefused.with().add(),
    connectionsExhausted: (fields) => log.warn(fields, "connections are refused: MAX_CONNECTIONS are open"),
  };
}

/** Why the begin of a trusted proxy's connection is refused. */
export type ProxyFault = "malformed" | "too_long" | "cut" | "late";

export interface ProxyEvents {
  /** A trusted proxy sent no header, or one that cannot be read; its connection is closed. */
  proxyHeaderRefused(fault: ProxyFault): void;
}

export function createProxyEvents({ metrics }: Pick<Observe, "metrics">): ProxyEvents {
  const { proxyHeadersRefused } = metrics.register(netMetrics);
  return { proxyHeaderRefused: (fault) => proxyHeadersRefused.with(fault).add() };
}

export interface CertificateEvents {
  /** A certificate is in use from now on. `endsAt` is in Unix milliseconds. */
  certificateTaken(file: string, endsAt: number): void;
  /** The files hold no certificate that can be used; the one before them stays in use. */
  certificateRefused(file: string, cause: string): void;
}

export function createCertificateEvents({ log, metrics }: Observe): CertificateEvents {
  const { certificateEnd } = metrics.register(netMetrics);
  return {
    certificateTaken: (file, endsAt) => {
      certificateEnd.with(file).set(Math.floor(endsAt / 1_000));
      log.info({ file, ends: new Date(endsAt).toISOString() }, "a certificate is in use");
    },
    certificateRefused: (file, cause) =>
      log.warn({ file, cause }, "a new certificate cannot be used; the one before it stays in use"),
  };
}
