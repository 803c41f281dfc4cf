/** True for the paths that JSON-RPC and PubSub are served on; a slash at the end of one changes nothing. */
export function isRpcPath(path: string): boolean {
  if (path === "/rpc" || path === "/" || path === "") return true;
  const end = path.indexOf("/", 5);
  return path.startsWith("/rpc/") && (end < 0 || end === path.length - 1);
}
