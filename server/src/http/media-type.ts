import { type HeaderReader, isJsonContentType } from "./request-head.ts";

/** Why a body is not read: the rest of an UNSUPPORTED_MEDIA_TYPE. */
export interface MediaFault {
  readonly code: "UNSUPPORTED_MEDIA_TYPE";
  readonly message?: string;
  readonly details?: { readonly acceptEncoding: "identity" };
}

const notJson: MediaFault = { code: "UNSUPPORTED_MEDIA_TYPE" };
const otherCharset: MediaFault = {
  code: "UNSUPPORTED_MEDIA_TYPE",
  message: "The body must be in UTF-8: no other charset of Content-Type is understood",
};
/** The header Accept-Encoding tells this fault from one of the type (RFC 9110, section 15.5.16). */
const encoded: MediaFault = {
  code: "UNSUPPORTED_MEDIA_TYPE",
  message: "The body must not be compressed: no Content-Encoding is understood",
  details: { acceptEncoding: "identity" },
};

/**
 * Null for a body that is declared as JSON in UTF-8 without a coding; the head alone decides, before anything is read.
 * RFC 9110, sections 8.3 and 8.4; RFC 8259, section 8.1.
 */
export function mediaFault(headers: HeaderReader): MediaFault | null {
  const type = headers.get("content-type");
  if (type !== "application/json") {
    if (!isJsonContentType(type)) return notJson;
    const charset = /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(type ?? "")?.[1]?.toLowerCase();
    // `utf8` is no registered name, and the one that many clients send.
    if (charset !== undefined && charset !== "utf-8" && charset !== "utf8") return otherCharset;
  }
  const coding = headers.get("content-encoding");
  if (coding === null) return null;
  return coding.split(",").every((name) => /^(identity)?$/i.test(name.trim())) ? null : encoded;
}
