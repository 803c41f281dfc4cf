/** A certificate chain and its key; PEM texts. */
export interface TlsCertificate {
  readonly certificateChain: string;
  readonly privateKey: string;
}

/** The certificate of an endpoint, which may be replaced while the endpoint serves. */
export interface CertificateSource {
  readonly present: TlsCertificate;
  /** Calls back with each certificate that takes the place of the present one. */
  onReplaced(listener: (certificate: TlsCertificate) => void): void;
}

/** A certificate that stays. */
export const fixedCertificate = (present: TlsCertificate): CertificateSource => ({ present, onReplaced: () => {} });
