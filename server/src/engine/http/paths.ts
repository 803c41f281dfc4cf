export const engineRoot = "/api/v1";

/** Each of Jito's methods may be asked under a path of its own, too; such a path speaks nothing but JSON-RPC. */
export const jitoPaths = ["/transactions", "/getTipAccounts", "/getBundleStatuses", "/getInflightBundleStatuses"].map(
  (path) => `${engineRoot}${path}`,
);
