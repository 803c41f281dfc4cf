import type { Clock } from "@sluice/lib";

/** Why an exchange did not come about; each is a fault of the target or of the URL, never of this system. */
export type EgressFailure =
  | "invalid_url"
  | "scheme_not_allowed"
  | "credentials_in_url"
  | "address_not_allowed"
  | "invalid_request"
  | "dns_failed"
  | "connect_failed"
  | "tls_failed"
  | "connection_lost"
  | "malformed_answer"
  | "headers_too_large"
  | "timeout";

export interface EgressAnswer {
  readonly ok: true;
  readonly status: number;
  /** Names in lower case; of a repeated header the values are joined by ", ". */
  readonly headers: Readonly<Record<string, string>>;
  /** At most `bodyBytesMax` bytes of the answer. */
  readonly body: Uint8Array;
  /** True when the answer went on after what `body` holds; the connection was closed then. */
  readonly truncated: boolean;
  readonly elapsedMs: number;
}

export interface EgressRefusal {
  readonly ok: false;
  readonly failure: EgressFailure;
  /** One sentence that may be shown to the owner of the URL; holds no address of ours. */
  readonly detail: string;
  readonly elapsedMs: number;
}

export type EgressOutcome = EgressAnswer | EgressRefusal;

export interface EgressRequest {
  readonly method: "GET" | "POST" | "PUT" | "DELETE" | "HEAD";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** For the whole exchange: name look-up, connection, request, and the answer to its last byte. */
  readonly timeoutMs: number;
  /** How much of the answer is kept; 16 KiB unless said otherwise. */
  readonly bodyBytesMax?: number;
}

export interface EgressOptions {
  /** Plain http as well; for development and tests. */
  readonly allowHttp: boolean;
  /** CIDR ranges, public or not, that may be reached too; link-local and metadata addresses stay refused. */
  readonly allowedPrivateRanges: readonly string[];
  /** PEM certificates trusted beside none other; the system's own when absent. */
  readonly certificateAuthorities?: readonly string[];
}

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

export interface EgressDependencies {
  readonly clock: Clock;
  /** Looks a host name up; the system's resolver unless handed in. */
  readonly resolve?: (hostname: string) => Promise<readonly ResolvedAddress[]>;
}

export type GuardedFetch = (url: string, request: EgressRequest) => Promise<EgressOutcome>;
