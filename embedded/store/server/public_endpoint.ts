import { folded } from "@/embedded/store/names.ts";

/** What stands for the tenant's name in the template of a public origin. */
const TENANT = "{tenant}";
/** A label that takes its place where the template is read as a URL. */
const STAND_IN = "tenant-of-the-request";

/** The public origin of a tenant's S3; null without a template. */
export function publicOrigin(template: string | null, tenant: string): string | null {
  return template?.replaceAll(TENANT, folded(tenant)) ?? null;
}

/**
 * Finds the tenant whose public name a `Host` header carries.
 *
 * @param template an origin whose host name has `{tenant}` in it once; null: no tenant has a public name
 * @returns the folded name of a tenant that may exist; null for any other host
 */
export function publicTenant(template: string | null): (host: string | null) => string | null {
  const name = template === null ? "" : new URL(template.replaceAll(TENANT, STAND_IN)).hostname;
  const [before, after] = name.split(STAND_IN);
  if (after === undefined) return () => null;
  return (host) => {
    const given = host?.replace(/:[0-9]*$/, "").toLowerCase() ?? "";
    const tenant = given.slice(before.length, given.length - after.length);
    return given === `${before}${tenant}${after}` && /^[a-z0-9-]+$/.test(tenant) ? tenant : null;
  };
}
