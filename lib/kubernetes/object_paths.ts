/** The paths of what campaigns are made of, percent-encoded. */
export function jobsPath(namespace: string): string {
  return `/apis/batch/v1/namespaces/${encodeURIComponent(namespace)}/jobs`;
}

export function podsPath(namespace: string): string {
  return `${corePath(namespace)}/pods`;
}

export function configMapsPath(namespace: string): string {
  return `${corePath(namespace)}/configmaps`;
}

/** Null for a name that no map can have. */
export function configMapPath(namespace: string, name: string): string | null {
  return OBJECT_NAME.test(name) ? `${configMapsPath(namespace)}/${name}` : null;
}

/** A name that the API gives to objects (Kubernetes, "Object Names"): it cannot lead out of its path. */
const OBJECT_NAME = /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/;

function corePath(namespace: string): string {
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}`;
}
