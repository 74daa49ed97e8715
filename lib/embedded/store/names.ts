/** A name as it is compared: without case. Names of tenants, namespaces, users and buckets are. */
export function folded(name: string): string {
  return name.normalize("NFC").toLowerCase();
}

/** Whether a tenant, namespace or bucket may have this name: letters, digits and inner hyphens, not `xn--…`. */
export function isHostLabel(name: string, shortest = 1): boolean {
  return name.length >= shortest && name.length <= 63 && /^[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?$/.test(name) &&
    !/^xn--/i.test(name);
}
