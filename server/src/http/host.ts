/**
 * A host with an optional port (RFC 9110, 7.2; RFC 3986, 3.2.2), in the characters that a name may have. No comma,
 * though the grammar has it: two Host fields that someone joined are not one host. No user information.
 */
const hostPattern = /^(?:\[[0-9A-Fa-f:.]+\]|(?:[\w.~!$&'()*+;=-]|%[0-9A-Fa-f]{2})+)(?::\d{0,5})?$/;

/** The last host that was checked, since nearly all requests of a server name the same one. */
let known = "";

/**
 * Whether a Host field names one host that has a URL: `1.2.3.999` is a name by the grammar, and no URL can hold it. An
 * empty field is valid (RFC 9112, 3.2), and so is none, which only HTTP/1.0 may leave out.
 */
export function isHost(host: string | null): boolean {
  if (host === null || host === "" || host === known) return true;
  if (!hostPattern.test(host) || !URL.canParse(`http://${host}/`)) return false;
  known = host;
  return true;
}
