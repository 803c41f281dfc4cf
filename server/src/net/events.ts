/** What the transport reports beyond its results. */
export interface NetEvents {
  /** An error of this system, met while a connection or a request was handled. */
  internalError(where: string, error: unknown, fields: { readonly requestId?: string }): void;
}
