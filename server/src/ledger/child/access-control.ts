/**
 * Who may do what inside the engine. All connections are the engine's one user, which has its rights by roles alone: a
 * connection that takes the role of customers' statements (SET ROLE) has that role's rights and no others. Users and
 * roles of this file cannot be changed by a statement.
 */

/** The role of customers' statements, and the database of views that it may read. */
export const customerRole = "sluice_customer";
export const viewsDatabase = "sluice_views";
const serverRole = "sluice_server";

export function accessControl(settings: { readonly threads: number }): string {
  return [
    "<clickhouse>",
    `  <profiles><default><max_threads>${settings.threads}</max_threads></default></profiles>`,
    "  <quotas><default/></quotas>",
    "  <roles>",
    `    <${serverRole}><grants><query>GRANT ALL ON *.* WITH GRANT OPTION</query></grants></${serverRole}>`,
    `    <${customerRole}><grants><query>GRANT SELECT ON ${viewsDatabase}.*</query></grants></${customerRole}>`,
    "  </roles>",
    "  <users><default>",
    "    <password></password><networks><ip>::/0</ip></networks><profile>default</profile><quota>default</quota>",
    `    <grants><query>GRANT ${serverRole}, ${customerRole}</query></grants>`,
    "  </default></users>",
    "</clickhouse>",
    "",
  ].join("\n");
}
