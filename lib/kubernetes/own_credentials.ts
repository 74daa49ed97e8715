import { join } from "node:path";

/** What a pod knows of its cluster: a token, the authorities, the namespace. */
export const SERVICE_ACCOUNT_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount";
export const SERVICE_ACCOUNT_TOKEN = `${SERVICE_ACCOUNT_FOLDER}/token`;

/** The user's own kubeconfig, whether it is there or not; null for a user without a folder. */
export function ownKubeconfig(home: string | null | undefined): string | null {
  return home ? join(home, ".kube", "config") : null;
}
